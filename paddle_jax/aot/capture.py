"""Traces a function without running it: the program that `to_static` would compile, for another platform."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.errors import TRACING, Unsupported, first_line
from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import compute
from paddle_jax._core.lazy.devices import traced_for
from paddle_jax._core.lazy.stand_ins import StandIns
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.tensor import read_raw
from paddle_jax._program.input_spec import InputSpec
from paddle_jax.jit import to_static
from paddle_jax.jit.function import StaticFunction, user_line_of
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor.creation import zeros

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel
    from paddle_jax._core.runner.compiled_segment import CompiledSegment
    from paddle_jax._core.tensors.tensor import Tensor


@dataclasses.dataclass
class Traced:
    """A traced program.

    Attributes:
        name: str, the function's name.
        traced: what `jax.jit(...).trace` gave.
        operands: list of the shapes, dtypes and layouts of what it gets.
        lines: list of the user's lines, by the number of the operation.
        tensors: list of the Tensors that it gets, where that is known.
    """

    name: str
    traced: Any
    operands: list[Any]
    lines: list[str]
    tensors: Sequence[Tensor] = ()

    @property
    def devices(self) -> int:
        """On how many devices its operands are."""
        return max(
            [len(operand.sharding.device_set) for operand in self.operands if operand.sharding], default=1
        )


def trace(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], platform: str) -> Traced:
    """Traces a function, Layer or `to_static` function for a platform. Nothing is computed.

    Raises:
        RuntimeError: it cannot be traced as a whole; the error says which line is why.
        TypeError: it is no function.
    """
    static = _static(function)
    args, kwargs = jax.tree.map(_without_spec, (list(args), kwargs), is_leaf=_is_leaf)
    lines: list[str] = []
    stand_ins = StandIns()
    try:
        with (
            traced_for(platform),
            swapped_attributes(local.ctx.frame, executor=_naming(lines), stand_ins=stand_ins),
        ):
            program, inputs = static._capture(args, kwargs)
            tensors = program._tensors(inputs)
            operands = [_operand(tensor) for tensor in tensors]
            numbers = [get() for get in program.numbers.getters]
            donated = () if program.differentiable else tuple(program.direct.donated)
            jitted = jax.jit(program._call_captured, donate_argnums=donated)
            traced = jitted.trace(*operands, *numbers)
    except (Unsupported, *TRACING) as error:
        where = user_line_of(error, static._function)
        text = first_line(error).rstrip(".")
        raise RuntimeError(
            f"compile: {static._name()} cannot be traced as a whole: {text} ({where})"
        ) from error
    finally:
        # What a trace leaves behind is put back, also after an error.
        stand_ins.forget()
    return Traced(static._name(), traced, operands, lines, tensors)


def trace_segment(segment: CompiledSegment, structs: Sequence[Any], platform: str) -> Traced:
    """Traces what the deferred tier compiles.

    Args:
        segment: CompiledSegment.
        structs: its arguments, as `argument_structs` gives them.
        platform: the platform to trace for.
    """
    with traced_for(platform):
        traced = segment.trace_for_target(structs)
    lines = [entry[0].user_line for entry in segment.key.ops]
    name = f"{len(lines)} operations at {segment.where}"
    return Traced(name, traced, jax.tree.leaves(structs), lines)


def _static(function: Any) -> Any:
    """A function as `to_static` gives it."""
    if isinstance(function, StaticFunction):
        return function
    if isinstance(function, Layer):
        if isinstance(function.forward, StaticFunction):
            return function.forward
        return to_static(_calling(function), full_graph=True)
    if not callable(function):
        raise TypeError(
            f"compile: function: got {type(function).__name__}; it must be a function, a Layer or what "
            "to_static returns"
        )
    return to_static(function, full_graph=True)


def _calling(layer: Layer) -> Callable[..., Any]:
    """A function that calls a Layer, which `to_static` would change itself."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return layer(*args, **kwargs)

    call.__qualname__ = type(layer).__name__
    return call


def _is_leaf(value: Any) -> bool:
    return not isinstance(value, list | tuple | dict)


def _without_spec(value: Any) -> Any:
    """An argument; a Tensor of zeros in place of an InputSpec."""
    if not isinstance(value, InputSpec):
        return value
    if any(length is None or length < 0 for length in value.shape):
        raise ValueError(
            f"compile: got {value}; a compiled program has fixed shapes, so give each dimension a number"
        )
    return zeros(list(value.shape), value.dtype)


def _operand(tensor: Tensor) -> Any:
    """The shape, dtype and layout of what a Tensor holds."""
    array = to_jax_array(read_raw(tensor))
    # An uncommitted array may go anywhere; its own device is no part of the program.
    sharding = array.sharding if array.committed else None
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=sharding)


def _naming(lines: list[str]) -> Callable[..., Any]:
    """What runs kernels while a program is traced: it gives their operations names that the program keeps."""

    def run(kernel: Kernel, values: Any) -> Any:
        number = len(lines)
        lines.append(user_line())
        with jax.named_scope(f"paddle.{kernel.name}.{number}"):
            return compute(kernel, values)

    return run
