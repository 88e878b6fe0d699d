"""Rules for primitives against `jax.vjp`: values, second gradients, infinite and repeated operands, and
what has no rule.

Unit tests of `_core.kernels`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from paddle_jax._core.kernels import reverse
from paddle_jax._core.kernels.jaxpr_tracing import trace_function
from paddle_jax._core.kernels.kernel import Kernel

RANDOM = np.random.RandomState(3)
A, B, C = (RANDOM.rand(3, 4).astype("float32") + 0.2 for _ in range(3))
ROW, COLUMN, POINT = A[:1], A[:, :1], np.float32(0.7)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-30], "float32")
STACK = RANDOM.randn(2, 3, 4).astype("float32")

UNARY = [
    lax.neg,
    lax.exp,
    lax.log,
    lax.log1p,
    lax.expm1,
    lax.sin,
    lax.cos,
    lax.tanh,
    lax.logistic,
    lax.sqrt,
    lax.rsqrt,
    lax.square,
    lax.abs,
    lax.erf,
    lambda x: lax.integer_pow(x, 3),
    lambda x: lax.integer_pow(x, -2),
    lambda x: lax.integer_pow(x, 1),
]
BINARY = [lax.add, lax.sub, lax.mul, lax.div, lax.max, lax.min]
STRUCTURE = {
    "reshape": (lambda x: lax.reshape(x, (6, 2)), [A]),
    "squeeze": (lambda x: lax.squeeze(x[:, :1], (1,)), [A]),
    "expand": (lambda x: lax.expand_dims(x, (0, 2)), [A]),
    "broadcast": (lambda x: lax.broadcast_in_dim(x, (5, 3, 4), (1, 2)), [COLUMN]),
    "broadcast to an axis of one": (lambda x: lax.broadcast_in_dim(x, (1, 3, 4), (1, 2)), [A]),
    "sum": (lambda x: lax.reduce_sum(x, (0,)), [A]),
    "sum of all": (lambda x: x.sum(), [A]),
    "max, with ties": (lambda x: x.max(1), [np.round(A * 2)]),
    "min, with ties": (lambda x: x.min(0), [np.round(A * 2)]),
    "transpose": (lambda x: lax.transpose(x, (2, 0, 1)), [STACK]),
    "rev": (lambda x: lax.rev(x, (1,)), [A]),
    "concatenate": (lambda x, y: lax.concatenate([x, y, x], 1), [A, B]),
    "slice": (lambda x: lax.slice(x, (0, 1), (3, 4), (2, 2)), [A]),
    "empty slice": (lambda x: lax.slice(x, (2, 1), (2, 4)), [A]),
    "pad": (lambda x: lax.pad(x, np.float32(2), [(1, 2, 0), (0, 1, 2)]), [A]),
    "pad with a variable": (lambda x, y: lax.pad(x, y, [(1, 2, 0), (0, 1, 2)]), [A, POINT]),
    "cut off": (lambda x: lax.pad(x, np.float32(0), [(-1, 0, 0), (0, -1, 1)]), [A]),
    "select": (lambda x, y: lax.select(x > y, x, y * 2), [A, B]),
    "select by one": (lambda x, y: lax.select(jnp.asarray(True), x, y), [A, B]),
    "select of three": (lambda x, y, z: lax.select_n((x * 3).astype("int32") % 3, x, y, z), [A, B, C]),
    "convert": (lambda x: x.astype("float64").astype("float16"), [A]),
    "convert to complex": (lambda x: x.astype("complex64"), [A]),
    "no slope": (lambda x: lax.floor(x) * x + lax.sign(x) + lax.stop_gradient(x * x), [A]),
    "product": (lambda x, y: x @ y.T, [A, B]),
    "products of matrices": (lambda x, y: jnp.einsum("bij,bkj->bki", x, y), [STACK, STACK + 1]),
    "products over two axes": (
        lambda x, y: jnp.tensordot(x, y, ((1, 2), (2, 0))),
        [STACK, STACK.transpose(2, 0, 1)],
    ),
    "product with itself": (lambda x: x @ x.T, [A]),
    "vectors": (lambda x, y: jnp.dot(x, y), [A[0], B[0]]),
    "inner compilation, twice": (lambda x, y: jnp.where(x > 0, y, x) + jnp.where(y > 0.5, x, y), [A, B]),
    "used again and again": (lambda x: x * x * x + x, [A]),
    "a constant": (lambda x: x * jnp.asarray(B) + 2, [A]),
    "no rule": (lambda x, y: jnp.power(x, y) + jnp.cumsum(x, 1) + lax.atan2(y, x), [A, B]),
    "derivative given": (lambda x: jax.nn.relu(x) + jax.nn.softplus(x), [A]),
    "gathered": (lambda x: x[jnp.array([0, 2, 0])][:, 1], [A]),
    "added to rows": (lambda x, y: jnp.asarray(x).at[jnp.array([2, 0, 2])].add(y), [A, B]),
    "added out of range": (lambda x, y: jnp.asarray(x).at[jnp.array([7, 0, 2])].add(y, mode="drop"), [A, B]),
    "added at the nearest place": (
        lambda x, y: jnp.asarray(x).at[jnp.array([7, 0, 2])].add(y, mode="clip"),
        [A, B],
    ),
    "added to windows": (
        lambda x, y: lax.scatter_add(
            x, jnp.array([[1], [3]]), y[:2, :2], lax.ScatterDimensionNumbers((1,), (), (0,)), mode="drop"
        ),
        [A[:, 0], B],
    ),
    "added in each of several arrays": (
        lambda x, y: jax.vmap(lambda v, i, w: v.at[i].add(w))(x, jnp.array([[1, 1], [0, 2]]), y[:, :2]),
        [STACK, STACK + 1],
    ),
    "the operand itself": (lambda x, y: x, [A, B]),
    "complex numbers": (lambda x, y: x * y + jnp.exp(x) / y + jnp.abs(x) + x.real, [A + 1j * B, B + 1j * C]),
}


def gradients(fn, operands, ct):
    equations = trace_function(fn, "f", [jax.typeof(jnp.asarray(x)) for x in operands])
    _, pull = reverse.linearize(
        equations.jaxpr, equations.consts, list(map(jnp.asarray, operands)), [True] * len(operands), [True]
    )
    return [np.zeros_like(x) if g is None else g for g, x in zip(pull([ct]), operands, strict=True)]


def check(fn, operands, rtol=1e-6):
    out, pull = jax.vjp(fn, *operands)
    ct = jnp.asarray(RANDOM.randn(*out.shape), out.dtype)
    for grad, want in zip(gradients(fn, operands, ct), pull(ct), strict=True):
        assert np.shape(grad) == np.shape(want) and grad.dtype == want.dtype
        np.testing.assert_allclose(np.asarray(grad, want.dtype), want, rtol=rtol, atol=1e-6)


@pytest.mark.parametrize("fn", UNARY)
@pytest.mark.parametrize("x", [A, POINT, SPECIAL, A[:0], A.astype("float64"), A.astype("float16")], ids=str)
def test_functions_of_one_operand(fn, x):
    check(fn, [x], 1e-2 if x.dtype == np.float16 else 1e-6)


@pytest.mark.parametrize("fn", BINARY)
@pytest.mark.parametrize(
    ("x", "y"), [(A, B), (A, A), (POINT, POINT), (SPECIAL, SPECIAL[::-1]), (np.round(A * 2), np.round(B * 2))]
)
def test_functions_of_two_operands(fn, x, y):
    check(fn, [x, y])


@pytest.mark.parametrize("fn", [jnp.add, jnp.subtract, jnp.multiply, jnp.divide, jnp.maximum])
@pytest.mark.parametrize(
    ("x", "y"),
    [(A, ROW), (COLUMN, A), (COLUMN, ROW), (A, POINT), (POINT, A), (A, 2.0), (0.5, A), (A, STACK[0])],
)
def test_operands_of_different_shapes(fn, x, y):
    if isinstance(x, float) or isinstance(y, float):
        check(
            (lambda z: fn(x, z)) if isinstance(x, float) else (lambda z: fn(z, y)),
            [y if isinstance(x, float) else x],
        )
    else:
        check(fn, [x, y])


@pytest.mark.parametrize("name", STRUCTURE)
def test_places_and_products(name):
    fn, operands = STRUCTURE[name]
    check(fn, operands, 1e-3 if name == "convert" else 1e-5)


@pytest.mark.parametrize("name", [name for name in STRUCTURE if "complex" not in name and name != "convert"])
def test_second_gradients(name):
    fn, operands = STRUCTURE[name]
    kernel = Kernel(name, fn)
    out = fn(*operands)
    arity, ct = len(operands), jnp.asarray(RANDOM.randn(*out.shape), out.dtype)
    first = kernel.grad((0,), None, arity)
    direction = jnp.asarray(RANDOM.randn(*np.shape(operands[0])), operands[0].dtype)
    got = first.grad((0,), None, arity + 1).run(*operands, ct, direction)
    want = jax.grad(lambda x: (jax.vjp(lambda v: fn(v, *operands[1:]), x)[1](ct)[0] * direction).sum())(
        operands[0]
    )
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_a_result_without_cotangent_takes_no_part():
    """The derivative of eigenvectors of equal eigenvalues is infinite."""
    kernel = Kernel("eigh", lambda x: tuple(jnp.linalg.eigh(x)))
    got = kernel.grad((0,), (True, False), 1).run(np.eye(2, dtype="float32"), np.ones(2, "float32"))
    np.testing.assert_allclose(got, np.eye(2), atol=1e-6)


def test_rules_serve_what_common_operations_are_made_of(monkeypatch):
    """A rule that no longer fits anything would only be slow: normalisation, losses and layers need none of
    JAX's derivation."""
    monkeypatch.setattr(reverse, "_linearize_by_jax", None)
    check(lambda x, w, b: jax.nn.logsumexp(x @ w + b, axis=1), [A, B.T, C[0, :3]])
    check(
        lambda x: (
            (x - x.mean(1, keepdims=True))
            * lax.rsqrt(((x - x.mean(1, keepdims=True)) ** 2).mean(1, keepdims=True) + 1e-5)
        ),
        [A],
        1e-4,
    )
    check(lambda x: jnp.where(x > 0.5, x, x * x)[:, 1:].T.reshape(-1), [A])
