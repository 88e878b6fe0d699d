"""Attention, embedding and recurrent networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.lengths import Length
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import (
    cast,
    same_shape,
    scaled,
    squeeze,
    transpose,
    unsqueeze,
)
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering, NotInOnnx
from paddle_jax.nn.functional.rnn import gru, lstm, simple_rnn
from paddle_jax.nn.functional.sdpa import attend as scaled_dot_product

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.builder import Builder, Value
    from paddle_jax.onnx.graph import Graph


def _attend(w: Any, a: Any, out: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    if a.extra == "lse":
        raise NotWritable("attention that returns sums of exponentials has no form in PIR")
    # Heads before positions, as products of matrices are over the last two axes.
    q, k, v = (transpose(w, one, [0, 2, 1, 3]) for one in (q, k, v))
    shape = [*q.shape[:3], k.shape[2]]
    if a.scale is None:
        factor = 1 / math.sqrt(q.shape[3])
    else:
        factor = a.scale
    scores = w.op("matmul", [scaled(w, q, factor), k], (q.dtype, shape), transpose_y=True)
    if mask is not None:
        scores = _masked(w, scores, mask)
    if a.causal:
        # Lengths that are not fixed: the mask is computed.
        if isinstance(shape[2], Length) or isinstance(shape[3], Length):
            ones = w.op("full_like", [scores, w.full(1.0)], scores.type, dtype=scores.dtype)
            later = w.op("triu", [ones], scores.type, diagonal=1)
            scores = _masked(
                w, scores, w.op("equal", [later, w.full(0.0, scores.dtype, ())], ("bool", shape))
            )
        else:
            scores = _masked(w, scores, w.constant(np.tril(np.ones(shape[2:], bool))))
    weights = w.op("softmax", [scores], scores.type, axis=-1)
    found = transpose(w, w.op("matmul", [weights, v], (q.dtype, [*shape[:3], v.shape[3]])), [0, 2, 1, 3])
    if a.extra == "weights":
        return [found, weights]
    return found


def _attend_groups(a: Any, q: Any, k: Any, v: Any, mask: Any) -> Any:
    """With as many heads of keys and values as of queries."""
    if q.shape[2] == k.shape[2] or a.extra == "lse":
        return None
    # Several heads of queries share one of keys and values.
    k, v = (P.repeat_interleave(one, q.shape[2] // k.shape[2], 2) for one in (k, v))
    return scaled_dot_product(q, k, v, mask, a.causal, a.scale, a.extra)


def _masked(w: Any, scores: Any, mask: Any) -> Any:
    if mask.dtype != "bool":
        return w.op("add", [scores, cast(w, mask, scores.dtype)], scores.type)
    if not same_shape(mask.shape, scores.shape):
        mask = w.op("expand", [mask, w.ints(scores.shape)], ("bool", scores.shape))
    return w.op(
        "where",
        # -inf: softmax gives such positions the weight 0.
        [mask, scores, w.op("full_like", [scores, w.full(-math.inf)], scores.type, dtype=scores.dtype)],
        scores.type,
    )


def _check_written(a: Any, rest: Sequence[Any], length: Any) -> None:
    """Raises NotWritable for what the rnn operation does not compute."""
    if any(one is not None and one is not length for one in rest):
        raise NotWritable("a recurrent network with projections has no form in PIR")
    if getattr(a, "activation", "tanh") not in ("tanh", "relu"):
        raise NotWritable(f"a recurrent network with activation {a.activation!r} has no form in PIR")
    if length is not None and (a.reverse or not a.zero_padding):
        raise NotWritable("sequence lengths without zeros behind them have no form in PIR")


def _recurrent(mode: str, count: int) -> Callable[..., Any]:
    """One layer in one direction: the rnn operation runs over [time, batch, ...]; backwards on the
    reversed sequence."""

    def rule(w: Builder, a: Any, out: Any, x: Any, *operands: Any) -> Any:
        states, (w_ih, w_hh, b_ih, b_hh), rest = (
            operands[:count],
            operands[count : count + 4],
            operands[count + 4 :],
        )
        # A cell has no lengths.
        length = rest[-1] if rest and hasattr(a, "zero_padding") else None
        _check_written(a, rest, length)
        gates, hidden = w_hh.shape
        b_ih, b_hh = (one or w.full(0.0, x.dtype, (gates,)) for one in (b_ih, b_hh))
        if not a.time_major:
            x = transpose(w, x, [1, 0, 2])
        if a.reverse:
            # Backwards: the sequence is reversed, and so is the result.
            x = w.op("flip", [x], x.type, axis=[0])
        start = w.combine([unsqueeze(w, one, 0) for one in states])
        if mode == "RNN":
            name = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}[a.activation]
        else:
            name = mode
        if length is not None:
            length = cast(w, length, "int32")
        done, end = _rnn(w, x, start, [w_ih, w_hh, b_ih, b_hh], hidden, name, length)
        if a.reverse:
            done = w.op("flip", [done], done.type, axis=[0])
        if not a.time_major:
            done = transpose(w, done, [1, 0, 2])
        return [done, *[squeeze(w, one, [0]) for one in end]]

    return rule


def _cell(mode: str, count: int) -> Callable[..., Any]:
    """One step of a recurrent network, as a sequence of one."""
    whole = _recurrent(mode, count)

    def rule(w: Any, a: Any, out: Any, x: Any, *operands: Any) -> Any:
        a.time_major = True
        a.reverse = False
        kinds = [(dtype, [1, *shape]) for dtype, shape in out]
        found = whole(w, a, [kinds[0], *out], unsqueeze(w, x, 0), *operands)
        return found[1:]

    return rule


def _rnn(
    w: Builder, x: Value, start: Value, weights: Sequence[Value], hidden: int, mode: str, length: Any = None
) -> tuple[Any, ...]:
    size = x.dtype, [*x.shape[:2], hidden]
    state = x.dtype, [1, x.shape[1], hidden]
    mask = w.dropout_state()
    operands = [x, start, w.combine(weights), length, mask]
    return w.rnn(
        operands,
        size,
        [state] * len(start.items),
        input_size=x.shape[2],
        hidden_size=hidden,
        num_layers=1,
        mode=mode,
    )


def _turned(kind: Callable[..., Any]) -> Callable[..., Any]:
    """Backwards through sequences of several lengths: each is reversed within its length first."""

    def decompose(a: Any, x: Any, *operands: Any) -> Any:
        length = operands[-1]
        if length is None or not a.reverse:
            return None
        time = 0 if a.time_major else 1
        ends = P.unsqueeze(P.cast(length, "int64"), time)
        places = P.arange(x.shape[time])
        if not time:
            places = P.unsqueeze(places, 1)
        # What is behind a sequence stays where it is.
        order = P.unsqueeze(P.where(places < ends, ends - 1 - places, places + P.zeros_like(ends)), 2)
        attributes = {name: value for name, value in vars(a).items() if name != "reverse"}
        done, *last = kind(P.take_along_axis(x, order, time), *operands, **attributes)
        return [P.take_along_axis(done, order, time), *last]

    return decompose


def _read_rnn(
    a: Any, x: Any, states: Any, weights: Any, length: Any = None, *_: Any
) -> tuple[Any, None, list[Any], None]:
    kind = {"LSTM": lstm, "GRU": gru}.get(a.mode, simple_rnn)
    lines = 1 + a.is_bidirec
    extra = {}
    if kind is simple_rnn:
        extra = {"activation": {"RNN_RELU": "relu"}.get(a.mode, "tanh")}
    # The first half of the list are weights of all layers, the second half biases.
    biases = weights[len(weights) // 2 :]
    last = [[] for _ in states]
    for layer in range(a.num_layers):
        outs = []
        for line in range(lines):
            at = layer * lines + line
            start = [s[at] for s in states]
            own = [*weights[2 * at : 2 * at + 2], *biases[2 * at : 2 * at + 2]]
            out, *end = kind(x, *start, *own, length=length, reverse=bool(line), time_major=True, **extra)
            outs.append(out)
            for rows, one in zip(last, end, strict=True):
                rows.append(one)
        x = outs[0]
        if lines == 2:
            x = P.concat(outs, -1)
        # Between layers, not after the last one.
        if a.dropout_prob and not a.is_test and layer + 1 < a.num_layers:
            x = P.dropout(x, a.dropout_prob)
    return x, None, [P.stack(rows, 0) for rows in last], None


def _onnx_rnn(
    g: Graph, op: Any, x: str, states: Sequence[str], weights: Sequence[str], length: Any, mask: str
) -> list[Any]:
    """One layer in one direction, which is what paddle_jax writes; gates are put into the order of ONNX."""
    if op.num_layers != 1 or op.is_bidirec:
        raise NotInOnnx("several layers or directions in one operation")
    # Paddle's gates of an LSTM are input, forget, cell, output; ONNX has input, output, forget, cell.
    order = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2)}.get(op.mode, (0,))
    w_ih, w_hh, b_ih, b_hh = (_reordered(g, one, order, op.hidden_size) for one in weights)
    both = g.node("Unsqueeze", [g.node("Concat", [b_ih, b_hh], axis=0), g.ints([0])])
    w_ih, w_hh = (g.node("Unsqueeze", [one, g.ints([0])]) for one in (w_ih, w_hh))
    kind = {"LSTM": "LSTM", "GRU": "GRU"}.get(op.mode, "RNN")
    # As Paddle's: the reset gate applies after the product with the state.
    if kind == "GRU":
        extra = {"linear_before_reset": 1}
    elif op.mode == "RNN_RELU":
        extra = {"activations": ["Relu"]}
    else:
        extra = {}
    out, *last = g.node(
        kind, [x, w_ih, w_hh, both, length, *states], 1 + len(states), hidden_size=op.hidden_size, **extra
    )
    return [g.node("Squeeze", [out, g.ints([1])]), None, last, None]


def _reordered(g: Graph, weight: str, order: Sequence[int], hidden: int) -> str:
    if len(order) == 1:
        return weight
    parts = [
        g.node("Slice", [weight, g.ints([i * hidden]), g.ints([(i + 1) * hidden]), g.ints([0])])
        for i in order
    ]
    return g.node("Concat", parts, axis=0)


def _onnx_embedding(g: Graph, op: Any, x: str, w: str) -> str:
    y = g.node("Gather", [w, x], axis=0)
    if op.padding_idx < 0:
        return y
    # Rows of the padding index are zeros.
    kept = g.cast(g.node("Not", [g.node("Equal", [x, g.number(op.padding_idx, op.kind())])]), op.kind(1))
    return g.node("Mul", [y, g.node("Unsqueeze", [kept, g.ints([-1])])])


def _embedding(w: Builder, a: Any, out: Sequence[Any], x: Value, weight: Value) -> Any:
    if a.by_frequency:
        name = "embedding_with_scaled_gradient"
    else:
        name = "embedding"
    return w.op(name, [x, weight], out[0], padding_idx=a.padding_idx)


attend: Lowering = Lowering(_attend, decompose=_attend_groups)
embedding: Lowering = Lowering(onnx=_onnx_embedding)
lookup: Lowering = Lowering(_embedding)
long_memory: Lowering = Lowering(_recurrent("LSTM", 2), _read_rnn, _onnx_rnn, _turned(lstm))
gated: Lowering = Lowering(_recurrent("GRU", 1), decompose=_turned(gru))
recurrent: Lowering = Lowering(_recurrent("RNN", 1), decompose=_turned(simple_rnn))
long_memory_cell: Lowering = Lowering(_cell("LSTM", 2))
gated_cell: Lowering = Lowering(_cell("GRU", 1))
recurrent_cell: Lowering = Lowering(_cell("RNN", 1))
