"""A program of many operations on few numbers. With fusion it would compile for minutes."""

import numpy as np

import paddle_jax as paddle


def test_a_differential_equation_is_fitted():
    """The rates of x' = -a x + b y, y' = a x - b y, by a step that writes Euler's method out; the closed form
    is the reference."""
    rates = paddle.create_parameter([2], "float32")
    rates.set_value(np.array([0.5, 0.2], "float32"))
    start = paddle.to_tensor([1.0, 0.5])

    @paddle.jit.to_static(full_graph=True)
    def step():
        y = start
        for _ in range(60):
            flow = rates[0] * y[0] - rates[1] * y[1]
            y = y + 0.01 * paddle.stack([-flow, flow])
        y[0].backward()
        gradient = rates.grad.clone()
        rates.clear_gradient(False)
        return y.detach(), gradient

    def closed(a, b):
        total, rate = 1.5, a + b
        return b / rate * total + (1.0 - b / rate * total) * (1 - 0.01 * rate) ** 60

    for _ in range(2):
        y, gradient = step()
        a, b, h = 0.5, 0.2, 1e-5
        np.testing.assert_allclose(y.numpy(), [closed(a, b), 1.5 - closed(a, b)], rtol=1e-5)
        slopes = [
            (closed(a + h, b) - closed(a - h, b)) / (2 * h),
            (closed(a, b + h) - closed(a, b - h)) / (2 * h),
        ]
        np.testing.assert_allclose(gradient.numpy(), slopes, rtol=1e-3, atol=1e-6)
