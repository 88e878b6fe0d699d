"""Traces of this package against JAX's own: the same equations of the same types, and the same errors.
tests/interpreter compares them for each kernel of the op table.

Unit tests of `_core.kernels`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax._src import config
from jax._src.core import trace_state_clean

from paddle_jax._core.kernels import jaxpr_tracer
from paddle_jax._core.kernels import jaxpr_tracing as module
from paddle_jax._core.kernels.jaxpr_tracing import trace_function
from paddle_jax._core.kernels.result_types import RESULT_RULES
from tests.interpreter.table import contents

DTYPES = ["float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8", "bool", "complex64"]
SHAPES = [(), (3,), (2, 3), (1, 3), (2, 1), (0, 3), (2, 1, 3)]

UNARY = [
    lax.exp,
    lax.log,
    lax.log1p,
    lax.expm1,
    lax.sin,
    lax.cos,
    lax.tanh,
    lax.logistic,
    lax.sqrt,
    lax.rsqrt,
    lax.erf,
    lax.erfc,
    lax.floor,
    lax.ceil,
    lax.round,
    lax.neg,
    lax.sign,
    lax.abs,
    lax.square,
    lax.is_finite,
    lambda x: lax.integer_pow(x, 3),
    lambda x: lax.integer_pow(x, -1),
    lambda x: x.astype(x.dtype),
    lambda x: x.astype("float32"),
    lambda x: x.astype(jnp.float64),
    lambda x: x * 2,
    lambda x: 2.5 - x,
    lambda x: x / 3,
    lambda x: 1 / x,
    lambda x: x + True,
    lambda x: x - np.float32(2),
    lambda x: x + x * 1j,
]
BINARY = [
    lax.add,
    lax.sub,
    lax.mul,
    lax.div,
    lax.max,
    lax.min,
    lax.eq,
    lax.ne,
    lax.ge,
    lax.gt,
    lax.le,
    lax.lt,
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / y,
    lambda x, y: x > y,
    lambda x, y: lax.select(x == x, x, y),
    lambda x, y: lax.select_n(y > 0, x, x),
    lambda x, y: lax.concatenate([x, y], 0),
    lambda x, y: lax.concatenate([x, y, x], 1),
    lambda x, y: lax.dot_general(x, y, (((0,), (0,)), ((), ()))),
    lambda x, y: lax.dot_general(x, y, (((), ()), ((0,), (0,)))),
    lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type="float64"),
]
PLACED = [
    lambda x: lax.reduce_sum(x, (0,)),
    lambda x: lax.reduce_max(x, (1,)),
    lambda x: lax.reduce_min(x, ()),
    lambda x: lax.reduce_prod(x, tuple(range(x.ndim))),
    lambda x: lax.reduce_sum_p.bind(x, axes=(0, 0), out_sharding=None),
    lambda x: lax.reshape(x, (3, x.size // 3)),
    lambda x: lax.reshape(x, (-1, 3)),
    lambda x: lax.reshape(x, x.shape),
    lambda x: lax.reshape(x, (3, 2), (1, 0)),
    lambda x: lax.broadcast_in_dim(x, (5, *x.shape), tuple(range(1, x.ndim + 1))),
    lambda x: lax.broadcast_in_dim(x, x.shape, tuple(range(x.ndim))),
    lambda x: lax.broadcast_in_dim(x, (2, 3), tuple(range(x.ndim))),
    lambda x: lax.broadcast_in_dim(x, (3, 2), (1, 0)),
    lambda x: lax.transpose(x, (1, 0)),
    lambda x: lax.transpose(x, (0, 0)),
    lambda x: lax.slice(x, (0, 1), (1, 3)),
    lambda x: lax.slice(x, (0, 0), (2, 3), (2, 2)),
    lambda x: lax.slice(x, (0, 2), (2, 1)),
    lambda x: lax.slice(x, (0,), (9,)),
    lambda x: jnp.mean(x, 0),
    lambda x: jnp.where(x > 0, x, 0),
]


def outcome(fn, structs, own, monkeypatch):
    """The equations, or the class and text of the error."""
    with monkeypatch.context() as patch:
        if not own:
            patch.setattr(module, "tracer", None)
        try:
            equations = trace_function(fn, "f", structs)
        except Exception as error:
            return type(error), str(error)
    return *contents(equations.jaxpr), len(equations.consts), equations.container


def check(fn, structs, monkeypatch):
    own, theirs = (outcome(fn, structs, each, monkeypatch) for each in (True, False))
    assert own == theirs, (structs, own, theirs)
    return len(own) > 2


def struct(shape, dtype, weak=False):
    return jax.ShapeDtypeStruct(shape, jnp.dtype(dtype), weak_type=weak)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_operand(dtype, monkeypatch):
    kinds = [struct(shape, dtype, weak) for shape in SHAPES for weak in (False, True)]
    passed = [check(fn, [each], monkeypatch) for fn in UNARY + PLACED for each in kinds]
    assert any(passed) and not all(passed)


@pytest.mark.parametrize("dtype", DTYPES)
def test_two_operands(dtype, monkeypatch):
    others = [struct(shape, dtype) for shape in SHAPES] + [struct((2, 3), "float32"), struct((), dtype, True)]
    passed = [
        check(fn, [x, y], monkeypatch)
        for fn in BINARY
        for y in others
        for x in (struct((2, 3), dtype), struct((), dtype), struct((2, 3), dtype, True))
    ]
    assert any(passed) and not all(passed)


def test_every_rule_is_used(monkeypatch):
    used = set()
    for primitive, rule in RESULT_RULES.items():

        def noted(params, *avals, primitive=primitive, rule=rule):
            aval = rule(params, *avals)
            used.update([primitive] if aval is not None else [])
            return aval

        monkeypatch.setitem(RESULT_RULES, primitive, noted)
    for fn in UNARY + PLACED:
        outcome(fn, [struct((2, 3), "float32")], True, monkeypatch)
    for fn in BINARY:
        outcome(fn, [struct((3, 3), "float32"), struct((3, 3), "float32")], True, monkeypatch)
    assert used == set(RESULT_RULES)


def test_constants_and_functions_within(monkeypatch):
    table, number = jnp.arange(3.0, dtype="float32"), np.float32(2)

    def body(x):
        inner = lax.scan(lambda c, row: (c + row * x[0], c > row), x[0], x)
        chosen = lax.cond(x.sum() > 0, lambda: x * 2, lambda: x - table)
        return [*inner, chosen, x + table, number * x, table, jax.nn.relu(x), jax.vmap(lambda v: v @ v)(x)]

    assert check(body, [struct((2, 3), "float32")], monkeypatch)
    assert check(lambda x: (np.ones(3), 2.5, x), [struct((3,), "float32")], monkeypatch)
    assert not check(lambda x: [x, None], [struct((3,), "float32")], monkeypatch)
    assert not check(lambda x: [x, object()], [struct((3,), "float32")], monkeypatch)
    assert not check(lambda x: float(x), [struct((), "float32")], monkeypatch)


def test_a_trace_within_a_trace(monkeypatch):
    def outer(x):
        return trace_function(lambda y: [y * x, y + 1], "g", [struct((3,), "float32")]).flat(x)

    assert check(outer, [struct((3,), "float32")], monkeypatch)
    inner = [struct((3,), "float32")]
    seen = jax.jit(lambda x: trace_function(lambda y: y * 2 + y, "g", inner)(x))(np.ones(3, "float32"))
    np.testing.assert_array_equal(seen, [3, 3, 3])


def test_checks_of_traces_are_left_to_jax():
    assert jaxpr_tracer.is_usable()
    with jax.checking_leaks():
        assert not jaxpr_tracer.is_usable()
        assert len(trace_function(lambda x: x + x, "f", [struct((3,), "float32")]).jaxpr.eqns) == 1
    with config.enable_checks(True):
        assert not jaxpr_tracer.is_usable()


def test_nothing_is_left_on_after_an_error():
    with pytest.raises(ZeroDivisionError):
        trace_function(lambda x: 1 // 0, "f", [struct((3,), "float32")])
    assert trace_state_clean()
    assert float(jnp.ones(3).sum()) == 3
