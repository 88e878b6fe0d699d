"""A mesh over two processes with two devices each: values, gradients, checkpoints."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import numpy as np
import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed import ProcessMesh, Replicate, Shard


def main(folder):
    mesh = ProcessMesh(np.arange(4), ["x"])
    data = np.arange(8, dtype="float32").reshape(4, 2)
    x = dist.shard_tensor(data, mesh, [Shard(0)])
    x.stop_gradient = False
    y = dist.reshard(x * x, mesh, [Replicate()])
    y.sum().backward()
    assert np.array_equal(x.numpy(), data) and np.array_equal(x.grad.numpy(), 2 * data)
    assert np.array_equal(y.numpy(), data**2)
    assert "GlobalDenseTensor" in str(x) and np.array_equal(dist.unshard_dtensor(x).numpy(), data)
    assert x._local_value().numpy().tolist() == data[2 * dist.get_rank() : 2 * dist.get_rank() + 1].tolist()
    # A value that `set_value` has bound to the device of the process.
    net = paddle.nn.Linear(4, 2)
    net.weight.set_value(data)
    weight = dist.shard_tensor(net.weight, mesh, [Shard(0)])
    assert np.array_equal(weight.numpy(), data)
    # It goes together with a value on the mesh, too.
    assert np.array_equal((x * net.weight).numpy(), data * data)
    sharded_states(mesh, data)
    parts_of_processes(mesh)
    try:
        dist.shard_tensor(paddle.full([4], dist.get_rank()), mesh, [Replicate()])
    except ValueError as error:
        assert "differs by process" in str(error)
    else:
        raise AssertionError("values that differ were taken")
    # The save makes the group of all processes, as the program has made none.
    dist.save_state_dict({"x": x, "own": paddle.ones([2])}, folder)
    again = dist.shard_tensor(np.zeros_like(data), mesh, [Replicate()])
    dist.load_state_dict({"x": again}, folder)
    assert np.array_equal(again.numpy(), data)
    stages(data)


def parts_of_processes(mesh):
    # Each of four devices has the part of its process; there are two devices in each.
    rank = dist.get_rank()
    join = dist.auto_parallel.api.dtensor_from_local
    part = paddle.full([1, 2], rank + 1.0)
    part.stop_gradient = False
    rows = join(part, mesh, [Shard(0)])
    assert rows.placements == [Shard(0)] and rows[:, 0].tolist() == [1, 1, 2, 2]
    factors = paddle.to_tensor([[1.0], [2.0], [3.0], [4.0]])
    (rows * factors).sum().backward()
    assert part.grad.tolist() == [[[3.0, 3.0]], [[7.0, 7.0]]][rank]
    total = join(part.detach(), mesh, [dist.Partial()])
    assert total.placements == [dist.Partial()] and total.numpy().tolist() == [[6, 6]]
    largest = join(part.detach(), mesh, [dist.Partial(dist.ReduceType.kRedMax)])
    assert largest.numpy().tolist() == [[2, 2]]

    # Each process reads rows of its own, along the dimension of processes alone.
    rows = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.full([2, 1], rank + 1.0)]), batch_size=2)
    table = ProcessMesh(np.arange(4).reshape(2, 2), ["processes", "devices"])
    loader = dist.shard_dataloader(rows, table, shard_dims="processes", is_dataset_splitted=True)
    assert [batch[:, 0].tolist() for (batch,) in loader] == [[1, 1, 2, 2]]
    same = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.ones([2, 1])]), batch_size=2)
    loader = dist.shard_dataloader(same, [table], shard_dims=[None], is_dataset_splitted=True)
    assert [batch.shape for (batch,) in loader] == [[2, 1]]
    try:
        list(dist.shard_dataloader(rows, mesh, shard_dims="x", is_dataset_splitted=True))
    except NotImplementedError as error:
        assert "several devices along 'x'" in str(error)
    else:
        raise AssertionError("a part was taken for several devices")


def sharded_states(mesh, data):
    # The mesh along which states are cut is that of the loader, where the model is on none.
    net = paddle.nn.Linear(2, 1, bias_attr=False)
    net.weight.set_value(np.ones([2, 1], "float32"))
    optimizer = paddle.optimizer.SGD(0.5, parameters=net.parameters())
    strategy = dist.Strategy()
    strategy.sharding.enable = True
    try:
        dist.to_static(net, None, paddle.nn.MSELoss(), optimizer, strategy)
    except ValueError as error:
        assert "no mesh" in str(error)
    else:
        raise AssertionError("states were cut along no mesh")
    rows = paddle.io.DataLoader(paddle.io.TensorDataset([data, 0 * data[:, :1]]), batch_size=4)
    loader = dist.shard_dataloader(rows, meshes=mesh, shard_dims="x")
    model = dist.to_static(net, loader, paddle.nn.MSELoss(), optimizer, strategy)
    model.train()
    for rows, targets in loader:
        model(rows, targets)
    slope = 2 * data.T @ data.sum(1, keepdims=True) / len(data)
    assert np.allclose(net.weight.numpy(), 1 - 0.5 * slope)


def stages(data):
    # A pipeline of two meshes, each on the devices of one process: a step with a clipped norm, by formula.
    front, back = ProcessMesh([0, 1], ["x"]), ProcessMesh([2, 3], ["x"])

    def weight(values, mesh):
        initial = paddle.nn.initializer.Assign(np.array(values, "float32"))
        parameter = paddle.create_parameter([2], "float32", default_initializer=initial)
        return dist.shard_tensor(parameter, mesh, [])

    w, v = weight([1, 2], front), weight([3, 4], back)
    hidden = dist.reshard(dist.shard_tensor(data, front, [Shard(0)]) * w, back, [Shard(0)])
    loss = (hidden * v).sum()
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    optimizer = paddle.optimizer.SGD(0.5, parameters=[w, v], grad_clip=clip)
    loss.backward()
    optimizer.step()
    slopes = data.sum(0) * [3, 4], data.sum(0) * [1, 2]
    scale = 0.5 / np.linalg.norm(np.concatenate(slopes))
    for stage, (one, start, slope) in enumerate([(w, [1, 2], slopes[0]), (v, [3, 4], slopes[1])]):
        is_here = stage == dist.get_rank()
        assert one._is_initialized() == is_here
        if is_here:
            assert np.allclose(one.numpy(), start - scale * slope, rtol=1e-6)
    if dist.get_rank() == 1:
        assert float(loss) == (data * [1, 2] * [3, 4]).sum() and "Not initialized" not in str(loss)
        return
    assert loss.numpy().shape == (0,) and str(loss).endswith("GlobalDenseTensor Not initialized)")
    try:
        float(loss)
    except ValueError as error:
        assert "other processes" in str(error)
    else:
        raise AssertionError("a value was read that is not here")


if __name__ == "__main__":
    dist.spawn(main, args=(sys.argv[1],), nprocs=2)
    state = {"x": paddle.zeros([4, 2]), "own": paddle.zeros([2])}
    dist.load_state_dict(state, sys.argv[1])
    assert np.array_equal(state["x"].numpy().ravel(), np.arange(8)) and state["own"].tolist() == [1, 1]
    print("done")
"""


@pytest.mark.slow
def test_a_mesh_over_two_processes(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    root = str(Path(__file__).resolve().parents[2])
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
    environment = os.environ | {"XLA_FLAGS": flags, "NPROC": "64"}
    environment["PYTHONPATH"] = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "checkpoint")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0 and "done" in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
