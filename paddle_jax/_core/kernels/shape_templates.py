"""Equations for new shapes without another trace.

A program with other lengths in every batch would trace each kernel again for each length, which takes most of
the time of its steps. At the third choice of lengths a kernel is traced once more, with symbolic lengths
(symbolic_dims.py). The result is a template: the equations for further lengths are copies of it with the
numbers filled in.

Two checks make that sound. Each decision that Python code takes by a length is a guard, and lengths with
another outcome are traced as before. And a template is used only if it gives, for the lengths that were
traced before, exactly the equations of those traces.

Code of JAX or of this package may ask whether a length is an int at all, and takes another way if not, which
`jax.export` needs, too. Such a way holds for all lengths. Most often it gives other equations, and the second
check refuses them; rarely only their order differs, as that of the products of `einsum`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jax.core import ShapedArray

from paddle_jax._core.base.caller_info import is_unrelated_error
from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.interrupt_safe import preserved_tracing
from paddle_jax._core.base.symbolic_dims import (
    NotGeneralError,
    ShapeEnvironment,
    filled_shape,
    node_numbers,
)
from paddle_jax._core.kernels.dependence import has_loop, unread_operands, without_unread_equations
from paddle_jax._core.kernels.jaxpr_filling import (
    DerivativeRules,
    JaxprFilling,
    Values,
    derivative_rules,
    same_jaxprs,
    with_literal_numbers,
)
from paddle_jax._core.kernels.jaxpr_tracing import Equations, trace_context, trace_function
from paddle_jax._core.lazy.aval import Aval, aval_of

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel

_SIMILAR = 2  # traces for lengths that differ on the same axes, before a template is made
# The same for numbers that are attributes. Layers of one network may differ in them, and be traced once.
_SIMILAR_NUMBERS = 3
_SIMILAR_IN_STEPS = 1  # the same for traces of the training step before this one
_MAX_TRACES = 16  # that are kept to find similar ones
_SPECIAL = 1  # lengths up to this one take other ways through code: empty and broadcast axes
_MAX_ATTEMPTS = 16  # to make a template, for operands of the same dtypes and ranks

Lengths = tuple[int, ...]  # of all axes of all operands, after the numbers of a kernel of a family


class _OtherGuardsError(NotGeneralError):
    """The guards of a template hold for none of the lengths that were traced before."""


class _Failure(NamedTuple):
    """Why there is no template. The exception itself would keep the frames of the program alive.

    Attributes:
        reason: class and text of the exception.
        by_guards: whether it was _OtherGuardsError.
    """

    reason: str
    by_guards: bool


class _Traced(NamedTuple):
    """A trace for some lengths.

    Attributes:
        lengths: the lengths.
        equations: those of the trace.
        step: number of training steps before it.
    """

    lengths: Lengths
    equations: Equations
    step: int


class ShapeTemplates:
    """What a kernel knows of operands with the same dtypes and ranks.

    Attributes:
        number_count: int, how many of the lengths are numbers among the attributes. If there are any, a
            template is made only where one of them varies.
        traced: list of the last traces, for which no template held.
        templates: list of ShapeTemplate.
        attempts: int, templates that may still be made, or fail for their guards.
    """

    __slots__ = ("attempts", "number_count", "templates", "traced")

    def __init__(self, number_count: int = 0) -> None:
        self.number_count: int = number_count
        self.traced: list[_Traced] = []
        self.templates: list[ShapeTemplate] = []
        self.attempts: int = _MAX_ATTEMPTS

    def note_trace(self, lengths: Lengths, equations: Equations) -> None:
        """Keeps the equations of a trace, to compare a template with them."""
        if self.attempts and all(lengths != known.lengths for known in self.traced):
            traced = _Traced(lengths, equations, Counters.steps)
            self.traced = [*self.traced[1 - _MAX_TRACES :], traced]

    def add_template(self, template: ShapeTemplate, similar: list[_Traced]) -> None:
        """Adds a template, which replaces the traces that it was made from."""
        self.templates.append(template)
        self.attempts -= 1
        self.traced = [traced for traced in self.traced if self.attempts and traced not in similar]

    def note_failure(self, failure: _Failure) -> None:
        """Counts a failure. Only for another outcome of guards it is worth another attempt."""
        self.attempts -= 1
        if not failure.by_guards:
            self.attempts = 0
        if not self.attempts:
            self.traced = []

    def similar_traces(self, lengths: Lengths) -> list[_Traced]:
        """The traces that differ from these lengths on the fewest axes, the same ones; empty if there are too
        few."""
        by_axes: dict[tuple[int, ...], list[_Traced]] = {}
        for traced in self.traced:
            pairs = enumerate(zip(lengths, traced.lengths, strict=True))
            differing = tuple([axis for axis, (length, known) in pairs if length != known])
            if self._wants_template(differing, lengths, traced.lengths):
                by_axes.setdefault(differing, []).append(traced)
        enough = [axes for axes, similar in by_axes.items() if self._are_enough(similar)]
        if not enough:
            return []
        return by_axes[min(enough, key=len)][-_SIMILAR_NUMBERS if self.number_count else -_SIMILAR :]

    def _are_enough(self, similar: list[_Traced]) -> bool:
        """Whether there are enough traces that differ on the same axes."""
        # Where each step of training has other lengths, the next one will, too.
        if sum(traced.step == Counters.steps - 1 for traced in similar) >= _SIMILAR_IN_STEPS:
            return True
        return len(similar) >= (_SIMILAR_NUMBERS if self.number_count else _SIMILAR)

    def _wants_template(self, axes: tuple[int, ...], *choices: Lengths) -> bool:
        """Whether a template is wanted for choices of lengths that differ on these axes."""
        if not axes or not self.number_count:
            return bool(axes)
        # Small numbers are axes more often than lengths.
        smallest = min(choice[axis] for choice in choices for axis in axes)
        return axes[0] < self.number_count and smallest > _SPECIAL


class ShapeTemplate:
    """The equations of a kernel for any lengths for which its guards hold.

    Attributes:
        jaxpr: its equations, with symbolic lengths.
        consts: list of the values of its constants.
        container: as that of Equations.
        context: the settings of JAX with which it was traced.
        has_loop: bool, whether one of its equations is a loop.
        unread_operands: list of the numbers of operands that no result depends on.
        plans: PlanTemplate for its copies, or a text where there is none. None: nobody has asked.
    """

    __slots__ = (
        "_environment",
        "_filling",
        "_fixed",
        "_positions",
        "_results",
        "_rule_numbers",
        "_trace",
        "consts",
        "container",
        "context",
        "has_loop",
        "jaxpr",
        "plans",
        "unread_operands",
    )

    def __init__(
        self,
        equations: Equations,
        trace: Callable[[Lengths], Equations],
        environment: ShapeEnvironment,
        fixed: list[tuple[int, int]],
        positions: list[list[int]],
    ) -> None:
        """
        Args:
            equations: as traced with symbolic lengths.
            trace: function that traces the kernel for other lengths.
            environment: that of the trace with symbolic lengths.
            fixed: (axis, length) of the lengths that did not vary; axes count through all operands.
            positions: for each symbolic length, the axes that have it.
        """
        self.context: Any = equations.context
        self.container: type | None = equations.container
        self.consts: list[Any] = equations.consts
        self.plans: Any = None
        self._trace = trace
        self._environment = environment
        self._fixed = fixed
        self._positions = positions
        self._rule_numbers: dict[int, int] = {}
        for number, rule in enumerate(derivative_rules(equations.jaxpr)):
            self._rule_numbers.setdefault(id(rule), number)
        filling = JaxprFilling(equations.jaxpr)
        if filling.is_static():
            raise NotGeneralError("the equations are the same for all lengths")
        self.jaxpr: Any = filling.jaxpr
        self.has_loop: bool = has_loop(self.jaxpr)
        self.unread_operands: list[int] = unread_operands(self.jaxpr)
        self._filling = filling
        self._results = [
            (node_numbers(v.aval.shape), v.aval.dtype, v.aval.weak_type) for v in self.jaxpr.outvars
        ]
        environment.is_tracing = False

    def equations_for(self, lengths: Lengths) -> Equations | None:
        """The equations for these lengths; None if the template does not hold for them."""
        for axis, length in self._fixed:
            if lengths[axis] != length:
                return None
        chosen = []
        for axes in self._positions:
            length = lengths[axes[0]]
            for axis in axes:
                if lengths[axis] != length:
                    return None
            chosen.append(length)
        numbers = self._environment.values_for(chosen)
        if numbers is None:
            return None
        rules = DerivativeRules(self._rule_numbers, lambda: self._trace(lengths).jaxpr)
        return FilledEquations(self, Values(numbers, rules))

    def jaxpr_for(self, numbers: Values) -> Any:
        """The jaxpr for the lengths whose numbers these are."""
        return self._filling.fill(numbers)

    def result_avals_for(self, numbers: Values) -> list[Aval]:
        """The Avals of the results for the lengths whose numbers these are."""
        return [aval_of(filled_shape(nodes, numbers), dtype, weak) for nodes, dtype, weak in self._results]


class FilledEquations(Equations):
    """Equations from a template. Most are only run by NumPy, so the jaxpr is made when somebody asks for it.

    Attributes:
        template: ShapeTemplate.
        numbers: Values of the lengths in it.
    """

    __slots__ = ("_jaxprs", "numbers", "template")

    def __init__(self, template: ShapeTemplate, numbers: Values) -> None:
        self.template: ShapeTemplate = template
        self.numbers: Values = numbers
        self.consts: list[Any] = template.consts
        self.container: type | None = template.container
        self.context: Any = template.context
        self._jaxprs: list[Any] = []

    @property
    def jaxpr(self) -> Any:
        """The equations."""
        if not self._jaxprs:
            # Two threads may both get here. They both take the first one.
            self._jaxprs.append(self.template.jaxpr_for(self.numbers))
        return self._jaxprs[0]

    def unread_operands(self) -> list[int]:
        """The numbers of the operands that no result depends on in any way."""
        return self.template.unread_operands

    @property
    def structure(self) -> Any:
        """The equations with symbolic lengths."""
        return self.template.jaxpr

    def result_avals(self) -> list[Aval]:
        """The Avals of the results."""
        return self.template.result_avals_for(self.numbers)


class _Source(NamedTuple):
    """What templates are made of.

    Attributes:
        known: ShapeTemplates for operands like these.
        lengths: those of the operands, after the numbers.
        name: that of the kernel.
        function_for: gives the function to trace from the numbers.
        avals: those of the operands.
    """

    known: ShapeTemplates
    lengths: Lengths
    name: str
    function_for: Callable[[Sequence[Any]], Callable[..., Any]]
    avals: tuple[Aval, ...]

    def trace(self, lengths: dict[int, Any] | Lengths) -> Equations:
        """The equations for other lengths, which may be symbolic."""
        count = self.known.number_count
        fn = self.function_for([lengths[i] for i in range(count)])
        return _trace(fn, self.name, _structs(self.avals, lengths, count))


def _trace(fn: Callable[..., Any], name: str, structs: Sequence[Any]) -> Equations:
    """The equations of a function that its results need. Those of a gradient compute results, too."""
    equations = trace_function(fn, name, structs)
    equations.jaxpr = without_unread_equations(equations.jaxpr)
    return equations


def filled_equations(kernel: Kernel, avals: tuple[Aval, ...]) -> Equations | None:
    """The equations of a kernel for operands of these Avals from a template; None if none holds."""
    for source in _sources(kernel, avals):
        equations = _filled(source.known, source.lengths)
        if equations is not None:
            return equations
    return None


def traced_equations(kernel: Kernel, avals: tuple[Aval, ...]) -> Equations:
    """The equations of a kernel for which no template holds: from a new template or by a trace."""
    if not kernel.has_templates:
        return trace_function(kernel.fn, kernel.name, [aval.struct for aval in avals])
    sources = _sources(kernel, avals)
    failures = []
    for source in sources:
        similar = source.known.similar_traces(source.lengths)
        attempt = _try_template(source, similar) if similar else None
        if type(attempt) is ShapeTemplate:
            source.known.add_template(attempt, similar)
            equations = attempt.equations_for(source.lengths)
            if equations is not None:
                return equations
        elif type(attempt) is _Failure:
            failures.append((source, attempt))
    # It raises what the operation raises if the operands do not fit. That says nothing of other lengths.
    equations = _trace(kernel.fn, kernel.name, [aval.struct for aval in avals])
    for source, failure in failures:
        log.add(f"{kernel.name} is traced for each shape: {failure.reason}")
        source.known.note_failure(failure)
    for source in sources:
        source.known.note_trace(source.lengths, equations)
    return equations


def _sources(kernel: Kernel, avals: tuple[Aval, ...]) -> list[_Source]:
    """What templates of a kernel are made of: the kernel alone, then its family."""
    key = tuple([(aval.dtype, aval.weak, aval.ndim) for aval in avals])
    lengths = tuple([length for aval in avals for length in aval.shape])
    own = kernel.shape_templates.get(key)
    if own is None:
        own = kernel.shape_templates[key] = ShapeTemplates()
    sources = [_Source(own, lengths, kernel.name, lambda numbers: kernel.fn, avals)]
    family = kernel.family
    if family is not None:
        shared = family.shape_templates.get(key)
        if shared is None:
            shared = family.shape_templates[key] = ShapeTemplates(len(kernel.numbers))
        numbers_first = (*kernel.numbers, *lengths)
        sources.append(_Source(shared, numbers_first, kernel.name, family.function_for, avals))
    return sources


def _try_template(source: _Source, similar: list[_Traced]) -> ShapeTemplate | _Failure:
    """A new template, or why there is none."""
    try:
        return _new_template(source, similar)
    except Exception as error:
        # JAX and the kernel may raise anything for a length that is not an int.
        if is_unrelated_error(error) and not isinstance(error, RecursionError):
            raise
        return _Failure(f"{type(error).__name__}: {error}", isinstance(error, _OtherGuardsError))
    finally:
        # JAX tries each length as an int, and keeps the exception in a local variable. This cycle would keep
        # all frames of the program, with what they hold, until the next collection.
        gc.collect(1)


def _filled(known: ShapeTemplates, lengths: Lengths) -> Equations | None:
    """The equations for these lengths from one of the templates; None if there is none that holds."""
    for template in known.templates:
        # A trace depends on JAX's settings.
        if template.context == trace_context():
            equations = template.equations_for(lengths)
            if equations is not None:
                log.filled_templates += 1
                return equations
    return None


def _new_template(source: _Source, similar: list[_Traced]) -> ShapeTemplate:
    """A template for lengths that vary as those of a source and of similar traces."""
    axes_of: dict[tuple[int, ...], list[int]] = {}
    fixed = []
    for axis, varied in enumerate(zip(source.lengths, *[traced.lengths for traced in similar], strict=True)):
        if len(set(varied)) == 1:
            fixed.append((axis, varied[0]))
        else:
            axes_of.setdefault(varied, []).append(axis)
    if min(map(min, axes_of)) <= _SPECIAL:
        raise _OtherGuardsError("one of the lengths is 0 or 1")
    template = _template(source, fixed, axes_of)
    _check(template, similar)
    return template


def _template(
    source: _Source, fixed: list[tuple[int, int]], axes_of: dict[tuple[int, ...], list[int]]
) -> ShapeTemplate:
    """The template, traced with the lengths that come first in the keys of `axes_of`."""
    environment = ShapeEnvironment([varied[0] for varied in axes_of])
    symbols: dict[int, Any] = dict(fixed)
    for symbol, axes in zip(environment.lengths(), axes_of.values(), strict=True):
        symbols.update(dict.fromkeys(axes, symbol))

    def trace(lengths: Lengths) -> Equations:
        with preserved_tracing():
            return source.trace(lengths)

    with preserved_tracing():
        equations = source.trace(symbols)
        return ShapeTemplate(equations, trace, environment, fixed, list(axes_of.values()))


def symbolic_equations(kernel: Any, structs: Sequence[Any]) -> Equations:
    """The equations of a kernel for operands with symbolic lengths."""
    equations = trace_function(kernel.fn, kernel.name, structs)
    equations.jaxpr = with_literal_numbers(equations.jaxpr)
    return equations


def _check(template: ShapeTemplate, traced: list[_Traced]) -> None:
    """Compares a template with traces.

    Raises:
        NotGeneralError: it does not give the equations of a trace for which it holds.
        _OtherGuardsError: it holds for none of them.
    """
    checked = False
    for each in traced:
        filled = template.equations_for(each.lengths)
        if filled is not None:
            if not _same_equations(filled, each.equations):
                raise NotGeneralError("the filled equations are not those of the trace")
            checked = True
    if not checked:
        raise _OtherGuardsError("its guards hold for the lengths at hand alone")


def _structs(
    avals: tuple[Aval, ...], lengths: dict[int, Any] | Lengths, number_count: int
) -> list[ShapedArray]:
    """Shape, dtype and weak type of each operand, with other lengths, which may be symbolic."""
    structs = []
    first = number_count
    for aval in avals:
        shape = tuple([lengths[first + axis] for axis in range(aval.ndim)])
        structs.append(ShapedArray(shape, aval.dtype, aval.weak))
        first += aval.ndim
    return structs


def _same_equations(a: Equations, b: Equations) -> bool:
    return a.container is b.container and a.context == b.context and same_jaxprs(a.jaxpr, b.jaxpr)
