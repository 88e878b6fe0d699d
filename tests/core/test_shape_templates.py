"""Equations for new shapes: from a template where they are those of a trace, else by a trace.

Unit tests of `_core.base`, `_core.kernels`, `_core.lazy` and `_core.numpy_backend`.
"""

import gc
import weakref

import jax
import numpy as np
import pytest

import paddle_jax as paddle
import paddle_jax.nn.functional as F
from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.interrupt_safe import preserved_tracing
from paddle_jax._core.base.symbolic_dims import ShapeEnvironment, SymbolicDim
from paddle_jax._core.kernels import shape_templates
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy import signature_cache
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.numpy_backend import Refusal, plan, plan_of
from tests.ops import harness
from tests.ops.table import OPS
from tests.ops.test_ops import find, public_path

LENGTHS = (7, 9, 12, 5, 2, 1, 0, 40, 7)


def numbers(*shape):
    return np.random.RandomState(sum(shape)).rand(*shape).astype("float32")


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# name -> (function of a Tensor of shape [n, 4], the same of a NumPy array)
FUNCTIONS = {
    "mean": (lambda x: x.mean(axis=0), lambda x: x.mean(0)),
    "variance": (lambda x: x.var(axis=0), lambda x: x.var(0, ddof=1)),
    "median of odd and even counts": (lambda x: paddle.median(x, axis=0), lambda x: np.median(x, 0)),
    "product": (lambda x: x @ x.T, lambda x: x @ x.T),
    "softmax": (lambda x: F.softmax(x, axis=-1), softmax),
    "concat": (lambda x: paddle.concat([x, x * 2], 0), lambda x: np.concatenate([x, x * 2], 0)),
    "first largest": (lambda x: x.argmax(axis=0), lambda x: x.argmax(0)),
    "sort": (lambda x: paddle.sort(x, axis=0), lambda x: np.sort(x, 0)),
    "relu": (lambda x: F.relu(x - 0.5), lambda x: np.maximum(x - 0.5, 0)),
    "square distances": (
        lambda x: ((x.unsqueeze(0) - x.unsqueeze(1)) ** 2).sum(-1),
        lambda x: ((x[None] - x[:, None]) ** 2).sum(-1),
    ),
}
NOT_OF_NOTHING = {"mean", "variance", "median of odd and even counts", "first largest"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_at_many_lengths(name):
    ours, reference = FUNCTIONS[name]
    for n in LENGTHS:
        if n < 2 and name in NOT_OF_NOTHING:
            continue
        x = numbers(n, 4)
        np.testing.assert_allclose(ours(paddle.to_tensor(x)).numpy(), reference(x), rtol=2e-5, atol=1e-6)


def test_the_fourth_length_is_not_traced():
    before = paddle.explain().filled_templates
    layer = paddle.nn.LayerNorm(6)
    for n in (3, 4, 5, 6, 7, 8):
        x = paddle.to_tensor(numbers(n, 6), stop_gradient=False)
        layer(x).square().mean().backward()
        float(x.grad.sum())
    assert paddle.explain().filled_templates > before + 10


def _forget_templates():
    """Drops the templates and traces of other tests."""
    for kernel in signature_cache._kernels():
        kernel.shape_templates.clear()
        if kernel.family is not None:
            kernel.family.shape_templates.clear()


def _train(lengths):
    """Training steps with batches of these lengths: how many equations templates gave in each."""
    layer = paddle.nn.Linear(6, 3)
    optimizer = paddle.optimizer.SGD(parameters=layer.parameters())
    filled = []
    for n in lengths:
        before = log.filled_templates
        layer(paddle.to_tensor(numbers(n, 6))).square().mean().backward()
        optimizer.step()
        optimizer.clear_grad()
        layer.weight.numpy()
        filled.append(log.filled_templates - before)
    return filled


def test_the_third_length_of_training_steps_is_not_traced():
    _forget_templates()
    first, second, third = _train([21, 32, 43])
    assert (first, second) == (0, 0)
    assert third >= 5


def test_a_short_last_batch_makes_no_template():
    _forget_templates()
    _train([22, 22, 9])
    known = [known for kernel in signature_cache._kernels() for known in kernel.shape_templates.values()]
    assert known
    assert not any(each.templates for each in known)


# Functions with a derivative of their own: name -> (function, its derivative in NumPy)
DERIVATIVES = {
    "relu": (F.relu, lambda x: 1.0 * (x > 0)),
    "softplus": (F.softplus, lambda x: 1 / (1 + np.exp(-x))),
    "logsigmoid": (F.log_sigmoid, lambda x: 1 / (1 + np.exp(x))),
    "silu": (F.silu, lambda x: (1 + np.exp(-x) * (1 + x)) / (1 + np.exp(-x)) ** 2),
    "elu": (F.elu, lambda x: np.where(x > 0, 1, np.exp(x))),
    "softmax": (lambda x: (F.softmax(x) ** 2) / 2, lambda x: _softmax_slopes(softmax(x), softmax(x))),
    "cross entropy": (
        lambda x: F.cross_entropy(x, paddle.zeros([x.shape[0]], "int64"), reduction="sum"),
        lambda x: softmax(x) - np.eye(x.shape[1])[0],
    ),
    "binary cross entropy": (
        lambda x: F.binary_cross_entropy_with_logits(x, paddle.zeros_like(x), reduction="sum"),
        lambda x: 1 / (1 + np.exp(-x)),
    ),
}


def _softmax_slopes(p, cotangents):
    """The gradient of a softmax with the result p."""
    return p * (cotangents - (p * cotangents).sum(-1, keepdims=True))


@pytest.mark.parametrize("name", DERIVATIVES)
def test_functions_with_a_derivative_of_their_own_have_templates(name):
    function, derivative = DERIVATIVES[name]
    # Kernels of sums and squares may have traces for lengths of 0 or 1 from other tests.
    _forget_templates()
    log.clear()
    for n in (13, 14, 15, 16):
        x = numbers(n, 5) - 0.5
        tensor = paddle.to_tensor(x, stop_gradient=False)
        filled = paddle.explain().filled_templates
        function(tensor).sum().backward()
        np.testing.assert_allclose(tensor.grad.numpy(), derivative(x), rtol=2e-5, atol=1e-6)
    # of the function, of its gradient, and of those of the sum, if there is one
    assert paddle.explain().filled_templates >= filled + 2
    assert not [event for event in log.events if "traced for each shape" in event]


@jax.custom_jvp
def _plain(x):
    return x * 2


@_plain.defjvp
def _count_as_slope(primals, tangents):
    """The slope depends on the length, and the rule contains the function again."""
    return _plain(primals[0]), tangents[0] * float(primals[0].shape[0])


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, lambda f: lambda x: f(jax.nn.relu(x))])
def test_filled_equations_have_the_rule_of_a_trace(wrap):
    """The gradient is asked for at a length for which the function itself was never traced."""
    kernel = Kernel("plain", wrap(_plain))
    kernel.has_templates = True
    gradient = kernel.grad((0,), None, 1)
    for n in (3, 4, 5, 6, 7):
        equations = kernel.trace((aval_of((n,), np.dtype("float32")),))
    x = np.ones(n, "float32")
    assert equations.flat(x)[0].tolist() == [2.0] * n
    assert gradient.run(x, x).tolist() == [n] * n
    _, slopes = jax.jvp(equations.flat, (x,), (x,))
    assert slopes[0].tolist() == [n] * n


