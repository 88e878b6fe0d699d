"""Losses over classes that processes divide, in a process that has them all: it is in no group."""

import types

import numpy as np
import pytest

from paddle_jax.distributed.fleet.layers.mpu.mp_ops import _c_softmax_with_cross_entropy

NO_GROUP = types.SimpleNamespace(is_member=lambda: False)


@pytest.mark.parametrize("dtype, rtol", [("float16", 1e-3), ("bfloat16", 4e-3), ("float32", 1e-6)])
def test_many_classes_keep_the_digits_of_their_dtype(paddle, dtype, rtol):
    """A sum of 300 000 exponents is computed in float32: float16 ends at 65 504."""
    logits = np.random.RandomState(0).uniform(-0.5, 0.5, (2, 300000)).astype("float32")
    given = paddle.to_tensor(logits).astype(dtype)
    exact = given.astype("float64").numpy()
    want = np.log(np.exp(exact).sum(-1)) - exact[[0, 1], [3, 299999]]
    given.stop_gradient = False
    loss = _c_softmax_with_cross_entropy(given, paddle.to_tensor([[3], [299999]]), NO_GROUP)
    assert loss.dtype == given.dtype and loss.shape == [2, 1]
    np.testing.assert_allclose(loss.astype("float64").numpy()[:, 0], want, rtol)
    loss.sum().backward()
    assert given.grad.dtype == given.dtype
    slope = given.grad.astype("float64").numpy()[[0, 1], [3, 299999]]
    np.testing.assert_allclose(slope, np.exp(-want) - 1, rtol)
