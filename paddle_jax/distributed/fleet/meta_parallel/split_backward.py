"""The backward pass of a part of a model in two programs: gradients of its inputs, and of its weights.

The part runs once inside a trace. From the equations of its backward pass the first program keeps those that
the gradients of the inputs need. The second has the others, and gets what both need from the first. So no
layer has to know of it, nothing is computed twice, and the sums are those of one program.

See: Qi et al., Zero Bubble Pipeline Parallelism, 2023.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from paddle_jax._core.execution.trace import Traced
from paddle_jax._core.kernels.dependence import is_literal, open_jaxpr
from paddle_jax._core.lazy.multi_device import MultiDevice

__all__ = []

# calls whose body may belong to both halves of the backward pass
_CALLS = (
    "jit",
    "pjit",
    "closed_call",
    "core_call",
    "custom_vjp_call",
    "custom_jvp_call",
    "remat",
    "checkpoint",
)
_KEPT = 256  # parts whose programs are kept


class SplitBackward:
    """The programs of one part.

    Args:
        function: (arrays) -> tuple of arrays, pure.
        wanted: places of the arrays whose gradients go back to the part before.
        weights: places of the arrays whose gradients are of weights.
        floating: places of the results that have gradients.

    Attributes:
        equations: how many equations the two programs have, once they are made.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        wanted: Sequence[int],
        weights: Sequence[int],
        floating: Sequence[int],
    ) -> None:
        self._function = function
        self._places = [*wanted, *weights]
        self._inputs = len(wanted)
        self._floating = list(floating)
        self._tree: Any = None
        self._forward = jax.jit(self._with_residuals)
        self._programs: tuple[Any, ...] | None = None
        self.equations: tuple[int, int] = (0, 0)

    def forward(self, arrays: Sequence[Any]) -> tuple[tuple[Any, ...], list[Any]]:
        """(results, what the backward pass needs)."""
        return MultiDevice.run(self._forward, arrays)

    def of_inputs(self, residuals: list[Any], cotangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """(gradients of the inputs, what `of_weights` needs)."""
        given = [*residuals, *cotangents]
        if self._programs is None:
            self._programs = self._new_programs(given, len(residuals))
        first, _, kept = self._programs
        out = MultiDevice.run(first, given)
        return list(out[: self._inputs]), [*(given[place] for place in kept), *out[self._inputs :]]

    def of_weights(self, kept: list[Any]) -> list[Any]:
        """The gradients of the weights."""
        if self._programs is None:
            raise AssertionError("SplitBackward: of_weights: call of_inputs before")
        return list(MultiDevice.run(self._programs[1], kept))

    def _with_residuals(self, *arrays: Any) -> tuple[tuple[Any, ...], list[Any]]:
        def chosen(*values: Any) -> Any:
            # The derivative is by these places alone; other arrays are constants.
            full = list(arrays)
            for place, value in zip(self._places, values, strict=True):
                full[place] = value
            results = self._function(*full)
            # Results that want gradients are differentiated; all results come beside them.
            return tuple(results[place] for place in self._floating), results

        values = [arrays[place] for place in self._places]
        _, pull, results = jax.vjp(chosen, *values, has_aux=True)
        # The pull function of JAX is a pytree: its leaves are what the forward pass leaves.
        residuals, self._tree = jax.tree.flatten(pull)
        return tuple(results), residuals

    def _new_programs(self, given: Any, count: Any) -> Any:
        """(program of the inputs, program of the weights, places of what the latter gets)."""
        structs = [jax.ShapeDtypeStruct(np.shape(array), array.dtype) for array in given]

        def pulled(*values: Any) -> Any:
            pull = jax.tree.unflatten(self._tree, values[:count])
            return pull(tuple(values[count:]))

        closed = jax.make_jaxpr(pulled)(*structs)
        # A call would be cut nowhere inside, so bodies take the place of calls.
        flat = jax.make_jaxpr(lambda *values: _inlined(closed.jaxpr, closed.consts, values))(*structs)
        return self._cut(flat.jaxpr, flat.consts)

    def _cut(self, jaxpr: Any, consts: Any) -> Any:
        ours = jaxpr.outvars[: self._inputs]
        weight_vars = jaxpr.outvars[self._inputs :]
        first = _slice(jaxpr.eqns, ours)
        # What both need is computed in the first half, and handed on.
        # By identity: equal equations may stand at several places.
        behind = [e for e in _slice(jaxpr.eqns, weight_vars) if not any(e is other for other in first)]
        self.equations = (len(first), len(behind))
        used = {v for e in behind for v in e.invars if not is_literal(v)}
        # The gradient of a weight may be a value of the first half itself.
        used |= {v for v in weight_vars if not is_literal(v)}
        shared = [v for e in first for v in e.outvars if v in used]
        kept = [place for place, v in enumerate(jaxpr.invars) if v in used]
        constants = dict(zip(jaxpr.constvars, consts, strict=True))
        inputs = _program(first, jaxpr.invars, [*ours, *shared], constants)
        weights = _program(
            behind, [*(jaxpr.invars[place] for place in kept), *shared], weight_vars, constants
        )
        return inputs, weights, kept


def _slice(equations: Any, results: Any) -> list[Any]:
    """The equations that some results need, in order."""
    needed = {v for v in results if not is_literal(v)}
    found = []
    for equation in reversed(equations):
        if needed.isdisjoint(equation.outvars):
            continue
        found.append(equation)
        needed.update(v for v in equation.invars if not is_literal(v))
    return found[::-1]


def _program(equations: Any, variables: Any, results: Any, constants: Any) -> Any:
    """Some equations as a compiled function."""

    def run(*values: Any) -> Any:
        known = constants | dict(zip(variables, values, strict=True))
        for equation in equations:
            _bind(equation, known)
        return [v.val if is_literal(v) else known[v] for v in results]

    return jax.jit(run)


def _bind(equation: Any, known: Any) -> None:
    """Runs an equation on the values that are known, and adds its results to them."""
    values = [v.val if is_literal(v) else known[v] for v in equation.invars]
    # Calls keep their parameters in another form than `bind` takes.
    params = equation.primitive.get_bind_params(equation.params)
    out = equation.primitive.bind(*values, **params)
    known.update(zip(equation.outvars, out if equation.primitive.multiple_results else [out], strict=True))


def _inlined(jaxpr: Any, consts: Any, values: Any) -> list[Any]:
    """Runs a jaxpr with the bodies of its calls in their places, so that their parts can be distinguished."""
    known = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *values], strict=True))
    for equation in jaxpr.eqns:
        inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        if equation.primitive.name not in _CALLS or inner is None:
            _bind(equation, known)
            continue
        body, constants = open_jaxpr(inner)
        operands = [v.val if is_literal(v) else known[v] for v in equation.invars]
        known.update(zip(equation.outvars, _inlined(body, constants, operands), strict=True))
    return [v.val if is_literal(v) else known[v] for v in jaxpr.outvars]


_splits: collections.OrderedDict = collections.OrderedDict()


def split_backward(
    traced: Traced, wanted: Sequence[int], weights: Sequence[int], floating: Sequence[int]
) -> SplitBackward:
    """The programs of a part that was traced; equal parts share them."""
    key = (traced.key, tuple(wanted), tuple(weights), tuple(floating))
    if key not in _splits:
        _splits[key] = SplitBackward(traced.fn, wanted, weights, floating)
        if len(_splits) > _KEPT:
            _splits.popitem(last=False)
    # The ones used last stay.
    _splits.move_to_end(key)
    return _splits[key]
