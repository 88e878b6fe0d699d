"""`paddle_jax.distributed.plan`: what a step will do on the devices of its mesh, before it runs.

Sizes and collectives are read off the program that XLA has made, so they are what will happen, not an
estimate. Bytes are those that each device receives in a ring: n - 1 of n parts for a gather, a scatter or an
exchange, twice that for a reduction to all.
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.report_text import (
    sentences_html,
    size_text,
    table_html,
    table_text,
    warnings_html,
    warnings_text,
)
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import compute
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.tensor import read_raw
from paddle_jax.distributed.auto_parallel.dist_model import DistModel
from paddle_jax.distributed.auto_parallel.layout import layout_of, layout_of_sharding
from paddle_jax.jit import to_static
from paddle_jax.jit.function import StaticFunction

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh


_LARGE = 0.5  # share of the largest operand of the step from which a gathered value is remarked on


class Plan:
    """What a step does on the devices of a mesh; printed it is a table.

    devices: how many. arguments, results, temporaries, shared: bytes on each device: what the step gets
    (parameters, states, data), what it gives, what it needs meanwhile, and how much of the results takes the
    memory of arguments. collectives: list of Collective, the largest first. tensors: list of (name, shape,
    mesh, placements, bytes on each device) of what it gets. ops: list of (operation, shape of a result,
    DistLayout with its `mesh` and `placements`, line of the program). warnings: list of str.
    """

    # Bytes stay zero where XLA gives no analysis of memory.
    devices = arguments = results = temporaries = shared = 0

    def __init__(self) -> None:
        self.collectives: list[Any] = []
        self.tensors: list[Any] = []
        self.ops: list[Any] = []
        self.warnings: list[Any] = []

    @property
    def peak(self) -> int:
        """Bytes that a device needs at most."""
        # Shared bytes are results in the memory of donated arguments, which must not count twice.
        return self.arguments + self.results - self.shared + self.temporaries

    @property
    def moved(self) -> int:
        """Bytes that each device receives in a step."""
        return sum(each.nbytes for each in self.collectives)

    def _head(self) -> str:
        new = size_text(self.results - self.shared)
        return (
            f"On each of {self.devices} devices: {size_text(self.peak)} at most ({size_text(self.arguments)} "
            f"arguments, {new} new results, {size_text(self.temporaries)} between), {size_text(self.moved)} "
            "received in a step."
        )

    def _tables(self) -> list[tuple[Any, Any]]:
        """(heads, rows) of each table that is not empty."""
        # Tables show the first rows; the lists of the Plan have all.
        found = [
            (
                ("Communication", "Devices", "Times", "Received", "Operation", "Line"),
                [each.cells() for each in self.collectives[:20]],
            ),
            (
                ("Tensor", "Shape", "Placements", "On each device"),
                [
                    (name, list(shape), placements or "one device", size_text(size))
                    for name, shape, _, placements, size in self.tensors[:20]
                ],
            ),
            (
                ("Operation", "Shape", "Placements", "Line"),
                [
                    (name, list(shape), "?" if layout is None else list(layout.placements), where)
                    for name, shape, layout, where in self.ops[:40]
                ],
            ),
        ]
        return [(head, rows) for head, rows in found if rows]

    def __repr__(self) -> str:
        parts = [self._head()]
        for head, rows in self._tables():
            parts += ["", *table_text(head, rows)]
        return "\n".join([*parts, *warnings_text(self.warnings)])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        tables = [table_html(head, rows) for head, rows in self._tables()]
        return "".join([sentences_html([self._head()]), *tables, warnings_html(self.warnings)])


def plan(step: Any, *args: Any, target: str | None = None, **kwargs: Any) -> Plan:
    """Compiles a step for the devices of its mesh without running it, and says what it will need and send.

    Args:
        step: function or Layer over sharded Tensors, one that `to_static` has compiled, or a DistModel in the
            mode train or eval or predict.
        args, kwargs: what it will be called with. Nothing is computed, and nothing changes.
        target: a chip that need not be there, such as "v5e:2x4" or "h100:8" (see `paddle_jax.aot`); None
            plans for the devices of this machine. For a target the layouts of `ops` are not known.
    Returns:
        Plan: memory on each device (`arguments`, `results`, `temporaries`, `peak`), `collectives` with bytes,
        `moved`, the layout of `tensors` and of the results of `ops`, and `warnings` about values that are
        gathered whole. Printed it is a table.
    Raises:
        RuntimeError: the step cannot be compiled whole; the error says which line is why.
        ValueError, ModuleNotFoundError: the target is unknown or too small, or has no compiler here.
    Example:
        >>> import paddle_jax
        >>> dist = paddle_jax.distributed
        >>> x = dist.shard_tensor(paddle_jax.ones([4, 2]), dist.ProcessMesh([0], dim_names=["x"]),
        ...                       [dist.Shard(0)])
        >>> found = dist.plan(lambda x: (x * x).sum(), x)
        >>> found.arguments, found.moved
        (32, 0)
    """
    from paddle_jax.aot import hlo  # lazy: import time
    from paddle_jax.aot.collectives import collectives  # lazy: import time

    # With a target the compiler of that device is asked.
    if target is not None:
        return _plan_for(step, args, kwargs, target)
    static = _static(step)
    found = Plan()
    ops = []
    layouts = []
    try:
        tensors, operands, compiled = _compiled(static, args, kwargs, ops, layouts)
    except jax.errors.JaxRuntimeError as error:
        # Other errors are those of the step.
        if "inspect_sharding" not in str(error):
            raise
        # JAX cannot name the layout of a result whose axes do not divide
        ops = []
        layouts = []
        # Once more without asking for layouts, which is what failed.
        tensors, operands, compiled = _compiled(static, args, kwargs, ops, None)
        found.warnings.append(
            "how results of operations lie is not known, since axes of some do not divide "
            "by the devices that share them"
        )
    memory = compiled.memory_analysis()
    if memory is not None:
        found.arguments = memory.argument_size_in_bytes
        found.results = memory.output_size_in_bytes
        found.temporaries = memory.temp_size_in_bytes
        found.shared = memory.alias_size_in_bytes
    _describe(found, tensors, operands, collectives(hlo.parse(compiled.as_text()), ops))
    # JAX reports layouts in any order.
    layouts.sort(key=lambda row: row[0])
    found.ops = [
        (name, shape, layout_of_sharding(sharding), ops[number]) for number, name, shape, sharding in layouts
    ]
    return found


def _describe(
    found: Plan, tensors: Sequence[Tensor], operands: Sequence[Any], communication: list[Any]
) -> None:
    """Stores the Tensors and the communication of a step, and warns of what is gathered whole."""
    found.devices = max([len(t.sharding.device_set) for t in operands if t.sharding], default=1)
    found.tensors = sorted(map(_described, tensors, operands), key=lambda row: -row[-1])
    found.collectives = communication
    largest = max([math.prod(t.shape) * t.dtype.itemsize for t in operands], default=0)
    for each in found.collectives:
        # A value that is gathered whole is often a layout by mistake.
        if each.kind == "all-gather" and each.result >= _LARGE * largest > 0:
            found.warnings.append(
                f"{each.op or 'an operation'} at {each.where or '?'} gathers "
                f"{size_text(each.result)} on each device, as much as the largest tensors of "
                "the step; if that is not meant (as in ShardingStage3), give its operands "
                "layouts that fit"
            )


def _plan_for(step: Any, args: Sequence[Any], kwargs: dict[str, Any], target: str) -> Plan:
    """The plan of a step for devices that are not there."""
    from paddle_jax.aot import report_of  # lazy: import time
    from paddle_jax.aot.capture import trace  # lazy: import time
    from paddle_jax.aot.compilers import require  # lazy: import time
    from paddle_jax.aot.target import parse  # lazy: import time

    parsed = parse(target)
    require(parsed)
    traced = trace(_static(step), args, kwargs, parsed.platform)
    report = report_of(traced, parsed)
    if not report.compiles:
        raise RuntimeError(f"plan: {report.name} does not compile for {parsed.chip.title}: {report.error}")
    found = Plan()
    found.arguments = report.arguments
    found.results = report.results
    found.temporaries = report.temporaries
    found.shared = report.shared
    _describe(found, traced.tensors, traced.operands, report.collectives)
    return found


def _static(step: Callable[..., Any]) -> Any:
    if isinstance(step, DistModel):
        if step._mode is None:
            raise ValueError(
                "plan: step: the DistModel is in no mode; call train(), eval() or predict() first"
            )
        step = {"train": step._step, "eval": step._test, "predict": step._run}[step._mode]
    if isinstance(step, StaticFunction):
        return step
    if not callable(step):
        raise TypeError(
            f"plan: step: got {type(step).__name__}; it must be a function, a Layer or a DistModel"
        )
    made = to_static(step)
    if isinstance(made, StaticFunction):
        return made
    return made.forward


def _compiled(
    static: Any, args: Sequence[Tensor], kwargs: dict[str, Any], ops: Sequence[Any], layouts: Sequence[Any]
) -> Any:
    """The Tensors that a step works on, their shapes and layouts, and the program XLA makes of it. ops,
    layouts: get the lines of its operations, and how their results lie."""
    # The executor of this Frame is replaced for the capture alone.
    with swapped_attributes(local.ctx.frame, executor=_named(ops, layouts)):
        program, inputs = static._capture(args, kwargs)
    tensors = program._tensors(inputs)
    operands = [_operand(t) for t in tensors]
    # Numbers that a program reads at each call are its last arguments.
    numbers = [get() for get in program.numbers.getters]
    # A step that keeps its inputs for a backward pass gives none of them away.
    if program.differentiable:
        donated = ()
    else:
        donated = tuple(program.direct.donated)
    function = jax.jit(program._call_captured, donate_argnums=donated)
    return tensors, operands, function.lower(*operands, *numbers).compile()


def _operand(tensor: Tensor) -> Any:
    """The shape, dtype and layout of what a Tensor holds."""
    array = to_jax_array(read_raw(tensor))
    # Uncommitted arrays go wherever the program runs.
    if not array.committed:
        return array
    return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding)


def _described(
    tensor: Tensor, operand: Any
) -> tuple[Any, tuple[Any, ...], Any | ProcessMesh | None, list[Any] | None, Any]:
    """What a plan says of a Tensor. operand: the shape, dtype and layout of its value."""
    layout = layout_of(tensor)
    # Without a sharding the device holds all of it.
    shard = operand.shape if operand.sharding is None else operand.sharding.shard_shape(operand.shape)
    size = math.prod(shard) * operand.dtype.itemsize
    if layout is None:
        placements = None
    else:
        placements = list(layout.placements)
    return tensor.name, tuple(operand.shape), None if layout is None else layout.mesh, placements, size


def _named(ops: Sequence[Any], layouts: Sequence[Any]) -> Callable[..., Any]:
    """What runs kernels while the step is traced: it gives their operations names that the program keeps."""

    def run(kernel: Kernel, values: Any) -> Any:
        # The number in the name leads from XLA's program back to the user's line.
        number = len(ops)
        ops.append(user_line())
        with jax.named_scope(f"paddle.{kernel.name}.{number}"):
            out = compute(kernel, values)
        # Single numbers have no layout worth showing.
        for result in out if isinstance(out, tuple | list) else [out]:
            if layouts is not None and isinstance(result, jax.core.Tracer) and result.size > 1:
                jax.debug.inspect_array_sharding(
                    result, callback=ft.partial(_append_layout, layouts, number, kernel.name, result.shape)
                )
        return out

    return run


def _append_layout(
    layouts: Sequence[Any], number: int, name: str, shape: Sequence[int], sharding: Any
) -> None:
    layouts.append((number, name, shape, sharding))
