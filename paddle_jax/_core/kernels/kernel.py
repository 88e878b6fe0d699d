"""Kernels: pure functions of arrays with everything else fixed, compiled once, differentiable to any order.

An op together with one choice of attributes is one Kernel. Its gradient is a Kernel again, derived with
`jax.vjp`, so a gradient of a gradient needs nothing new. Kernels take and give flat arrays; Tensors, modes
and the tape live elsewhere.
"""

import jax
import jax.numpy as jnp

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.error_translation import cause_for, translate
from paddle_jax._core.base.interrupt_safe import interrupt_safe_jit, preserved_tracing, repair_tracing
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.dependence import smooth
from paddle_jax._core.kernels.jaxpr_tracing import Equations, is_staging, trace_context, traced
from paddle_jax._core.kernels.kernel_gradients import derived
from paddle_jax._core.lazy.aval import as_aval, aval_of
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.lazy.segment import record
from paddle_jax._core.lazy.signature_cache import DROPPED, Kept, kept, look
from paddle_jax._core.lazy.transfer import to_array

_MAX_FLOWS = 1024
_MAX_TRACES = 64


class Kernel:
    """One pure function `fn(*arrays) -> array | tuple | list`, its equations, its compiled form and its
    derived gradients.

    constants: bit i is set when operand i gets no gradient. deferrable: whether it can be recorded to run
    later (bodies that need host values cannot). sigs: what the deferred tier knows about it, by the Avals of
    the operands; older: those of the generation before (compiled.py). traces: its equations by the Avals of
    the operands, where there is no Sig. flows: where gradients can flow, by the avals of the operands. of:
    for a derived gradient, (the kernel, diff, given, arity) it was derived from. made_of: for a kernel of a
    declared op, (the Op, layout of operands, attribute values). used: how many programs had been compiled
    when its compiled form was last used; negative if there is none. view: None, or how the result shows
    elements of the first operand (`Showing` in views.py). silent: whether the equations leave out what the
    compiled form prints.
    """

    __slots__ = (
        "__weakref__",
        "_run",
        "constants",
        "deferrable",
        "flows",
        "fn",
        "grads",
        "made_of",
        "name",
        "nondiff",
        "of",
        "older",
        "sigs",
        "silent",
        "traces",
        "used",
        "view",
    )

    def __init__(self, name, fn, *, jit=True, nondiff=False):
        self.name, self.fn, self.nondiff, self.grads = name, fn, nondiff, {}
        self._run = None if jit else fn
        self.deferrable, self.sigs, self.flows, self.of, self.made_of = jit, {}, {}, None, None
        self.older, self.traces, self.used, self.constants, self.view = {}, {}, -1, 0, None
        self.silent = False
        kept(self)

    def __repr__(self):
        return f"<Kernel {self.name}>"

    @property
    def run(self):
        """The compiled form, made when it is first asked for: what is interpreted needs none."""
        if self._run is None:
            self._run = interrupt_safe_jit(self.fn, inline=True)
        return self._run

    def compute(self, values):
        """`compute`, for modules below this one."""
        return compute(self, values)

    def trace(self, avals) -> Equations:
        """The equations for operands of these Avals."""
        sig = self.sigs.get(avals) or self.older.get(avals)
        if sig is not None:
            return sig.traced
        found = self.traces.get(avals)
        if found is None:
            with preserved_tracing():
                found = traced(self.fn, self.name, [a.struct for a in avals])
            if len(self.traces) >= _MAX_TRACES:
                self.traces.clear()
            self.traces[avals] = found
        return found

    def equations(self, operands) -> Equations:
        """The equations for operands at hand: arrays or tracers."""
        if _all_known(operands):
            return self.trace(tuple(map(_aval, operands)))
        with preserved_tracing():  # where a length is open, nothing is kept
            return traced(self.fn, self.name, [jax.typeof(operand) for operand in operands])

    def staged(self, operands):
        """The results in a trace of JAX's that collects equations. As with the compiled form, but that JAX
        does not have to find out what it is called with."""
        if self.deferrable and not self.silent and _all_known(operands):
            equations = self.trace(tuple(map(_aval, operands)))
            if equations.context == trace_context():
                return equations.staged(operands)
        return self.run(*operands)

    def revived(self, avals):
        """Whether the older generation had a Sig for operands of these Avals, which is young again."""
        found = self.older.pop(avals, None)
        if found is not None:
            self.sigs[avals] = found
        return found is not None

    def line_of(self, shapes):
        """The user's line that first called it with operands of these shapes; "?" where that is not known."""
        known = [*self.sigs.values(), *self.older.values()]
        return next((sig.where for sig in known if [a.shape for a in sig.operands] == shapes), "?")

    def age(self):
        """Begins a generation of sigs; the one before the last is dropped, and what is known of operands when
        nothing was used."""
        if not self.sigs:
            self.flows = {}
        self.traces = {}
        self.older, self.sigs = self.sigs, {}

    def drop_idle(self, idle):
        """Forgets gradients for which `idle(kernel)` is true."""
        self.grads = {key: kernel for key, kernel in self.grads.copy().items() if not idle(kernel)}

    def drop_compiled(self):
        """Lets go of the compiled forms; the next call compiles anew."""
        self.used = DROPPED
        Kept.went += 1
        if hasattr(self._run, "clear_cache"):
            self._run.clear_cache()

    def grad(self, diff: tuple, given: tuple, arity: int) -> "Kernel":
        """The kernel `(operands..., cotangents...) -> gradients` with respect to the operands at `diff` (a
        lone one not in a tuple).

        `given` tells for each of several outputs whether its cotangent is passed (the others count as zero);
        None for a single output.
        """
        key = diff if given is None else (diff, given)
        found = self.grads.get(key)
        if found is None:
            found = self.grads[key] = Kernel(
                self.name + "_grad", derived(self, diff, given or (True,), arity)
            )
            found.of = (self, diff, given or (True,), arity)
        return found

    def flow(self, values) -> int:
        """Bit i is set when a gradient can flow to operand i; -1 (everywhere) when that cannot be told."""
        try:
            avals = tuple([v.aval for v in values])
        except AttributeError:  # a NumPy array
            return -1
        found = self.flows.get(avals)
        if found is None:
            if len(self.flows) >= _MAX_FLOWS:
                self.flows.clear()
            found = self.flows[avals] = smooth(self, tuple(map(as_aval, avals))) if self.deferrable else -1
        return found


