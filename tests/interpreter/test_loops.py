"""Loops of small steps: what runs before, in and after the steps gives what XLA gives.

Unit tests of `_core.numpy_backend`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from paddle_jax._core.numpy_backend import control_flow, loops
from tests.interpreter.compare import both

LENGTH = 60  # enough trips for a Loop
RANDOM = np.random.RandomState(0)


def numbers(*shape):
    return RANDOM.uniform(-1, 1, shape).astype("float32")


W = numbers(4, 12) / 2
H = numbers(3, 4)
X = numbers(LENGTH, 3, 4)
WIDE = numbers(LENGTH, 3, 12)


def gru(h, x, w):
    """A step whose parts are pieces of one product, and its gates."""
    a, b, c = jnp.split(x, 3, axis=1)
    d, e, f = jnp.split(h @ w, 3, axis=1)
    r = jax.nn.sigmoid(a + d)
    z = jax.nn.sigmoid(b + e)
    new = jnp.tanh(c + r * f)
    return (h - new) * z + new


def gru_loss(x, h, w):
    last, hs = lax.scan(lambda h, a: (gru(h, a, w),) * 2, h, x)
    return (hs * hs).sum() + last.sum()


def swap(carry, x):
    """Each part of the carry becomes the other one."""
    a, b = carry
    return (b, a * 0.5 + x), a


def passed_on(carry, x):
    """One part of the carry stays, one goes to the next part, and all are stacked."""
    a, b, c = carry
    return (a, c, b * 0.5 + x), (a, b, c)


def noisy(carry, i):
    """Random numbers of a key and a counter."""
    key, h = carry
    bits = jax.random.bits(jax.random.fold_in(jax.random.wrap_key_data(key), i), (3, 4), "uint32")
    h = h * 0.5 + (bits >> 8).astype("float32") * 2.0**-24
    return (key, h), h


def counted(carry, x):
    """A counter and a matrix; the counter decides."""
    n, h = carry
    h = jnp.where(n % 2 == 0, h * 0.5 + x, h - x)
    return (n + 1, h), (n, h[0])


def with_views(h, x):
    """What is carried and what is stacked are views of results."""
    y = (h + x) * 0.5
    return y.T.reshape(4, 3).T, (y.T, y[:1], h, jnp.concatenate([y, x], axis=1))


CASES = {
    "gru": (lambda x, h, w: lax.scan(lambda h, a: (gru(h, a, w), (h, a * 2)), h, x), WIDE, H, W),
    "gru reversed": (
        lambda x, h, w: lax.scan(lambda h, a: (gru(h, a, w), h), h, x, reverse=True),
        WIDE,
        H,
        W,
    ),
    "gradient of a gru": (jax.grad(gru_loss, (0, 1, 2)), WIDE, H, W),
    "swapped carry": (lambda x: lax.scan(swap, (x[0], x[1]), x), X),
    "swapped carry reversed": (lambda x: lax.scan(swap, (x[0], x[1]), x, reverse=True), X),
    "carry that is passed on": (lambda x: lax.scan(passed_on, (x[0], x[1], x[2]), x), X),
    "random numbers": (
        lambda key, h: lax.scan(noisy, (key, h), jnp.arange(LENGTH)),
        np.array([3, 9], np.uint32),
        H,
    ),
    "counter": (lambda x: lax.scan(counted, (0, x[0]), x), X),
    "views": (lambda x, h: lax.scan(with_views, h, x), X, H),
    "no slices": (lambda h: lax.scan(lambda h, _: (h * 0.9, h.sum()), h, None, length=LENGTH), H),
    "no carry": (lambda x: lax.scan(lambda _, a: ((), (jnp.exp(a), a.sum(0))), (), x)[1], X),
    "outputs that stay": (lambda x, h: lax.scan(lambda c, a: (c + a, (h * 2, h, a)), h, x), X, H),
    "carry of a slice": (lambda x, h: lax.scan(lambda c, a: (a, (c, c + a)), h, x), X, H),
    "scalars": (lambda x: lax.scan(lambda c, a: (c * 0.5 + a, c * a), x[0], x), numbers(LENGTH)),
    "whole numbers": (
        lambda x: lax.scan(lambda c, a: (c * 3 + a, (c > a, c // 2 - a)), x[0], x),
        RANDOM.randint(-9, 9, (LENGTH, 3)),
    ),
    "half precision": (
        lambda x: lax.scan(lambda c, a: (jnp.tanh(c * 0.5 + a), c * a), x[0], x),
        X.astype("float16"),
    ),
    "row on each matrix": (lambda x, h: lax.scan(lambda c, a: (c + a * h[0], a - h), h, x), X, H),
    "slices in another order": (
        lambda x, h: lax.scan(lambda c, a: (c * 0.5 + a, c * a), h, x.transpose(2, 0, 1)),
        numbers(3, 4, LENGTH),
        H,
    ),
    "loop in a loop": (
        lambda x: lax.scan(
            lambda c, a: (lax.scan(lambda d, b: (d + b, d * b), c, a)[0] * 0.1, c), x[0, 0], x
        ),
        X,
    ),
}


@pytest.fixture
def made(monkeypatch):
    """The Loops that were made."""
    found = []

    class Recorded(loops.Loop):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            found.append(self)

    monkeypatch.setattr(control_flow, "Loop", Recorded)
    control_flow._step_of.cache_clear()
    yield found
    control_flow._step_of.cache_clear()


@pytest.mark.parametrize("name", CASES)
def test_as_xla(made, name):
    function, *operands = CASES[name]
    ours, compiled = both(function, *operands)
    assert made
    tolerance = 2e-2 if name == "half precision" else 2e-5
    for x, y in zip(ours, compiled, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance / 10)


@pytest.mark.parametrize("name", CASES)
def test_as_step_by_step(monkeypatch, name):
    """No value changes when a loop has run often enough."""
    function, *operands = CASES[name]
    found = []
    for least in (1 << 40, 1):
        monkeypatch.setattr(control_flow, "_LEAST_TRIPS", least)
        control_flow._step_of.cache_clear()
        found.append(both(function, *operands)[0])
    control_flow._step_of.cache_clear()
    for x, y in zip(*found, strict=True):
        np.testing.assert_array_equal(x, y)


def test_large_loops_and_empty_ones_run_step_by_step(made, monkeypatch):
    def run(self, *arguments):
        raise AssertionError("a Loop ran")

    monkeypatch.setattr(loops.Loop, "run", run)
    monkeypatch.setattr(control_flow, "_MAX_STACKS", 1000)
    sums = lambda x: lax.scan(lambda c, a: (c + a, c), x.sum(0), x)  # noqa: E731
    ours, compiled = both(sums, X)
    assert made
    for x, y in zip(ours, compiled, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)
    assert [x.shape for x in both(sums, X[:0])[0]] == [(3, 4), (0, 3, 4)]


def test_few_trips_make_no_loop(made):
    both(lambda x: lax.scan(lambda c, a: (c + a, c), x[0], x), X[:5])
    assert not made
