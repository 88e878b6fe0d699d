"""Attention computed in blocks of the queries is attention; its memory does not grow with the
square of the length."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_jax.nn.functional import sdpa
from tests.incubate import references as R

rng = np.random.RandomState(8)
BATCH, WIDTH = 2, 4


@pytest.fixture
def small_blocks(monkeypatch):
    """No more than 64 scores at a time."""
    monkeypatch.setitem(sdpa._SCORES, "cpu", 64)


def drawn(*shape):
    return rng.randn(*shape)


def heads_first(x):
    return np.swapaxes(x, 1, 2)


def reference(q, k, v, mask, causal):
    added = 0.0 if mask is None else np.where(mask, 0.0, -1e30) if mask.dtype == bool else mask
    seen = np.where(np.arange(k.shape[1]) <= np.arange(q.shape[1])[:, None], 0.0, -1e30) if causal else 0.0
    return heads_first(R.attend(heads_first(q), heads_first(k), heads_first(v), added + seen))


# Each case has lengths of its own: kernels that are kept from one case would not be made anew for the next.
CASES = {
    "plain": (11, 13, 2, 2, None, False),
    "causal": (17, 17, 2, 2, None, True),
    "more queries": (23, 9, 1, 1, None, True),
    "shared keys": (19, 21, 4, 2, None, False),
    "numbers": (25, 14, 2, 2, lambda q, k: drawn(BATCH, 2, q, k), False),
    "one for all heads": (27, 15, 2, 2, lambda q, k: drawn(1, 1, q, k), False),
    "matrix": (29, 16, 2, 1, lambda q, k: drawn(q, k), False),
    # no query without a key
    "bool": (31, 18, 2, 2, lambda q, k: (rng.rand(BATCH, 1, q, k) < 0.7) | (np.arange(k) == 0), True),
    "same for all queries": (33, 20, 2, 2, lambda q, k: drawn(BATCH, 1, 1, k), False),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_blocks_are_attention(paddle, small_blocks, case):
    queries, keys, heads, groups, mask, causal = case
    q, k, v = (
        drawn(BATCH, queries, heads, WIDTH),
        drawn(BATCH, keys, groups, WIDTH),
        drawn(BATCH, keys, groups, WIDTH),
    )
    mask = None if mask is None else mask(queries, keys)
    assert sdpa._blocks(q, k) > 3
    t = [paddle.to_tensor(x, stop_gradient=False) for x in (q, k, v)]
    given = None if mask is None else paddle.to_tensor(mask, stop_gradient=mask.dtype == bool)
    out = sdpa.attention("test", *t, given, 0.0, causal, None, None)
    np.testing.assert_allclose(out.numpy(), reference(q, k, v, mask, causal), rtol=1e-7, atol=1e-9)

    leaves, direction = [*t, *([given] if mask is not None and mask.dtype != bool else [])], drawn(*out.shape)
    grads = paddle.grad((out * paddle.to_tensor(direction)).sum(), leaves, create_graph=True)

    def plain(*values):
        arrays = dict(zip(("q", "k", "v", "mask"), values, strict=False))
        whole = sdpa._block(
            arrays["q"],
            arrays["k"],
            arrays["v"],
            arrays.get("mask", mask),
            causal,
            None,
            None,
            lambda w: w,
            0,
        )
        return jnp.sum(whole * direction)

    values, inner = [leaf.numpy() for leaf in leaves], tuple(range(len(leaves)))
    for got, want in zip(grads, jax.jit(jax.grad(plain, inner))(*values), strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-7, atol=1e-9)
    if queries not in (11, 17, 25):  # higher derivatives come from the same rule
        return
    second = paddle.grad(sum((g * g).sum() for g in grads), leaves)

    def squared(*vs):
        return sum(jnp.sum(g * g) for g in jax.grad(plain, inner)(*vs))

    wanted = jax.jit(jax.grad(squared, inner))(*values)
    for got, want in zip(second, wanted, strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-6, atol=1e-8)


def test_logs_of_sums(paddle, small_blocks):
    q, k = drawn(BATCH, 35, 2, WIDTH), drawn(BATCH, 22, 2, WIDTH)
    out, lse = sdpa.attention("test", *[paddle.to_tensor(x) for x in (q, k, k)], None, 0.0, False, 1.0, "lse")
    scores = np.einsum("bqhd,bkhd->bhqk", q, k)
    np.testing.assert_allclose(lse.numpy(), np.log(np.exp(scores).sum(-1)), rtol=1e-7)
    assert out.shape == [BATCH, 35, 2, WIDTH]


def test_dropout_in_blocks(paddle, small_blocks):
    ones = paddle.ones([1, 200, 1, 1])
    out = sdpa.attention("test", ones * 0, ones * 0, ones, None, 0.4, False, None, None).numpy().ravel()
    # blocks draw numbers of their own
    assert abs(out.mean() - 1) < 0.02 and len(set(out.round(6).tolist())) > 5
    assert abs(out.std() - np.sqrt(0.4 / 0.6 / 200)) < 0.02
    assert not sdpa.attention("test", ones * 0, ones * 0, ones, None, 1.0, False, None, None).any().item()


def test_memory_grows_with_the_length(paddle):
    def temporary(length, extra=None):
        x = jax.ShapeDtypeStruct((1, length, 1, 8), jnp.float32)

        def loss(q, k, v):
            return jnp.sum(sdpa._attend(q, k, v, None, True, None, extra, lambda weights, number: weights))

        return (
            jax.jit(jax.grad(loss, (0, 1, 2))).lower(x, x, x).compile().memory_analysis().temp_size_in_bytes
        )

    short, long = temporary(8192), temporary(32768)
    # the scores alone would be 4.3 GB, and sixteen times those of the shorter one
    assert long < 6 * short and long < 32768**2 * 4 / 20
