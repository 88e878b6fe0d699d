"""Gradients of kernels, whichever way they are derived, against `jax.vjp` of the plain function.

Unit tests of `_core.kernels.kernel`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from paddle_jax._core.kernels.kernel import Kernel

RANDOM = np.random.RandomState(0)
X, Y = RANDOM.randn(3, 4).astype("float32"), RANDOM.randn(4).astype("float32")
Z = (RANDOM.randn(3, 4) + 1j * RANDOM.randn(3, 4)).astype("complex64")


@jax.custom_jvp
def slow_square(x):
    return x * x


@slow_square.defjvp
def _(primals, tangents):
    """A derivative with a loop, which cannot be transposed where it stands."""
    (x,), (t,) = primals, tangents
    return x * x, lax.scan(lambda c, _: (c + x * t, None), jnp.zeros_like(x), None, length=2)[0]


@jax.custom_vjp
def doubled(x):
    return 2 * x


# wrong on purpose: it shows that the rule was taken
doubled.defvjp(lambda x: (2 * x, None), lambda _, ct: (3 * ct,))

FUNCTIONS = {
    "plain": (lambda x, y: jnp.tanh(x * y), (X, Y)),
    "inner compilation": (lambda x, y: jnp.where(x > 0, x, y * x), (X, Y)),
    "derivative given": (lambda x, y: jax.nn.relu(x) + jax.nn.logsumexp(y), (X, Y)),
    "loop": (lambda x, y: lax.scan(lambda c, row: (c + row * y, None), y, x)[0], (X, Y)),
    "branch": (lambda x, y: lax.cond(y[0] > 0, jnp.sin, jnp.cos, x) * y, (X, Y)),
    "loop in the derivative": (lambda x, y: slow_square(x) * y, (X, Y)),
    "reverse given": (lambda x, y: doubled(x) * y, (X, Y)),
    "solved": (lambda x, y: jnp.linalg.solve(x.T @ x + jnp.eye(4), y), (X, Y)),
    "complex": (lambda x, y: jnp.exp(x) * y, (Z, Y.astype("complex64"))),
    "no dependence": (lambda x, y: y * 2, (X, Y)),
    "broadcast": (lambda x, y: x.sum() + y, (X, Y)),
}


def expected(fn, operands, ct):
    _, pull = jax.vjp(fn, *operands)
    return [np.conj(g) for g in pull(np.conj(ct))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_gradients(name):
    fn, operands = FUNCTIONS[name]
    kernel = Kernel(name, fn)
    out = fn(*operands)
    ct = np.asarray(RANDOM.randn(*out.shape), out.dtype)
    got = kernel.grad((0, 1), None, 2).run(*operands, ct)
    for grad, want in zip(got, expected(fn, operands, ct), strict=True):
        np.testing.assert_allclose(grad, want, rtol=1e-6, atol=1e-7)
    second = kernel.grad((0,), None, 2).grad((1,), None, 3).run(*operands, ct, np.ones_like(operands[0]))
    want = expected(lambda y: expected_conj(fn, operands[0], y, ct), operands[1:], np.ones_like(operands[0]))
    np.testing.assert_allclose(second, want[0], rtol=1e-5, atol=1e-6)


def expected_conj(fn, x, y, ct):
    """The gradient by x, as a function that JAX can differentiate."""
    return jnp.conj(jax.vjp(lambda v: fn(v, y), x)[1](jnp.conj(ct))[0])


def test_several_results_of_which_some_have_no_cotangent():
    def fn(x):
        return [x * 2, jnp.argmax(x), x.sum(0) ** 2]

    kernel = Kernel("several", fn)
    ct = np.ones(4, "float32")
    got = kernel.grad((0,), (False, False, True), 1).run(X, ct)
    np.testing.assert_allclose(got, expected(lambda x: x.sum(0) ** 2, [X], ct)[0], rtol=1e-6)
    both = kernel.grad((0,), (True, False, True), 1).run(X, np.ones_like(X), ct)
    np.testing.assert_allclose(both, got + 2, rtol=1e-6)


def test_the_same_equations_as_from_vjp():
    def fn(x, y):
        return jax.nn.softmax(x * y, axis=1)

    kernel = Kernel("softmax", fn)
    ours = jax.make_jaxpr(kernel.grad((0, 1), None, 2).fn)(X, Y, X)
    theirs = jax.make_jaxpr(lambda x, y, ct: jax.vjp(fn, x, y)[1](ct))(X, Y, X)
    np.testing.assert_allclose(
        jax.core.eval_jaxpr(ours.jaxpr, ours.consts, X, Y, X)[0],
        jax.core.eval_jaxpr(theirs.jaxpr, theirs.consts, X, Y, X)[0],
        rtol=1e-6,
    )
