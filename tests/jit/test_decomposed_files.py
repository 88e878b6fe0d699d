"""Functions that Paddle saves as several operations: what is saved here, the real Paddle loads, with the
numbers that it computes itself."""

import json
import pathlib
import warnings

import numpy as np
import pytest

import paddle_jax
from paddle_jax.jit import load, save
from tests.jit.decomposed_cases import DECOMPOSED
from tests.jit.test_model_files import arrays, body, check, flat, specs, split, tensors

pytestmark = pytest.mark.own_process


@pytest.mark.parametrize("inputs", DECOMPOSED)
def test_paddle_reads_what_is_written_here(oracle, tmp_path, inputs):
    expressions, path = split(DECOMPOSED[inputs]), str(tmp_path / "m")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of operations that Paddle does not have
        save(body(paddle_jax, expressions), path, input_spec=specs(paddle_jax, inputs))
    theirs, eager = oracle.jit.load(path), body(oracle, expressions)
    for lengths in ([2, 4, 6, 8], [5, 3, 7, 9]) if "-1" in inputs else ([],):
        given = arrays(inputs, lengths)
        want = eager.run(*tensors(oracle, given))
        check(expressions, eager.counts, flat(theirs(*tensors(oracle, given))), want)
    check(expressions, eager.counts, flat(load(path)(*tensors(paddle_jax, given))), want)


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
