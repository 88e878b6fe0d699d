"""Loops and branches: their bodies are plans of their own."""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.loops import Loop
from paddle_jax._core.numpy_backend.plan import Plan
from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal, Run, rule

# A plan keeps its jaxpr and its constants in memory, so only the last ones stay.
_MAX_STEPS = 128
_LEAST_TRIPS = 48  # from which on a Loop pays
_MAX_STACKS = 1 << 24  # bytes of values of all steps; with more of them arithmetic takes the time


@rule("while")
def _while(params: Params, ins: Avals, outs: Avals) -> Run:
    n = params["cond_nconsts"]
    m = params["body_nconsts"]
    condition = Plan(params["cond_jaxpr"])
    body = Plan(params["body_jaxpr"])
    # Such loops come from `vmap`, whose elements end at different steps.
    if outs and condition.shapes[0] != ():
        raise Refusal("a loop with one condition per element is compiled")

    def loop(*operands: Any) -> Any:
        condition_consts = operands[:n]
        body_consts = operands[n : n + m]
        state = operands[n + m :]
        while condition.execute((*condition_consts, *state))[0]:
            state = body.execute((*body_consts, *state))
        return state

    return _with_plans(loop, [condition, body])


def _with_plans(run: Any, plans: Sequence[Plan], trips: int = 1) -> Run:
    """The function of an equation with what the estimate of its cost reads.

    Args:
        run: the function.
        plans: the Plans that it runs.
        trips: how often it runs them, if that is known.
    """
    run.inner = plans
    run.trips = trips
    return run


@rule("cond")
def _cond(params: Params, ins: Avals, outs: Avals) -> Run:
    branches = [Plan(each) for each in params["branches"]]
    last = len(branches) - 1

    def choose(index: Any, *operands: Any) -> Any:
        # XLA takes the nearest branch for a number out of range.
        return branches[min(max(int(index), 0), last)].execute(operands)

    return _with_plans(choose, branches)


def _counts(params: Params, ins: Avals, outs: Avals) -> tuple[int, int]:
    """(number of constants, number of operands in the state) of a scan.

    JAX 0.12 has trees with a leaf for each operand in place of the numbers.
    """
    if "ft_in" not in params:
        return params["num_consts"], params["num_carry"]
    n, m, slices = map(len, params["ft_in"].unpack())
    state, stacks = map(len, params["ft_out"].unpack())
    if n + m + slices != len(ins) or state != m or state + stacks != len(outs):
        raise Refusal("primitive 'scan': its trees do not match its operands and results")
    return n, m


class _Step:
    """One step of a loop.

    Attributes:
        plan: Plan of the step.
        trips: int, how often it has run.
    """

    __slots__ = ("_counts", "_jaxpr", "_loop", "plan", "trips")

    def __init__(self, jaxpr: Any, const_count: int, carry_count: int) -> None:
        self.plan: Plan = Plan(jaxpr)
        self.trips: int = 0
        self._jaxpr = jaxpr
        self._counts = const_count, carry_count
        self._loop: Loop | None = None

    def loop_for(self, length: int) -> Loop | None:
        """The Loop for a number of trips; None if the plan is to run in each."""
        self.trips += length
        if self._loop is None and self.trips >= _LEAST_TRIPS:
            self._loop = Loop(self._jaxpr, *self._counts)
        loop = self._loop
        if loop is None or not length or length * loop.bytes_per_step > _MAX_STACKS:
            return None
        return loop


@ft.lru_cache(maxsize=_MAX_STEPS)
def _step_of(jaxpr: Any, const_count: int, carry_count: int) -> _Step:
    """One step of a loop. Loops of all lengths share their jaxpr, which compares by identity (see
    kernels/loop_template.py)."""
    return _Step(jaxpr, const_count, carry_count)


@rule("scan")
def _scan(params: Params, ins: Avals, outs: Avals) -> Run:
    n, m = _counts(params, ins, outs)
    length = params["length"]
    step = _step_of(params["jaxpr"], n, m)
    body = step.plan
    avals = outs[m:]
    if params["reverse"]:
        steps = range(length - 1, -1, -1)
    else:
        steps = range(length)
    if any(not isinstance(a.dtype, np.dtype) for a in (*ins, *outs)):
        raise Refusal("a scan over random keys is compiled")

    def scan(*operands: Any) -> Any:
        loop = step.loop_for(length)
        if loop is not None:
            return loop.run(operands, length, params["reverse"])
        fixed = operands[:n]
        state = operands[n : n + m]
        slices = operands[n + m :]
        stacks = [np.empty(a.shape, a.dtype) for a in avals]
        for t in steps:
            results = body.execute((*fixed, *state, *[x[t] for x in slices]))
            state = results[:m]
            for stack, y in zip(stacks, results[m:], strict=True):
                stack[t] = y
        return [*state, *stacks]

    return _with_plans(scan, [body], length)


@rule("platform_index")
def _platform_index(params: Params, ins: Avals, outs: Avals) -> Run:
    """The number of the branch that is for the CPU."""
    for k, names in enumerate(params["platforms"]):
        # None stands for all platforms.
        if names is None or "cpu" in names:
            index = np.asarray(k, outs[0].dtype)
            return lambda: index
    raise Refusal("no form for the CPU")
