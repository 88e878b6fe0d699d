"""Recomputing in a captured function.

`recompute` marks in the trace where its function begins and ends, and the backward pass marks where the
cotangents of its results arrive. What comes after that computes the intermediate results again, behind a
barrier: XLA merges equal computations, and would keep the results of the forward pass. A result that is
computed again is the same, so a program gives the same wherever the marks are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

import jax.core
from jax._src.core import Primitive, Var, new_jaxpr_eqn, no_effects  # jax.extend takes 0.05 s to import
from jax._src.lax.lax import optimization_barrier_p  # there is no public name

from paddle_jax._core.base.state import local
from paddle_jax._core.execution.python_state import tensors_in
from paddle_jax._core.execution.trace import flatten_tensors
from paddle_jax._core.kernels.dependence import is_literal
from paddle_jax._core.kernels.kernel import ADD
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.tape.node import GraphFreedError, Node, source_of
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap

_BEGIN = "begin"
_END = "end"
_ARRIVAL = "arrival"
_new_region = itertools.count().__next__
# The identity of one array. parameters: `region`, a number, and `place`, one of the three above.
_mark_p = Primitive("recompute_mark")
_mark_p.def_abstract_eval(lambda aval, **_: aval)


class BoundaryNode(Node):
    """The end of a recomputed function, for one result: it marks where the cotangent arrives.

    Attributes:
        region: int, the number of the call.
    """

    __slots__ = ("region",)

    def __init__(self, tensor: Tensor, region: int) -> None:
        super().__init__(ADD, (), (0,), (source_of(tensor),), 1)
        self.region = region

    def name(self) -> str:
        return "RecomputeGradNode"

    def pull(
        self, cts: Sequence[Any], create_graph: bool = False, edge_indices: Sequence[int] | None = None
    ) -> Any:
        """The cotangent as it is. One that is differentiated again is not marked."""
        if self.values is None:
            raise GraphFreedError()
        if create_graph or not isinstance(cts[0], jax.core.Tracer):
            return list(cts)
        return (_mark_p.bind(cts[0], region=self.region, place=_ARRIVAL),)


def call_with_marks(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Calls a function whose intermediate results the captured program computes again for its gradients."""
    region = _new_region()
    traced = [raw for raw in map(read_raw, tensors_in([args, kwargs])) if isinstance(raw, jax.core.Tracer)]
    if not local.ctx.grad or not traced:
        return function(*args, **kwargs)
    _mark_p.bind(traced[0], region=region, place=_BEGIN)
    results, rebuild = flatten_tensors(function(*args, **kwargs))
    return rebuild([_with_boundary(tensor, region) for tensor in results])


def _with_boundary(tensor: Tensor, region: int) -> Tensor:
    """A result of a marked function."""
    raw = read_raw(tensor)
    if tensor._node is None or not isinstance(raw, jax.core.Tracer) or raw.dtype.kind not in INEXACT:
        return tensor
    raw = _mark_p.bind(raw, region=region, place=_END)
    result = wrap(raw, False, BoundaryNode(tensor, region), 0)
    result._dist = getattr(tensor, "_dist", None)
    return result


class _Region:
    """What lies between the marks of one call.

    Attributes:
        begin, end: positions of its first and last mark among the equations.
        arrival: position of the first mark of a cotangent; -1 if there is none.
    """

    def __init__(self, begin: int) -> None:
        self.begin = begin
        self.end = begin
        self.arrival = -1


def with_recomputation(
    eqns: list[Any], outvars: Sequence[Any], constants: Container[Any]
) -> tuple[list[Any], list[Any]]:
    """Equations without marks, in which the marked calls are computed again; and the results.

    Args:
        eqns: equations of a captured function.
        outvars: its results.
        constants: the variables of constants, which XLA must see as such.
    """
    if not any([eqn.primitive is _mark_p for eqn in eqns]):
        return eqns, list(outvars)
    marks = {eqn.outvars[0]: eqn.invars[0] for eqn in eqns if eqn.primitive is _mark_p}
    # One pass for all calls, so that the time grows with the length of the program alone.
    last_reads = {
        _unmarked(v, marks): position
        for position, eqn in enumerate(eqns)
        for v in eqn.invars
        if not is_literal(v)
    }
    arrivals = {region.arrival: region for region in _outermost(_regions_of(eqns))}
    # What a mark gives, and after the arrival of a cotangent what was computed again.
    renamed: dict[Any, Any] = {}
    result = []
    for position, eqn in enumerate(eqns):
        eqn = _renamed(eqn, renamed)
        if eqn.primitive is not _mark_p:
            result.append(eqn)
            continue
        renamed[eqn.outvars[0]] = eqn.invars[0]
        if position in arrivals:
            repeated = _Repetition(arrivals[position], eqns, marks, last_reads)
            result += repeated.equations(eqn.invars[0], renamed, constants)
            renamed.update(repeated.variables)
    # Results of the program stay those of the forward pass.
    return result, [_unmarked(v, marks) for v in outvars]


