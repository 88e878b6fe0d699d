"""Programs as people write them give, compiled and saved, what the real Paddle gives eagerly."""

import contextlib

import numpy as np
import pytest

# they fill WRITTEN
from tests.jit.dy2static import cases_lists, cases_values, cases_written  # noqa: F401
from tests.jit.dy2static.kinds import WRITTEN


def tensors(P, arguments):
    return [P.to_tensor(value) for value in arguments]


def leaves(P, value):
    """[(kind, dtype, array)] of what a program gives; kind is "Tensor" or the class of a number."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(P, item)]
    if isinstance(value, P.Tensor):
        return [("Tensor", str(value.dtype).rpartition(".")[2], value.numpy())]
    return [(type(value).__name__, "", np.asarray(value))]


def same(got, expected, numbers):
    """numbers: whether numbers must stay numbers; else they may be Tensors."""
    assert len(got) == len(expected)
    for (kind, dtype, array), (right_kind, right_dtype, right) in zip(got, expected, strict=True):
        if numbers or right_kind == "Tensor":
            assert (kind, dtype) == (right_kind, right_dtype)
        assert array.shape == right.shape
        np.testing.assert_allclose(array, right, rtol=2e-5, atol=2e-6)


def open_spec(P, inputs):
    """InputSpecs whose lengths are open where the calls differ in them."""
    specs = []
    for position, first in enumerate(inputs[0]):
        shapes = zip(*[arguments[position].shape for arguments in inputs], strict=True)
        shape = [n[0] if len(set(n)) == 1 else None for n in shapes]
        specs.append(P.static.InputSpec(shape, first.dtype.name, f"x{position}"))
    return specs


def checked(P, call, cases, numbers):
    """cases: [(arguments, what the program gives)]."""
    for arguments, expected in cases:
        same(leaves(P, call(*tensors(P, arguments))), expected, numbers)


@pytest.mark.parametrize("name", WRITTEN)
def test_compiled_and_saved_as_paddle_eagerly(name, paddle, oracle, tmp_path):
    function, inputs, lengths = WRITTEN[name]
    cases = [
        (arguments, leaves(oracle, function(oracle, *tensors(oracle, arguments)))) for arguments in inputs
    ]

    def program(*args):
        return function(paddle, *args)

    for full_graph in (False, True):
        compiled = paddle.jit.to_static(lambda *args: function(paddle, *args), full_graph=full_graph)
        with pytest.warns(UserWarning, match="op by op") if lengths else contextlib.nullcontext():
            checked(paddle, compiled, cases, numbers=not full_graph)
    path = str(tmp_path / "m")
    paddle.jit.save(program, path, input_spec=open_spec(paddle, inputs))
    checked(paddle, paddle.jit.load(path), cases, numbers=False)
    checked(oracle, oracle.jit.load(path), cases, numbers=False)
