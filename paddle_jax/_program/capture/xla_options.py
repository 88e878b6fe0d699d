"""Options of XLA for programs of many operations on a few numbers each.

Such programs are differential equations that are written out, filters, and small recursions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax

from paddle_jax._core.kernels.dependence import inner_jaxprs

# Below this number of operations compiling is fast anyhow.
_MIN_OPERATIONS = 300
_SMALL_SIZE = 64  # elements: most results have at most this size
_MAX_SIZE = 4096  # elements: no result is larger


def fusion_options(jaxpr: Any) -> dict[str, str]:
    """Options that turn fusion off for such a program; {} for any other one.

    XLA's CPU compiler writes the code of a fused operation once for each use of its result, so the time to
    compile chains of them grows without bound. Ten steps of a Runge-Kutta method with their gradient took
    100 s. Without fusion they take 2 s, and run in half the time.
    """
    if jax.default_backend() != "cpu":
        return {}
    # Fusion pays for large results, and one is enough to keep it.
    sizes = list(_result_sizes(jaxpr))
    if len(sizes) < _MIN_OPERATIONS or max(sizes) > _MAX_SIZE:
        return {}
    small = sum(size <= _SMALL_SIZE for size in sizes)
    if small >= 0.9 * len(sizes):
        return {"xla_disable_hlo_passes": "fusion"}
    return {}


def _result_sizes(jaxpr: Any) -> Iterator[int]:
    """The sizes of all results; of loops and branches, of those inside."""
    for eqn in jaxpr.eqns:
        # Branches and loops have jaxprs as parameters.
        inner = list(inner_jaxprs(eqn))
        for each in inner:
            yield from _result_sizes(each)
        if not inner:
            for var in eqn.outvars:
                yield getattr(var.aval, "size", 1)
