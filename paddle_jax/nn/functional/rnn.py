"""Recurrent networks as ops: one step, and a whole sequence in one direction as a single `lax.scan`.

Weights are [gates * hidden, features] as in Paddle; the order of gates is i, f, g, o for LSTM and r, z, c for
GRU. A sequence op projects the input of all steps with one matrix product and scans over the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base.size import index_range
from paddle_jax._core.kernels.loop_template import scan_loop
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax.tensor.products import product

_ACTIVATIONS = {"tanh": lax.tanh, "relu": jax.nn.relu}


def _project(x: jax.Array, weight: jax.Array, bias: jax.Array | None) -> jax.Array:
    out = product(x, weight, turned_y=True)
    if bias is None or bias.shape != out.shape[-1:]:
        if bias is None:
            return out
        return out + bias
    # The shapes fit: the plain operation costs less to trace.
    return lax.add(out, lax.broadcast_in_dim(bias, out.shape, (out.ndim - 1,)))


def _parts(gates: jax.Array, count: int) -> Sequence[jax.Array]:
    """Equal parts of the last axis."""
    size = gates.shape[-1] // count
    return lax.split(gates, (size,) * count, axis=-1)


def _simple_step(
    gates: jax.Array, h: jax.Array, weight_hh: jax.Array, bias_hh: jax.Array | None, activation: str
) -> jax.Array:
    return _ACTIVATIONS[activation](gates + _project(h, weight_hh, bias_hh))


def _lstm_step(
    gates: jax.Array,
    h: jax.Array,
    c: jax.Array,
    weight_hh: jax.Array,
    bias_hh: jax.Array | None,
    weight_ho: jax.Array | None,
) -> tuple[jax.Array, jax.Array]:
    # Input, forget, cell and output gate: c = f * c + i * g, h = o * tanh(c).
    i, f, g, o = _parts(gates + _project(h, weight_hh, bias_hh), 4)
    # Hochreiter and Schmidhuber, 1997, with a forget gate.
    c = lax.logistic(f) * c + lax.logistic(i) * lax.tanh(g)
    h = lax.logistic(o) * lax.tanh(c)
    # A projection makes the state smaller than the memory (Sak and others, 2014).
    return (h if weight_ho is None else h @ weight_ho), c


def _gru_step(gates: jax.Array, h: jax.Array, weight_hh: jax.Array, bias_hh: jax.Array | None) -> jax.Array:
    x_r, x_z, x_c = _parts(gates, 3)
    # Reset, update and candidate: the reset gate acts behind the product with h, as in cuDNN.
    h_r, h_z, h_c = _parts(_project(h, weight_hh, bias_hh), 3)
    z = lax.logistic(x_z + h_z)
    candidate = lax.tanh(x_c + lax.logistic(x_r + h_r) * h_c)
    # z * h + (1 - z) * candidate, with one product fewer
    return (h - candidate) * z + candidate


def _simple_states(
    gates: jax.Array, states: Sequence[Any], weights: Sequence[Any], activation: str
) -> tuple[jax.Array]:
    return (_simple_step(gates, *states, *weights, activation),)


def _lstm_states(gates: jax.Array, states: Sequence[Any], weights: Sequence[Any]) -> tuple[Any, Any]:
    return _lstm_step(gates, *states, *weights)


def _gru_states(gates: jax.Array, states: Sequence[Any], weights: Sequence[Any]) -> tuple[jax.Array]:
    return (_gru_step(gates, *states, *weights),)


def _sequence(
    step: tuple[Any, ...],
    weights: Sequence[jax.Array | None],
    gates: jax.Array,
    states: tuple[jax.Array, ...],
    length: Any,
    reverse: bool,
    time_major: bool,
    zero_padding: bool,
) -> tuple[Any, ...]:
    """Scans a step over time. Past `length` the states stay; outputs there are zero if zero_padding.

    `step` is (function (gates, states, weights, *settings) -> states, *settings); some weights may be None.
    """
    if not time_major:
        # The loop runs over the first axis.
        gates = lax.transpose(gates, (1, 0, 2))
    if length is None:
        valid = None
    else:
        # Marks of the steps that belong to each sequence.
        valid = index_range(gates.shape[0])[:, None] < length[None, :]

    function, *settings = step
    # The loop passes arrays alone; the pattern says where None belongs.
    is_there = tuple(weight is not None for weight in weights)

    def body(consts: Sequence[Any], states: Sequence[Any], slices: Sequence[Any]) -> tuple[Any, Any]:
        values = iter(consts)
        at = slices[0]
        new = function(at, states, [next(values) if there else None for there in is_there], *settings)
        out = new[0]
        if len(slices) > 1:
            ok = slices[1]
            # Past the end of a sequence the states stay, so the last ones are those of its last element.
            new = tuple(jnp.where(ok[:, None], n, s) for n, s in zip(new, states, strict=True))
            if zero_padding:
                # An output there would depend on the padding.
                out = jnp.where(ok[:, None], out, 0)
        return new, [out]

    stacks = [gates] if valid is None else [gates, valid]
    consts = [weight for weight in weights if weight is not None]
    key = (step, is_there, zero_padding)
    last, (outputs,) = scan_loop(key, body, (consts, states, stacks), gates.shape[0], reverse)
    if not time_major:
        # Back to [batch, steps, ...].
        outputs = lax.transpose(outputs, (1, 0, 2))
    return (outputs, *last)


@known_as(code="sequences:recurrent_cell")
@op("inputs h weight_ih weight_hh bias_ih bias_hh", same_dtype=True, method=False, register=False)
def simple_rnn_cell(
    inputs: jax.Array,
    h: jax.Array,
    weight_ih: jax.Array,
    weight_hh: jax.Array,
    bias_ih: jax.Array | None = None,
    bias_hh: jax.Array | None = None,
    activation: str = "tanh",
) -> jax.Array:
    """One step of a simple recurrent network: [B, I], [B, H] -> [B, H]."""
    return _simple_step(_project(inputs, weight_ih, bias_ih), h, weight_hh, bias_hh, activation)


@known_as(code="sequences:long_memory_cell")
@op("inputs h c weight_ih weight_hh bias_ih bias_hh weight_ho", same_dtype=True, method=False, register=False)
def lstm_cell(
    inputs: jax.Array,
    h: jax.Array,
    c: jax.Array,
    weight_ih: jax.Array,
    weight_hh: jax.Array,
    bias_ih: jax.Array | None = None,
    bias_hh: jax.Array | None = None,
    weight_ho: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array]:
    """One step of an LSTM: the new (h, c). weight_ho [H, P] projects h."""
    # The product with the inputs does not depend on the state.
    return _lstm_step(_project(inputs, weight_ih, bias_ih), h, c, weight_hh, bias_hh, weight_ho)


@known_as(code="sequences:gated_cell")
@op("inputs h weight_ih weight_hh bias_ih bias_hh", same_dtype=True, method=False, register=False)
def gru_cell(
    inputs: jax.Array,
    h: jax.Array,
    weight_ih: jax.Array,
    weight_hh: jax.Array,
    bias_ih: jax.Array | None = None,
    bias_hh: jax.Array | None = None,
) -> jax.Array:
    """One step of a GRU: [B, I], [B, H] -> [B, H]."""
    return _gru_step(_project(inputs, weight_ih, bias_ih), h, weight_hh, bias_hh)


@known_as(code="sequences:recurrent")
@op(
    "inputs h weight_ih weight_hh bias_ih bias_hh length",
    same_dtype="inputs h weight_ih weight_hh bias_ih bias_hh",
    method=False,
    register=False,
)
def simple_rnn(
    inputs: jax.Array,
    h: jax.Array,
    weight_ih: jax.Array,
    weight_hh: jax.Array,
    bias_ih: jax.Array | None = None,
    bias_hh: jax.Array | None = None,
    length: jax.Array | None = None,
    activation: str = "tanh",
    reverse: bool = False,
    time_major: bool = False,
    zero_padding: bool = True,
) -> tuple[jax.Array, ...]:
    """All steps of a simple recurrent network in one direction: (outputs, last h)."""
    # One product for all steps; the loop has only those with h.
    gates = _project(inputs, weight_ih, bias_ih)
    step = (_simple_states, activation)
    return _sequence(step, [weight_hh, bias_hh], gates, (h,), length, reverse, time_major, zero_padding)


@known_as(
    pir="rnn dropout_prob:f32 is_bidirec:bool input_size:i32 hidden_size:i32 num_layers:i32 "
    "mode:str seed:i32=0 is_test:bool=True",
    code="sequences:long_memory",
)
@op(
    "inputs h c weight_ih weight_hh bias_ih bias_hh weight_ho length",
    same_dtype="inputs h c weight_ih weight_hh bias_ih bias_hh weight_ho",
    method=False,
    register=False,
)
def lstm(
    inputs: jax.Array,
    h: jax.Array,
    c: jax.Array,
    weight_ih: jax.Array,
    weight_hh: jax.Array,
    bias_ih: jax.Array | None = None,
    bias_hh: jax.Array | None = None,
    weight_ho: jax.Array | None = None,
    length: jax.Array | None = None,
    reverse: bool = False,
    time_major: bool = False,
    zero_padding: bool = True,
) -> tuple[jax.Array, ...]:
    """All steps of an LSTM in one direction: (outputs, last h, last c)."""
    gates = _project(inputs, weight_ih, bias_ih)
    weights = [weight_hh, bias_hh, weight_ho]
    return _sequence((_lstm_states,), weights, gates, (h, c), length, reverse, time_major, zero_padding)


@known_as(code="sequences:gated")
@op(
    "inputs h weight_ih weight_hh bias_ih bias_hh length",
    same_dtype="inputs h weight_ih weight_hh bias_ih bias_hh",
    method=False,
    register=False,
)
def gru(
    inputs: jax.Array,
    h: jax.Array,
    weight_ih: jax.Array,
    weight_hh: jax.Array,
    bias_ih: jax.Array | None = None,
    bias_hh: jax.Array | None = None,
    length: jax.Array | None = None,
    reverse: bool = False,
    time_major: bool = False,
    zero_padding: bool = True,
) -> tuple[jax.Array, ...]:
    """All steps of a GRU in one direction: (outputs, last h)."""
    gates = _project(inputs, weight_ih, bias_ih)
    weights = [weight_hh, bias_hh]
    return _sequence((_gru_states,), weights, gates, (h,), length, reverse, time_major, zero_padding)
