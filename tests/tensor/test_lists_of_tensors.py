"""`paddle.tensor.create_array`, `array_write`, `array_read`, `array_length`: results and exceptions of the
real Paddle in dynamic mode."""

import pytest

import paddle_jax

CASES = [
    lambda P, T, x, i: T.create_array("float32"),
    lambda P, T, x, i: T.create_array("float32", (x, x)),
    lambda P, T, x, i: T.create_array("float32", x),
    lambda P, T, x, i: T.create_array("float32", [1]),
    lambda P, T, x, i: T.array_write(x, i),
    lambda P, T, x, i: T.array_write(x, P.to_tensor(0)),
    lambda P, T, x, i: T.array_write(x, 0),
    lambda P, T, x, i: T.array_write(x * 2, i, [x]),
    lambda P, T, x, i: T.array_write(x * 2, i + 1, [x]),
    lambda P, T, x, i: T.array_write(x, i + 2, [x]),
    lambda P, T, x, i: T.array_write(x * 2, i - 1, [x, x]),
    lambda P, T, x, i: T.array_write(1, i, [x]),
    lambda P, T, x, i: T.array_write(x, i, (x,)),
    lambda P, T, x, i: T.array_write(x, P.zeros([1]), [x]),
    lambda P, T, x, i: T.array_read([x, x * 2], i + 1),
    lambda P, T, x, i: T.array_read([x, x * 2], i - 1),
    lambda P, T, x, i: T.array_read([x], i + 1),
    lambda P, T, x, i: T.array_read([x], 0),
    lambda P, T, x, i: T.array_read((x,), i),
    lambda P, T, x, i: T.array_length([x, x]),
    lambda P, T, x, i: T.array_length(x),
]


def outcome(P, case):
    """What a case gives, or the class of its exception."""
    try:
        found = CASES[case](P, P.tensor, P.ones([2]), P.zeros([1], "int64"))
    except Exception as error:
        return type(error).__name__
    if isinstance(found, list):
        return [one.tolist() for one in found]
    return found if isinstance(found, int) else found.tolist()


@pytest.mark.own_process
@pytest.mark.parametrize("case", range(len(CASES)))
def test_lists(oracle, case):
    assert outcome(paddle_jax, case) == outcome(oracle, case)


def test_the_list_itself_changes():
    found = paddle_jax.tensor.create_array("float32")
    assert paddle_jax.tensor.array_write(paddle_jax.ones([2]), paddle_jax.zeros([1], "int64"), found) is found
    assert len(found) == 1
