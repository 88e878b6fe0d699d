"""Ops that are new: interpreted with NumPy (see _core/numpy_backend) as long as that costs less
than compiling them."""

import numpy as np

from paddle_jax._core.base.caller_info import is_unrelated_error
from paddle_jax._core.base.event_log import log
from paddle_jax._core.lazy.devices import default_device
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.numpy_backend import Refusal, plan
from paddle_jax._core.numpy_backend.cost import COMPILE_BASE

_CALL = 1e-5  # seconds that an op takes beside what it computes
# seconds that a compiled kernel takes at least, with the way of its operands from NumPy and of its results
# back
_KERNEL = 2e-5
_PROGRAM = 3e-5  # seconds that a compiled segment takes at least
_SHARE = 0.3  # of what compiling a segment costs: when interpreting it has taken that long, it is compiled
_RUNS = 2  # a segment is compiled when it is met for the second time at the earliest


class TierState:
    """What the interpreter knows of a Sig.

    plan: None when it is compiled. cost, compile_cost: estimated seconds of one run and of compiling it.
    spent: how many seconds less its runs would have taken compiled.
    """

    __slots__ = ("compile_cost", "cost", "plan", "spent")

    def __init__(self, made):
        self.plan, self.spent = made, 0.0
        self.cost, self.compile_cost = (_CALL, 0.05) if made is None else (made.cost, made.compile_cost)


def tier_state(sig) -> TierState:
    """What the interpreter knows of a Sig; its plan is made when it is first asked for."""
    found = sig.tier_state
    if found is None:
        found = sig.tier_state = TierState(_planned(sig))
    return found


def _planned(sig):
    avals = [*sig.operand_avals, *(sig.out_avals if sig.container else [sig.out_avals])]
    if any(a.weak for a in avals):  # NumPy does not know JAX's weak types
        return _refused(sig, "a weakly typed operand or result")
    try:
        return plan(sig.equations)
    except Refusal as refusal:
        return _refused(sig, str(refusal))


def _refused(sig, why):
    log.refusals[why] += 1
    log.add(f"compiled at once: {sig.kernel.name} ({sig.user_line}): {why}")


def may_interpret(device) -> bool:
    """Whether what belongs on a device may be computed by NumPy."""
    return settings.interpreter and device is default_device() and device.platform == "cpu"


def interpret(sig, operands):
    """The results of an op as NumPy arrays; None when it is to be compiled. The caller has
    NumPy's warnings off."""
    found = sig.tier_state or tier_state(sig)
    spent = found.spent + max(found.cost - _KERNEL, 0.0)
    if found.plan is None or spent > found.compile_cost:
        return None
    try:
        out = found.plan.quietly([x if type(x) is np.ndarray else to_numpy(x) for x in operands])
    except Exception as error:
        if is_unrelated_error(error):
            raise
        found.plan = _refused(sig, f"{type(error).__name__} in the interpreter: {error}")
        return None
    found.spent = spent
    log.interpreted_ops += 1
    return sig.equations.structured(out)


def runs_before_compiling(ops, device, run=None) -> int:
    """The time a segment is met at which it is compiled: when running it op by op has wasted a share of what
    compiling will take. On an accelerator and on several devices at once, since compiling its ops one by
    one takes longer."""
    if not may_interpret(device):
        return _RUNS if getattr(device, "platform", "several") == "cpu" else 1
    known = [tier_state(entry[0]) for entry in ops]
    saved = sum(c.cost + _CALL for c in known) - _PROGRAM
    if run is not None:  # compiled as a loop: the first period, and the body
        known = known[: run.start + 2 * run.period] + known[run.start + run.count * run.period :]
    whole = COMPILE_BASE + sum(c.compile_cost - COMPILE_BASE for c in known)
    return max(_RUNS, int(_SHARE * whole / max(saved, 1e-9)))
