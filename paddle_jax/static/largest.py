"""What of a Program takes most memory in a run, with the lines that recorded it."""

import math

import jax

from paddle_jax._core.base.out_of_memory import format_bytes
from paddle_jax._program.composites import without_recording
from paddle_jax._program.evaluate import evaluate

_LISTED = 8


def largest(ops, env):
    """Lines on the largest values of a run: variables that are there before, and results of operations.

    ops: the operations. env: {Symbol: array, or its shape and dtype} of what goes in.
    """
    structs = {s: jax.ShapeDtypeStruct(v.shape, v.dtype) for s, v in env.items()}
    keys = list(structs)

    def every(values):
        found = dict(zip(keys, values, strict=True))
        with without_recording():
            evaluate(ops, found)
        return [found.get(out) for op in ops for out in op.outputs]

    results = [(out, op) for op in ops for out in op.outputs]
    shapes = jax.eval_shape(every, list(structs.values()))
    rows = [
        (_bytes(v), f"{v.dtype}{list(v.shape)}", op.name, op.where)
        for (_, op), v in zip(results, shapes, strict=True)
        if v is not None
    ]
    rows += [(_bytes(v), f"{v.dtype}{list(v.shape)}", s.name or s.kind, "") for s, v in structs.items()]
    rows.sort(key=lambda row: -row[0])
    yield "The largest values of this program, which need not all live at once:"
    for size, kind, name, where in rows[:_LISTED]:
        yield f"{format_bytes(size)}  {kind}  {name}{f', recorded at {where}' if where else ''}"


def _bytes(value):
    return math.prod(value.shape) * value.dtype.itemsize
