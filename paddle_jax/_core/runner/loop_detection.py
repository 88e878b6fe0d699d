"""Where to cut a segment that no observation and no step ends: at the smallest period of its ops.

A loop without a boundary (time stepping, a solver) repeats the same ops again and again. Cutting at an
arbitrary length would give windows that differ from flush to flush; cutting after whole periods makes the
loop's body the compiled unit.
"""

from paddle_jax._core.lazy.segment import FIRST_LIMIT
from paddle_jax._core.lazy.settings import settings

REPEATS = 8  # periods that must be seen before a segment is taken for a loop
UNIT = 256  # ops a compiled unit of a loop has at least


def smallest_period(items, window, longest):
    """The smallest p <= longest with which the last `window` items repeat, or 0."""
    tail = items[-window:]
    return next((p for p in range(1, longest + 1) if tail[p:] == tail[:-p]), 0)


def cut_or_grow(seg, ctx):
    """Runs a segment that has reached its limit if it is a loop, or if it may not grow further; else
    raises the limit."""
    sigs = [entry[0] for entry in seg.ops]
    n, most = len(sigs), settings.max_ops
    if ctx.loop_unit and n == ctx.loop_unit[0] and sigs[ctx.loop_unit[1] :] == sigs[: -ctx.loop_unit[1]]:
        seg.run("the end of a period of a loop")
        return
    ctx.loop_unit = None
    if n < min(FIRST_LIMIT, most):
        seg.limit = min(FIRST_LIMIT, most)
        return
    window = n // 2 if n < most else n
    period = smallest_period(sigs, window, window // REPEATS if n < most else window // 2)
    if period:
        ctx.loop_unit = (period * max(1, -(-UNIT // period)), period)
        seg.run("the end of a period of a loop")
    elif n >= most:
        seg.run("FLAGS_deferred_max_ops was reached")
    else:
        seg.limit = min(most, 2 * n)
