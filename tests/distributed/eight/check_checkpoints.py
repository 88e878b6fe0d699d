"""Checkpoints of sharded Tensors: from one layout into another, in the background, interrupted, damaged."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.distributed import (
    Partial,
    ProcessMesh,
    Replicate,
    Shard,
    load_state_dict,
    save_state_dict,
    shard_tensor,
)
from paddle_jax.distributed.checkpoint.save_state_dict import wait
from tests.distributed.eight.model import MESH, make, train

WIDE, FLAT = ProcessMesh(np.arange(8).reshape(4, 2), ["a", "b"]), ProcessMesh([5, 2, 7], ["z"])
DATA = np.random.RandomState(0).randn(12, 8).astype("float32")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool", "complex64"])
def test_from_every_layout_into_every_other(tmp_path, dtype):
    data = paddle.to_tensor(DATA).astype(dtype)
    state = {
        "both": shard_tensor(data, MESH, [Shard(0), Shard(1)]),
        "deep": {"copies": shard_tensor(data, MESH, []), "plain": data},
        "partial": shard_tensor(data, MESH, [Partial(), Shard(1)]),
        "uneven": shard_tensor(data[:5], MESH, [Shard(0)]),
        "scalar": data[0, 0],
        "empty": data[:0],
    }
    save_state_dict(state, str(tmp_path))
    for mesh, placements in [
        (MESH, [Shard(1), Shard(0)]),
        (WIDE, [Shard(0), Replicate()]),
        (FLAT, [Shard(0)]),
        (FLAT, [Replicate()]),
        (None, None),
    ]:

        def zeros(like):
            made = paddle.zeros(like.shape, dtype)
            return made if mesh is None or like.ndim == 0 else shard_tensor(made, mesh, placements)  # noqa: B023

        target = {
            key: {k: zeros(v) for k, v in value.items()} if isinstance(value, dict) else zeros(value)
            for key, value in state.items()
        }
        kept = target["both"]
        assert load_state_dict(target, str(tmp_path)) is None
        assert target["both"] is kept and np.array_equal(kept.numpy(), data.numpy())
        assert kept.placements == (
            None if mesh is None else [*placements, *[Replicate()] * (mesh.ndim - len(placements))]
        )
        for key in ("copies", "plain"):
            assert np.array_equal(target["deep"][key].numpy(), data.numpy())
        assert np.array_equal(target["partial"].numpy(), data.numpy()) and np.array_equal(
            target["uneven"].numpy(), data[:5].numpy()
        )
        assert target["scalar"].numpy() == data[0, 0].numpy() and target["empty"].shape == [0, 8]


def test_each_piece_is_written_once(tmp_path):
    save_state_dict({"w": shard_tensor(DATA, MESH, [Replicate(), Shard(1)])}, str(tmp_path))
    assert (tmp_path / "0_0.distcp").stat().st_size == DATA.nbytes
    assert len(json.loads((tmp_path / "0.metadata").read_text())["tensors"]["w"]["pieces"]) == 4


def test_training_goes_on_from_a_checkpoint_on_another_mesh(tmp_path):
    net, optimizer = make(MESH, 1)
    train(net, optimizer, MESH, steps=3)
    states = {key: value for key, value in optimizer.state_dict().items() if hasattr(value, "shape")}
    save_state_dict({"net": net.state_dict(), "opt": dict(enumerate(states.values()))}, str(tmp_path))
    want = train(net, optimizer, MESH, steps=3)
    mesh = ProcessMesh(np.arange(4).reshape(4, 1), ["dp", "mp"])
    other, second = make(mesh, 3)
    train(other, second, mesh, steps=1)
    found = {key: value for key, value in second.state_dict().items() if hasattr(value, "shape")}
    load_state_dict({"net": other.state_dict(), "opt": dict(enumerate(found.values()))}, str(tmp_path))
    second.set_state_dict(found)
    assert np.allclose(train(other, second, mesh, steps=3), want, rtol=1e-5)


def test_versions(tmp_path):
    for number in range(3):
        save_state_dict({"w": paddle.full([2], float(number))}, str(tmp_path))
    state = {"w": paddle.zeros([2])}
    for unique_id, want in [(None, 2), (0, 0), (1, 1)]:
        load_state_dict(state, str(tmp_path), unique_id=unique_id)
        assert state["w"].tolist() == [want, want]
    save_state_dict({"w": paddle.full([2], 7.0)}, str(tmp_path), unique_id=1)
    load_state_dict(state, str(tmp_path), unique_id=1)
    assert state["w"].tolist() == [7, 7]


def test_in_the_background(tmp_path):
    x = shard_tensor(DATA, MESH, [Shard(0)])
    save_state_dict({"x": x}, str(tmp_path), async_save=True)
    x.set_value(paddle.zeros_like(x))
    target = {"x": shard_tensor(np.zeros_like(DATA), MESH, [Shard(1)])}
    load_state_dict(target, str(tmp_path))
    assert np.array_equal(target["x"].numpy(), DATA)
    (tmp_path / "1.metadata").mkdir()
    save_state_dict({"x": x}, str(tmp_path), unique_id=1, async_save=True)
    with pytest.raises(RuntimeError, match="in the background"):
        wait()


def test_what_is_refused(tmp_path):
    folder = str(tmp_path / "there")
    save_state_dict({"a": paddle.to_tensor(DATA), "b": paddle.ones([2])}, folder)
    b = paddle.zeros([2])
    for call, error in [
        (lambda: save_state_dict([1], folder), AssertionError),
        (lambda: save_state_dict({"a": 1}, folder), ValueError),
        (lambda: load_state_dict({"b": b, "c": paddle.ones([2])}, folder), KeyError),
        (lambda: load_state_dict({"b": b, "a": paddle.ones([2])}, folder), ValueError),
        (lambda: load_state_dict({"b": b}, str(tmp_path / "none")), FileNotFoundError),
        (lambda: load_state_dict({"b": b}, folder, unique_id=4), FileNotFoundError),
    ]:
        with pytest.raises(error):
            call()
    assert b.tolist() == [0, 0]


def test_damaged_files_are_named(tmp_path):
    save_state_dict({"a": paddle.to_tensor(DATA), "b": paddle.ones([2])}, str(tmp_path))
    file, text = tmp_path / "0_0.distcp", (tmp_path / "0.metadata").read_bytes()
    raw = file.read_bytes()
    state = {"b": paddle.zeros([2]), "a": paddle.zeros([12, 8])}
    for broken, what in [
        (raw[:20] + bytes([raw[20] ^ 1]) + raw[21:], "damaged"),
        (raw[:100], "cut short"),
        (None, "missing"),
    ]:
        file.unlink()
        if broken is not None:
            file.write_bytes(broken)
        with pytest.raises(ValueError, match=f"0_0.distcp is .*{what}"):
            load_state_dict(state, str(tmp_path))
        assert state["b"].tolist() == [0, 0]
        file.write_bytes(raw)
    for broken in (b"\x80\x04", b"{}", text[:-30]):
        (tmp_path / "0.metadata").write_bytes(broken)
        with pytest.raises(ValueError, match="0.metadata"):
            load_state_dict(state, str(tmp_path))


_SAVER = """
import sys, numpy as np, paddle_jax as paddle
from paddle_jax.distributed import ProcessMesh, Shard, save_state_dict, shard_tensor
mesh, number = ProcessMesh(np.arange(8)), int(sys.argv[2])
while True:
    value = np.full((64, 64), float(number), "float32")
    state = {str(i): shard_tensor(value, mesh, [Shard(0)]) for i in range(20)}
    save_state_dict(state, sys.argv[1], unique_id=number % 5, async_save=number % 2 == 0)
    number += 1
    print(number, flush=True)