@pytest.mark.parametrize("name", ["lstm", "lengths of sequences", "attention", "convolution", "loss"])
def test_gradients_at_many_lengths(name):
    """Central differences give the right values."""
    paddle.seed(3)
    lstm = paddle.nn.LSTM(3, 3)
    gru = paddle.nn.GRU(3, 3)
    conv = paddle.nn.Conv2D(1, 2, 3, padding=1)
    functions = {
        "lengths of sequences": lambda x: (
            gru(paddle.stack([x, x * 2]), sequence_length=paddle.to_tensor([3, x.shape[0]]))[0]
            .square()
            .mean()
        ),
        "lstm": lambda x: lstm(x.unsqueeze(0))[0].square().mean(),
        "attention": lambda x: (
            F.scaled_dot_product_attention(*[x.reshape([1, -1, 1, 3])] * 3).square().mean()
        ),
        "convolution": lambda x: F.gelu(conv(x.reshape([1, 1, -1, 3]))).mean(),
        "loss": lambda x: F.cross_entropy(x, x.argmax(axis=1)),
    }
    function = functions[name]
    for n in (4, 5, 6, 7, 9):
        x = paddle.to_tensor(numbers(n, 3), stop_gradient=False)
        function(x).backward()
        direction = numbers(n, 3) - 0.5
        step = 1e-2
        ends = [float(function(paddle.to_tensor(numbers(n, 3) + s * direction))) for s in (step, -step)]
        slope = float((x.grad * paddle.to_tensor(direction)).sum())
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=2e-2, atol=2e-4)


