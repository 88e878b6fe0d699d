"""Experts in one process that drives eight devices: each is on devices of its own."""

import functools

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from paddle_jax.incubate.distributed.models import moe
from tests.distributed import gpt

WIDTH, EXPERTS, STEPS = 6, 4, 3


class Centred(paddle.nn.Layer):
    """Rows less their mean."""

    def forward(self, x):
        return x - x.mean(0)


def started(degrees, middle):
    """The layer after `fleet.init` with some degrees. middle: the class of what is inside of an expert."""
    gpt.start(degrees)
    experts = []
    for number in range(EXPERTS):
        paddle.seed(100 + number)
        first = paddle.nn.Linear(WIDTH, 8)
        experts.append(paddle.nn.Sequential(first, middle(), paddle.nn.Linear(8, WIDTH)))
    paddle.seed(5)
    gate = {"type": "naive", "top_k": 2}
    return moe.MoELayer(WIDTH, paddle.nn.LayerList(experts), gate=gate)


def trained(layer):
    """Losses, and weights by name, of training with fleet, clipped by the norm of all gradients."""
    model = fleet.distributed_model(layer)
    clip = paddle.nn.ClipGradByGlobalNorm(0.2)
    optimizer = fleet.distributed_optimizer(
        paddle.optimizer.Momentum(0.5, parameters=layer.parameters(), grad_clip=clip)
    )
    losses = []
    for step in range(STEPS):
        x = paddle.to_tensor(np.random.RandomState(step).randn(8, 5, WIDTH).astype("float32"))
        loss = ((model(x) - x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses, {name: value.numpy() for name, value in layer.state_dict().items()}


def test_experts_on_devices_train_as_on_one():
    alone, wanted = trained(started({}, paddle.nn.Tanh))
    layer = started({"sharding": 2, "dp": 4}, paddle.nn.Tanh)
    losses, weights = trained(layer)
    np.testing.assert_allclose(losses, alone, rtol=1e-5)
    for name, value in wanted.items():
        np.testing.assert_allclose(weights[name], value, rtol=1e-3, atol=1e-5, err_msg=name)
    devices = [
        frozenset(shard.device.id for shard in expert[0].weight._value.addressable_shards)
        for expert in layer.experts
    ]
    assert len(set(devices)) == EXPERTS and all(len(one) == 2 for one in devices)
    assert len(frozenset().union(*devices)) == 2 * EXPERTS


@pytest.mark.parametrize("middle", [functools.partial(paddle.nn.BatchNorm1D, 8), Centred])
def test_an_expert_whose_rows_depend_on_each_other_gets_its_own_alone(middle):
    x = paddle.to_tensor(np.random.RandomState(0).randn(8, 5, WIDTH).astype("float32"))
    wanted = started({}, middle)(x).numpy()
    layer = fleet.distributed_model(started({"dp": 2, "mp": 2}, middle))
    np.testing.assert_allclose(layer(x).numpy(), wanted, rtol=1e-4, atol=1e-5)


def test_a_compiled_function_is_refused():
    layer = started({"dp": 2}, paddle.nn.Tanh)
    with pytest.raises(NotImplementedError, match="call it outside of to_static"):
        paddle.jit.to_static(layer, full_graph=True)(paddle.ones([2, 4, WIDTH]))
