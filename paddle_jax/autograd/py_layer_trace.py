"""PyLayer inside a JAX trace: JAX learns that the gradient is the one the user wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tensors.held_values import computed_array, holds_tracer, replace_held
from paddle_jax._core.tensors.tensor import Tensor, wrap


def is_traced(tensors: Sequence[Tensor]) -> bool:
    """Whether any of the Tensors has no value yet."""
    return any(holds_tracer(t) for t in tensors)


def teach(call: Callable[..., Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor], node: Any) -> None:
    """Gives those outputs that belong to a node values whose JAX gradient is the node's.

    call: from the Tensor inputs of the PyLayer to its (outputs, node). The gradient runs forward again for
    what it saves, since JAX may ask for it in another trace.
    """
    # Those that carry the user's gradient.
    mine = [i for i, o in enumerate(outputs) if isinstance(o, Tensor) and o._node is node]

    def run_forward(values: Any) -> tuple[Any, ...]:
        return call([wrap(v, t.stop_gradient) for v, t in zip(values, inputs, strict=True)])

    def plain(*values: Any) -> list[jax.Array]:
        made, _ = run_forward(values)
        return [computed_array(made[i]) for i in mine]

    def pull(values: Any, cts: Any) -> Any:
        made, remade = run_forward(values)
        passed = [None] * len(made)
        for i, ct in zip(mine, cts, strict=True):
            # JAX's cotangent of a complex number is the conjugate of Paddle's gradient.
            passed[i] = jnp.conj(ct)
        found = iter(remade.pull(passed))
        return tuple(
            _cotangent(None if t.stop_gradient else next(found), v)
            for t, v in zip(inputs, values, strict=True)
        )

    taught = jax.custom_vjp(plain)
    # The inputs are the residuals; `pull` runs `forward` again for what it saves.
    taught.defvjp(lambda *values: (plain(*values), values), pull)
    operands = map(to_array, local.ctx.frame.operands(inputs))
    for i, value in zip(mine, taught(*operands), strict=True):
        replace_held(outputs[i], value)


def _cotangent(gradient: jax.Array, value: jax.Array) -> jax.Array | None:
    # JAX takes None for operands that are not differentiated.
    if value.dtype.kind not in INEXACT:
        return None
    if gradient is None:
        return jnp.zeros_like(value)
    return jnp.conj(to_array(gradient)).astype(value.dtype)