def _templates(kernels):
    """(kernel, avals) of all signatures of kernels that may have templates, gradients included."""
    for kernel in kernels:
        if kernel.has_templates:
            yield from ((kernel, avals) for avals in [*kernel.signatures])
            yield from _templates([*kernel.grads.values()])


SAMPLE = sorted(n for n, op in OPS.items() if not op.composite and op.jit and op.cases)[::9]


@pytest.mark.parametrize("name", SAMPLE)
def test_filled_equations_are_those_of_a_trace(name, monkeypatch):
    """Lengths that happen to be equal are one symbol, and other lengths are filled in."""
    op = OPS[name]
    monkeypatch.setattr(op, "kernels", {})
    monkeypatch.setattr(op, "fast", {})
    for case in [c for c in op.cases if not c.startswith("~")][:2]:
        harness.evaluate(paddle, find(paddle, public_path(name)), case)
    for kernel, avals in [*_templates([*op.kernels.values()])]:
        # The lengths of the operands alone, and the numbers among the attributes before them.
        for source in shape_templates._sources(kernel, avals):
            _check_templates_of(source)


def _check_templates_of(source):
    lengths = source.lengths
    axes_of = {}
    for axis, n in enumerate(lengths):
        if n > 1:
            axes_of.setdefault((n,), []).append(axis)
    if not axes_of:
        return
    fixed = [(axis, n) for axis, n in enumerate(lengths) if n <= 1]
    try:
        template = shape_templates._template(source, fixed, axes_of)
        shape_templates._check(template, [shape_templates._Traced(lengths, _traced(source, lengths), 0)])
    except Exception:  # it is traced for each shape
        return
    for more in (1, 3, 10):
        others = tuple(n + more * (n > 1) for n in lengths)
        filled = template.equations_for(others)
        if filled is not None:
            traced = _traced(source, others)
            assert shape_templates._same_equations(filled, traced), (source.name, others)
            _check_plan(filled, traced)


def _check_plan(filled, traced):
    """A plan from a template gives what that of traced equations gives, bit by bit, and costs as much."""
    try:
        expected = plan(traced)
    except Refusal:
        with pytest.raises(Refusal):
            plan_of(filled)
        return
    made = plan_of(filled)
    assert (made.names, made.shapes) == (expected.names, expected.shapes)
    assert made.cost == pytest.approx(expected.cost)
    assert made.compile_cost == pytest.approx(expected.compile_cost)
    operands = [_array(v.aval) for v in traced.jaxpr.invars]
    for result, value in zip(made(*operands), expected(*operands), strict=True):
        assert (result.dtype, result.shape) == (value.dtype, value.shape)
        assert result.tobytes() == value.tobytes()


def _array(aval):
    """An array of small numbers, some of which are equal."""
    return (np.arange(aval.size) * 7 % 5).reshape(aval.shape).astype(aval.dtype)


def _traced(source, lengths):
    with preserved_tracing():
        return source.trace(lengths)


# Lengths as attributes: name -> (function of a Tensor of shape [n, 4], the same of a NumPy array)
WITH_NUMBERS = {
    "reshape": (lambda x, n: x.reshape([2, n * 2]), lambda x, n: x.reshape(2, n * 2)),
    "expand": (lambda x, n: x[:1].expand([n, 4]), lambda x, n: np.broadcast_to(x[:1], (n, 4))),
    "tile": (lambda x, n: x[:1].tile([n, 1]), lambda x, n: np.tile(x[:1], (n, 1))),
    "slice": (lambda x, n: x[2 : n - 1], lambda x, n: x[2 : n - 1]),
    "pad": (
        lambda x, n: F.pad(x, [0, 0, 0, 50 - n], pad_from_left_axis=False),
        lambda x, n: np.pad(x, ((0, 50 - n), (0, 0))),
    ),
    "rows": (lambda x, n: x[paddle.arange(n - 2)], lambda x, n: x[: n - 2]),
    "gather": (lambda x, n: paddle.gather(x, paddle.arange(n - 3)), lambda x, n: x[: n - 3]),
    "mask": (
        lambda x, n: x * F.sequence_mask(paddle.to_tensor([n - 4]), n, "float32").T,
        lambda x, n: x * (np.arange(n) < n - 4)[:, None],
    ),
    "segments": (
        lambda x, n: paddle.geometric.segment_mean(x, paddle.arange(n) // 2),
        lambda x, n: np.stack([x[k : k + 2].mean(0) for k in range(0, n, 2)]),
    ),
}


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_attributes_that_are_lengths(name):
    """The sixth choice is not traced, neither for the values nor for the gradient."""
    ours, reference = WITH_NUMBERS[name]
    _forget_templates()
    log.clear()
    for n in (13, 15, 18, 20, 24, 29, 33):
        filled = log.filled_templates
        x = numbers(n, 4)
        tensor = paddle.to_tensor(x, stop_gradient=False)
        result = ours(tensor, n)
        expected = reference(x, n)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)
        (result * result).sum().backward()
        # The result is linear in x, so its square grows by twice itself along x.
        np.testing.assert_allclose(
            (tensor.grad * tensor).sum().item(), 2 * (expected * expected).sum(), rtol=1e-5
        )
    assert log.filled_templates > filled
    assert not [event for event in log.events if "traced for each shape" in event]


