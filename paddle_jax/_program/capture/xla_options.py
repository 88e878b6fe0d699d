"""Programs of many operations on a few numbers each: ordinary differential equations written out, filters,
small recursions."""

import jax

from paddle_jax._core.kernels.dependence import open_jaxpr

_MANY = 300  # operations from which on it matters
_FEW, _LARGE = 64, 4096  # elements: most results have at most the first number, none more than the second


def fusion_options(jaxpr):
    """What XLA is told for such a program: {} for any other one.

    Fusing operations, XLA's CPU compiler writes the code of a number once for each use of it, so that the
    time to compile chains of them grows without bound: ten steps of a Runge-Kutta method with their gradient
    took 100 s. Without fusion they take 2 s, and run in half the time.
    """
    if jax.default_backend() != "cpu":
        return {}
    sizes = list(_sizes(jaxpr))
    few = sum(size <= _FEW for size in sizes)
    return (
        {"xla_disable_hlo_passes": "fusion"}
        if len(sizes) >= _MANY and max(sizes) <= _LARGE and few >= 0.9 * len(sizes)
        else {}
    )


def _sizes(jaxpr):
    """The numbers of elements of all results; of loops and branches, those inside."""
    for eqn in jaxpr.eqns:
        values = [v for p in eqn.params.values() for v in (p if isinstance(p, tuple | list) else (p,))]
        inner = [open_jaxpr(v)[0] for v in values if hasattr(v, "eqns")]
        for each in inner:
            yield from _sizes(each)
        if not inner:
            for var in eqn.outvars:
                yield getattr(var.aval, "size", 1)
