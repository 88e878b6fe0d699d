"""Primitives that move, combine and reduce elements, against XLA.

Unit tests of `_core.numpy_backend`.
"""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from jax.extend.core import primitives

from paddle_jax._core.numpy_backend import Refusal, plan
from tests.interpreter.compare import check, check_all, values

FLOATS = ["float32", "float64", "float16", ml_dtypes.bfloat16]
R = np.random.RandomState(3)
X = R.randn(3, 4, 5).astype("float32")

LAYOUT = {
    "broadcast": lambda x: lax.broadcast_in_dim(x, (2, 3, 4, 5), (1, 2, 3)),
    "new axis": lambda x: x[:, None, :, None],
    "reshape": lambda x: x.reshape(5, 12),
    "transpose": lambda x: lax.transpose(x, (2, 0, 1)),
    "rev": lambda x: lax.rev(x, (0, 2)),
    "transposed reshape": lambda x: lax.reshape(x, (60,), (2, 1, 0)),
    "concatenate": lambda x: lax.concatenate([x, x[:1], x], 0),
    "slice": lambda x: lax.slice(x, (1, 0, 1), (3, 4, 5), (1, 2, 3)),
    "pad": lambda x: lax.pad(x, np.float32(7), ((1, 2, 0), (0, 1, 2), (2, 0, 1))),
    "negative pad": lambda x: lax.pad(x, np.float32(7), ((-1, 2, 0), (-2, -1, 2), (3, -4, 1))),
    "tile": lambda x: jnp.tile(x, (2, 1, 3)),
    "pad all away": lambda x: lax.pad(x, np.float32(7), ((-2, -1, 0), (0, 0, 0), (0, 0, 0))),
    "split": lambda x: tuple(lax.split(x, (1, 3), 1)),
    "stack": lambda x: jnp.stack([x, -x], 1),
    "iota": lambda x: x + lax.broadcasted_iota("float32", (3, 4, 5), 1),
    "unstack": lambda x: jnp.unstack(x, axis=1),
    "dynamic slice": lambda x: lax.dynamic_slice(x, (9, -3, 1), (2, 4, 3)),
    "dynamic slice of one axis": lambda x: [
        lax.dynamic_slice(x, start, sizes)
        for start in ((9, 9, -9), (-3, 1, 1), (1, 1, 1))
        for sizes in ((1, *x.shape[1:]), (x.shape[0], 1, x.shape[2]), (*x.shape[:2], 2))
    ],
    "update": lambda x: lax.dynamic_update_slice(x, -x[:1, :2], (9, 1, -9)),
}


@pytest.mark.parametrize("shape", ["plain", "transposed"])
def test_layout(shape):
    x = X if shape == "plain" else np.ascontiguousarray(X.T).T
    check(lambda x: jax.tree.leaves([f(x) for f in LAYOUT.values()]), x, ulp=0)


REDUCTIONS = {"sum": jnp.sum, "prod": jnp.prod, "max": jnp.max, "min": jnp.min}
RUNNING = {
    "cumsum": lax.cumsum,
    "cumprod": lax.cumprod,
    "cummax": lax.cummax,
    "cummin": lax.cummin,
    "cumlogsumexp": lax.cumlogsumexp,
}


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "uint8", "bool", "complex64"])
def test_reductions(dtype):
    x = R.randn(3, 4, 5).astype(dtype) if dtype != "uint8" else R.randint(0, 9, (3, 4, 5)).astype(dtype)
    reductions = {n: f for n, f in REDUCTIONS.items() if dtype != "complex64" or n in ("sum", "prod")}
    every = {
        f"{n} {a}": lambda x, f=f, a=a: f(x, axis=a)
        for n, f in reductions.items()
        for a in (None, 1, (0, 2), ())
    }
    check_all(every, x, ulp=32, scale=32)  # each sums in an order of its own
    running = {n: f for n, f in RUNNING.items() if dtype in FLOATS or n in ("cumsum", "cumprod")}
    check_all(
        {
            f"{n} {r}": lambda x, f=f, r=r: f(x, axis=1, reverse=r)
            for n, f in running.items()
            for r in (False, True)
        },
        x,
        ulp=8,
        scale=8,
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
def test_long_sums_are_precise(dtype):
    """Equal terms added one after the other would be off by a percent; XLA's sums are not either,
    though not the same."""
    x, rtol = np.full((70_001, 2), 0.1, dtype), 1e-6 if dtype != "float16" else 1e-3
    y = x[:300].reshape(2, 50, 3, 2)
    sums = lambda x, y: (  # noqa: E731
        x.sum(0),
        x.T.sum(1),
        x.sum(),
        lax.reduce(x, np.zeros((), dtype), lax.add, (0,)),
        y.sum((0, 1)),
        y.sum((1, 3)),
    )
    exact = [
        v.astype("complex128").sum(axes)
        for v, axes in ((x, 0), (x, 0), (x, None), (x, 0), (y, (0, 1)), (y, (1, 3)))
    ]
    for got, want in zip(plan(jax.make_jaxpr(sums)(x, y))(x, y), exact, strict=True):
        np.testing.assert_allclose(got.astype("complex128"), want, rtol=rtol)
    (running,) = plan(jax.make_jaxpr(lambda x: lax.cumsum(x, 0))(x))(x)
    np.testing.assert_allclose(
        running[:60_000].astype("complex128"), x[:60_000].astype("complex128").cumsum(0), rtol=rtol
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_reductions_of_special_numbers(dtype):
    with np.errstate(all="ignore"):
        x = np.array([[1, np.nan, 2], [-0.0, 0.0, np.inf], [-np.inf, np.inf, 1], [3, 3, -3]]).astype(dtype)
    arg = {"argmax": lambda x: lax.argmax(x, 1, "int64"), "argmin": lambda x: lax.argmin(x, 0, "int32")}
    check_all({n: lambda x, f=f: f(x, axis=1) for n, f in REDUCTIONS.items()} | arg, x, signs=False)


def test_reductions_of_nothing():
    x = np.zeros((0, 3), "float32")
    sums = {n: f for n, f in REDUCTIONS.items() if n in ("sum", "prod")}
    check_all(
        {n: lambda x, f=f: f(x, axis=0) for n, f in sums.items()}
        | {"max": lambda x: jnp.max(x, axis=0, initial=-3)},
        x,
    )
    check(lambda x: (jnp.any(x, 0), jnp.all(x, 0), jnp.all(x)), np.zeros((0, 3), bool))


def test_bitwise_and_general_reductions():
    i = R.randint(-9, 9, (3, 4)).astype("int32")
    check(
        lambda x: [
            lax.reduce(x, np.int32(k), f, (1,))
            for f, k in ((lax.add, 0), (lax.bitwise_xor, 0), (lax.bitwise_and, -1), (lax.max, -5))
        ],
        i,
    )
    with pytest.raises(Refusal, match="one's own"):
        plan(jax.make_jaxpr(lambda x: lax.reduce(x, np.float32(0), lambda a, b: a * b + a, (0,)))(X))


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "bool", "complex64"])
def test_sorting(dtype):
    if dtype == "complex64":
        x = R.randint(-2, 3, 60).astype(dtype) + 1j * R.randint(-2, 3, 60)
        x = x.astype(dtype)
    else:
        x = np.resize(values(dtype), 120) if "int" not in str(dtype) else R.randint(-4, 4, 120).astype(dtype)
    position = np.arange(len(x))
    again = x[::-1].copy()
    functions = {
        "alone": lambda x, y, p: lax.sort(x),
        "with positions": lambda x, y, p: lax.sort((x, p), num_keys=1)[1],
        "two keys": lambda x, y, p: lax.sort((x, y, p), num_keys=2)[2],
    }
    if dtype not in ("bool", "complex64"):
        functions["largest"] = lambda x, y, p: lax.top_k(x, 30)[1]
    check_all(functions, x, again, position, signs=False)
    check(lambda x: lax.sort(x.reshape(4, 5, -1), dimension=1), x[:60], signs=False)


