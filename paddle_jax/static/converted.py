"""The operations of branches and loops in converted code while a Program is recorded: their
Regions are blocks."""

import numpy as np

from paddle_jax._core.errors import Unsupported
from paddle_jax._core.state import local
from paddle_jax.static.blocks import branched as cond_of
from paddle_jax.static.blocks import looped as while_of


def _chosen(recorder, region, pick, shape, dtype):
    """The Symbol of one result: of a Leaf, or of a number."""
    if isinstance(pick, tuple):
        return recorder.constant(np.full([1 if n == -1 else n for n in shape], pick[0], dtype))._raw
    return region.results[pick]


def branched(index, regions, joined):
    """The operation of a branch: Variables, one for each Output."""
    recorder = local.ctx.frame
    if len(regions) != 2:
        raise Unsupported("a switch over a tensor cannot be recorded; use paddle.static.nn.switch_case")
    no, yes = regions
    results = [(_chosen(recorder, yes, out.picks[1], out.shape, out.dtype),
                _chosen(recorder, no, out.picks[0], out.shape, out.dtype)) for out in joined.outputs]
    for at, region in enumerate((yes, no)):
        region.block.results = [pair[at] for pair in results]
    return cond_of(index, yes.block, no.block, results, [out.stop for out in joined.outputs])


def looped(starts, stops, tested, step, picks):
    """The operation of a loop: Variables of what is carried, then of the Tensors changed in place. starts:
    Tensors with their values before; stops: whether no gradient flows through them."""
    recorder = local.ctx.frame
    tested.block.results = [tested.results[tested.value.at]]
    new = [_chosen(recorder, step, pick, t._raw.shape, np.dtype(t._raw.dtype))
           for pick, t in zip(picks, starts, strict=True)]
    step.block.results = new
    ends = [t.stop_gradient for t in starts]
    return while_of([recorder.symbol(t) for t in starts], ends, stops, tested.block, step.block, new)
