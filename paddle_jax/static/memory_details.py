"""Which values of a Program take most memory in a run, with the lines that recorded them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax

from paddle_jax._core.base.out_of_memory import format_bytes
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._program.composites import without_recording
from paddle_jax._program.evaluate import evaluate
from paddle_jax._program.operation import Operation

_LISTED = 8


def largest_values(ops: Sequence[Operation], inputs: Mapping[Symbol, Any]) -> Iterator[str]:
    """Lines on the largest values of a run: variables that are there before, and results of operations.

    Args:
        ops: the operations.
        inputs: for each Symbol that goes in its array, or its shape and dtype.
    """
    # In the order of the operations: one maker for each result.
    structs = {symbol: jax.ShapeDtypeStruct(v.shape, v.dtype) for symbol, v in inputs.items()}
    symbols = list(structs)

    def all_results(values: Sequence[Any]) -> list[Any]:
        env = dict(zip(symbols, values, strict=True))
        with without_recording():
            evaluate(ops, env)
        return [env.get(out) for op in ops for out in op.outputs]

    makers = [op for op in ops for _ in op.outputs]
    # Shapes alone: nothing is computed for a message.
    shapes = jax.eval_shape(all_results, list(structs.values()))
    rows = [
        (_byte_count(v), f"{v.dtype}{list(v.shape)}", op.name, op.where)
        for op, v in zip(makers, shapes, strict=True)
        if v is not None
    ]
    rows += [
        (_byte_count(v), f"{v.dtype}{list(v.shape)}", symbol.name or symbol.kind, "")
        for symbol, v in structs.items()
    ]
    rows.sort(key=lambda row: -row[0])
    yield "The largest values of this program, which need not all live at once:"
    for size, kind, name, where in rows[:_LISTED]:
        line = f"{format_bytes(size)}  {kind}  {name}"
        if where:
            line += f", recorded at {where}"
        yield line


def _byte_count(value: Any) -> int:
    return math.prod(value.shape) * value.dtype.itemsize
