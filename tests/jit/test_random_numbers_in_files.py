"""Functions of random numbers in files: draws are made in each run, and Layers are saved for
evaluation."""

import json
import pathlib

import numpy as np

import paddle_jax
from paddle_jax.jit import load, save
from tests.jit.corpus.expressions import specs


def names_in(path):
    """The names of the operations in a file."""
    blocks = json.loads(pathlib.Path(path + ".json").read_text())["program"]["regions"][0]["blocks"]
    return [op["#"].removeprefix("1.") for op in blocks[0]["ops"]]


def test_draws_are_made_in_each_run(tmp_path):
    path = str(tmp_path / "m")
    save(lambda x: paddle_jax.randn([x.shape[0], 2]), path, input_spec=specs(paddle_jax, "f(-1,3)"))
    assert "gaussian" in names_in(path)
    model, x = load(path), paddle_jax.ones([400, 3])
    one, other = model(x).numpy(), model(x).numpy()
    assert one.shape == (400, 2)
    assert (one != other).any()
    assert abs(one.mean()) < 0.2
    assert abs(one.std() - 1) < 0.1


def test_dropout_is_saved_in_evaluation_mode(tmp_path):
    path, x = str(tmp_path / "m"), np.ones([2, 3], "float32")
    save(lambda x: paddle_jax.nn.functional.dropout(x, 0.5), path, input_spec=specs(paddle_jax, "f(-1,3)"))
    assert "dropout" in names_in(path)
    assert (load(path)(paddle_jax.to_tensor(x)).numpy() == x).all()


def test_a_layer_stays_in_training_mode(tmp_path):
    nn = paddle_jax.nn
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Dropout())
    save(net, str(tmp_path / "m"), input_spec=specs(paddle_jax, "f(-1,3)"))
    assert net.training
    assert all(part.training for part in net)