def _all_known(operands):
    """Whether all lengths are numbers."""
    return all(type(n) is int for operand in operands for n in operand.shape)


def _aval(operand):
    aval = getattr(operand, "aval", None)
    return aval_of(operand.shape, operand.dtype) if aval is None else as_aval(aval)  # None: of NumPy


def has_loop(equations) -> bool:
    """Whether equations have a loop among them. XLA cannot merge it with the same loop in the
    recomputing gradient."""
    return any(equation.primitive.name in ("scan", "while") for equation in equations.jaxpr.eqns)


def execute(kernel: Kernel, values):
    """Runs or records a kernel on what Tensors hold: the one place where computation starts."""
    ctx = local.ctx
    if ctx.segment is not None:
        return record(ctx, kernel, values)
    executor = ctx.frame.executor
    return compute(kernel, values) if executor is None else executor(kernel, values)


def compute(kernel: Kernel, values):
    """Runs a kernel's compiled form now."""
    values = [to_array(v) if type(v) is LazyArray else v for v in values]
    if kernel.used == DROPPED:
        Kept.returned += 1
    kernel.used = Counters.compiled
    if kernel.used >= Kept.due:
        look()
    try:
        if MultiDevice.in_use:
            return MultiDevice.run(kernel.run, values)
        return kernel.staged(values) if is_staging() else kernel.run(*values)
    except BaseException as error:
        repair_tracing()
        raise (found := translate(kernel.name, values, error, kernel)) from cause_for(found, error)


ADD = Kernel("add", lambda x, y: x + y)
ONES = Kernel("ones_like", jnp.ones_like)
