"""Running sums: derivatives, vmap, the interpreter and compiled code.

Unit tests of `tensor.running_sums` and `_core.numpy_backend`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax._core.numpy_backend import plan
from paddle_jax.tensor.running_sums import RUNNING_SUM

X = np.random.RandomState(0).randn(3, 4, 5).astype("float32")


def expected(x, axis, reverse=False):
    if reverse:
        return np.flip(np.cumsum(np.flip(x, axis), axis), axis)
    return np.cumsum(x, axis)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "complex64"])
@pytest.mark.parametrize("axis, reverse", [(0, False), (1, True), (2, False), (2, True)])
def test_values_in_each_tier(axis, reverse, dtype):
    x = (10 * X).astype(dtype)

    def function(x):
        return RUNNING_SUM.bind(x, axis=axis, reverse=reverse)

    (interpreted,) = plan(jax.make_jaxpr(function)(x))(x)
    for result in (interpreted, jax.jit(function)(x), function(jnp.asarray(x))):
        assert result.dtype == dtype
        np.testing.assert_allclose(result, expected(x, axis, reverse), 1e-5, 1e-4)


@pytest.mark.parametrize("mapped", [0, 1, 2, -1])
@pytest.mark.parametrize("axis", [0, 1])
def test_vmap(mapped, axis):
    result = jax.vmap(lambda x: RUNNING_SUM.bind(x, axis=axis, reverse=False), mapped, mapped)(X)
    # the axis among those that are not mapped
    kept = [k for k in range(3) if k != mapped % 3]
    np.testing.assert_allclose(result, np.cumsum(X, kept[axis]), 1e-5, 1e-5)


@pytest.mark.parametrize("axis", [0, 1])
def test_derivatives_of_each_order(axis):
    x = paddle.to_tensor(X[0], stop_gradient=False)
    y = (paddle.cumsum(x, axis) ** 3).sum()
    (first,) = paddle.grad(y, x, create_graph=True)
    (second,) = paddle.grad((first * first).sum(), x, create_graph=True)
    (third,) = paddle.grad((second**2).sum(), x)

    def by_jax(x):
        return (jnp.cumsum(x, axis) ** 3).sum()

    want = jax.grad(by_jax)
    want_second = jax.grad(lambda x: (want(x) ** 2).sum())
    want_third = jax.grad(lambda x: (want_second(x) ** 2).sum())
    x = X[0].astype("float64")
    for got, wanted in ((first, want(x)), (second, want_second(x)), (third, want_third(x))):
        np.testing.assert_allclose(got.numpy(), wanted, 1e-3, 1e-3 * np.abs(wanted).max())


def test_forward_derivatives():
    _, tangent = jax.jvp(lambda x: RUNNING_SUM.bind(x, axis=1, reverse=False), (X,), (2 * X,))
    np.testing.assert_allclose(tangent, 2 * np.cumsum(X, 1), 1e-5, 1e-5)


def test_one_equation():
    def running(x):
        return paddle.cumsum(paddle.to_tensor(x))._value

    equations = jax.make_jaxpr(running)(X).jaxpr.eqns
    assert "running_sum" in str(equations) and len(equations) < 10
