"""Shapes that do not go together are told in words of ours: the arguments by name, the
layer below the text."""

import re

import pytest

FOREIGN = re.compile(
    r"dot_general|got incompatible shapes|Incompatible shapes|label "
    r"'\w'|Einstein|contracting|arr_shape|operand \d|(?<!\w)_\w+:"
)


def cases(paddle):
    nn, F = paddle.nn, paddle.nn.functional

    def t(*shape):
        return paddle.ones(shape)

    return {
        "linear": (
            lambda: nn.Linear(4, 3)(t(2, 5)),
            "axes that are summed over have lengths 5 and 4",
            "x float32[2, 5], weight float32[4, 3], bias",
        ),
        "no axes": (lambda: nn.Linear(4, 3)(t()), "a 0-D tensor", "x float32[]"),
        "lstm": (lambda: nn.LSTM(4, 5)(t(2, 3, 6)), "lengths 6 and 4", "inputs float32[2, 3, 6]"),
        "add": (lambda: t(2, 3) + t(2, 4), "shapes [2, 3] and [2, 4]", "x float32[2, 3], y float32[2, 4]"),
        "other axes": (lambda: t(2, 3) + t(2), "shapes [2, 3], [2]", "y float32[2]"),
        "concat": (
            lambda: paddle.concat([t(2, 3), t(3, 3)], 1),
            "[2, 3], [3, 3] must be the same but for axis 1",
            "x[1] float32[3, 3]",
        ),
        "axes of concat": (
            lambda: paddle.concat([t(2, 3), t(3)], 0),
            "must have the same number of axes",
            "x[1] float32[3]",
        ),
        "einsum": (
            lambda: paddle.einsum("ij,jk->ik", t(2, 3), t(4, 2)),
            "have lengths 4 and 3",
            "float32[4, 2]",
        ),
        "bilinear": (lambda: nn.Bilinear(3, 4, 5)(t(2, 3), t(3, 4)), "have lengths", "x2 float32[3, 4]"),
        "private": (
            lambda: nn.GaussianNLLLoss()(t(2, 3), t(2, 4), t(2, 3)),
            "gaussian_nll_loss: ",
            "variance float32[2, 3]",
        ),
        "ctc_loss": (
            lambda: F.ctc_loss(
                t(5, 2, 4), t(2, 3).astype("int32"), t(3).astype("int64"), t(2).astype("int64")
            ),
            "with N = 2",
            "[3]",
        ),
        "static": (lambda: static(paddle), "lengths 5 and 4", "x float32[2, 5]"),
    }


def static(paddle):
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            paddle.nn.Linear(4, 3)(paddle.static.data("x", [2, 5], "float32"))
    finally:
        paddle.disable_static()


NAMES = (
    "linear",
    "no axes",
    "lstm",
    "add",
    "other axes",
    "concat",
    "axes of concat",
    "einsum",
    "bilinear",
    "private",
    "ctc_loss",
    "static",
)


@pytest.mark.parametrize("name", NAMES)
def test_words(paddle, name):
    call, what, got = cases(paddle)[name]
    with pytest.raises(ValueError) as caught:
        call()
    text = str(caught.value)
    assert what in text and got in text and not FOREIGN.search(text), text


def test_the_innermost_layer_is_named(paddle):
    class Odd(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner = paddle.nn.Sequential(paddle.nn.Linear(4, 3))

        def extra_repr(self):
            raise OSError("a description that fails")

        def forward(self, x):
            if x.ndim == 1:
                raise ValueError("mine")
            return self.inner(x)

    odd = Odd()
    for call in (odd, paddle.jit.to_static(odd)):
        with pytest.raises(ValueError) as caught:
            call(paddle.ones([2, 5]))
        assert sum(note.startswith("in the layer") for note in caught.value.__notes__) == 1
        assert re.fullmatch(
            r"in the layer linear_\d+: Linear\(in_features=4, .*\) with weight \[4, "
            r"3\], bias \[3\]",
            caught.value.__notes__[0],
        )
    with pytest.raises(ValueError, match="^mine$"):
        Odd()(paddle.ones([1]))


def test_labels_that_do_not_exist(paddle):
    with pytest.raises(ValueError, match=r"multi_margin_loss: label: got 5; allowed are 0\.\.2"):
        paddle.nn.functional.multi_margin_loss(paddle.ones([2, 3]), paddle.to_tensor([1, 5]))
