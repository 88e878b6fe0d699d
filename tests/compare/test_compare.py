"""`python -m paddle_jax compare`: programs that agree, and the first call that does not."""

from pathlib import Path

import numpy as np
import pytest

import paddle_jax
from paddle_jax.compare.checking import Checking, Difference
from paddle_jax.compare.stream import Reader, Writer
from tests import forked_python

PROGRAM = Path(__file__).with_name("program.py")


def run(*arguments):
    words = ["-m", "paddle_jax", "compare", *arguments]
    return forked_python.run(words, 240, cwd=Path(paddle_jax.__file__).parents[1])


def line_of(kind):
    return 1 + next(
        k for k, line in enumerate(PROGRAM.read_text().splitlines()) if line.endswith(f"# line: {kind}")
    )


def test_programs_that_agree(oracle):
    done = run(PROGRAM)
    assert done.returncode == 0 and "calls agree" in done.stdout, done.stdout + done.stderr
    assert int(done.stdout.splitlines()[-1].split()[1]) > 30


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("gradient", ["Tensor.backward", "gradient of result", "with the real Paddle"]),
        ("value", ["Tensor.__setitem__", "differs in 4 of 24 elements, first at [0, 0]"]),
        ("exception", ["exception none", "with the real Paddle ValueError"]),
        ("dtype", ["dtypes ['float64']", "with the real Paddle ['float32']"]),
        ("path", ["the program calls Tensor.__add__", "concat"]),
        ("end", ["ended with status 3"]),
    ],
)
def test_the_first_difference_is_named(oracle, kind, told):
    done = run(PROGRAM, kind)
    assert done.returncode == 1, done.stdout + done.stderr
    assert all(text in done.stdout for text in told), done.stdout
    if kind != "end":
        assert f"program.py:{line_of(kind)}" in done.stdout, done.stdout


def test_what_differs_by_nature_is_taken_out(oracle):
    done = run(PROGRAM.with_name("calm.py"))
    first, _, rest = done.stdout.partition("\n")
    assert (
        first == "compared without dropout, mixed precision, the noise of gumbel_softmax, "
        "the random slopes of rrelu"
    ), done.stdout + done.stderr
    assert done.returncode == 0 and rest.startswith("all ") and int(rest.split()[1]) > 15, done.stdout


OURS = "'paddle_jax/__init__'"  # a part of the path of one of the two


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "status", "told"),
    [
        (
            "import paddle\nx = paddle.ones([3]\n",
            2,
            "nothing was compared: the program itself ends with status 1:\n  File",
        ),
        (
            (
                f"import paddle\nx = paddle.ones([3])\nif {OURS} in paddle.__file__: "
                "raise OSError('only here')\ny = x * 2\n"
            ),
            1,
            "OSError: only here",
        ),
        (
            (
                f"import paddle\nx = paddle.ones([3])\nif {OURS} not in paddle.__file__: "
                "raise OSError('only there')\ny = x * 2\n"
            ),
            1,
            "OSError: only there",
        ),
        (
            "import paddle\nx = paddle.ones([3])\npaddle.matmul(x.reshape([1, 3]), x.reshape([1, 3]))\n",
            0,
            "agree\nBoth ended with status 1",
        ),
    ],
)
def test_programs_that_fail(oracle, tmp_path, text, status, told):
    (tmp_path / "fails.py").write_text(text)
    done = run(tmp_path / "fails.py")
    assert done.returncode == status and told in done.stdout and "compare/child" not in done.stdout, (
        done.stdout + done.stderr
    )


def test_wrong_use(tmp_path):
    assert run(tmp_path / "missing.py").returncode == 2


def test_a_record_that_was_cut_short(tmp_path):
    with Writer(tmp_path / "record") as writer:
        writer.put({"name": "one"}, [np.arange(3), np.float32(2)])
        writer.put({"name": "two"}, [np.zeros((2, 0))])
    whole = (tmp_path / "record").read_bytes()
    with Reader(tmp_path / "record") as reader:
        entry, arrays = reader.get()
        assert entry["name"] == "one" and arrays[0].tolist() == [0, 1, 2] and arrays[1] == 2
        assert reader.get()[1][0].shape == (2, 0) and reader.get() == (None, [])
    for length in range(len(whole)):
        (tmp_path / "record").write_bytes(whole[:length])
        with Reader(tmp_path / "record") as reader:
            names = []
            while (entry := reader.get()[0]) is not None:
                names.append(entry["name"])
        assert names in ([], ["one"])


def test_gradients_that_are_rounding_errors_alone():
    ours, theirs = np.array([-3e-7, 0], "float32"), np.array([1.1e-6, 0], "float32")
    told = {"dtypes": ["float32"], "shapes": [[2]]}
    Checking(None)._compare("backward", {"name": "Tensor.backward", **told}, 0, ours, theirs, 0.5)
    for name, largest in (("Tensor.backward", 1e-3), ("tanh", 0.5)):
        with pytest.raises(Difference, match="differs in 1 of 2 elements"):
            Checking(None)._compare(name, {"name": name, **told}, 0, ours, theirs, largest)


def test_a_program_in_which_nothing_is_compared(oracle, tmp_path):
    (tmp_path / "empty.py").write_text("import paddle\nprint(paddle.__version__)\n", encoding="utf-8")
    done = run(tmp_path / "empty.py")
    assert done.returncode == 2 and "nothing was compared" in done.stdout, done.stdout + done.stderr
