"""Functions called with wrong shapes, ranks, dtypes and things that are no Tensors: a sentence of ours says
what was got and what is allowed."""

import re

import numpy as np
import pytest

import paddle_jax
from tests.nn.test_layer_mistakes import EXPECTED, FOREIGN, SENTENCE
from tests.ops import harness as h
from tests.ops.table import OPS

LOOSE = re.compile(
    r"\b(needs?|needed|give|cast|name|out of range|allowed|both|apart from|lies? outside|lie "
    r"inside|no element|do(es)? not|there is|points of|in range|leaves a|at "
    r"most|singular|may be|may not)\b"
)
THINGS = ["text", None, 3, [1.0, 2.0], object(), np.ones((2, 3), "float32"), ["a"], [None]]
LETTERS = "abcdefghijklmnopqrstuvwxyz_"
SLOW = {"lstm", "gru", "simple_rnn", "dirichlet", "binomial", "poisson"}


def wrong(tensor):
    """Variants of an operand, most of which no function takes."""
    array = np.asarray(
        tensor.astype("float32").numpy()
        if tensor.dtype in (paddle_jax.bfloat16, paddle_jax.float16)
        else tensor.numpy()
    )
    if array.ndim:
        yield np.repeat(array, 2, axis=array.ndim - 1)
        yield array[:0]
    if array.ndim > 1:
        yield array.reshape(-1)
    yield array[None]
    yield array.reshape(-1)[:1].reshape(()) if array.size else np.zeros((), array.dtype)
    for dtype in ("int64", "complex64"):
        if array.dtype != dtype and array.size:
            yield array.astype(dtype)


def good(op):
    """The first call of a declaration's samples that has Tensors and works: (args, kwargs)."""
    for case in op.cases:
        try:
            args, kwargs = eval(
                f"taken({case})",
                h.Maker(paddle_jax).env() | {"taken": lambda *args, **kwargs: (args, kwargs)},
            )
            op.public(*args, **kwargs)
        except Exception:  # noqa: S112  samples have calls that are refused, too
            continue
        if any(isinstance(given, paddle_jax.Tensor) for given in (*args, *kwargs.values())):
            return args, kwargs
    return None


def mistakes(args, kwargs):
    """Calls one of whose operands is wrong."""
    for i, given in enumerate(args):
        if isinstance(given, paddle_jax.Tensor):
            for other in (*map(paddle_jax.to_tensor, wrong(given)), *THINGS):
                yield [*args[:i], other, *args[i + 1 :]], kwargs
    for name, given in kwargs.items():
        if isinstance(given, paddle_jax.Tensor):
            for other in THINGS:
                yield args, kwargs | {name: other}


def run(public, args, kwargs):
    for out in h.flat(public(*args, **kwargs), paddle_jax.Tensor):
        if isinstance(out, paddle_jax.Tensor):
            out.numpy()


def described(given):
    return [
        f"{thing.dtype}{list(thing.shape)}" if isinstance(thing, paddle_jax.Tensor) else repr(thing)
        for thing in given
    ]


def is_a_sentence(text):
    text = text.replace("\n", " ").replace("numpy.ndarray", "ndarray")
    named = SENTENCE.match(text) or re.match(r"(\(\w+\) )?[\w.]+: ", text)
    return not FOREIGN.search(text) and named and (EXPECTED.search(text) or LOOSE.search(text))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.filterwarnings("ignore")
def test_mistakes_are_told_in_our_words(letter):
    told, bad = 0, []
    for op in [op for name, op in sorted(OPS.items()) if name[0] == letter and name not in SLOW]:
        for args, kwargs in mistakes(*(good(op) or ((), {}))):
            try:
                run(op.public, args, kwargs)
            except Exception as error:
                told += 1
                if not is_a_sentence(str(error)):
                    bad.append((op.name, described(args), kwargs, type(error).__name__, str(error)[:200]))
    assert not bad
    assert told or letter in "bgjkqvwxyz_"


def test_an_argument_that_is_no_tensor_is_named(paddle):
    for call, text in [
        (
            lambda: paddle.bernoulli([0.5]),
            ("bernoulli: x: got list ([0.5]); it must be a Tensor; make one with paddle.to_tensor"),
        ),
        (
            lambda: paddle.nn.functional.batch_norm(None, None, None),
            "batch_norm: x: got None; it must be a Tensor",
        ),
    ]:
        with pytest.raises((AttributeError, TypeError), match=re.escape(text)):
            call()


def test_functions_of_the_user_keep_their_words(paddle):
    def broken(x):
        return x.no_such_thing + [][1]

    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'no_such_thing'"):
        paddle.static.nn.cond(
            paddle.to_tensor(True), lambda: broken(paddle.ones([1])), lambda: paddle.ones([1])
        )
    with pytest.raises(IndexError, match="list index out of range"):
        paddle.static.nn.cond(paddle.to_tensor(True), lambda: [][1], lambda: paddle.ones([1]))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        paddle.ones([2, 2]).apply(lambda x: np.linalg.inv(x.numpy()))
