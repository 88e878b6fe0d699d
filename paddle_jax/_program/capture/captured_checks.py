"""The checks of values in a captured run: made before the program runs where they depend on its operands
alone, else part of the program.

Part of the program they cost a pass over all that it changes, which keeps its old value if one has failed: 10
% of a step on the CPU.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters import partial_eval

from paddle_jax._core import numpy_backend
from paddle_jax._core.kernels.dependence import inner_jaxprs
from paddle_jax._core.kernels.value_checks import raise_if_failed
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.numpy_backend.cost import CONVOLUTIONS
from paddle_jax._core.tensors.held_values import computed_array
from paddle_jax._program.capture.captured import Captured

# Operations that take long: a check that needs one is better part of the program.
_HEAVY = frozenset(
    (
        *CONVOLUTIONS,
        "conv_general_dilated",
        "cond",
        "custom_jvp_call",
        "custom_vjp_call",
        "dot_general",
        "random_bits",
        "scan",
        "sort",
        "threefry2x32",
        "while",
    )
)
# More time is better spent in the program.
_LONGEST = 1e-3  # seconds by the interpreter's estimate


class CapturedChecks:
    """The checks of a captured run: its last change, and its last array.

    Attributes:
        checks: list of (count of numbers, function that makes the exception, line), as for `raise_if_failed`.
    """

    def __init__(self, checks: Sequence[tuple[Any, ...]]) -> None:
        self.checks = checks

    @classmethod
    def of(cls, captured: Captured) -> CapturedChecks | None:
        """The checks of a run, or None."""
        last = captured.changes[-1] if captured.changes else None
        if last is not None and last.kind == "checks":
            return cls(last.checks)
        return None

    def arrange(self, captured: Captured, order: Sequence[int], differentiable: bool) -> _Front | None:
        """Takes the checks out of a run and gives a function of the operands that raises what they find; or
        makes the run keep what it would change where one fails, and gives None. order: see Program."""
        # The interpreter works on arrays of the CPU.
        if differentiable or jax.default_backend() != "cpu":
            front = None
        else:
            front = self._front(captured, order)
        if front is None:
            captured.fn = self._guarded(captured)
            return None
        # The checks are the last result.
        whole = captured.fn
        captured.changes.pop()
        captured.fn = lambda *values: whole(*values)[:-1]
        return front

    def _front(self, captured: Captured, order: Sequence[int]) -> _Front | None:
        from jax.extend.core import ClosedJaxpr  # takes 0.05 s to import

        fixed, places = captured.parts
        body = captured.jaxpr
        # JAX 0.12 puts all among the latter by itself
        body = body.replace(invars=[*body.constvars, *body.invars], constvars=[])
        body, used = partial_eval.dce_jaxpr(body, [False] * (len(body.outvars) - 1) + [True])
        wanted = [k for k, is_used in enumerate(used) if is_used]
        taken = [places[k - len(fixed)] for k in wanted if k >= len(fixed)]
        # An effect must not happen twice. A number of the host is not a Tensor that could be compared with
        # the one before.
        if (
            body.effects
            or not _HEAVY.isdisjoint(_primitives(body))
            or any(captured.inputs[j].tensor is None for j in taken)
        ):
            return None
        constants = [fixed[k] for k in wanted if k < len(fixed)]
        operand_indices = [order[j] for j in taken]
        split = len(constants)
        # The interpreter runs it with NumPy: no program is compiled for the checks.
        try:
            plan = numpy_backend.plan(
                ClosedJaxpr(
                    body.replace(constvars=body.invars[:split], invars=body.invars[split:]), constants
                ),
                _LONGEST,
            )
        except numpy_backend.Refusal:
            return None
        return _Front(plan, operand_indices, self.checks)

    def _guarded(self, captured: Captured) -> Callable[..., tuple[Any, ...]]:
        """The function of a run that keeps the old values where a check fails."""
        input_of = {id(entry.tensor): i for i, entry in enumerate(captured.inputs)}
        result = len(captured.results)
        guards = []  # (index of the new value among the results, index of the old one among the inputs)
        for change in captured.changes:
            if change.kind == "value" and not change.flows:
                guards.append((result, input_of[id(change.target)]))
            result += change.count
        flags = []  # where the array of the checks has their truth values
        # Each check has its truth value first, then its numbers.
        index = 0
        for count, _, _ in self.checks:
            flags.append(index)
            index += 1 + count
        whole = captured.fn

        def fn(*values: Any) -> tuple[Any, ...]:
            out = list(whole(*values))
            wrong = jnp.any(out[-1][jnp.array(flags)] != 0)
            for i, j in guards:
                # A new value of another shape cannot be the old one.
                if (out[i].shape, out[i].dtype) == (values[j].shape, values[j].dtype):
                    out[i] = jax.lax.select_n(wrong, out[i], values[j])
            return tuple(out)

        return fn


class _Front:
    """Checks operands before a program runs.

    Attributes:
        plan: function of their arrays that gives the array of the checks.
        places: indices of the operands.
        checks: as in CapturedChecks.
        seen: arrays that were found right, which need no further check: JAX's arrays do not change.
    """

    def __init__(
        self, plan: Callable[..., Any], places: list[int], checks: Sequence[tuple[Any, ...]]
    ) -> None:
        self.plan = plan
        self.places = places
        self.checks = checks
        self.seen: Sequence[Any] = ()

    def __call__(self, tensors: Any) -> None:
        arrays = [computed_array(tensors[i]) for i in self.places]
        # The same arrays as last time, such as labels of one batch, were right then.
        if not arrays or any(map(operator.is_not, arrays, self.seen)) or not self.seen:
            raise_if_failed(self.plan(*map(to_numpy, arrays))[0], self.checks)
            # A NumPy array may be changed in place, so it says nothing about the next call.
            if all([isinstance(a, jax.Array) for a in arrays]):
                self.seen = arrays
            else:
                self.seen = ()


def _primitives(jaxpr: Any) -> Iterator[Any]:
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        # Branches and loops have jaxprs among their parameters.
        for inner in inner_jaxprs(eqn):
            yield from _primitives(inner)