def test_numbers_that_do_not_fit_raise():
    for n in (13, 15, 18, 20, 24):
        assert paddle.ones([n, 4]).reshape([2, n * 2]).shape == [2, n * 2]
    with pytest.raises(ValueError, match="reshape"):
        paddle.ones([26, 4]).reshape([2, 51])
    for axis in (2, 3, 4, 5, 6):
        with pytest.raises(ValueError, match="axis"):
            paddle.sum(paddle.ones([3, 4]), axis=axis)


def test_a_template_keeps_no_frame_of_the_program():
    """Neither one that is made, nor one that cannot be made (of cumsum, whose axis has to be an int)."""

    class Local:
        pass

    def step(n):
        held = Local()
        x = paddle.ones([n, 3])
        float((paddle.tanh(x) + paddle.cumsum(x, axis=0)).sum())
        return weakref.ref(held)

    gc.collect()
    gc.disable()
    try:
        assert [step(n)() for n in (21, 22, 23, 24)] == [None] * 4
    finally:
        gc.enable()


def test_wrong_shapes_raise_and_do_no_harm():
    for n in (4, 5):
        paddle.ones([n, 3]) @ paddle.ones([3, 2])
    with pytest.raises(ValueError, match="matmul"):
        paddle.ones([6, 3]) @ paddle.ones([4, 2])
    for n in (6, 7, 8):
        assert (paddle.ones([n, 3]) @ paddle.ones([3, 2])).tolist() == [[3.0, 3.0]] * n


def test_code_of_users_runs_for_each_shape():
    def double(x):
        if type(x.shape[0]) is not int:
            raise AssertionError("a symbolic length in the code of a user")
        return x * 2

    step = paddle.jit.to_static(double)
    for n in (3, 4, 5, 6, 7):
        assert step(paddle.ones([n])).tolist() == [2.0] * n


@pytest.mark.parametrize(
    "expression",
    [
        "n // 2 + 1",
        "(16 - n % 16) % 16",
        "max(n - 3, 0)",
        "n * m - m",
        "min(n, m)",
        "divmod(n, 3)[1]",
        "abs(3 - n)",
        "-n",
        "5 - n",
        "7 // n",
        "n if n > m else m + 1",
        "1 if n else 2",
        "int(n == m) + (n != 5)",
    ],
)
def test_arithmetic_of_lengths(expression):
    """Python's own, at every pair for which the decisions are the same."""
    for first in [(5, 9), (9, 5), (4, 4)]:
        environment = ShapeEnvironment(first)
        n, m = environment.lengths()
        result = eval(expression, {"n": n, "m": m})
        fixed = type(result) is int
        environment.is_tracing = False
        held = 0
        for lengths in [first, (8, 3), (3, 8), (6, 6), (0, 2), (17, 40)]:
            values = environment.values_for(lengths)
            if values is not None:
                held += 1
                expected = eval(expression, dict(zip("nm", lengths, strict=True)))
                assert (result if fixed else values[result.node]) == expected
        assert held


def test_a_cache_of_jax_makes_no_guard(monkeypatch):
    """It compares a new object with others that share some bits of its hash, by chance. Here all bits."""
    monkeypatch.setattr(SymbolicDim, "__hash__", lambda self: hash(5))
    environment = ShapeEnvironment([5, 5])
    n, m = environment.lengths()
    others = [jax.core.ShapedArray((length, 3), np.dtype("float32")) for length in (5, m)]
    aval = jax.core.ShapedArray((n, 3), np.dtype("float32"))
    assert aval.shape[0] is n
    assert not any(aval is other for other in others)
    assert environment.values_for([8, 3]) == [8, 3]


def test_a_length_is_no_int():
    (n,) = ShapeEnvironment([5]).lengths()
    with pytest.raises(TypeError):
        [0][n]
    with pytest.raises(TypeError):
        int(n)
