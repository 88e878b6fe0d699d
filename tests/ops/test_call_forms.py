"""Calls with `out=` and with too many arguments, of every op, against the real Paddle."""

import numpy as np
import pytest

import paddle_jax
from tests.ops import harness as h
from tests.ops.table import OPS, find, public_path

NAMES = sorted(n for n in OPS if not OPS[n].random and public_path(n))
# their positional arguments are the operands; Paddle's meshgrid ignores any keyword
ALL_OPERANDS = {"einsum", "meshgrid"}


def both(name, oracle):
    """The function of both packages, and an ordinary call of it."""
    path = public_path(name)
    try:
        theirs = find(oracle, path)
    except AttributeError:
        pytest.skip(f"paddle.{path} is ours alone")
    for case in OPS[name].cases:
        if not case.startswith("~") and h.evaluate(oracle, theirs, case).error is None:
            return theirs, find(paddle_jax, path), case
    return pytest.skip("no ordinary call")


@pytest.mark.parametrize("name", sorted(set(NAMES) - ALL_OPERANDS))
def test_out_is_accepted_where_the_oracle_does(name, oracle):
    theirs, ours, case = both(name, oracle)
    case = f"{case}, out=None".lstrip(", ")
    want, got = h.evaluate(oracle, theirs, case), h.evaluate(paddle_jax, ours, case)
    if want.error is None:
        assert got.error is None and [o[:2] for o in got.outs] == [o[:2] for o in want.outs]
    else:
        assert isinstance(got.error, type(want.error))


@pytest.mark.parametrize("name", sorted(set(NAMES) - ALL_OPERANDS))
def test_too_many_arguments(name, oracle):
    theirs, ours, case = both(name, oracle)
    case = case + ", None" * 12
    want, got = h.evaluate(oracle, theirs, case), h.evaluate(paddle_jax, ours, case)
    if want.error is not None and "arguments" in str(want.error):
        assert isinstance(got.error, type(want.error)), repr(got.error)


OUT = {
    "argmax": "f(4)",
    "argmin": "f(4)",
    "diagonal": "f(3, 3)",
    "expand_as": "f(3), f(2, 3)",
    "isclose": "f(3), f(3)",
    "isfinite": "f(3)",
    "isinf": "f(3)",
    "isnan": "f(3)",
    "roll": "f(3), 1",
    "nn.functional.gelu": "f(3)",
    "nn.functional.softplus": "f(3)",
    "nn.functional.grid_sample": "f(1, 1, 2, 2), f(1, 2, 2, 2)",
}


@pytest.mark.parametrize("path", OUT)
def test_out_receives_the_result(path, oracle):
    values = []
    for engine in (oracle, paddle_jax):
        operands = f"({OUT[path]},)"
        args = eval(operands, h.Maker(engine).env())  # noqa: S307
        plain = find(engine, path)(*args)
        out = engine.zeros_like(plain.detach())
        with engine.no_grad():
            find(engine, path)(*args, out=out)
        assert np.array_equal(out.numpy(), plain.numpy())
        values.append(out.numpy())
    np.testing.assert_allclose(values[1], values[0], rtol=1e-5, atol=1e-6)


def test_outs_receive_the_results(oracle):
    """Of a named tuple, too; each element of `out` is the Tensor that was given."""
    rows = []
    for engine in (paddle_jax, oracle):
        values, indices = engine.zeros([2, 1]), engine.zeros([2, 1], "int64")
        found = engine.topk(engine.to_tensor([[1.0, 0.0], [3.0, 4.0]]), 1, out=(values, indices))
        assert found.values is values and found.indices is indices
        rows.append((type(found).__name__, values.tolist(), indices.tolist()))
    assert rows[0] == rows[1]


@pytest.mark.parametrize("name", ["bitwise_left_shift_", "bitwise_right_shift_"])
def test_twins_leave_out_as_it_is(name, oracle):
    rows = []
    for engine in (paddle_jax, oracle):
        x, out = engine.to_tensor([4]), engine.to_tensor([0])
        find(engine, name)(x, engine.to_tensor([1]), out=out)
        rows.append((x.tolist(), out.tolist()))
    assert rows[0] == rows[1]
