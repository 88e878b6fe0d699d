"""`recompute` in compiled steps: the same numbers as without it, from programs that compute again."""

import warnings

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax import aot, nn
from paddle_jax.distributed.fleet.utils import recompute


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return x + self.dropout(paddle.tanh(self.linear(x)))


class Normed(Block):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1D(4)

    def forward(self, x):
        return self.norm(super().forward(x))


def chain(net, x, call):
    for block in net:
        x = call(block, x)
    return x.square().sum()


def nested(net, x, call):
    return call(lambda y: call(net[1], call(net[0], y)) * 2, x).square().sum()


def several_results(net, x, call):
    results = call(lambda y: {"a": net[0](y), "b": [net[1](y), y, 3]}, x)
    return (results["a"] * results["b"][0] + results["b"][1] * results["b"][2]).sum()


def read_inside(net, x, call):
    """A list takes a result of the middle, which the loss uses."""
    middle = []

    def function(y):
        middle.append(net[0](y))
        return net[1](middle[0])

    return call(function, x).sum() + middle[0].square().sum()


def by_keyword(net, x, call):
    def function(y, factor):
        return net[0](y) * factor.exp()

    return call(function, x, factor=net[1].linear.bias).sum()


def in_a_branch(net, x, call):
    out = paddle.static.nn.cond(x.sum() > -1e9, lambda: call(net[0], x), lambda: x)
    return call(net[1], out).sum()


def second_order(net, x, call):
    grad = paddle.grad(chain(net, x, call), x, create_graph=True)[0]
    return grad.square().sum()


CASES = [chain, nested, several_results, read_inside, by_keyword, in_a_branch, second_order]


def plain(function, *args, **kwargs):
    return function(*args, **kwargs)


def steps(loss_of, call, block, compiled):
    """Losses, gradients, weights and buffers of two steps, and the next random numbers."""
    paddle.seed(7)
    net = nn.LayerList([block() for _ in range(2)]).astype("float64")
    sgd = paddle.optimizer.SGD(0.01, parameters=net.parameters())
    x = paddle.to_tensor(np.arange(12.0).reshape(3, 4) ** 1.5, stop_gradient=False)

    def step(x):
        loss = loss_of(net, x, call)
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        return loss

    if compiled:
        step = paddle.jit.to_static(step, full_graph=True)
    losses = [step(x).item() for _ in range(2)]
    return [losses, x.grad.numpy(), paddle.rand([2]).numpy(), *[v.numpy() for v in net.state_dict().values()]]


@pytest.mark.parametrize(("loss_of", "block"), [*[(case, Block) for case in CASES], (chain, Normed)])
def test_numbers_are_those_of_eager_steps_without_it(loss_of, block):
    for got, want in zip(
        steps(loss_of, recompute, block, True), steps(loss_of, plain, block, False), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def products(call):
    """The operations for products in the program of a step."""
    net = nn.LayerList([Block() for _ in range(3)])
    x = paddle.ones([2, 4])
    x.stop_gradient = False
    return aot.compile(lambda x: chain(net, x, call).backward(), x, target="cpu").products["f32"]


def test_programs_compute_again():
    one = 2 * 2 * 4 * 4
    # forward, gradients of weights and of operands
    assert products(plain) == 3 * 3 * one
    # the gradient of tanh needs the product once more
    assert products(recompute) == 3 * 4 * one


def test_a_function_without_backward_keeps_its_results():
    net = nn.LayerList([Block(), Block()])
    x = paddle.ones([2, 4])
    x.stop_gradient = False
    forward = paddle.jit.to_static(lambda x: chain(net, x, recompute))
    paddle.seed(3)
    forward(x).backward()
    got = x.grad.numpy(), net[0].linear.weight.grad.numpy()
    x.clear_grad()
    net.clear_gradients()
    paddle.seed(3)
    chain(net, x, plain).backward()
    np.testing.assert_allclose(got[0], x.grad.numpy(), rtol=1e-6)
    np.testing.assert_allclose(got[1], net[0].linear.weight.grad.numpy(), rtol=1e-6)


def test_the_strategy_of_a_distributed_model():
    strategy = paddle.distributed.Strategy()
    strategy._recompute.enable = True
    mesh = paddle.distributed.ProcessMesh([0], dim_names=["dp"])
    net = paddle.distributed.shard_layer(nn.Linear(2, 2), mesh)
    sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.distributed.to_static(net, None, nn.MSELoss(), sgd, strategy)
    strategy._recompute.checkpoints = ["linear_0.tmp_0"]
    with pytest.warns(UserWarning, match="checkpoints and refined_ops_patterns are not read"):
        paddle.distributed.to_static(net, None, nn.MSELoss(), sgd, strategy)
