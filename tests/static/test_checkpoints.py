"""Unit tests of `_program.evaluate`: gradients that compute again what is between checkpoints.

The values are the same, and fewer of them are kept.
"""

import functools as ft

import jax
import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax._program.evaluate import symbols_of
from paddle_jax.static.executor import compiled_run

ROWS, WIDTH = 64, 16


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def network(blocks=4):
    """(loss, hidden Variables): blocks with dropout, and a sum that skips each of them."""
    hidden = paddle.static.data("x", [ROWS, WIDTH])
    marks = []
    for _ in range(blocks):
        inner = hidden
        for _ in range(3):
            inner = paddle.nn.functional.dropout(paddle.tanh(paddle.static.nn.fc(inner, WIDTH)), 0.2)
        hidden = hidden + inner
        marks.append(hidden)
    return (hidden**2).mean(), marks


def gradients_of(chosen):
    """Loss and gradients of the network, and the compiled run that computes them."""
    paddle.seed(3)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.static.scope_guard(paddle.static.Scope()):
        with paddle.utils.unique_name.guard():
            loss, marks = network()
            pairs = paddle.static.append_backward(loss, checkpoints=chosen(marks))
        fetched = [loss, *[gradient for _, gradient in pairs]]
        exe = paddle.static.Executor()
        exe.run(startup)
        rows = np.random.default_rng(0).normal(size=[ROWS, WIDTH]).astype("float32")
        found = exe.run(main, feed={"x": rows}, fetch_list=fetched)
        scope = paddle.static.global_scope().values
        return found, kept_bytes(compiled_run(main, fetched, False), scope, rows)


@ft.cache
def gradients_without_checkpoints():
    return gradients_of(lambda marks: None)


def kept_bytes(entry, scope, rows):
    """The most bytes that intermediate results take at once, operation by operation."""
    used = list(dict.fromkeys([*symbols_of(entry.ops), *entry.fetches]))
    read = [scope[name] for name in entry.read]
    traced = jax.make_jaxpr(entry._body(used, entry.outputs))(
        [], read, [rows], entry.constants, np.zeros(2, "uint32"), np.uint32(0)
    ).jaxpr
    uses = [{v for v in eqn.invars if not hasattr(v, "val")} for eqn in traced.eqns]
    last_use = {v: i for i, variables in enumerate(uses) for v in variables}
    kept, most = {}, 0
    for i, eqn in enumerate(traced.eqns):
        kept |= {v: v.aval.size * v.aval.dtype.itemsize for v in eqn.outvars if v in last_use}
        most = max(most, sum(kept.values()))
        kept = {v: size for v, size in kept.items() if last_use[v] > i}
    return most


def test_gradients_are_the_same_and_less_is_kept():
    expected, whole = gradients_without_checkpoints()
    found, less = gradients_of(lambda marks: marks)
    assert len(found) == 25
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    # 36 results of layers in one case; four checkpoints and those of one block in the other
    assert less < whole / 2


@pytest.mark.parametrize(
    "chosen",
    [
        lambda marks: [marks[1].name],
        lambda marks: [marks[2], "x", marks[0].name],
        lambda marks: [],
    ],
    ids=["one by name", "an input and two in another order", "none"],
)
def test_any_checkpoints_give_the_same(chosen):
    expected, _ = gradients_without_checkpoints()
    found, _ = gradients_of(chosen)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_gradients_of_gradients():
    """d/dx of the sum of (d(x^4)/dx)^2 = 16 x^6 is 96 x^5."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        weight = paddle.static.create_parameter(
            [2], "float32", default_initializer=paddle.nn.initializer.Assign(np.array([1.0, 2.0], "float32"))
        )
        square = weight * weight
        ((_, first),) = paddle.static.append_backward((square * square).sum(), checkpoints=[square])
        (second,) = paddle.static.gradients((first * first).sum(), weight)
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        found = exe.run(main, fetch_list=[first, second])
    np.testing.assert_allclose(found[0], [4, 32], rtol=1e-6)
    np.testing.assert_allclose(found[1], [96, 96 * 32], rtol=1e-6)


def test_refused_checkpoints():
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        loss, _ = network(1)
        with pytest.raises(ValueError, match="the program has no Variable 'absent'"):
            paddle.static.append_backward(loss, checkpoints=["absent"])
        with pytest.raises(TypeError, match="got int; they must be Variables or names"):
            paddle.static.append_backward(loss, checkpoints=[3])
