"""Numbers that depend on shapes alone are constants of a compiled function; those that may change are not."""

import warnings

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn


def sizes_of(x):
    """What programs for Paddle do with the shape that is a Tensor."""
    shape = paddle.shape(x)
    height, width = shape[2], shape[3]
    wide = nn.functional.interpolate(x, shape[2:] * 2, mode="bilinear")
    grid = paddle.arange(height * width).reshape([1, 1, height, width])
    half = (shape[2:].astype("float32") * 0.5).astype("int32")
    rows, left = [], height
    while left > 0:
        left -= 1
        rows.append(x[:, :, left])
    tail = x[:, :, : height - 1] if width > 2 else x
    return (
        wide,
        x + grid.astype(x.dtype),
        half,
        paddle.stack(rows, 2),
        tail,
        paddle.zeros([shape[0], paddle.numel(x)]),
        left,
    )


def test_numbers_that_depend_on_shapes_alone_are_constants():
    function = paddle.jit.to_static(sizes_of)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for shape in ([1, 2, 3, 4], [2, 1, 4, 2]):
            x = paddle.arange(float(np.prod(shape))).reshape(shape)
            for found, expected in zip(function(x), sizes_of(x), strict=True):
                assert found.dtype == expected.dtype and found.shape == expected.shape
                np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-6)


def test_values_that_are_no_shapes_are_not_constants():
    def scaled(x, n):
        return x * (n + paddle.shape(x)[0])  # n may change; the shape may not

    function, x = paddle.jit.to_static(scaled), paddle.ones([3])
    for n in (1, 5):
        assert function(x, paddle.to_tensor(n)).tolist() == [float(n + 3)] * 3


def test_numbers_in_place_stay_compiled():
    def scaled(x):
        total = 0
        for _ in range(2):
            total += x
        total *= np.sqrt(1.0 / 2)
        total -= 1
        return total

    x = paddle.to_tensor([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(paddle.jit.to_static(scaled)(x).numpy(), scaled(x).numpy(), 1e-6)
