"""Python operators of Tensor, compared with the real Paddle: values, dtypes and which
mixtures are refused."""

import itertools
import operator

import numpy as np
import pytest

import paddle_jax

BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    operator.rshift,
]
NUMBERS = [True, 2, 2.5, 1 + 2j]
ARRAYS = [
    np.array([1, 2]),
    np.array([True, True]),
    np.array([1.5, 2.0], "float32"),
    np.array([1 + 1j, 2], "complex64"),
]
REFUSED = (TypeError, ValueError, RuntimeError)


def outcome(function):
    try:
        got = function()
    except REFUSED as error:
        return type(error)
    return (
        got
        if isinstance(got, bool) or got is NotImplemented
        else (str(got.dtype).rsplit(".", 1)[-1], got.numpy())
    )


def agree(ours, theirs):
    if isinstance(theirs, type):
        # where the real Paddle has no kernel for the CPU (RuntimeError) we may compute
        return theirs is RuntimeError or isinstance(ours, type)
    if isinstance(ours, type) or isinstance(theirs, bool):
        return ours is theirs
    return ours[0] == theirs[0] and np.allclose(ours[1], theirs[1], equal_nan=True)


def both(oracle, build):
    return outcome(lambda: build(paddle_jax)), outcome(lambda: build(oracle))


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
def test_tensor_with_number(op, oracle):
    for array, number in itertools.product(ARRAYS, NUMBERS):
        if op is operator.mod and (array.dtype.kind == "c" or isinstance(number, complex)):
            continue  # the remainder of complex numbers has no meaning; ours refuses it
        for build in (
            lambda m, a=array, n=number: op(m.to_tensor(a), n),
            lambda m, a=array, n=number: op(n, m.to_tensor(a)),
        ):
            ours, theirs = both(oracle, build)
            assert agree(ours, theirs), (
                f"{op.__name__} of {array.dtype}{array} and {number!r}: {ours}, expected {theirs}"
            )


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
def test_tensor_with_tensor(op, oracle):
    for a, b in itertools.product(ARRAYS, ARRAYS):
        if op is operator.mod and "c" in (a.dtype.kind, b.dtype.kind):
            continue
        ours, theirs = both(oracle, lambda m, a=a, b=b: op(m.to_tensor(a), m.to_tensor(b)))
        assert agree(ours, theirs), (
            f"{op.__name__} of {a.dtype}{a} and {b.dtype}{b}: {ours}, expected {theirs}"
        )


@pytest.mark.parametrize("op", [operator.neg, operator.pos, operator.invert, abs], ids=lambda op: op.__name__)
def test_unary(op, oracle):
    for array in ARRAYS:
        ours, theirs = both(oracle, lambda m, a=array: op(m.to_tensor(a)))
        assert agree(ours, theirs), f"{op.__name__} of {array.dtype}{array}: {ours}, expected {theirs}"


def test_second_names_are_the_same_methods():
    x, y = paddle_jax.to_tensor([4.0, 6.0]), paddle_jax.to_tensor([2.0, 3.0])
    for alias, name in {
        "mul": "multiply",
        "sub": "subtract",
        "div": "divide",
        "mod": "remainder",
        "eq": "equal",
        "lt": "less_than",
    }.items():
        assert getattr(x, alias)(y).tolist() == getattr(x, name)(y).tolist()
    assert x.clamp(max=5.0).tolist() == [4.0, 5.0]
    assert x.mul_(y) is x and x.tolist() == [8.0, 18.0]


NUMPY_DIVISORS = [
    ("int8", "float32"),
    ("int16", "float32"),
    ("int32", "float32"),
    ("int64", "float32"),
    ("uint8", "float32"),
    ("float64", "float32"),
    ("float32", "bool"),
    ("bool", "bool"),
]


@pytest.mark.parametrize("kind, dtype", NUMPY_DIVISORS)
def test_a_mask_divided_by_a_numpy_number(kind, dtype):
    # int8 and uint8 are refused by Paddle; float32 and bool give bool there, as here
    mask, number = np.array([True, False, True]), np.dtype(kind).type(4)
    for got, want in (
        (paddle_jax.to_tensor(mask) / number, mask / 4),
        (number / paddle_jax.to_tensor(mask)[[0, 2]], np.array([4.0, 4.0])),
    ):
        assert got.dtype == getattr(paddle_jax, dtype)
        np.testing.assert_allclose(got.numpy(), want.astype(dtype))
    quotient = paddle_jax.to_tensor(mask)
    quotient /= number
    assert quotient.dtype == getattr(paddle_jax, dtype)


FLOOR_DIVIDED = [
    ("bool", np.int8(2), "int8"),
    ("bool", np.int64(2), "int64"),
    ("bool", np.float64(2), "float64"),
    ("int8", np.int16(2), "int16"),
    ("int8", np.uint8(2), "int16"),
    ("int32", 2, "int64"),
    ("int32", np.float16(2), "float16"),
    ("int64", np.float32(2), "float32"),
    ("int32", True, "int32"),
    ("float16", np.float64(2), "float64"),
    ("float16", 2.0, "float32"),
    ("float16", 2, "float16"),
    ("bfloat16", np.float16(2), "float32"),
    ("float64", np.float32(2), "float64"),
]


@pytest.mark.parametrize("kind, number, dtype", FLOOR_DIVIDED)
def test_floor_divide_takes_a_number_as_a_tensor(kind, number, dtype):
    x = paddle_jax.to_tensor([1, 3]).astype(kind)
    got = paddle_jax.floor_divide(x, number)
    assert got.dtype == getattr(paddle_jax, dtype)
    want = np.array([1, 1 if kind == "bool" else 3]) // int(number)
    np.testing.assert_array_equal(got.astype("float64").numpy(), want)


@pytest.mark.parametrize(
    "kind, number, dtype",
    [
        ("int64", np.int64(2), "int64"),
        ("int32", np.int32(2), "int32"),
        ("float16", np.float64(2.5), "float64"),
        ("complex64", np.float64(2.5), "complex128"),
        ("bool", np.complex128(2), "complex128"),
    ],
)
def test_where_keeps_the_dtype_of_a_numpy_number(kind, number, dtype):
    x, condition = paddle_jax.to_tensor([1, 3]).astype(kind), paddle_jax.to_tensor([True, False])
    for got, want in (
        (paddle_jax.where(condition, x, number), [1, number]),
        (paddle_jax.where(condition, number, x), [number, 1 if kind == "bool" else 3]),
    ):
        assert got.dtype == getattr(paddle_jax, dtype)
        np.testing.assert_array_equal(got.numpy(), np.array(want))


def test_remainder_of_complex_numbers_rounds_halves_away_from_zero():
    x = paddle_jax.to_tensor([1 + 0j, 3 + 0j, -1 + 0j, 0 + 1j, 2.5 + 1j])
    want = [-1, -1, 1, -1j, 0.5 - 1j]
    np.testing.assert_allclose((x % (2 + 0j)).numpy(), np.array(want))


def test_a_mask_minus_a_numpy_integer_is_refused():
    with pytest.raises(RuntimeError, match="bool"):
        paddle_jax.to_tensor([True]) - np.int64(1)
