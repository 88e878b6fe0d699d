"""Automatic parallelism on a mesh of one device: the mode of a saved model, and named tuples of users."""

from typing import Any, NamedTuple

import pytest

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed.auto_parallel import Engine
from paddle_jax.distributed.auto_parallel.intermediate.pipeline_parallel import moved
from paddle_jax.distributed.auto_parallel.plans import each

MESH = dist.ProcessMesh([0], ["x"])


class Couple(NamedTuple):
    """What a loader or a layer of a user gives."""

    one: Any
    two: Any


def test_save_keeps_the_mode_of_each_layer(tmp_path):
    net = paddle.nn.Sequential(paddle.nn.Dropout(0.5), paddle.nn.Dropout(0.5))
    engine = Engine(net, paddle.nn.MSELoss(), paddle.optimizer.SGD(0.1, parameters=[paddle.ones([1])]))
    engine.prepare([paddle.static.InputSpec([None, 2], "float32", "x")], mode="train")
    net[1].eval()
    engine.save(str(tmp_path / "program"), training=False)
    assert (net.training, net[0].training, net[1].training) == (True, True, False)
    # Nothing is dropped in the file.
    assert paddle.jit.load(str(tmp_path / "program"))(paddle.ones([3, 2])).tolist() == [[1.0, 1.0]] * 3
    net[0].forward = lambda x: x if float(x.sum()) > 0 else -x
    with pytest.raises(ValueError, match="jit.save"):
        engine.save(str(tmp_path / "refused"), training=False)
    assert (net.training, net[0].training, net[1].training) == (True, True, False)


def test_a_loader_keeps_named_tuples():
    inner = Couple(paddle.ones([2]), paddle.zeros([2]))
    (batch,) = dist.shard_dataloader([Couple(paddle.ones([4]), inner)], MESH, shard_dims="x")
    assert type(batch) is Couple and type(batch.two) is Couple
    assert batch.one.placements == batch.two.two.placements == [dist.Shard(0)]


def test_results_of_layers_keep_named_tuples():
    result = Couple(dist.shard_tensor(paddle.ones([2]), MESH, [dist.Replicate()]), 3)
    stage = dist.ProcessMesh([0], ["y"])
    found = moved(result, stage)
    assert type(found) is Couple and found.one.process_mesh == stage and found.two == 3
    found = each(Couple(paddle.ones([2]), 3), lambda x: x * 2)
    assert type(found) is Couple and found.one.tolist() == [2.0, 2.0] and found.two == 3
