"""What compiled code does besides computing (printing, checking assertions), and how it is kept from
happening twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.core

from paddle_jax._core.execution.trace import cached_kernel
from paddle_jax._core.kernels.kernel import Kernel


def kernel_of(name: str, key: Any, make: Callable[[], Any], effects: Any) -> Kernel:
    """The Kernel of a branch or loop. effects: whether it prints or asserts; it is not shared then, and runs
    also where nobody wants its results."""
    # Shared by all equal programs.
    if not effects:
        return cached_kernel(name, key, make)
    kernel = Kernel(name, make())
    # Nothing may leave it out, delay it or run it twice.
    kernel.deferrable = False
    silent(kernel)
    return kernel


def silent(kernel: Kernel) -> None:
    """Takes prints and checks out of what the gradients of a kernel compute again; the kernel itself
    still does them."""
    loud = kernel.fn

    def quiet(*operands: Any) -> Any:
        closed, out = jax.make_jaxpr(loud, return_shape=True)(*operands)
        results = jax.core.eval_jaxpr(without_effects(closed.jaxpr), closed.consts, *operands)
        return jax.tree.unflatten(jax.tree.structure(out), results)

    # the compiled form is made of what prints
    _ = kernel.run
    kernel.fn = quiet
    kernel.omits_prints = True


def without_effects(jaxpr: Any) -> Any:
    """A jaxpr without its debug callbacks, also those in branches and loops."""
    eqns = []
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in ("debug_callback", "debug_print"):
            continue
        # Branches and loops with prints inside have the effect themselves.
        if eqn.effects:
            params = {k: _changed(v) for k, v in eqn.params.items()}
            eqn = eqn.replace(params=params, effects=frozenset())
        eqns.append(eqn)
    return jaxpr.replace(eqns=eqns, effects=frozenset())


def _changed(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)([_changed(v) for v in value])
    # A closed jaxpr, then one without constants, as parameters of control flow are of either kind.
    if hasattr(value, "jaxpr") and hasattr(value, "consts"):
        return value.replace(jaxpr=without_effects(value.jaxpr))
    if hasattr(value, "eqns"):
        return without_effects(value)
    return value
