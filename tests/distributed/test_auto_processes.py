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
    dist.init_parallel_env()
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
    try:
        dist.shard_tensor(paddle.full([4], dist.get_rank()), mesh, [Replicate()])
    except ValueError as error:
        assert "differs by process" in str(error)
    else:
        raise AssertionError("values that differ were taken")
    dist.save_state_dict({"x": x, "own": paddle.ones([2])}, folder)
    again = dist.shard_tensor(np.zeros_like(data), mesh, [Replicate()])
    dist.load_state_dict({"x": again}, folder)
    assert np.array_equal(again.numpy(), data)


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
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "NPROC": "64"}
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
