"""`paddle_jax.aot`: compiles programs for GPUs and TPUs on a machine without one, and says what they need.

XLA's compilers run without their devices. So a step can be checked before it goes to a device: whether it
compiles, how much memory it takes on each, what it sends, and a bound of its time.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from jax._src.interpreters import mlir  # for the bytecode of a module, which JAX has no public way to give

from paddle_jax._core.base.errors import first_line
from paddle_jax._core.lazy.devices import lowered_for
from paddle_jax.aot import capture as capture, compilers as compilers, hlo as hlo, work as work
from paddle_jax.aot.chips import CHIPS
from paddle_jax.aot.collectives import collectives as collectives
from paddle_jax.aot.compilers import CompilerError
from paddle_jax.aot.report import Report, time_text
from paddle_jax.aot.scopes import origin
from paddle_jax.aot.target import Target, parse

__all__ = ["Report", "compile", "targets"]

_MUCH = 0.1  # share of the estimate from which on the precision of products is worth a line
_PRECISION = (
    "float32 products of the highest precision take {slower} of the {all}; FLAGS_matmul_precision='high' or "
    "paddle.matmul_precision('high') lets them lose digits (docs/precision.md)"
)
_UNREADABLE = (
    "jaxlib cannot read the program of this newer compiler, so bytes, communication, 64-bit instructions and "
    "the estimate are not known ({error})"
)
_LOOPS = "a while loop counts as one round, since its rounds are not known"


def targets() -> dict[str, str]:
    """The chips that programs can be compiled for.

    Returns:
        dict: from the name of each to what it is, or which package is missing for it.
    Example:
        >>> import paddle_jax.aot
        >>> paddle_jax.aot.targets()["cpu"]
        'the processor of this machine'
    """
    found = {}
    for name, chip in CHIPS.items():
        lacking = compilers.missing(chip.platform)
        found[name] = f"{chip.title}: {', '.join(lacking)} is missing" if lacking else chip.title
    return found


def compile(
    function: Callable[..., Any], *args: Any, target: str = "cpu", timeout: float | None = None, **kwargs: Any
) -> Report:
    """Compiles a function for a chip that need not be there, without running it.

    Args:
        function: function of Tensors such as a training step, decorated with `to_static` or not; or a Layer.
            Its parameters and states may be sharded over a mesh of stand-in devices.
        args, kwargs: what it will be called with. An `InputSpec` with fixed shape stands for a Tensor.
        target: chip, with a number or topology: "cpu", "v5e", "v5e:2x4", "v5p:2x2x2", "h100", "h100:8".
        timeout: seconds after which the compiler is stopped, or None.
    Returns:
        Report: `compiles`, memory on each device, operations, bytes, collectives, an estimate of the time,
        what the platform lacks, 64-bit instructions, and warnings. Printed it is a table.
    Raises:
        ValueError: the target is unknown, or has fewer devices than the program wants.
        ModuleNotFoundError: the compiler of the target is not installed.
        RuntimeError: the function cannot be traced as a whole; the error says which line is why.
    Example:
        >>> import paddle_jax as paddle
        >>> import paddle_jax.aot
        >>> report = paddle_jax.aot.compile(lambda x: (x @ x).sum(), paddle.ones([8, 8]), target="cpu")
        >>> report.compiles, report.arguments, report.products
        (True, 256, {'f32': 1024.0})
    """
    parsed = parse(target)
    compilers.require(parsed)
    traced = capture.trace(function, args, kwargs, parsed.platform)
    return report_of(traced, parsed, timeout)


def report_of(traced: capture.Traced, target: Target, timeout: float | None = None) -> Report:
    """Compiles a traced program for a target.

    Raises:
        ValueError: the target has fewer devices than the program wants.
    """
    report = Report(traced.name, target)
    report.devices = traced.devices
    if report.devices > target.devices:
        raise ValueError(
            f"compile: target: got {target.text!r} with {target.devices} devices; the program runs on "
            f"{report.devices}; name a target with as many, or shard it over fewer"
        )
    _count_work(report, traced)
    try:
        with lowered_for(target.chip.capability):
            lowered = traced.traced.lower(lowering_platforms=(target.platform,))
        module = mlir.module_to_bytecode(lowered.compiler_ir("stablehlo"))
        reply, text = compilers.compile_module(target, module, report.devices, timeout=timeout)
    # An operation has no rule for the platform; JAX names the first one only.
    except NotImplementedError as error:
        _name_missing(report, traced)
        report.error = first_line(error)
    except CompilerError as error:
        report.error = first_line(error)
    else:
        _fill(report, traced, reply, text)
    return report


def _count_work(report: Report, traced: capture.Traced) -> None:
    """Counts operations."""
    # XLA leaves out what nobody needs, so it is not counted either.
    jaxpr = work.live(traced.traced.jaxpr.jaxpr)
    products, others = work.operations(jaxpr, report.target.platform)
    report.products = {kind: count / report.devices for kind, count in products.items()}
    report.other_operations = others / report.devices
    if any(equation.primitive.name == "while" for equation, _, _ in work.equations(jaxpr)):
        report.warnings.append(_LOOPS)
    if report.devices < report.target.devices:
        report.warnings.append(
            f"the program uses {report.devices} of {report.target.devices} devices; shard it to use all"
        )


def _name_missing(report: Report, traced: capture.Traced) -> None:
    """Lists the operations that JAX cannot lower for the platform."""
    for primitive, scope in work.without_rule(traced.traced.jaxpr.jaxpr, report.target.platform):
        name, line = origin(scope, traced.lines)
        row = (name or primitive, primitive, line)
        if row not in report.without_implementation:
            report.without_implementation.append(row)


def _fill(report: Report, traced: capture.Traced, reply: dict[str, Any], text: str) -> None:
    """Stores what XLA says of the program."""
    report.compiles = True
    memory = reply["memory"]
    report.arguments = memory["argument"]
    report.results = memory["output"]
    report.shared = memory["alias"]
    report.temporaries = memory["temp"]
    report.code = memory["generated_code"]
    report.compile_seconds = reply["seconds"]
    report.text = text
    if report.fits is False:
        report.warnings.append(
            f"it needs more memory than the {report.target.chip.memory / 2**30:.0f} GiB of a "
            f"{report.target.chip.title}"
        )
    if "unreadable" in reply:
        report.warnings.append(_UNREADABLE.format(error=reply["unreadable"].partition("\n")[0]))
        return
    program = hlo.parse(text)
    report.collectives = collectives(program, traced.lines)
    report.bytes = program.bytes_moved()
    slower = report.seconds_of_precision()
    if slower > _MUCH * (report.seconds or 0.0):
        report.warnings.append(_PRECISION.format(slower=time_text(slower), all=time_text(report.seconds)))
    report.wide = _wide(program, traced.lines)


def _wide(program: hlo.Program, lines: list[str]) -> list[tuple[str, str, str, int, int]]:
    """The 64-bit instructions beyond inputs and outputs, by dtype, operation and line."""
    counts: collections.Counter[tuple[str, str, str]] = collections.Counter()
    sizes: collections.Counter[tuple[str, str, str]] = collections.Counter()
    for instruction in program.wide_instructions():
        name, line = origin(instruction.op_name, lines)
        # A tuple may have narrow parts in front.
        dtype = next(dtype for dtype in instruction.dtypes if dtype in hlo.WIDE)
        key = (dtype, name or instruction.opcode, line)
        counts[key] += 1
        sizes[key] += instruction.wide_bytes
    return [(*key, count, sizes[key]) for key, count in counts.most_common()]