def _regions_of(eqns: Iterable[Any]) -> list[_Region]:
    """The marked calls, in the order in which they begin."""
    found: dict[int, _Region] = {}
    for position, eqn in enumerate(eqns):
        if eqn.primitive is not _mark_p:
            continue
        number = eqn.params["region"]
        place = eqn.params["place"]
        if place == _BEGIN:
            found[number] = _Region(position)
        elif place == _END:
            found[number].end = position
        elif found[number].arrival < 0:
            found[number].arrival = position
    return list(found.values())


def _outermost(regions: Iterable[_Region]) -> list[_Region]:
    """The calls whose gradients are computed, without those inside another of them."""
    chosen: list[_Region] = []
    for region in regions:
        is_inside = chosen and region.begin < chosen[-1].end
        if region.arrival >= 0 and not is_inside:
            chosen.append(region)
    return chosen


class _Repetition:
    """Computing a marked call again.

    Attributes:
        variables: {variable of the forward pass: the one that holds it again}.
        needed: equations of the forward pass that are repeated, in their order.
        marks: {what a mark gives: what was marked}.
    """

    def __init__(
        self, region: _Region, eqns: Sequence[Any], marks: dict[Any, Any], last_reads: dict[Any, int]
    ) -> None:
        """last_reads: {variable: position of the last equation that reads it}."""
        inside = eqns[region.begin : region.end + 1]
        # The results of the call are kept, as the arguments of what follows.
        kept = {
            _unmarked(eqn.invars[0], marks)
            for eqn in inside
            if eqn.primitive is _mark_p and eqn.params["place"] == _END
        }
        self.marks = marks
        self.needed: list[Any] = []
        read_by_needed: set[Any] = set()
        for eqn in reversed(inside):
            # A print or a call of the host happens once.
            if eqn.primitive is _mark_p or eqn.effects:
                continue
            lost = [v for v in eqn.outvars if v not in kept]
            if any([v in read_by_needed or last_reads.get(v, -1) > region.arrival for v in lost]):
                self.needed.append(eqn)
                read_by_needed.update([_unmarked(v, marks) for v in eqn.invars if not is_literal(v)])
        self.needed.reverse()
        self.variables = {v: Var(v.aval) for eqn in self.needed for v in eqn.outvars if v not in kept}

    def equations(self, cotangent: Any, renamed: dict[Any, Any], constants: Container[Any]) -> list[Any]:
        """The equations that compute it again once the cotangent is known. renamed: {variable: the one that
        stands for it}, for the variables from outside."""
        if not self.needed:
            return []
        read = [_unmarked(v, self.marks) for eqn in self.needed for v in eqn.invars if not is_literal(v)]
        operands = {v: _unmarked(v, renamed) for v in read if v not in self.variables and v not in constants}
        waiting = {v: Var(v.aval) for v in operands}
        barrier = new_jaxpr_eqn(
            [*operands.values(), cotangent],
            [*waiting.values(), Var(cotangent.aval)],
            optimization_barrier_p,
            {},
            no_effects,
        )
        names = {**waiting, **self.variables}
        result = [barrier]
        for eqn in self.needed:
            repeated = _renamed(_renamed(eqn, self.marks), names)
            outvars = [self.variables[v] if v in self.variables else Var(v.aval) for v in eqn.outvars]
            result.append(repeated.replace(outvars=outvars))
        return result


def _unmarked(variable: Any, marks: dict[Any, Any]) -> Any:
    """The variable that was marked, perhaps several times."""
    while not is_literal(variable) and variable in marks:
        variable = marks[variable]
    return variable


def _renamed(eqn: Any, renamed: dict[Any, Any]) -> Any:
    """An equation that reads what stands for its operands."""
    if not any([not is_literal(v) and v in renamed for v in eqn.invars]):
        return eqn
    return eqn.replace(invars=[v if is_literal(v) else _unmarked(v, renamed) for v in eqn.invars])
