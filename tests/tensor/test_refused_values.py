"""Values that Paddle's kernels refuse: integers divided by zero, probabilities outside [0, 1]; against
the real Paddle."""

import numpy as np
import pytest

import paddle_jax as ours

oracle = pytest.importorskip("paddle")

DIVISIONS = {
    "floor_divide": lambda p, x, y: p.floor_divide(x, y),
    "remainder": lambda p, x, y: p.remainder(x, y),
    "mod": lambda p, x, y: p.mod(x, y),
    "floor_mod": lambda p, x, y: p.floor_mod(x, y),
    "//": lambda p, x, y: x // y,
    "%": lambda p, x, y: x % y,
    "/": lambda p, x, y: x / y,
    "divide": lambda p, x, y: p.divide(x, y),
    "trunc": lambda p, x, y: p.divide(x, y, rounding_mode="trunc"),
    "floor": lambda p, x, y: p.divide(x, y, rounding_mode="floor"),
    "method": lambda p, x, y: x.floor_divide(y),
    "floor_divide_": lambda p, x, y: x.clone().floor_divide_(y),
    "remainder_": lambda p, x, y: x.clone().remainder_(y),
    "mod_": lambda p, x, y: x.clone().mod_(y),
    "keywords": lambda p, x, y: p.floor_divide(y=y, x=x),
    "names": lambda p, x, y: p.remainder(input=x, other=y),
}
DIVISORS = {
    "zeros": lambda p, d: p.to_tensor([2, 0, -1]).astype(d),
    "zero": lambda p, d: p.to_tensor(0).astype(d),
    "none": lambda p, d: p.to_tensor([2, 3, -1]).astype(d),
    "pending": lambda p, d: (p.to_tensor([2, 1, -1]).astype(d) * 3 - 3).astype(d),
    "float": lambda p, d: p.to_tensor([2.0, 0.0, -1.0]),
}


def outcome(module, call, *args):
    try:
        found = call(module, *args)
    except Exception as error:
        return error
    return np.asarray(found.astype("float64").numpy())


def agree(call, *makers):
    mine, theirs = (outcome(module, call, *[make(module) for make in makers]) for module in (ours, oracle))
    if isinstance(theirs, Exception):
        assert isinstance(mine, Exception), f"the real Paddle raises {theirs!r}; ours gives {mine}"
        assert type(theirs).__name__ in {cls.__name__ for cls in type(mine).__mro__}
    else:
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    return mine


@pytest.mark.parametrize("dtype", ["int64", "int32", "float32"])
@pytest.mark.parametrize("divisor", DIVISORS)
@pytest.mark.parametrize("division", DIVISIONS)
def test_divisions(division, divisor, dtype):
    agree(
        DIVISIONS[division],
        lambda p: p.to_tensor([4, -3, 7]).astype(dtype),
        lambda p: DIVISORS[divisor](p, dtype),
    )


@pytest.mark.parametrize(
    "text",
    [
        "x // 0",
        "x % 0",
        "x / 0",
        "x // 0.0",
        "x % 0.0",
        "5 // z",
        "5 % z",
        "5 / z",
        "5.0 // z",
        "paddle.remainder(x, 0)",
        "paddle.floor_divide(x, 0)",
        "x[:0] // z[:0]",
        "x[:0] // 0",
        "x[:0] % paddle.to_tensor(0)",
        "x // 2",
        "x % -3",
        "7 // x",
        "paddle.floor_divide(x, paddle.to_tensor([0, 1]))",
        "(x - x) // (z - z)",
        "x // z.astype('float32')",
        "x % z.astype('float32')",
    ],
)
def test_numbers(text):
    def call(paddle):
        return eval(
            text, {"paddle": paddle, "x": paddle.to_tensor([4, -3, 7]), "z": paddle.to_tensor([2, 0, 1])}
        )

    agree(call)


