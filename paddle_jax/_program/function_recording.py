"""Functions and Layers of dynamic mode, recorded into a Program."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.execution.python_state import map_tensors
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tensors.held_values import held_value, holds_symbol, replace_held
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.input_spec import InputSpec
from paddle_jax._program.program import Program
from paddle_jax._program.recorder import Recorder, data
from paddle_jax._program.rewrite.convert import convert
from paddle_jax._program.variable import Variable, variable


def record(
    function: Callable[..., Any], input_specs: Sequence[Any], named: dict[str, Any] | None = None
) -> tuple[Program, list[Variable], Any]:
    """Records a function or a Layer of dynamic mode into a Program.

    Args:
        function: callable on Tensors, or a Layer (its `forward`).
        input_specs: list of InputSpecs, Tensors (their shape and dtype are taken), or other values, which are
            passed as they are; nested lists and dicts are allowed.
        named: dict of such, for keyword arguments.
    Returns:
        (Program, list of input Variables, what the function returned with Variables for Tensors). The
        Parameters and buffers of the Layer are the Program's `vars`, under their own names, with `values`;
        other eager Tensors are constants.
    """
    program = Program()
    inputs: list[Variable] = []

    def declare(spec: Any) -> Variable:
        if isinstance(spec, Tensor):
            # The name is what the input is fed by.
            spec = InputSpec.from_tensor(spec, spec._name or f"x_{len(inputs)}")
        declared = data(spec.name or f"x_{len(inputs)}", spec.shape, spec.dtype)
        declared.stop_gradient = spec.stop_gradient
        inputs.append(declared)
        return declared

    with Recorder(program) as recorder:

        def as_result(tensor: Tensor) -> Variable:
            # A function may return an eager Tensor, such as a Parameter that it does not change.
            if isinstance(tensor, Variable):
                return tensor
            return variable(recorder.symbol(tensor), tensor.stop_gradient)

        try:
            # First of all, so that Parameters keep their names and order, also those that the code uses
            # late or never.
            for tensor in _state_of(function):
                recorder.capture_tensor(tensor, tensor.name)
            args, kwargs = map_tensors((list(input_specs), named or {}), declare, Tensor | InputSpec)
            out = recorder.control_flow(
                (args, kwargs),
                lambda: function(*args, **kwargs),
                lambda: ft.partial(convert(function), *args, **kwargs),
            )
            out = map_tensors(out, as_result)
        finally:
            # Also after an error: the function belongs to the user and must go on in dynamic mode.
            _restore_eager_tensors(recorder)
    return program, inputs, out


def _restore_eager_tensors(recorder: Recorder) -> None:
    """Gives eager Tensors their values back; the Program stores those that the function gave them."""
    program = recorder.program
    for tensor, (before,) in recorder.undo_log.changed():
        # Made while recording: nobody had a value in it before.
        if type(before) is Symbol:
            continue
        # A buffer that the code has assigned to, such as running statistics: a run stores the new value.
        entry = program.captured.get(id(tensor))
        symbol = None if entry is None else entry[2]
        if symbol is not None and symbol.kind == "variable" and symbol.name and holds_symbol(tensor):
            program.current_symbols[symbol.name] = held_value(tensor)
        replace_held(tensor, before)


def _state_of(function: Any) -> list[Tensor]:
    """Parameters and buffers of a Layer, or of the Layer a method belongs to."""
    # A bound method: its Layer has the state.
    owner: Any = function
    if not hasattr(function, "named_buffers"):
        owner = getattr(function, "__self__", None)
    if not hasattr(owner, "named_buffers"):
        return []
    return [*owner.parameters(), *[b for _, b in owner.named_buffers()]]


__all__ = ["record"]
