"""Dtypes: spellings, promotion of every pair as the oracle, scalars, default dtype."""

import itertools
import operator
import pickle
import warnings

import numpy as np
import pytest

NAMES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
SCALARS = [True, 2, 2.5, 1j, np.float64(2), np.int32(2)]


def made(module, name):
    return module.to_tensor(np.ones(2, "float32")).astype(name)


def outcome(call):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(call().dtype)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "equal", "where"])
def test_promotion_of_every_pair(paddle, oracle, name):
    for a, b in itertools.product(NAMES, NAMES):

        def call(m, a=a, b=b):
            args = (made(m, a), made(m, b))
            return m.where(m.to_tensor([True, False]), *args) if name == "where" else getattr(m, name)(*args)

        want, got = outcome(lambda: call(oracle)), outcome(lambda: call(paddle))
        if want is RuntimeError:  # the CPU build lacks this kernel
            continue
        assert got == want or (isinstance(want, type) and isinstance(got, type) and issubclass(got, want)), (
            name,
            a,
            b,
            got,
            want,
        )


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "eq", "lt"])
def test_operators_with_numbers(paddle, oracle, name):
    op = getattr(operator, name)
    for dtype, number in itertools.product(NAMES, SCALARS):
        if name == "lt" and (isinstance(number, complex) or "complex" in dtype):
            continue
        if dtype == "bool" and isinstance(number, np.integer) and name in ("sub", "truediv"):
            continue  # Paddle treats NumPy integers differently in each operator on bools
        want, got = (
            outcome(lambda d=dtype, n=number: op(made(oracle, d), n)),
            outcome(lambda d=dtype, n=number: op(made(paddle, d), n)),
        )
        assert want is RuntimeError or got == want, (name, dtype, number, got, want)


def test_the_objects(paddle, oracle):
    for name in NAMES:
        ours, theirs = getattr(paddle, name), getattr(oracle, name)
        assert (str(ours), repr(ours), ours.name, ours.value, hash(ours)) == (
            str(theirs),
            repr(theirs),
            theirs.name,
            theirs.value,
            hash(theirs),
        )
    assert paddle.float32 != "float32"
    assert pickle.loads(pickle.dumps(paddle.float32)) is paddle.float32  # noqa: S301  own data


@pytest.mark.parametrize(
    "spelling",
    ["float32", np.float32, np.dtype("float32"), float, int, bool, "int", "float", "double", "half"],
)
def test_spellings(paddle, oracle, spelling):
    assert str(paddle.ones([1], spelling).dtype) == str(oracle.ones([1], spelling).dtype)


def test_unknown_dtype(paddle):
    with pytest.raises(TypeError, match="foo"):
        paddle.ones([1], "foo")


def test_default_dtype(paddle):
    paddle.set_default_dtype("float64")
    try:
        assert paddle.ones([1]).dtype == paddle.float64
        assert paddle.to_tensor(1.5).dtype == paddle.float64
        assert paddle.to_tensor(1j).dtype == paddle.complex128
    finally:
        paddle.set_default_dtype("float32")
    with pytest.raises(TypeError):
        paddle.set_default_dtype("int32")
