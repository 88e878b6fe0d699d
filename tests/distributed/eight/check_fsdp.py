"""`fsdp.fully_shard`: values of one device, and a piece of everything on each."""

import numpy as np
import pytest

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed.fsdp import fully_shard
from paddle_jax.distributed.fsdp.fully_shard import MixedPrecisionPolicy, OffloadPolicy
from tests.distributed.eight.model import bytes_per_device

MESH = dist.ProcessMesh(np.arange(4), dim_names=["x"])


def trained(wrap, cut):
    paddle.seed(3)
    net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.GELU(), paddle.nn.Linear(16, 4))
    optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters())
    net = wrap(net)
    losses = []
    for step in range(5):
        x = paddle.to_tensor(np.random.RandomState(step).randn(8, 8).astype("float32"))
        loss = net(cut(x)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    return losses, net, optimizer


@pytest.mark.parametrize(
    "settings",
    [{}, {"reshard_after_forward": False}, {"shard_placement_fn": lambda p: dist.Shard(p.ndim - 1)}],
)
def test_trains_as_on_one_device(settings):
    wanted, whole, _ = trained(lambda net: net, lambda x: x)
    cut = lambda x: dist.shard_tensor(x, MESH, [dist.Shard(0)])  # noqa: E731
    losses, net, optimizer = trained(lambda net: fully_shard(net, mesh=MESH, **settings), cut)
    np.testing.assert_allclose(losses, wanted, rtol=1e-5)
    axis = 1 if "shard_placement_fn" in settings else 0
    assert net[0].weight.placements == [dist.Shard(axis)] and net[0].weight.shape == [8, 16]
    size = sum(parameter.size * 4 for parameter in whole.parameters())
    assert set(bytes_per_device(net.parameters()).values()) == {size // 4}
    moments = [value for name, value in optimizer.state_dict().items() if "moment" in name]
    assert set(bytes_per_device(moments).values()) == {2 * size // 4}


def sharded_in_parts(net):
    fully_shard(net[0], mesh=MESH)
    return fully_shard(net, mesh=MESH)


def test_a_block_before_its_model():
    wanted, _, _ = trained(lambda net: net, lambda x: x)
    cut = lambda x: dist.shard_tensor(x, MESH, [dist.Shard(0)])  # noqa: E731
    losses, net, _ = trained(sharded_in_parts, cut)
    np.testing.assert_allclose(losses, wanted, rtol=1e-5)
    for layer in (net[0], net[2]):
        assert layer.weight.placements == [dist.Shard(0)]
        assert len(layer._forward_pre_hooks) == len(layer._forward_post_hooks) == 1
        seen = []
        layer.register_forward_pre_hook(lambda layer, _, seen=seen: seen.append(layer.weight.placements))
        layer(cut(paddle.ones([8, layer.weight.shape[0]])))
        assert seen == [[dist.Replicate()]]


def test_settings():
    net = paddle.nn.Linear(8, 8)
    assert fully_shard(net, mesh=MESH, ignored_params=[net.bias]) is net
    assert net.weight.placements == [dist.Shard(0)] and net.bias.placements == [dist.Replicate()]
    assert fully_shard(paddle.nn.Linear(8, 8)).weight.process_mesh.size == 8
    for settings in ({"mp_policy": MixedPrecisionPolicy("bfloat16")}, {"offload_policy": OffloadPolicy()}):
        with pytest.raises(NotImplementedError, match="fully_shard: "):
            fully_shard(net, mesh=MESH, **settings)
