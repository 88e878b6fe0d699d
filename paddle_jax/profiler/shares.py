"""Which operations of a compiled program its time goes to: an estimate, in proportion to what each would take
by itself (counts of elements and of multiplications, never a clock). XLA merges operations, so that a program
as a whole is all that can be measured from outside."""

from __future__ import annotations

import functools as ft
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jax._src import source_info_util  # the frames of an equation; the public API only prints them

from paddle_jax._core.base.caller_info import ENGINE, line_name
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.positions import needed_ops
from paddle_jax._core.numpy_backend import cost as costs

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel
    from paddle_jax._core.lazy.aval import Aval
    from paddle_jax._core.runner.compiled_segment import Key
    from paddle_jax._program.capture.compiled_function import CompiledFunction
    from paddle_jax._program.operation import Operation
    from paddle_jax.static.executor import CompiledRun


# the parameters in which equations hold inner jaxprs
_INNER = ("jaxpr", "call_jaxpr", "cond_jaxpr", "body_jaxpr", "branches", "fun_jaxpr")
_ENGINE_FILES = tuple(f"/{name}/" for name in ENGINE)
_SMALLEST = 1e-7  # seconds: no operation counts as nothing


def shares(program: Any) -> Any:
    """[(name of the operation, `file:line`, share of the time)] of a compiled segment or function; the
    shares add up to 1."""
    key = getattr(program, "key", None)
    try:
        if key is not None:
            found = _of_segment(key)
        elif hasattr(program, "captured"):
            found = _of_function(program)
        else:
            found = _of_static(program)
    except Exception as error:  # an estimate is not worth an exception in a summary
        return [(f"compiled program ({type(error).__name__} when its operations were looked at)", "?", 1.0)]
    total = sum(seconds for _, _, seconds in found) or 1.0
    return [(name, where, seconds / total) for name, where, seconds in found]


def _of_segment(key: Key) -> Any:
    ops, live = key[:2]
    return [
        (ops[i][0].kernel.name, ops[i][0].user_line, _seconds(ops[i][0].kernel, ops[i][0].operand_avals))
        # Operations whose results nobody needs were not compiled.
        for i, _ in needed_ops(ops, live)
    ]


def _of_function(program: CompiledFunction) -> Any:
    return [
        (name, where or program.name, seconds) for name, where, seconds in _equations(program.captured.jaxpr)
    ]


def _of_static(entry: CompiledRun) -> Any:
    return [(op.name, "?", _static_seconds(op)) for op in entry.ops]


def _static_seconds(op: Operation) -> float:
    """As `_seconds` for an operation of a static program; open lengths count as 1."""
    return _seconds(
        op.kernel, tuple([aval_of(tuple([max(n, 1) for n in s.shape]), s.dtype) for s in op.inputs])
    )


@ft.lru_cache(4096)
def _seconds(kernel: Kernel, avals: Sequence[Aval]) -> float:
    """Estimated seconds of a kernel for operands of these Avals."""
    return sum(seconds for _, _, seconds in _equations(kernel.trace(avals))) + _SMALLEST


def _equations(closed: Any) -> Iterator[Any]:
    """(name, line, seconds) of each equation of a jaxpr; those of inner jaxprs are part of theirs."""
    for equation in getattr(closed, "jaxpr", closed).eqns:
        yield (
            equation.params.get("name", equation.primitive.name),
            _line(equation),
            _cost(equation) + _SMALLEST,
        )


def _cost(equation: Any) -> float:
    params = equation.params
    name = equation.primitive.name
    inner = [
        each
        for key in _INNER
        for each in _listed(params.get(key))
        if hasattr(getattr(each, "jaxpr", each), "eqns")
    ]
    if inner:
        parts = [sum(_cost(e) for e in getattr(each, "jaxpr", each).eqns) for each in inner]
        # One branch runs; the longest one is taken.
        if name == "cond":
            return max(parts)
        # A scan runs its body so many times; of other loops the number is not known.
        return params.get("length", 1) * sum(parts)
    ins = [v.aval for v in equation.invars]
    outs = [v.aval for v in equation.outvars]
    # Within a program no operation is started on its own, so the cost of a start is taken off.
    return max(costs.cost(name, params, ins, outs, None) - costs.STEP - costs.SEVERAL.get(name, 0), 0)


def _listed(value: Any) -> tuple[Any, ...] | list[Any]:
    if isinstance(value, tuple | list):
        return value
    return [value]


def _line(equation: Any) -> str:
    """The innermost line of the user's code."""
    for frame in source_info_util.user_frames(equation.source_info.traceback):
        # Code without a file, and the engine's own, is no line of the user.
        if not (frame.file_name.startswith("<") or any(part in frame.file_name for part in _ENGINE_FILES)):
            return line_name(frame.file_name, frame.start_line)
    return ""
