"""Float attributes that change from call to call become operands: no kernel per value, the same numbers,
the same refusals.

Unit tests of `_core.kernels.lifted_attributes`.
"""

import numpy as np
import pytest

from paddle_jax._core.kernels.lifted_attributes import LiftedKernel
from tests.ops.table import OPS

X = np.random.RandomState(3).uniform(-2, 2, (4, 5)).astype("float32")
Y = np.eye(5, dtype="float32")[:4]
VALUES = (0.3, 0.4, 0.45, 0.7)
CASES = {
    "leaky_relu": lambda p, x, y, v: p.nn.functional.leaky_relu(x, v),
    "elu": lambda p, x, y, v: p.nn.functional.elu(x, v),
    "celu": lambda p, x, y, v: p.nn.functional.celu(x, v),
    "softplus": lambda p, x, y, v: p.nn.functional.softplus(x, v),
    "softshrink": lambda p, x, y, v: p.nn.functional.softshrink(x, v),
    "hardshrink": lambda p, x, y, v: p.nn.functional.hardshrink(x, v),
    "smooth_l1_loss": lambda p, x, y, v: p.nn.functional.smooth_l1_loss(x, y, delta=v),
    "label_smooth": lambda p, x, y, v: p.nn.functional.label_smooth(y, epsilon=v) + x,
    "selu": lambda p, x, y, v: p.nn.functional.selu(x, 1 + v, v),
    "layer_norm": lambda p, x, y, v: p.nn.functional.layer_norm(x, 5, epsilon=v * 1e-3),
    "sigmoid_focal_loss": lambda p, x, y, v: p.nn.functional.sigmoid_focal_loss(x, y, gamma=v, alpha=v),
    "hardtanh": lambda p, x, y, v: p.nn.functional.hardtanh(x, -v, v),
    "margin_ranking_loss": lambda p, x, y, v: p.nn.functional.margin_ranking_loss(x, y, 2 * y - 1, v),
    "triplet_margin_loss": lambda p, x, y, v: p.nn.functional.triplet_margin_loss(x, y, -x, v),
}


def lifted(name):
    return [found for found in OPS[name].lifting.calls.values() if type(found) is LiftedKernel]


def answers(engine, case, value):
    x, y = engine.to_tensor(X, stop_gradient=False), engine.to_tensor(Y)
    out = case(engine, x, y, value)
    (grad,) = engine.grad(out.sum(), x, create_graph=False)
    return out.numpy(), grad.numpy()


@pytest.mark.parametrize("name", CASES)
def test_same_numbers_by_one_kernel(paddle, oracle, name):
    OPS[name].lifting.calls.clear()
    for value in VALUES:
        for got, expected in zip(
            answers(paddle, CASES[name], value), answers(oracle, CASES[name], value), strict=True
        ):
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-6)
    assert lifted(name) and all(all(found.replaceable.values()) for found in lifted(name))


def test_no_kernel_compiles_after_the_second_value(paddle):
    x = paddle.to_tensor(X)
    for value in VALUES[:2]:
        paddle.nn.functional.elu(x, value).numpy()
    (found,) = lifted("elu")
    paddle.nn.functional.elu(x, 0.6).numpy()
    known = found.kernel.run._cache_size()
    for value in np.linspace(0.01, 0.99, 20):
        paddle.nn.functional.elu(x, float(value)).numpy()
    assert found.kernel.run._cache_size() == known


def test_comparisons_of_the_body_are_conditions(paddle):
    functional, x = paddle.nn.functional, paddle.to_tensor(X)
    for value in VALUES:
        functional.softshrink(x, value)
        functional.celu(x, value)
        functional.dropout(x, value)
    with pytest.raises(ValueError, match="softshrink"):
        functional.softshrink(x, -0.5)
    with pytest.raises(ZeroDivisionError):
        functional.celu(x, 0.0)
    assert (functional.dropout(x, 1.0).numpy() == 0).all()
    assert lifted("celu")


def test_dropout_keeps_the_share_it_is_told(paddle):
    x = paddle.ones([200, 200])
    for value in (0.1, 0.25, 0.5, 0.8):
        out = paddle.nn.functional.dropout(x, value).numpy()
        assert abs((out == 0).mean() - value) < 0.01
        np.testing.assert_allclose(out[out != 0], 1 / (1 - value), rtol=1e-6)


def test_dtypes_stay(paddle):
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        x = paddle.to_tensor(X).astype(dtype)
        assert {str(paddle.nn.functional.leaky_relu(x, v).dtype) for v in VALUES} == {f"paddle.{dtype}"}


def test_derivatives_of_higher_order(paddle):
    x = paddle.to_tensor(X.astype("float64"), stop_gradient=False)
    for value in VALUES:
        first = paddle.grad(paddle.nn.functional.celu(x, value).sum(), x, create_graph=True)[0]
        second = paddle.grad(first.sum(), x)[0]
        np.testing.assert_allclose(
            second.numpy(), np.where(X > 0, 0, np.exp(X.astype("float64") / value) / value), rtol=1e-12
        )