"""


def test_killed_savers_leave_whole_checkpoints(tmp_path):
    """kill -9 at random moments, while checkpoints are added and replaced: each that has metadata is whole,
    and of one save."""
    random, number, whole = np.random.RandomState(0), 0, 0
    for _ in range(3):
        command = [sys.executable, "-c", _SAVER, str(tmp_path), str(number)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as saver:
            saver.stdout.readline()
            time.sleep(random.uniform(0.05, 0.4))
            os.kill(saver.pid, signal.SIGKILL)
        number += 5
        for unique_id in [int(file.stem) for file in tmp_path.glob("*.metadata")]:
            state = {str(i): paddle.zeros([64, 64]) for i in range(20)}
            load_state_dict(state, str(tmp_path), unique_id=unique_id)
            values = {float(v.numpy().min()) for v in state.values()} | {
                float(v.numpy().max()) for v in state.values()
            }
            assert len(values) == 1
            whole += 1
    assert whole >= 3


def test_orbax_in_other_layouts(tmp_path):
    pytest.importorskip("orbax.checkpoint")
    whole = paddle.to_tensor(DATA)
    saved = {"both": shard_tensor(whole, MESH, [Shard(0), Shard(1)]), "plain": whole}
    paddle.interop.save_orbax(saved, tmp_path / "a")
    wanted = {
        "both": shard_tensor(whole * 0, FLAT, [Shard(0)]),
        "plain": shard_tensor(whole * 0, WIDE, [Shard(1), Shard(0)]),
    }
    layouts = {name: tensor._value.sharding for name, tensor in wanted.items()}
    paddle.interop.load_orbax(tmp_path / "a", wanted)
    for name, tensor in wanted.items():
        np.testing.assert_array_equal(tensor.numpy(), DATA)
        assert tensor._value.sharding == layouts[name]
    assert paddle.interop.load_orbax(tmp_path / "a")["both"].tolist() == whole.tolist()
