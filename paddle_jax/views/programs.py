"""Views of what is compiled: functions of `to_static`, static Programs, the report of `explain()`."""

from __future__ import annotations

from collections.abc import Iterable

from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.runner.explain import Explanation
from paddle_jax._program.capture.compiled_function import CompiledFunction
from paddle_jax._program.guards.messages import read_values
from paddle_jax._program.operation import Operation, type_text
from paddle_jax._program.program import Program
from paddle_jax.jit.function import StaticFunction
from paddle_jax.views.graphs import program_graph
from paddle_jax.views.markup import (
    Markup,
    chip,
    code,
    counted,
    fold,
    head,
    joined,
    place,
    row,
    soft,
    table,
    view,
    warning,
)

_MOST_READS = 100
_MOST_EVENTS = 100


def function_view(function: StaticFunction) -> Markup:
    """The view of a function of `to_static`: a row for each compiled form, and what each rests on."""
    forms = function.compiled_forms()
    compiled = [program for _, programs in forms for program in programs or ()]
    seconds = sum(program.record.seconds for program in compiled if program.record)
    facts = [head(f"to_static: {function._name()}"), chip(counted(len(forms), "signature"))]
    facts += [chip(counted(len(compiled), "compiled form")), chip(f"{seconds:.2f} s to compile")]
    if any(programs is None for _, programs in forms):
        facts.append(warning("runs op by op"))
    rows = []
    folds = []
    for texts, programs in forms:
        arguments = ", ".join(texts)
        if programs is None:
            rows.append([arguments, "", "", "runs op by op: `explain()` says why", ""])
        for program in programs or ():
            rows.append(_form_row(arguments, program))
            folds.append(_guards(arguments, program))
    if not rows:
        return view(row(*facts), soft("not called yet"))
    names = ("arguments", "seconds", "operations", "why it was compiled", "line")
    return view(row(*facts), table(names, rows), *folds)


def _form_row(arguments: str, program: CompiledFunction) -> list[str | float | int]:
    """The cells of one compiled form."""
    count = len(program.captured.jaxpr.eqns)
    if program.record is None:
        return [arguments, "", count, "", ""]
    return [
        arguments,
        round(program.record.seconds, 3),
        count,
        program.record.why,
        place(program.record.where),
    ]


def _guards(arguments: str, program: CompiledFunction) -> Markup:
    """What a compiled form has read; it is compiled again when that changes."""
    found = read_values(program.reads)
    title = joined(
        [arguments or "no arguments", " ", soft(f"rests on {counted(len(program.reads), 'value')}")]
    )
    return fold(
        title,
        table(
            ("read", "value", "line"),
            [[name, value, place(line)] for name, value, line in found],
            _MOST_READS,
        ),
    )


def program_view(program: Program) -> Markup:
    """The view of a static Program: its graph, and its operations in order."""
    facts = [head("Program"), chip(counted(len(program.ops), "operation"))]
    facts += [chip(counted(len(program.vars), "variable")), *_inputs(program)]
    names_of = _Names()
    rows = [_operation_row(index, op, names_of) for index, op in enumerate(program.ops)]
    names = ("", "operation", "operands", "results", "line")
    graph = fold("graph", program_graph(program), shown=True)
    return view(row(*facts), graph, fold("operations", table(names, rows)), fold("text", code(str(program))))


def _inputs(program: Program) -> list[Markup]:
    return [chip(f"input {name} {list(variable.shape)}") for name, variable in program.data.items()]


class _Names(dict):
    """Names of the Symbols of a Program: their own, or their number."""

    def of(self, symbols: Iterable[Symbol]) -> str:
        """Names with types of some Symbols."""
        for symbol in symbols:
            if symbol not in self:
                # Values without a name are numbered as they come.
                self[symbol] = symbol.name or f"%{len(self)}"
        return ", ".join(f"{self[symbol]}: {type_text(symbol)}" for symbol in symbols)


def _operation_row(index: int, op: Operation, names: _Names) -> list[str | int]:
    """The cells of one operation."""
    return [index, op.name, names.of(op.inputs), names.of(op.outputs), place(op.where)]


def explain_view(report: Explanation) -> Markup:
    """The view of `explain()`: counts, guards that did not hold, events."""
    facts = [
        head("deferred execution"),
        chip(counted(report.segments, "segment")),
        chip(f"{report.hits:,} as compiled programs"),
        chip(f"{report.compiles:,} compiled in {report.seconds:.2f} s"),
        chip(f"{report.interpreted:,} operations with NumPy"),
    ]
    parts = [row(*facts)]
    if report.background_seconds:
        parts.append(row(soft(f"{report.background_seconds:.2f} s of it while the program went on")))
    if report.guard_failures:
        rows = list(map(list, report.guard_failures.items()))
        parts.append(table(("guard that did not hold", "compiled again"), rows))
    if report.flat_buffers:
        rows = list(map(list, report.flat_buffers.items()))
        parts.append(table(("flat buffers of compiled steps", "times"), rows))
    if report.refusals:
        rows = sorted(map(list, report.refusals.items()), key=lambda cells: -cells[1])
        parts.append(fold("operations that did not run in NumPy", table(("reason", "operations"), rows)))
    if report.events:
        events = [[event] for event in report.events[-_MOST_EVENTS:]]
        title = f"last {counted(len(events), 'event')}"
        parts.append(fold(title, table(("event",), events), shown=len(events) <= 10))
    return view(*parts)
