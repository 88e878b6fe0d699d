"""Layers and functions on inputs of unknown lengths: results and gradients as when they run at once, for
several lengths."""

import numpy as np
import pytest

import paddle_jax

nn, F = paddle_jax.nn, paddle_jax.nn.functional
IMAGES, TEXT, OPEN_TEXT = [None, 4, None, None], [None, 4, 6], [None, None, 6]
WORK = {
    "lstm": (TEXT, lambda: nn.LSTM(6, 5), None),
    "gru with states": (
        TEXT,
        lambda: nn.GRU(6, 5),
        lambda net, x: net(x, paddle_jax.zeros([1, paddle_jax.shape(x)[0], 5]))[0],
    ),
    "attention": (OPEN_TEXT, lambda: nn.MultiHeadAttention(6, 2), None),
    "transformer": (OPEN_TEXT, lambda: nn.Transformer(6, 2, 1, 1, 8, dropout=0.0), lambda net, x: net(x, x)),
    "convolution": (
        IMAGES,
        lambda: nn.Sequential(
            nn.Conv2D(4, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.AdaptiveAvgPool2D(2)
        ),
        None,
    ),
    "transposed": (IMAGES, lambda: nn.Conv2DTranspose(4, 2, 3, stride=2), None),
    "interpolated": (IMAGES, lambda: nn.Upsample(scale_factor=2, mode="bilinear"), None),
    "normalised": (
        IMAGES,
        lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.InstanceNorm2D(4), nn.PixelShuffle(2)),
        None,
    ),
    "flattened": (TEXT, lambda: nn.Sequential(nn.Flatten(), nn.Linear(24, 3), nn.LayerNorm(3)), None),
    "grid": ([None, 2, 3], lambda: None, lambda net, x: F.affine_grid(x, [paddle_jax.shape(x)[0], 1, 3, 3])),
    "assigned": (TEXT, lambda: None, lambda net, x: assigned(x)),
    "turned": (TEXT, lambda: None, lambda net, x: paddle_jax.roll(x[::-1], 1, 0)[..., 0] + x.std(0).sum()),
    "repeated": (
        TEXT,
        lambda: None,
        lambda net, x: paddle_jax.repeat_interleave(x, 2, axis=0).tile([2, 1, 1]),
    ),
    "chosen": (TEXT, lambda: None, lambda net, x: paddle_jax.masked_select(x, x > 0.5)),
}


def assigned(x):
    y = x * 1
    y[:, 0] = x[:, 1] * 2
    return y


@pytest.mark.parametrize("name", WORK)
def test_as_at_once(name, static):
    S, main, startup = static
    shape, make, call = WORK[name]
    paddle_jax.disable_static()
    net = make()
    if net is not None:
        net.eval()
    paddle_jax.enable_static()
    call = call or (lambda net, x: net(x)[0] if isinstance(net, nn.LSTM) else net(x))
    x = S.data("x", shape)
    x.stop_gradient = False
    out = call(net, x)
    (grad,) = S.gradients((out * out).sum(), x)
    exe = S.Executor()
    for size in (2, 3):
        value = (
            np.random.RandomState(size)
            .rand(*[size + (axis > 0) if n is None else n for axis, n in enumerate(shape)])
            .astype("float32")
        )
        got = exe.run(main, {"x": value}, [out, grad])
        paddle_jax.disable_static()
        tensor = paddle_jax.to_tensor(value, stop_gradient=False)
        want = call(net, tensor)
        (slope,) = paddle_jax.grad((want * want).sum(), tensor)
        for a, b in zip(got, (want, slope), strict=True):
            np.testing.assert_allclose(a, b.numpy(), rtol=2e-4, atol=2e-5)
        paddle_jax.enable_static()
