"""Programs of many operations on few numbers are compiled without fusion, which would take
minutes; others are not."""

import jax
import jax.numpy as jnp
import numpy as np

import paddle_jax as paddle
from paddle_jax._program.capture.xla_options import fusion_options


def chain(y, steps):
    for _ in range(steps):
        y = y + 0.1 * jnp.stack([y[1], -y[0]])
    return y


def test_which_programs():
    small, large = jnp.ones(2), jnp.ones((2, 10_000))
    assert fusion_options(jax.make_jaxpr(lambda y: chain(y, 100))(small).jaxpr)
    assert not fusion_options(jax.make_jaxpr(lambda y: chain(y, 100))(large).jaxpr)
    assert not fusion_options(jax.make_jaxpr(lambda y: chain(y, 3))(small).jaxpr)
    inside = jax.make_jaxpr(lambda y: jax.lax.cond(y.sum() > 0, lambda y: chain(y, 100), lambda y: y, y))
    assert fusion_options(inside(small).jaxpr) and not fusion_options(inside(large).jaxpr)


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