def test_in_place_operators_leave_the_tensor():
    x = ours.to_tensor([4, 5])
    for statement in (
        "x //= 0",
        "x %= 0",
        "x.floor_divide_(ours.to_tensor([1, 0]))",
        "x.remainder_(ours.to_tensor(0))",
    ):
        with pytest.raises(ZeroDivisionError, match="got 0"):
            exec(statement, {"x": x, "ours": ours})
    assert x.tolist() == [4, 5] and x.inplace_version == 0


def test_the_class():
    """Paddle's own class, which programs import, and Python's."""
    with pytest.raises(ours.base.core.EnforceNotMet) as caught:
        ours.to_tensor([1]) // 0
    assert isinstance(caught.value, ZeroDivisionError)


@pytest.mark.parametrize(("x", "y"), [([2**62 + 1, -(2**62) - 3, 7], [1, 1, -2]), ([-7, 7, -1], [2, -2, 3])])
def test_truncating_division_is_exact(x, y):
    agree(
        lambda p, a, b: p.divide(a, b, rounding_mode="trunc"),
        lambda p: p.to_tensor(x),
        lambda p: p.to_tensor(y),
    )
    assert ours.divide(ours.to_tensor(x), ours.to_tensor(y), rounding_mode="trunc").tolist() == [
        int(abs(a) // abs(b)) * (1 if a * b > 0 else -1) for a, b in zip(x, y, strict=True)
    ]


def test_inside_a_compiled_function():
    """The check rides with the program."""
    f = ours.jit.to_static(lambda x, y: x // y)
    assert f(ours.to_tensor([6, 7]), ours.to_tensor([2, 3])).tolist() == [3, 2]
    with pytest.raises(ZeroDivisionError, match="floor_divide: y: got 0"):
        f(ours.to_tensor([6, 7]), ours.to_tensor([2, 0]))


@pytest.mark.parametrize(
    "values",
    [
        [0.0, 1.0, 0.5],
        [1.5, 0.5, 0.5],
        [-0.1, 0.5, 0.5],
        [float("nan"), 0.5, 0.5],
        [0.5, 0.5, 1.0 + 1e-6],
        [-0.0, 0.5, 1.0],
        [float("inf"), 0.5, 0.5],
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda p, x, y: p.nn.functional.binary_cross_entropy(x, y),
        lambda p, x, y: p.nn.BCELoss(reduction="sum")(x, y),
        lambda p, x, y: p.nn.functional.binary_cross_entropy(label=y, input=x, reduction="none"),
    ],
)
def test_probabilities(values, call):
    agree(call, lambda p: p.to_tensor(values), lambda p: p.to_tensor([1.0, 0.0, 1.0]))
    agree(
        call,
        lambda p: p.to_tensor(values, dtype="float64"),
        lambda p: p.to_tensor([1.0, 0.0, 1.0], dtype="float64"),
    )


def test_probabilities_of_nothing():
    assert np.isnan(ours.nn.functional.binary_cross_entropy(ours.ones([0]), ours.ones([0])).item())


def test_pending_probabilities():
    """What is not yet computed is not waited for; the error comes when the loss is read."""
    x = ours.to_tensor([0.5, 1.0]) * 3
    if getattr(x._raw, "array", x._raw) is None:
        loss = ours.nn.functional.binary_cross_entropy(x, ours.to_tensor([0.0, 1.0]))
        with pytest.raises(ValueError, match="probabilities"):
            loss.item()


@pytest.mark.parametrize("tier", ["off", "sync"])
def test_in_each_tier(tier):
    before = ours.get_flags("FLAGS_deferred")
    ours.set_flags({"FLAGS_deferred": tier})
    try:
        with pytest.raises(ZeroDivisionError):
            ours.to_tensor([4, 5]) % (ours.to_tensor([2, 3]) - 3)
        with pytest.raises(ValueError, match="probabilities"):
            ours.nn.functional.binary_cross_entropy(ours.to_tensor([1.5]), ours.to_tensor([1.0]))
    finally:
        ours.set_flags(before)


def arrays(p, *values, dtype="int64"):
    return [p.to_tensor(value, dtype=dtype) for value in values]


def ctc(p, labels=(1, 2), frames=5, length=2):
    labels, frames, length = arrays(p, [labels], [frames], [length])
    return p.nn.functional.ctc_loss(p.zeros([5, 1, 4]), labels.astype("int32"), frames, length)


def rnnt(p, labels=(1, 2), frames=4, length=2):
    return p.nn.functional.rnnt_loss(
        p.zeros([1, 4, 3, 5]), *arrays(p, [labels], [frames], [length], dtype="int32")
    )


def tree(p, parents):
    ids, parents = arrays(p, np.zeros((3, 1, 2)), np.reshape(parents, (3, 1, 2)))
    return p.nn.functional.gather_tree(ids, parents)


def solved(p, *pivots):
    return p.linalg.lu_solve(p.ones([3, 1]), p.eye(3), *arrays(p, pivots, dtype="int32"))


def pooled(p, name, *counts):
    boxes = p.to_tensor([[0.0, 0.0, 3.0, 3.0], [1.0, 1.0, 4.0, 4.0]])
    return getattr(p.vision.ops, name)(p.ones([2, 8, 6, 6]), boxes, *arrays(p, counts, dtype="int32"), 2)


def unpacked(p, *pivots):
    return p.linalg.lu_unpack(p.ones([3, 3]), *arrays(p, pivots, dtype="int32"))[0]


def dice(p, *labels):
    return p.nn.functional.dice_loss(p.ones([3, 4]) / 4, *arrays(p, [[label] for label in labels]))


# call, and whether it is refused; Paddle refuses the same, reads beyond the memory or ends the process
INDICES = {
    "parent too large": (lambda p: tree(p, [0, 0, 0, 2, 0, 1]), True),
    "negative parent": (lambda p: tree(p, [0, 0, 0, 0, 0, -1]), True),
    "parent of the first step": (lambda p: tree(p, [7, -3, 0, 1, 0, 1]), False),
    "parent that is not followed": (lambda p: tree(p, [0, 0, 0, 7, 0, 0]), False),
    "pivot too large": (lambda p: unpacked(p, 1, 4, 3), True),
    "pivot 0": (lambda p: unpacked(p, 1, 0, 3), True),
    "pivots": (lambda p: unpacked(p, 3, 3, 3), False),
    "label of dice_loss too large": (lambda p: dice(p, 0, 4, 1), True),
    "negative label of dice_loss": (lambda p: dice(p, 0, -1, 1), True),
    "labels of dice_loss": (lambda p: dice(p, 0, 3, 1), False),
    "label of ctc_loss too large": (lambda p: ctc(p, (1, 4)), True),
    "negative label of ctc_loss": (lambda p: ctc(p, (1, -1)), True),
    "padding of ctc_loss": (lambda p: ctc(p, (1, -1), length=1), False),
    "too many frames of ctc_loss": (lambda p: ctc(p, frames=6), True),
    "too many labels of ctc_loss": (lambda p: ctc(p, length=3), True),
    "negative length of ctc_loss": (lambda p: ctc(p, length=-1), True),
    "label of rnnt_loss too large": (lambda p: rnnt(p, (1, 5)), True),
    "padding of rnnt_loss": (lambda p: rnnt(p, (1, -1), length=1), False),
    "too many frames of rnnt_loss": (lambda p: rnnt(p, frames=5), True),
    "too many labels of rnnt_loss": (lambda p: rnnt(p, length=3), True),
    "pivot of lu_solve too large": (lambda p: solved(p, 1, 4, 3), True),
    "pivot 0 of lu_solve": (lambda p: solved(p, 0, 2, 3), True),
    "pivots of lu_solve": (lambda p: solved(p, 2, 3, 3), False),
    "label of accuracy": (lambda p: p.metric.accuracy(p.ones([2, 3]), *arrays(p, [[0], [-1]])), True),
    "too long for LSTM": (lambda p: p.nn.LSTM(2, 3)(p.ones([2, 4, 2]), None, arrays(p, [5, 4])[0])[0], True),
    "lengths of LSTM": (lambda p: p.nn.LSTM(2, 3)(p.ones([2, 4, 2]), None, arrays(p, [4, 1])[0])[0], False),
    "boxes left over": (lambda p: pooled(p, "roi_align", 1, 0), "add up"),
    "negative count of boxes": (lambda p: pooled(p, "roi_pool", -1, 3), "add up"),
    "too many counted": (lambda p: pooled(p, "psroi_pool", 1, 2), "add up"),
    "counts of boxes": (lambda p: pooled(p, "psroi_pool", 1, 1), False),
    "a sample": (lambda p: p.geometric.sample_neighbors(*arrays(p, [1, 0], [0, 1, 2], [0]), -2), True),
    "top_k of nms": (
        lambda p: p.vision.ops.nms(p.ones([1, 4]), 0.3, p.ones([1]), *arrays(p, [0]), [0], 0),
        "at least 1",
    ),
}


@pytest.mark.parametrize("name", INDICES)
def test_indices_out_of_range(name):
    call, refused = INDICES[name]
    if not refused:
        assert np.isfinite(call(ours).numpy()).all()
        return
    with pytest.raises(ValueError, match=refused if isinstance(refused, str) else "got .* use "):
        call(ours)


def test_indices_that_are_not_followed_have_no_effect():
    want = oracle.nn.functional.gather_tree(
        *arrays(oracle, [[[2, 2]], [[3, 9]], [[0, 1]]], [[[7, -3]], [[1, 0]], [[0, 0]]])
    )
    got = ours.nn.functional.gather_tree(
        *arrays(ours, [[[2, 2]], [[3, 9]], [[0, 1]]], [[[7, -3]], [[1, 0]], [[0, 0]]])
    )
    np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_indices_in_a_compiled_function():
    """The checks ride with the program."""
    tree = ours.jit.to_static(ours.nn.functional.gather_tree)
    ids = ours.zeros([3, 1, 2], "int64")
    assert tree(ids, ids).tolist() == ids.tolist()
    with pytest.raises(ValueError, match="gather_tree: parents: got 2"):
        tree(ids, ids + 2).numpy()
    loss = ours.jit.to_static(lambda *args: ours.nn.functional.ctc_loss(*args))
    scores, lengths = ours.zeros([5, 1, 4]), arrays(ours, [5], [2])
    assert loss(scores, ours.to_tensor([[1, 2]], dtype="int32"), *lengths).item() > 0
    with pytest.raises(ValueError, match="ctc_loss: labels: got 4"):
        loss(scores, ours.to_tensor([[1, 4]], dtype="int32"), *lengths).item()


def test_indices_of_a_static_program():
    ours.enable_static()
    try:
        with ours.static.program_guard(ours.static.Program()) as _:
            parents = ours.static.data("parents", [3, 1, 2], "int64")
            result = ours.nn.functional.gather_tree(parents, parents)
            assert [op.type for op in result.block.ops] == ["gather_tree"]
    finally:
        ours.disable_static()


FLAGS = [True, False, None, 3, 1, 0, 1.0, "a", np.bool_(True), np.array(True)]


@pytest.mark.parametrize("value", FLAGS, ids=repr)
@pytest.mark.parametrize("flag", ["stop_gradient", "persistable", "requires_grad"])
def test_flags(flag, value):
    def assigned(p):
        tensor = p.zeros([2])
        setattr(tensor, flag, value)
        return p.to_tensor([getattr(tensor, flag)])

    agree(assigned)


@pytest.mark.parametrize(
    "text",
    [
        "x.scale(bias=np.array(2.0))",
        "x.scale(np.array([2.0]))",
        "x.scale(2.0, np.array([True]))",
        "x.scale_(bias=np.array(2))",
        "x.scale(bias=np.array([1.0, 2.0]))",
        "x.scale(bias=[2.0])",
    ],
)
def test_arrays_as_numbers(text):
    agree(lambda p, x: eval(text, {"np": np, "x": x, "p": p}), lambda p: p.to_tensor([0.5, -1.0]))