def test_total_order():
    x, y = (
        v.ravel() for v in np.meshgrid(*[np.array([0, -0.0, 1, np.nan, -np.nan, np.inf, -1], "float32")] * 2)
    )
    check(lambda x, y: jnp.searchsorted(jnp.sort(x), y), np.sort(R.randn(9)), np.append(R.randn(5), np.nan))
    check(
        lambda x, y: [p.bind(x, y) for p in (primitives.lt_to_p, primitives.le_to_p, primitives.eq_to_p)],
        x,
        y,
    )


PRODUCTS = [
    ((3, 4), (4, 5), (((1,), (0,)), ((), ()))),
    ((4, 3), (5, 4), (((0,), (1,)), ((), ()))),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    ((3, 2, 4), (4, 5, 2), (((2,), (0,)), ((1,), (2,)))),
    ((4,), (4,), (((0,), (0,)), ((), ()))),
    ((2, 3, 4), (4, 3, 5), (((1, 2), (1, 0)), ((), ()))),
    ((3, 0), (0, 5), (((1,), (0,)), ((), ()))),
    ((3, 2), (4,), (((), ()), ((), ()))),
]


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "int8", "bool", "complex64"])
def test_products(dtype):
    cast = (lambda a: a.astype(dtype)) if dtype != "bool" else (lambda a: a > 0)
    source = np.random.RandomState(8)  # the same numbers whatever ran before
    operands = [cast(source.randn(*s) * 3) for a, b, _ in PRODUCTS for s in (a, b)]
    check(
        lambda *x: [lax.dot_general(x[2 * k], x[2 * k + 1], d) for k, (_, _, d) in enumerate(PRODUCTS)],
        *operands,
        ulp=4,
        scale=8,
    )


def test_products_with_a_wider_result():
    a, b = R.randint(-100, 100, (3, 4)).astype("int8"), R.randint(-100, 100, (4, 5)).astype("int8")
    dims = (((1,), (0,)), ((), ()))
    check(lambda a, b: lax.dot_general(a, b, dims, preferred_element_type="int32"), a, b)
    low = [x.astype(ml_dtypes.bfloat16) for x in (a, b)]
    check(lambda a, b: lax.dot_general(a, b, dims, preferred_element_type="float32"), *low, scale=4)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_padding(data):
    """Any padding: interior, and negative beyond what is there."""
    n = data.draw(st.integers(0, 5))
    inside = data.draw(st.integers(0, 2))
    length = max((n - 1) * (inside + 1) + 1, 0) if n else 0
    before, after = data.draw(st.integers(-4, 3)), data.draw(st.integers(-4, 3))
    if length + before + after >= 0:
        x = np.arange(1.0, n + 1)
        want = np.zeros(length)
        want[:: inside + 1] = x
        want = np.concatenate([np.full(max(before, 0), 7.0), want, np.full(max(after, 0), 7.0)])
        want[max(before, 0) : max(before, 0) + length][np.arange(length) % (inside + 1) != 0] = 7
        want = want[max(-before, 0) : len(want) - max(-after, 0)]
        (got,) = plan(jax.make_jaxpr(lambda x: lax.pad(x, 7.0, ((before, after, inside),)))(x))(x)
        np.testing.assert_array_equal(got, want)
