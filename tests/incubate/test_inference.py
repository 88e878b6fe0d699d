"""`paddle.incubate.jit.inference`: results as without it, no gradients, compiled."""

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.incubate.jit import inference, is_inference_mode


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(4, 3)

    def forward(self, x, scale=1.0, more=None):
        out = self.fc(x) * scale
        return (out, out + 1) if more is None else out + more[0]


def test_layers():
    net, x = Net(), paddle.randn([2, 4])
    first, second = net(x, 2.0)
    compiled = inference(net)
    assert compiled is net
    for _ in range(2):
        results = net(x, 2.0)
        assert all(r.stop_gradient for r in results)
        for got, want in zip(results, (first, second), strict=True):
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6)
    np.testing.assert_allclose(net(x, more=[first]).numpy(), 1.5 * first.numpy(), rtol=1e-5, atol=1e-6)
    net.fc.weight.set_value(paddle.zeros([4, 3]))
    np.testing.assert_array_equal(net(x)[0].numpy(), np.broadcast_to(net.fc.bias.numpy(), [2, 3]))


def test_functions():
    @inference(precision_mode="float32")
    def product(a, b):
        """Told."""
        return a @ b

    a, b = paddle.randn([2, 4]), paddle.randn([4, 2])
    a.stop_gradient = False
    for _ in range(3):  # one that cannot be compiled would warn, which is an error in the tests
        out = product(a, b)
        np.testing.assert_allclose(out.numpy(), a.numpy() @ b.numpy(), rtol=1e-5)
        assert out.stop_gradient
    assert product.__name__ == "product"
    assert product.__doc__ == "Told."
    assert is_inference_mode(product)
    assert not is_inference_mode(product.__wrapped__)


def test_methods():
    class Part(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = paddle.nn.Linear(2, 2)

        @inference
        def forward(self, x):
            return self.fc(x)

    one, two, x = Part(), Part(), paddle.ones([1, 2])
    assert is_inference_mode(one)
    for part in (one, two):
        np.testing.assert_allclose(part(x).numpy(), part.fc(x).numpy(), rtol=1e-6)


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_precision(precision):
    net, x = inference(Net(), precision_mode=precision), paddle.randn([2, 4])
    out = net(x)[0]
    assert out.dtype == getattr(paddle, precision)
    np.testing.assert_allclose(out.astype("float32").numpy(), net.fc(x).numpy(), atol=0.05)


def test_what_is_refused():
    with pytest.raises(AssertionError, match="precision_mode"):
        inference(Net(), precision_mode="int3")
    with pytest.raises(AssertionError, match="must be a function"):
        inference(3)
    assert not is_inference_mode(Net())
