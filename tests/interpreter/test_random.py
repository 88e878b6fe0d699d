"""Random bits equal the compiled ones, bit for bit.

Unit tests of `_core.numpy_backend`.
"""

import jax
import numpy as np
import pytest

from paddle_jax._core.numpy_backend import Refusal, plan, random_bits
from tests.interpreter.compare import check

KEY = np.array([123456789, 4000000000], np.uint32)


@pytest.fixture(autouse=True, params=["extension", "NumPy"])
def way(request, monkeypatch):
    """Tests run with the extension module and without."""
    if request.param == "NumPy":
        monkeypatch.setattr(random_bits, "extension", None)
    elif random_bits.extension is None:
        pytest.skip("this installation has no extension module")


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_bits(dtype):
    def draw(words):
        key = jax.random.wrap_key_data(words)
        return [jax.random.bits(key, shape, dtype) for shape in ((), (3,), (5, 7), (0, 2), (40_000,))]

    check(draw, KEY)


def test_keys():
    def derived(words, n):
        key = jax.random.wrap_key_data(words)
        pair = jax.random.split(key)
        many = jax.random.split(jax.random.fold_in(key, n), (2, 3))
        bits = jax.vmap(jax.random.bits)(pair)
        return [
            jax.random.key_data(k)
            for k in (key, pair, pair[1], many, many[1, 2], jax.random.key(7), jax.random.key(n))
        ] + [bits]

    check(derived, KEY, np.int32(-5))
    check(lambda n: jax.random.key_data(jax.random.key(n)), np.int64(-(2**40)))


def test_draws():
    def draws(words):
        key = jax.random.wrap_key_data(words)
        whole = jax.random.randint(key, (99,), -5, 100), jax.random.permutation(key, 50)
        return jax.random.uniform(key, (99,)), jax.random.bernoulli(key, 0.3, (99,)), *whole

    check(draws, KEY, ulp=0)


def test_keys_as_results_are_refused():
    with pytest.raises(Refusal, match="keys as operands or results"):
        plan(jax.make_jaxpr(jax.random.wrap_key_data)(KEY))


def test_other_generators_are_refused():
    with pytest.raises(Refusal, match="generator"):
        plan(jax.make_jaxpr(lambda: jax.random.bits(jax.random.key(1, impl="rbg"), (3,)))())


def test_the_old_order_of_counters_is_refused():
    with jax.threefry_partitionable(False):
        closed = jax.make_jaxpr(lambda: jax.random.bits(jax.random.key(1), (3,)))()
    with pytest.raises(Refusal, match="old order"):
        plan(closed)


def test_bits_are_shared_by_two_draws_in_bounded_memory():
    """The gradient of dropout draws the bits of the forward pass again."""
    shared = random_bits._SharedBits
    draw = plan(jax.make_jaxpr(lambda k: jax.random.bits(jax.random.wrap_key_data(k), (4000,)))(KEY))
    (first,), (second,), (third,) = draw(KEY), draw(KEY), draw(KEY)
    assert first is second and third is not second and np.array_equal(first, third)
    want = jax.random.bits(jax.random.wrap_key_data(KEY), (4000,))
    assert np.array_equal(first, want)
    draw(KEY)  # the second use of the third draw
    for i in range(2000):
        draw(np.array([i, 1], np.uint32))
    assert shared.nbytes <= random_bits._SHARED
    assert shared.nbytes == sum(bits.nbytes for bits in shared.drawn.values())


def test_words_of_buffers_that_differ_are_refused():
    if random_bits.extension is None:
        pytest.skip("this test is of the extension module")
    some = np.zeros(3, np.uint32)
    with pytest.raises(ValueError, match="differ in length"):
        random_bits.extension.random_words(1, 2, some, some, np.empty(2, np.uint32), np.empty(2, np.uint32))
