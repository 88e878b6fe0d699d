"""Loops and branches: their bodies are plans of their own."""

import numpy as np

from paddle_jax._core.numpy_backend.plan import Plan
from paddle_jax._core.numpy_backend.rules import Refusal, rule


@rule("while")
def _while(params, ins, outs):
    n, m = params["cond_nconsts"], params["body_nconsts"]
    condition, body = Plan(params["cond_jaxpr"]), Plan(params["body_jaxpr"])
    if outs and condition.shapes[0] != ():
        raise Refusal("a loop with one condition per element is compiled")

    def loop(*operands):
        fixed, outer, state = operands[:n], operands[n : n + m], operands[n + m :]
        while condition.execute((*fixed, *state))[0]:
            state = body.execute((*outer, *state))
        return state

    loop.inner = (condition, body)
    return loop


@rule("cond")
def _cond(params, ins, outs):
    branches = [Plan(each) for each in params["branches"]]
    last = len(branches) - 1

    def choose(which, *operands):
        return branches[min(max(int(which), 0), last)].execute(operands)

    choose.inner = branches
    return choose


def _parts(params, ins, outs):
    """How many operands of a scan are constants, and how many carry a state: JAX 0.12 keeps trees with a leaf
    for each in place of the numbers."""
    if "ft_in" not in params:
        return params["num_consts"], params["num_carry"]
    n, m, slices = map(len, params["ft_in"].unpack())
    state, stacks = map(len, params["ft_out"].unpack())
    if n + m + slices != len(ins) or state != m or state + stacks != len(outs):
        raise Refusal("primitive 'scan': its trees do not match its operands and results")
    return n, m


@rule("scan")
def _scan(params, ins, outs):
    n, m = _parts(params, ins, outs)
    length = params["length"]
    body, avals = Plan(params["jaxpr"]), outs[m:]
    steps = range(length - 1, -1, -1) if params["reverse"] else range(length)
    if any(not isinstance(a.dtype, np.dtype) for a in (*ins, *outs)):
        raise Refusal("a scan over random keys is compiled")

    def scan(*operands):
        fixed, state, slices = operands[:n], operands[n : n + m], operands[n + m :]
        stacks = [np.empty(a.shape, a.dtype) for a in avals]
        for t in steps:
            results = body.execute((*fixed, *state, *[x[t] for x in slices]))
            state = results[:m]
            for stack, y in zip(stacks, results[m:], strict=True):
                stack[t] = y
        return [*state, *stacks]

    scan.inner, scan.trips = (body,), length
    return scan


@rule("platform_index")
def _platform_index(params, ins, outs):
    """Which of several forms is for the CPU."""
    for k, names in enumerate(params["platforms"]):
        if names is None or "cpu" in names:
            index = np.asarray(k, outs[0].dtype)
            return lambda: index
    raise Refusal("no form for the CPU")
