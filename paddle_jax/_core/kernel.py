"""Kernels: pure functions of arrays with everything else fixed, compiled once, differentiable to any order.

An op together with one choice of attributes is one Kernel. Its gradient is a Kernel again, derived with `jax.vjp`, so a
gradient of a gradient needs nothing new. Kernels take and give flat arrays; Tensors, modes and the tape live elsewhere.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import dtypes as jax_dtypes

from paddle_jax._core.errors import translate
from paddle_jax._core.state import state


class Kernel:
    """One pure function `fn(*arrays) -> array | tuple | list`, its compiled form and its derived gradients."""

    __slots__ = ("fn", "grads", "name", "nondiff", "run")

    def __init__(self, name, fn, *, jit=True, nondiff=False):
        self.name, self.fn, self.nondiff, self.grads = name, fn, nondiff, {}
        self.run = jax.jit(fn, inline=True) if jit else fn

    def __repr__(self):
        return f"<Kernel {self.name}>"

    def grad(self, diff: tuple, given: tuple, arity: int) -> "Kernel":
        """The kernel `(operands..., cotangents...) -> gradients` with respect to the operands at `diff`.

        `given` tells for each output whether its cotangent is passed; the others count as zero.
        """
        key = (diff, given)
        found = self.grads.get(key)
        if found is None:
            found = self.grads[key] = Kernel(self.name + "_grad", _vjp(self.fn, diff, given, arity))
        return found


def _vjp(fn, diff, given, arity):
    """The derived backward function. Complex numbers follow Paddle: the gradient is conj(vjp(conj(cotangent)))."""

    def backward(*args):
        operands, passed = args[:arity], iter(args[arity:])

        def forward(*chosen):
            full = list(operands)
            for i, v in zip(diff, chosen, strict=True):
                full[i] = v
            return fn(*full)

        out, pull = jax.vjp(forward, *[operands[i] for i in diff])
        leaves, tree = jax.tree.flatten(out)
        cts = [_cotangent(leaf, next(passed) if has else None) for leaf, has in zip(leaves, given, strict=True)]
        return tuple(_conj(g) for g in pull(jax.tree.unflatten(tree, cts)))

    return backward


def _conj(x):
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


def _cotangent(out, ct):
    if not jnp.issubdtype(out.dtype, jnp.inexact):
        return np.zeros(out.shape, jax_dtypes.float0)
    return jnp.zeros(out.shape, out.dtype) if ct is None else _conj(ct).astype(out.dtype).reshape(out.shape)


def execute(kernel: Kernel, values):
    """Runs a kernel on raw values: the one place where computation happens."""
    executor = state.executor
    return compute(kernel, values) if executor is None else executor(kernel, values)


def compute(kernel: Kernel, values):
    """Runs a kernel's compiled form now."""
    try:
        return kernel.run(*values)
    except Exception as error:
        raise translate(kernel.name, values, error) from None


ADD = Kernel("add", lambda x, y: x + y)
ONES = Kernel("ones_like", jnp.ones_like)
