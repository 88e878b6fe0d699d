"""Programs as people write them give, compiled and saved, what the real Paddle gives eagerly."""

import numpy as np
import pytest

# they fill WRITTEN
from tests.jit.dy2static import cases_lists, cases_written  # noqa: F401
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


@pytest.mark.parametrize("name", WRITTEN)
def test_compiled_and_saved_as_paddle_eagerly(name, paddle, oracle, tmp_path):
    function, inputs = WRITTEN[name]

    def program(*args):
        return function(paddle, *args)

    expected = [leaves(oracle, function(oracle, *tensors(oracle, arguments))) for arguments in inputs]
    forms = [
        (paddle.jit.to_static(program), True),
        (paddle.jit.to_static(lambda *args: function(paddle, *args), full_graph=True), False),
    ]
    path = str(tmp_path / "m")
    paddle.jit.save(lambda *args: function(paddle, *args), path, input_spec=open_spec(paddle, inputs))
    forms.append((paddle.jit.load(path), False))
    for call, numbers in forms:
        for arguments, right in zip(inputs, expected, strict=True):
            same(leaves(paddle, call(*tensors(paddle, arguments))), right, numbers)
