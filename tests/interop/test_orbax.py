"""Checkpoints of orbax: written here and read by orbax, the reverse, sharded, refused."""

import jax.numpy as jnp
import numpy as np
import pytest

import paddle_jax as paddle

ocp = pytest.importorskip("orbax.checkpoint")


def state():
    paddle.seed(3)
    net = paddle.nn.Linear(3, 2)
    return {
        "net": net.state_dict(),
        "half": paddle.ones([2], "bfloat16"),
        "count": paddle.to_tensor(2**40),
        "epoch": 3,
        "rate": 0.5,
    }


def test_orbax_reads_it(tmp_path):
    held = state()
    paddle.interop.save_orbax(held, tmp_path / "a")
    with ocp.StandardCheckpointer() as checkpointer:
        read = checkpointer.restore(tmp_path / "a")
    np.testing.assert_array_equal(read["net"]["weight"], held["net"]["weight"].numpy())
    assert read["half"].dtype == jnp.bfloat16 and int(read["count"]) == 2**40
    assert (read["epoch"], read["rate"]) == (3, 0.5)


def test_what_orbax_writes(tmp_path):
    tree = {"layers": [{"kernel": jnp.arange(6.0).reshape(2, 3)}, jnp.ones(2)], "step": 7, "empty": {}}
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "a", tree)
    read = paddle.interop.load_orbax(tmp_path / "a")
    assert read["layers"]["0"]["kernel"].tolist() == [[0, 1, 2], [3, 4, 5]] and read["step"] == 7
    wanted = {"layers": {"0": {"kernel": paddle.zeros([2, 3], "float64")}}}
    kernel = wanted["layers"]["0"]["kernel"]
    assert paddle.interop.load_orbax(tmp_path / "a", wanted) is wanted
    assert kernel.dtype == paddle.float64 and kernel.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_in_place(tmp_path):
    saved = state()
    paddle.interop.save_orbax(saved, tmp_path / "a")
    net = paddle.nn.Linear(3, 2)
    paddle.interop.load_orbax(tmp_path / "a", {"net": net.state_dict()})
    np.testing.assert_array_equal(net.weight.numpy(), saved["net"]["weight"].numpy())
    assert not net.weight.stop_gradient
    paddle.interop.save_orbax({"w": paddle.full([1], 5.0)}, tmp_path / "a", overwrite=True)
    assert paddle.interop.load_orbax(tmp_path / "a")["w"].tolist() == [5]


def test_refusals(tmp_path):
    path = tmp_path / "a"
    paddle.interop.save_orbax({"w": paddle.ones([2]), "n": {"b": paddle.ones([3])}}, path)
    kept = paddle.zeros([2])
    save, load = paddle.interop.save_orbax, paddle.interop.load_orbax
    refused = [
        (AssertionError, "must be a dict", lambda: save([1], tmp_path / "b")),
        (ValueError, "a.f: got str", lambda: save({"a": {"f": "text"}}, tmp_path / "b")),
        (ValueError, "w has no elements", lambda: save({"w": paddle.ones([0])}, tmp_path / "b")),
        (ValueError, "exists; give another", lambda: save({"w": kept}, path)),
        (FileNotFoundError, "no checkpoint of orbax", lambda: load(tmp_path / "b")),
        (FileNotFoundError, "no checkpoint of orbax", lambda: load(tmp_path)),
        (KeyError, "has no x", lambda: load(path, {"w": kept, "x": paddle.ones([1])})),
        (ValueError, r"n.b has shape \[2\]", lambda: load(path, {"w": kept, "n": {"b": paddle.ones([2])}})),
        (ValueError, "w: got int", lambda: load(path, {"w": 1})),
    ]
    for kind, text, call in refused:
        with pytest.raises(kind, match=text):
            call()
    assert kept.tolist() == [0, 0] and [file.name for file in tmp_path.iterdir()] == ["a"]
