"""Gradients of kernels, derived by JAX from the equations that a kernel has been traced to.

Deriving from these equations repeats none of the Python code of an operation, and most often they are there already. Where none of them holds
a loop or another inner program with a rule of its own, `jax.jvp` and `jax.linear_transpose` give what `jax.vjp` gives, equation by equation, in
two thirds of the calls: `vjp` traces and prunes each equation on its own.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import dtypes as jax_dtypes

from paddle_jax._core.origins import foreign

_OPEN = {"jit": "jaxpr", "pjit": "jaxpr", "custom_jvp_call": "call_jaxpr"}  # {primitive: parameter with what it runs}


def derived(kernel, diff, given, arity):
    """The function `(operands..., cotangents...) -> gradients` of a kernel with respect to the operands at `diff`; see `Kernel.grad`."""

    def backward(*args):
        operands, cts = args[:arity], args[arity:]
        equations = kernel.equations(operands) if kernel.deferrable else None
        if equations is not None and _plain(equations):
            try:
                return _transposed(equations, diff, given, operands, cts)
            except Exception as error:  # a derivative that is given by hand has a loop
                if foreign(error):
                    raise
        out, pull = linearized(kernel, diff, operands)
        return pulled(out, pull, given, cts)

    return backward


def linearized(kernel, diff, operands):
    """(results, pull) of `jax.vjp` with respect to the operands at `diff`. Operands that are known stay known to the function."""
    unknown = kernel.deferrable and all(isinstance(operand, jax.core.Tracer) for operand in operands)
    fn = kernel.equations(operands) if unknown else kernel.fn
    return jax.vjp(_chosen(fn, diff, operands), *[operands[i] for i in diff])


def pulled(out, pull, given, cts):
    """The gradients from the given cotangents."""
    leaves, tree = jax.tree.flatten(out)
    return _gradients(pull(jax.tree.unflatten(tree, _cotangents(leaves, given, cts))))


def _chosen(fn, diff, operands):
    """A function of the operands at `diff` alone."""

    def forward(*chosen):
        full = list(operands)
        for i, v in zip(diff, chosen, strict=True):
            full[i] = v
        return fn(*full)

    return forward


def _plain(closed):
    """Whether a jaxpr has only equations that can be transposed where they stand."""
    for equation in closed.jaxpr.eqns:
        inner = _OPEN.get(equation.primitive.name)
        if not _plain(equation.params[inner]) if inner else any(map(_holds_jaxpr, equation.params.values())):
            return False
    return True


def _transposed(closed, diff, given, operands, cts):
    """The gradients of a plain jaxpr."""
    results = [i for i, out in enumerate(closed.out_avals) if jnp.issubdtype(out.dtype, jnp.inexact)]
    cotangents = _cotangents(closed.out_avals, given, cts)

    def smooth(*values):
        out = closed.flat(*values)
        return [out[i] for i in results]

    forward, primals = _chosen(smooth, diff, operands), tuple([operands[i] for i in diff])
    pull = jax.linear_transpose(lambda *tangents: jax.jvp(forward, primals, tangents)[1], *primals)
    return _gradients(pull([cotangents[i] for i in results]))


def _cotangents(outs, given, cts):
    passed = iter(cts)
    return [_cotangent(out, next(passed) if has else None) for out, has in zip(outs, given, strict=True)]


def _gradients(found):
    """Gradients as a kernel gives them. Complex numbers follow Paddle: the gradient is conj(vjp(conj(cotangent)))."""
    grads = [_conj(g) for g in found]
    return grads[0] if len(grads) == 1 else tuple(grads)


def _conj(x):
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


def _cotangent(out, ct):
    if not jnp.issubdtype(out.dtype, jnp.inexact):
        return np.zeros(out.shape, jax_dtypes.float0)
    if ct is None:
        return jax.lax.full(out.shape, 0, out.dtype)
    ct = _conj(ct)
    ct = ct if ct.dtype == out.dtype else ct.astype(out.dtype)  # no more calls than there must be: each takes its time in a trace
    return ct if ct.shape == out.shape else ct.reshape(out.shape)


def _holds_jaxpr(value):
    """Whether a parameter of an equation is a program, or a list of some."""
    if isinstance(value, tuple | list):
        return any(map(_holds_jaxpr, value))
    return hasattr(getattr(value, "jaxpr", value), "eqns")
