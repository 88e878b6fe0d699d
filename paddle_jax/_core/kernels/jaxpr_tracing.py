"""The equations of a function for operands of given shapes and dtypes.

`jax.jit(f).trace(...)` gives the same, but its checks of arguments, keys of caches and descriptions for
messages take most of what tracing a small operation costs: 170 us of which the trace itself is 20 to 50.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
from jax import monitoring
from jax._src import linear_util, source_info_util
from jax._src.config import trace_context
from jax._src.core import DebugInfo, trace_ctx
from jax._src.dtypes import canonicalize_value  # of NumPy's arrays
from jax._src.interpreters.partial_eval import (
    DynamicJaxprTrace,
    inline_jaxpr_into_trace,  # what a `jit` with inline=True ends in
)
from jax.interpreters.partial_eval import trace_to_jaxpr_dynamic

from paddle_jax._core.kernels.dependence import unread_operands
from paddle_jax._core.lazy.aval import Aval, as_aval

try:
    from paddle_jax._core.kernels import jaxpr_tracer as tracer
except (AttributeError, ImportError):  # another version of JAX
    tracer = None

# the event that JAX sends to its listeners (profiler, metrics) for each trace
_EVENT = "/jax/core/compile/jaxpr_trace_duration"


class Equations:
    """A jaxpr with its constants.

    Attributes:
        jaxpr: jax.core.Jaxpr, the equations.
        consts: list of the values of its constants.
        container: None for one result, or the type of several: tuple or list.
        context: the settings of JAX (precision of products, names of axes) with which they were traced.
    """

    __slots__ = ("consts", "container", "context", "jaxpr")

    def __init__(self, jaxpr: Any, consts: list[Any], container: type | None, context: Any) -> None:
        self.jaxpr: Any = jaxpr
        self.consts: list[Any] = consts
        self.container: type | None = container
        self.context: Any = context

    @property
    def out_avals(self) -> list[Any]:
        """Shapes, dtypes and weak types of the results."""
        return [v.aval for v in self.jaxpr.outvars]

    def result_avals(self) -> list[Aval]:
        """The Avals of the results."""
        return list(map(as_aval, self.out_avals))

    def unread_operands(self) -> list[int]:
        """The numbers of the operands that no result depends on in any way."""
        return unread_operands(self.jaxpr)

    @property
    def structure(self) -> Any:
        """A jaxpr of the same equations, whose lengths may be symbolic."""
        return self.jaxpr

    def __call__(self, *operands: Any) -> Any:
        """Evaluates the equations."""
        return self.structured(self.flat(*operands))

    def structured(self, results: Sequence[Any]) -> Any:
        """A list of results in the container that the function gives."""
        if self.container is None:
            return results[0]
        return self.container(results)

    def stage(self, operands: Sequence[Any]) -> Any:
        """As a call in a trace that collects equations: the trace takes these over as they are."""
        trace = trace_ctx.trace
        source = source_info_util.current()
        if getattr(self.jaxpr, "is_high", False):  # JAX 0.12: primitives that stand for others
            if trace.requires_low:
                return self(*operands)
            trace.frame.is_high = True
        values = [x if isinstance(x, jax.core.Tracer) else canonicalize_value(x) for x in operands]
        tracers = [trace.to_jaxpr_tracer(value, source) for value in values]
        return self.structured(inline_jaxpr_into_trace(trace, source, self.jaxpr, self.consts, *tracers))

    def flat(self, *operands: Any) -> list[Any]:
        """The results as a list."""
        return jax.core.eval_jaxpr(self.jaxpr, self.consts, *operands)


def is_staging() -> bool:
    """Whether the innermost trace of JAX collects equations."""
    return type(trace_ctx.trace) is DynamicJaxprTrace


def trace_function(
    fn: Callable[..., Any], name: str, structs: Sequence[Any], quick: bool = True
) -> Equations:
    """Traces a function that gives one array, or a tuple or list of arrays.

    Args:
        fn: the function.
        name: its name in messages.
        structs: shape, dtype and weak type of each operand.
        quick: whether it is the body of an operation, and no code of the user.
    """
    start = time.perf_counter()
    container: type | None = None

    def flat(*operands: Any) -> list[Any]:
        nonlocal container
        out = fn(*operands)
        if not isinstance(out, tuple | list):
            container = None
            return [out]
        container = type(out)
        return list(out)

    avals = [jax.core.ShapedArray(s.shape, s.dtype, s.weak_type) for s in structs]
    jaxpr, consts = _trace(flat, avals, DebugInfo("jit", name, None, None), quick)
    const_count = len(consts)
    if const_count > len(jaxpr.constvars):  # JAX 0.12 leaves constants among the operands
        jaxpr = jaxpr.replace(
            constvars=jaxpr.invars[:const_count], invars=jaxpr.invars[const_count:], consts=consts
        )
    # JAX counts traces by this event.
    monitoring.record_event_duration_secs(_EVENT, time.perf_counter() - start, fun_name=name)
    return Equations(jaxpr, consts, container, trace_context())


def _trace(
    flat: Callable[..., list[Any]], avals: Sequence[Any], debug_info: DebugInfo, quick: bool
) -> tuple[Any, list[Any]]:
    """(jaxpr, constants), in the quick way or JAX's own."""
    if quick and tracer is not None and tracer.is_usable():
        return tracer.trace(flat, avals, debug_info)
    jaxpr, _, consts = trace_to_jaxpr_dynamic(linear_util.wrap_init(flat, debug_info=debug_info), avals)
    return jaxpr, consts
