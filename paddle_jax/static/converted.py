"""Branches and loops of converted code while a Program is recorded: what `Part` and its operations are to a trace (jit/dy2static), made of blocks."""

import jax
import numpy as np

from paddle_jax._core.deferred.value import aval_of
from paddle_jax._core.errors import Unsupported
from paddle_jax._core.state import local
from paddle_jax._core.symbol import Symbol, avals_of
from paddle_jax._core.tensor import Tensor
from paddle_jax.jit.dy2static.parts import Change, Leaf, flat
from paddle_jax.jit.dy2static.side_effects import Objects
from paddle_jax.static.blocks import Block
from paddle_jax.static.blocks import branched as cond_of
from paddle_jax.static.blocks import looped as while_of
from paddle_jax.static.variable import variable


class RecordedPart:
    """`code(*Variables) -> value` after it has been recorded into a block: see Part. symbols: what the Leafs stand for."""

    drawn, effects = 0, False

    def __init__(self, code, inputs=(), watched=(), carried=(), indexed=False, roots=()):
        recorder, objects = local.ctx.frame, Objects(roots)
        given = [variable(_block_symbol(recorder, x), x.stop, recorder.kind) for x in inputs[indexed:]]
        self.block, self.changes, self.symbols = Block([v._raw for v in given]), {}, []
        noted, recorder.written = recorder.written, {}
        recorder.blocks.append(self.block)
        with objects:
            try:
                for tensor, _ in carried:
                    recorder.note(tensor)
                    tensor._raw = Symbol(recorder.symbol(tensor).avals, "block", recorder.program)
                    self.block.inputs.append(tensor._raw)
                leaves, tree = flat(code(*[None] * indexed, *given))
                self.value = jax.tree.unflatten(tree, [self._leaf(recorder, x) if isinstance(x, Tensor) else x for x in leaves])
                self._find_changes(recorder, [*watched, *[t for t, _ in carried]])
            finally:
                recorder.blocks.pop()
                for tensor, before in recorder.written.values():
                    tensor._raw = before
                recorder.written = noted
        self.block.results = self.symbols

    def _leaf(self, recorder, tensor):
        self.symbols.append(recorder.symbol(tensor))
        return Leaf(len(self.symbols) - 1, tensor)

    def _find_changes(self, recorder, watched):
        mine = {o for op in self.block.ops for o in op.outputs}
        for tensor, before in list(recorder.written.values()):
            if tensor._raw is not before and not (type(before) is Symbol and before in mine):
                self.changes[id(tensor)] = Change(tensor, not tensor.stop_gradient, self._leaf(recorder, tensor))
        for tensor in watched:
            if id(tensor) not in self.changes:
                self.changes[id(tensor)] = Change(tensor, False, self._leaf(recorder, tensor))


def _block_symbol(recorder, carried):
    """The Symbol of a loop's variable inside the loop."""
    avals = recorder.symbol(carried.start).avals
    if carried.shape != recorder.symbol(carried.start).shape or carried.dtype != avals[0].dtype:
        avals = avals_of(carried.shape, carried.dtype) if -1 in carried.shape else (aval_of(carried.shape, carried.dtype),) * 2
    return Symbol(avals, "block", recorder.program)


def _chosen(recorder, part, pick, shape, dtype):
    """The Symbol of one result: of a Leaf, or of a number."""
    if isinstance(pick, tuple):
        return recorder.constant(np.full([1 if n == -1 else n for n in shape], pick[0], dtype))._raw
    return part.symbols[pick]


def branched(index, parts, joined):
    """The operation of a branch: Variables, one for each Output."""
    recorder = local.ctx.frame
    if len(parts) != 2:
        raise Unsupported("a switch over a tensor cannot be recorded; use paddle.static.nn.switch_case")
    no, yes = parts
    results = [(_chosen(recorder, yes, out.picks[1], out.shape, out.dtype), _chosen(recorder, no, out.picks[0], out.shape, out.dtype))
               for out in joined.outputs]
    for at, part in enumerate((yes, no)):
        part.block.results = [pair[at] for pair in results]
    return cond_of(index, yes.block, no.block, results, [out.stop for out in joined.outputs])


def looped(carried, changes, tested, step, picks):
    """The operation of a loop: Variables of what is carried, then of the Tensors changed in place."""
    recorder = local.ctx.frame
    starts = [*[c.start for c in carried], *[c.tensor for c in changes]]
    given = [t.stop_gradient for t in starts]
    stops = [c.stop for c in carried] + [not c.adopts and c.tensor.stop_gradient for c in changes]
    kinds = [(c.shape, c.dtype) for c in carried] + [(c.leaf.shape, c.leaf.dtype) for c in changes]
    tested.block.results = [tested.symbols[tested.value.at]]
    new = [_chosen(recorder, step, pick, *kind) for pick, kind in zip(picks, kinds, strict=True)]
    step.block.results = new
    return while_of([recorder.symbol(t) for t in starts], given, stops, tested.block, step.block, new)
