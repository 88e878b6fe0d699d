"""What backward needs passes through the user's functions, and gradients stay what they are."""

import numpy as np
import pytest

X, Y = np.random.RandomState(3).randn(2, 3, 4).astype("float32")


def tensors(module):
    return [module.to_tensor(a, stop_gradient=False) for a in (X, Y)]


def hooks(module, log):
    def pack(t):
        log.append(("pack", list(t.shape)))
        return t.numpy()

    def unpack(a):
        log.append(("unpack", list(a.shape)))
        return module.to_tensor(a)

    return module.autograd.saved_tensors_hooks(pack, unpack)


def test_a_product_as_the_oracle(paddle, oracle):
    logs, grads = [], []
    for module in (paddle, oracle):
        log, (x, y) = [], tensors(module)
        with hooks(module, log):
            z = x * y
        assert [kind for kind, _ in log] == ["pack", "pack"]
        z.backward(module.ones([3, 4]))
        logs.append(log)
        grads.append([x.grad.numpy(), y.grad.numpy()])
    assert logs[0] == logs[1]
    np.testing.assert_array_equal(grads[0], grads[1])


def test_two_orders_and_a_py_layer(paddle):
    class Cube(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            return 3 * x * x * g

    def gradients(context):
        x, y = tensors(paddle)
        with context:
            out = paddle.tanh(Cube.apply(x) @ y.T).sum()
            (first,) = paddle.grad(out, x, create_graph=True)
            (second,) = paddle.grad((first * first).sum(), y)
        return first.numpy(), second.numpy()

    log = []
    for got, want in zip(gradients(hooks(paddle, log)), gradients(paddle.enable_grad()), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert {kind for kind, _ in log} == {"pack", "unpack"}


def test_fewer_bits(paddle):
    x, y = tensors(paddle)
    with paddle.autograd.saved_tensors_hooks(lambda t: t.astype("float16"), lambda t: t.astype("float32")):
        z = (x * y).sum()
    z.backward()
    np.testing.assert_array_equal(x.grad.numpy(), Y.astype("float16").astype("float32"))


def test_innermost_hooks_count_and_the_end_restores(paddle):
    x, y = tensors(paddle)
    outer, inner = [], []
    with hooks(paddle, outer):
        with hooks(paddle, inner):
            x * y
        assert (len(inner), len(outer)) == (2, 0)
        x * y
        with paddle.no_grad():
            x * y
        assert (len(inner), len(outer)) == (2, 2)
    with (
        pytest.raises(ValueError, match="no"),
        paddle.autograd.saved_tensors_hooks(lambda t: (_ for _ in ()).throw(ValueError("no")), None),
    ):
        x * y
    (x * y).sum().backward()
    assert (len(inner), len(outer)) == (2, 2)
    np.testing.assert_array_equal(x.grad.numpy(), Y)


def test_refuses_what_is_no_tensor(paddle):
    x, y = tensors(paddle)
    with paddle.autograd.saved_tensors_hooks(lambda t: 1, lambda kept: kept):
        z = x * y
    with pytest.raises(TypeError, match="unpack_hook"):
        z.sum().backward()
