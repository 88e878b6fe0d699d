"""Gradients of kernels, derived from the equations that a kernel has been traced to.

Deriving from these equations repeats none of the Python code of an operation, and most often they
are there already.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import dtypes as jax_dtypes

from paddle_jax._core.kernels import reverse


def backward_function(kernel, diff, given, arity):
    """The function `(operands..., cotangents...) -> gradients` of a kernel with respect to the operands at
    `diff`; see `Kernel.grad`."""

    def backward(*args):
        operands, cts = args[:arity], args[arity:]
        if kernel.deferrable and all(type(n) is int for operand in operands for n in operand.shape):
            return _accumulated(kernel.equations_for(operands), diff, given, operands, cts)
        out, pull = linearize(kernel, diff, operands)
        return pull_back(out, pull, given, cts)

    return backward


def _accumulated(equations, diff, given, operands, cts):
    """The gradients of an operation from its equations."""
    moving, outs = [i in diff for i in range(len(operands))], equations.out_avals
    wanted = [has and jnp.issubdtype(out.dtype, jnp.inexact) for out, has in zip(outs, given, strict=True)]
    _, pull = reverse.linearize(equations.jaxpr, equations.consts, operands, moving, wanted)
    passed = iter(cts)
    passed = [next(passed) if has else None for has in given]
    grads = pull(
        [_fitting(ct, out) if wants else None for ct, out, wants in zip(passed, outs, wanted, strict=True)]
    )
    return _gradients(
        [
            jax.lax.full(operands[i].shape, 0, operands[i].dtype) if grads[i] is None else grads[i]
            for i in diff
        ]
    )


def linearize(kernel, diff, operands):
    """(results, pull) of `jax.vjp` with respect to the operands at `diff`. Operands that are known stay known
    to the function."""
    unknown = kernel.deferrable and all(isinstance(operand, jax.core.Tracer) for operand in operands)
    fn = kernel.equations_for(operands) if unknown else kernel.fn
    return jax.vjp(_chosen(fn, diff, operands), *[operands[i] for i in diff])


def pull_back(out, pull, given, cts):
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


def _cotangents(outs, given, cts):
    passed = iter(cts)
    return [_cotangent(out, next(passed) if has else None) for out, has in zip(outs, given, strict=True)]


def _gradients(found):
    """Gradients as a kernel gives them. Complex numbers follow Paddle: the gradient is
    conj(vjp(conj(cotangent)))."""
    grads = [_conj(g) for g in found]
    return grads[0] if len(grads) == 1 else tuple(grads)


def _conj(x):
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


def _cotangent(out, ct):
    if not jnp.issubdtype(out.dtype, jnp.inexact):
        return np.zeros(out.shape, jax_dtypes.float0)
    return jax.lax.full(out.shape, 0, out.dtype) if ct is None else _fitting(ct, out)


def _fitting(ct, out):
    """A cotangent in the dtype and shape of the result; no more calls than there must be: each takes its
    time in a trace."""
    ct = _conj(ct)
    ct = ct if ct.dtype == out.dtype else ct.astype(out.dtype)
    return ct if ct.shape == out.shape else ct.reshape(out.shape)
