"""Every layer of paddle.nn, called with wrong shapes, ranks, dtypes and things that are no Tensors: the
message is a sentence of ours that names the operation, its argument and what is allowed, and the layer is
named below it. A layer without a row here or in `layer_cases` fails."""

import re

import numpy as np
import pytest

import paddle_jax
from tests.nn.layer_cases import ALL, C

FOREIGN = re.compile(
    "|".join(
        (
            r"\b(lax|jax|jnp|XLA|numpy|dot_general|Traceback|NoneType|ShapedArray|Tracer|TypeError|ValueError)\b",
            r"(list|tuple) index",
            "has removed its",
            "has no attribute",
            "object is not",
            "not callable",
            "not iterable",
            "subscriptable",
            "unsupported operand",
            "does not accept",
            "[Cc]annot reshape",
            "cannot convert",
            "Incompatible",
            "incompatible shapes",
            "contracting",
            r"(?<![\w'])_\w+:",
        )
    )
)
SENTENCE = re.compile(r"(\(\w+\) )?[\w.]+(\(\))?( [\w.]+)?: .*(;|,|must|cannot)")
EXPECTED = re.compile(
    r"\b(must|allowed|cannot|use|needs|takes|supported|has|have|goes?|are promoted|is "
    r"missing|which|only|not initialized)\b"
)
MORE = [
    C("CTCLoss", inputs=("5,2,4", "i3:2,3", "i4:2", "i3:2")),
    C("RNNTLoss", inputs=("2,4,3,5", "i4:2,2", "i4:2", "i2:2")),
    C("HuberLoss", inputs=("3,4", "3,4")),
    C("AdaptiveLogSoftmaxWithLoss", 8, 20, [5, 10], inputs=("3,8", "i20:3")),
    C("MaxUnPool1D", 2, inputs=("1,2,3", "i6:1,2,3")),
    C("MaxUnPool2D", 2, inputs=("1,2,2,2", "i16:1,2,2,2")),
    C("MaxUnPool3D", 2, inputs=("1,2,2,2,2", "i64:1,2,2,2,2")),
    C("SyncBatchNorm", 4, inputs="3,4,2,2"),
    C("TransformerEncoder", lambda p: p.nn.TransformerEncoderLayer(8, 2, 16), 1, inputs="2,3,8"),
    C("TransformerDecoder", lambda p: p.nn.TransformerDecoderLayer(8, 2, 16), 1, inputs=("2,3,8", "2,4,8")),
]
# Containers are called by nobody, or hand their arguments on.
NOT_CALLED = {
    "Layer",
    "Module",
    "LayerDict",
    "LayerList",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    "RNNCellBase",
}
ANYTHING = {"Identity"}
CASES = {}
for _case in (*ALL, *MORE):
    CASES.setdefault(_case.name, _case)
THINGS = ["text", None, 3, [1.0, 2.0], object()]


def layers():
    """{class: the first of its names} of all public layers."""
    found = {}
    for name in dir(paddle_jax.nn):
        thing = getattr(paddle_jax.nn, name)
        if isinstance(thing, type) and issubclass(thing, paddle_jax.nn.Layer):
            found.setdefault(thing, name)
    return found


def wrong(array):
    """Variants of an argument, most of which no layer takes."""
    yield np.repeat(array, 2, axis=array.ndim - 1) if array.ndim else array[None]
    if array.ndim > 1:
        yield np.concatenate([array, array[:, :1]], axis=1)
        yield array.reshape(-1)
    yield array[None]
    yield array.reshape(-1)[0].reshape(())
    yield array[:0]
    for dtype in ("int64", "bool", "complex64", "float32"):
        if array.dtype != dtype:
            yield array.astype(dtype)


def calls(case):
    """All arguments of calls, one of which is wrong."""
    arrays = case.arrays()
    for i, array in enumerate(arrays):
        if array is None:
            continue
        for given in (*map(paddle_jax.to_tensor, wrong(array)), *(THINGS[: 5 if i == 0 else 0])):
            yield [
                given if j == i else None if other is None else paddle_jax.to_tensor(other)
                for j, other in enumerate(arrays)
            ]


def test_every_layer_has_a_row():
    known = {getattr(paddle_jax.nn, name) for name in (*CASES, *NOT_CALLED)}
    assert not sorted(name for layer, name in layers().items() if layer not in known)


def described(given):
    return [
        f"{thing.dtype}{list(thing.shape)}" if isinstance(thing, paddle_jax.Tensor) else repr(thing)
        for thing in given
    ]


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.filterwarnings("ignore")
def test_mistakes_are_told_in_our_words(name):
    layer, told = CASES[name].build(paddle_jax), 0
    for given in calls(CASES[name]):
        try:
            layer(*given)
        except Exception as error:
            told += 1
            text, where = str(error).partition("\n")[0], (described(given), type(error).__name__, str(error))
            assert not FOREIGN.search(text), where
            assert SENTENCE.match(text), where
            assert EXPECTED.search(text), where
            assert any(note.startswith("in the layer ") for note in error.__notes__) and not any(
                "JAX" in note for note in error.__notes__
            ), where
    assert told or name in ANYTHING


def test_an_exception_of_another_kind_stays_as_it_is(monkeypatch):
    layer = paddle_jax.nn.LSTM(4, 3)
    error = AttributeError("mine")
    monkeypatch.setattr(layer, "forward", lambda inputs, states=None: (_ for _ in ()).throw(error))
    with pytest.raises(AttributeError, match="^mine$"):
        layer(paddle_jax.ones([2, 5, 4]), None)
