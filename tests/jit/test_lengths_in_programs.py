"""`concrete_program` of code that computes with open lengths: run at lengths that were in no recording."""

import numpy as np
import pytest

import paddle_jax


def counted(P, x):
    y = P.zeros([2])
    i = 0
    while i < x.shape[0]:
        y = y + x[i]
        i += 1
    return y


def ranged(P, x):
    y = P.zeros([2])
    for i in range(x.shape[0]):
        y = y + x[i]
    return y


def compared(P, x):
    if x.shape[0] > 3:
        return x * 2
    return x


def measured(P, x):
    if len(x) > 3:
        return x * 2
    return x


def equal(P, x):
    return x * 2 if x.shape[0] == -1 else x * 3


def chosen(P, x):
    return x + (1.0 if x.shape[0] else 2.0)


def extreme(P, x):
    return x * max(min(x.shape[0], 3), 2)


def reshaped(P, x):
    n, c = x.shape
    return x.reshape([n * c]), P.ones([n, n]), P.arange(n), x[: n // 2], x[n - 1], x / n


# no source to convert: what asks for a number is refused, all else is recorded
UNCONVERTED = eval("lambda P, x: (x * x.shape[0], P.full([x.shape[0]], 7), x[: x.shape[0] // 2])")
REFUSED = eval("lambda P, x: x if x.shape[0] > 3 else x * 2")


def program_of(function):
    spec = paddle_jax.static.InputSpec([None, 2], "float32", "x")

    def called(x):
        return function(paddle_jax, x)

    return paddle_jax.jit.to_static(called, input_spec=[spec], full_graph=True).concrete_program


@pytest.mark.parametrize(
    "function",
    [counted, ranged, compared, measured, equal, chosen, extreme, reshaped, UNCONVERTED],
    ids=lambda function: function.__name__,
)
def test_functions(function):
    concrete = program_of(function)
    for rows in (1, 5):
        x = np.arange(2 * rows, dtype="float32").reshape(rows, 2)
        want = function(paddle_jax, paddle_jax.to_tensor(x))  # lengths are plain numbers there
        found = paddle_jax.static.Executor().run(
            concrete.main_program, feed={"x": x}, fetch_list=list(concrete.outputs)
        )
        for got, one in zip(found, want if isinstance(want, tuple) else [want], strict=True):
            np.testing.assert_allclose(got, one.numpy())


def test_a_question_that_is_not_converted_is_refused():
    with pytest.raises(Exception, match="not known"):
        program_of(REFUSED)
