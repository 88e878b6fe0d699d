"""What the tape keeps and runs: no more operations than derivatives need, nothing after the last
reference is gone.

Unit tests of `_core.base.state` and `_core.kernels.kernel`.
"""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import Kernel, compute


@pytest.fixture(params=["sync", "off"])
def tier(paddle, request):
    """One way of running ops."""
    before = paddle.get_flags("FLAGS_deferred")
    paddle.set_flags({"FLAGS_deferred": request.param})
    yield request.param
    paddle.set_flags(before)


@pytest.fixture
def ran(paddle):
    """The names of the kernels that were run."""
    before, names = paddle.get_flags("FLAGS_deferred"), []
    paddle.set_flags({"FLAGS_deferred": "off"})
    local.ctx.frame.executor = lambda kernel, values: (names.append(kernel.name), compute(kernel, values))[1]
    yield names
    local.ctx.frame.executor = None
    paddle.set_flags(before)


def test_derivatives_of_a_net_double_in_cost_per_order(paddle, ran):
    sizes = [1, 4, 4, 1]
    r = np.random.RandomState(0)
    layers = [(r.randn(a, b), r.randn(b)) for a, b in zip(sizes[:-1], sizes[1:], strict=True)]
    xs = r.randn(7, 1)

    def net(x, layers, tanh):
        for w, b in layers[:-1]:
            x = tanh(x @ w + b)
        return x @ layers[-1][0] + layers[-1][1]

    params = [tuple(paddle.to_tensor(v, stop_gradient=False) for v in layer) for layer in layers]
    x = paddle.to_tensor(xs, stop_gradient=False)
    y, reference, counts = net(x, params, paddle.tanh), lambda v: net(v, layers, jnp.tanh), [len(ran)]
    for _ in range(3):
        (y,) = paddle.grad(y, x, create_graph=True)
        reference = (lambda f: jax.grad(lambda v: f(v).sum()))(reference)
        counts.append(len(ran))
        np.testing.assert_allclose(y.numpy(), reference(jnp.asarray(xs)), rtol=1e-8)
    steps = np.diff(counts)
    assert (steps[1:] <= 2.2 * steps[:-1]).all(), steps
    (y * y).mean().backward()
    assert len(ran) - counts[-1] <= 4 * steps[-1]


def test_a_chain_grows_by_its_length(paddle, ran):
    def ops(n):
        x = paddle.to_tensor(np.array([0.1]), stop_gradient=False)
        y, before = x, len(ran)
        for _ in range(n):
            y = paddle.sin(y) + x
        for _ in range(3):
            (y,) = paddle.grad(y, x, create_graph=True)
        return len(ran) - before

    short, long = ops(10), ops(100)
    assert long <= 11 * short


def test_linear_operations_have_no_second_derivative_to_run(paddle, ran):
    x, w = (paddle.to_tensor(v, stop_gradient=False) for v in (np.ones((2, 3)), np.ones((3, 2))))
    y = paddle.nn.functional.relu(paddle.concat([x @ w, x @ w]).reshape([-1]) * 2 + 1).sum()
    (g,) = paddle.grad(y, x, create_graph=True)
    before = len(ran)
    assert paddle.grad(g, x)[0].tolist() == [[0.0] * 3] * 2
    assert len(ran) - before <= 1  # the ones to start from


@jax.custom_jvp
def straight(x):
    return jnp.round(x)


straight.defjvps(lambda t, ans, x: t)

FLOWS = {
    "both": (lambda x, y: x * y, 0b11),
    "none of a comparison": (lambda x, y: jnp.where(x > 0, y, 0.0), 0b10),
    "steps": (lambda x, y: jnp.round(x) + jnp.floor(y) * x, 0b01),
    "through integers": (lambda x, y: x.astype(jnp.int32).astype(jnp.float32) + y, 0b10),
    "own rule": (lambda x, y: straight(x), 0b01),
    "unused": (lambda x, y: jnp.zeros_like(x), 0),
    "inside a loop": (lambda x, y: jax.lax.fori_loop(0, 3, lambda i, v: v * x, y), 0b11),
    "several results": (lambda x, y: (jnp.argmax(x), y + 1), 0b10),
    "inside jit": (jax.jit(lambda x, y: jnp.where(y > 0, x, -x)), 0b01),
}


@pytest.mark.parametrize("name", FLOWS)
def test_where_gradients_flow(name):
    fn, want = FLOWS[name]
    assert Kernel("test", fn).gradient_mask([jnp.ones(3), jnp.ones(3)]) == want


def test_tapes_die_with_their_last_reference(paddle, tier):
    class Exp(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            y = paddle.exp(x)
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensor()[1]

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    gc.collect()
    gc.disable()
    try:
        for finish in (
            lambda y: None,
            lambda y: (y * y).sum().backward(),
            lambda y: paddle.grad((y * y).sum(), x, create_graph=True),
        ):
            for make in (
                lambda: paddle.tanh(x * x),
                lambda: Exp.apply(x * 1),
                lambda: (x * 2).exp_(),
                lambda: (x * 2).zero_(),
            ):
                y = make()
                y.retain_grads()
                y.register_hook(lambda g: g * 2)
                refs = [weakref.ref(y), weakref.ref(y._node)]
                finish(y)
                del y
                assert [ref() for ref in refs] == [None, None]
    finally:
        gc.enable()


def test_twenty_thousand_operations(paddle):
    before = paddle.get_flags("FLAGS_deferred")
    paddle.set_flags({"FLAGS_deferred": "off"})
    x = paddle.to_tensor([1.0], stop_gradient=False)
    y = x
    for _ in range(20_000):
        y = y + x
    y.backward()
    paddle.set_flags(before)
    assert x.grad.tolist() == [20_001.0]
    del y
