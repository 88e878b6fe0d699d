"""Variables and Parameters of a Program, which running its startup program fills."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.lazy.symbol import probe_avals
from paddle_jax._program.program import Program, default_startup_program
from paddle_jax._program.variable import ParameterVariable, PersistentVariable, persistent


def declare_variable(
    program: Program,
    name: str,
    shape: Sequence[int],
    dtype: Any,
    fill: Callable[[], Any],
    stop_gradient: bool = True,
    kind: type[PersistentVariable] = PersistentVariable,
    startup: Program | None = None,
) -> Any:
    """A Variable that lives in the Scope; running the startup program puts `fill()` there."""
    declared = persistent(program, name, probe_avals(shape, dtype), stop_gradient, kind)
    # Puts it among `program.vars`, so that a run finds its value.
    program.scope_symbol(declared)
    if startup is None:
        startup = default_startup_program()
    startup.initializers[name] = fill
    return declared


def declare_parameter(
    program: Program,
    shape: Sequence[int],
    dtype: Any,
    name: str,
    trainable: bool,
    fill: Callable[[], Any],
) -> Any:
    """A Parameter of a Program. A name that the Program has already gives the Parameter that has it."""
    # Two layers may share a Parameter by its name, as in Paddle.
    known = program.vars.get(name)
    if known is None:
        declared = declare_variable(program, name, shape, dtype, fill, not trainable, ParameterVariable)
        declared.__dict__.update(is_distributed=False, init_func=None)
        return declared
    if known.avals[0].shape != tuple(shape) or known.avals[0].dtype != dtype:
        raise ValueError(
            f"create_parameter: {name!r} exists with shape {list(known.shape)}; "
            f"it cannot have {list(shape)} as well"
        )
    return known


__all__ = ["declare_parameter", "declare_variable"]
