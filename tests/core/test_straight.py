"""Which op bodies are traced without inner compilation: never one with a loop.

Unit tests of `_core.ops.fast_tracing`.
"""

import dis
import functools as ft
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import paddle_jax as paddle
from paddle_jax._core.ops import fast_tracing as module
from paddle_jax._core.ops.fast_tracing import is_loop_free, without_inner_jit
from paddle_jax.nn.functional import rnn
from tests.ops import harness
from tests.ops.table import OPS
from tests.ops.test_ops import find, public_path

LOOPS = ("scan", "while")


def ours(function):
    """A function as if the package had it."""
    function.__module__ = "paddle_jax.tensor.math"
    return function


def _cumulated(x):
    return lax.scan(lambda c, v: (c + v, c), x[0], x)[1]


def _shifted(x):
    return jnp.where(x > 0, x, -x) + jnp.sum(x, axis=0)


def _by_helper(x):
    return _cumulated(x) * 2


def _by_default(x, way=_cumulated):
    return way(x)


def _searched(x):
    return jnp.searchsorted(x, x)


def _imported(x):
    from jax.lax import fori_loop

    return fori_loop(0, 3, lambda i, v: v + i, x)


class _Summing:
    def __call__(self, x):
        return lax.fori_loop(0, 3, lambda i, v: v + i, x)


def _by_class(x):
    return _Summing()(x)


for each in (
    _cumulated,
    _shifted,
    _by_helper,
    _by_default,
    _searched,
    _imported,
    _by_class,
    _Summing.__call__,
):
    ours(each)
_Summing.__module__ = "paddle_jax.tensor.math"


def _closed(way):
    return ours(lambda x: way(x))


TWISTED = jax.custom_jvp(_by_helper)


@pytest.mark.parametrize(
    "function",
    [
        _cumulated,
        _by_helper,
        _by_default,
        _searched,
        _imported,
        _by_class,
        _closed(_cumulated),
        _closed(TWISTED),
        _closed({"a": _cumulated}),
        ft.partial(_shifted, way=_cumulated),
        _closed(lax.map),
        _closed(jnp.interp),
        _closed(object()),
    ],
)
def test_refuses_loops_wherever_they_hide(function):
    assert not is_loop_free(function)


def test_accepts_what_is_known():
    assert is_loop_free(_shifted)
    assert is_loop_free(_closed(jnp.exp))
    assert is_loop_free(ft.partial(_shifted, 3))


@pytest.mark.parametrize(
    "name",
    ["add", "matmul", "softmax", "layer_norm", "tanh", "concat", "mean", "relu", "linear", "argmax", "sort"],
)
def test_common_ops_are_straight(name):
    assert is_loop_free(OPS[name].fn)


@pytest.mark.parametrize("name", ["simple_rnn", "lstm", "gru"])
def test_recurrent_ops_are_not(name):
    """Their loop is made by the engine, in whose other modules there are none."""
    assert not is_loop_free(getattr(rnn, name).op.fn)


def test_finds_the_globals_of_bytecode():
    functions = [op.fn for op in OPS.values() if isinstance(op.fn, types.FunctionType)]
    for function in functions:
        code = function.__code__
        want = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
        assert {code.co_names[i] for i in module._globals(code.co_code)} == want, function


def test_leaves_the_mode_as_it_was():
    with without_inner_jit():
        assert jax.config.jax_disable_jit
    assert not jax.config.jax_disable_jit
    with jax.disable_jit(), without_inner_jit():
        pass
    assert not jax.config.jax_disable_jit


def _loops(jaxpr):
    for equation in jaxpr.eqns:
        if equation.primitive.name in LOOPS:
            yield equation.primitive.name
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from _loops(inner)


@pytest.mark.parametrize(
    "name", [n for n, op in OPS.items() if not op.composite and op.jit and op.cases and is_loop_free(op.fn)]
)
def test_straight_ops_have_no_loop(name, monkeypatch):
    """As JAX traces it with all inner compilation, where a loop stays a loop."""
    op = OPS[name]
    monkeypatch.setattr(type(op), "body", lambda self: self.fn)
    monkeypatch.setattr(op, "kernels", {})
    monkeypatch.setattr(op, "fast", {})
    for case in [c.lstrip("~ ") for c in op.cases]:
        harness.evaluate(paddle, find(paddle, public_path(name)), case)
    for kernel in op.kernels.values():
        for avals in kernel.signatures:
            assert not [*_loops(kernel.run.trace(*[a.struct for a in avals]).jaxpr.jaxpr)], (kernel, avals)


def test_a_straight_body_gives_the_same_equations():
    x = np.ones((3, 4), "float32")
    with without_inner_jit():
        plain = jax.make_jaxpr(_shifted)(x)
    assert not [e for e in plain.jaxpr.eqns if e.primitive.name in ("pjit", "jit")]
    np.testing.assert_array_equal(jax.jit(_shifted)(x), jax.core.eval_jaxpr(plain.jaxpr, plain.consts, x)[0])
