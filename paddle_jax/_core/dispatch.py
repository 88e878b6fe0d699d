"""The one dispatch point: every operation on Tensors, forward or backward, passes through `run` (or its short cuts, see short_cuts.py)."""

from paddle_jax._core.deferred.segment import record
from paddle_jax._core.deferred.value import INEXACT, Value, leaf
from paddle_jax._core.errors import ArgumentError
from paddle_jax._core.kernel import execute, has_loop, linearized
from paddle_jax._core.node import Linear, Node, PackedNode, packed, source_of
from paddle_jax._core.state import local
from paddle_jax._core.symbol import Symbol
from paddle_jax._core.tensor import inside, wrap


def is_inexact(value) -> bool:
    """Whether gradients can flow into a value of this dtype."""
    return value.dtype.kind in INEXACT


def run(kernel, tensors):
    """Runs a kernel on Tensors and returns Tensors, recording a tape node when a gradient may be asked for.

    The structure of the result follows the kernel: one Tensor, or a tuple or list of Tensors.
    """
    ctx = local.ctx
    if ctx.recorder is not None:
        return ctx.recorder(kernel, tensors)
    if ctx.trace is not None:
        values = ctx.trace.operands(tensors, ctx.segment is not None)
        out = execute(kernel, values)
    elif ctx.segment is None:
        values = [inside(t) for t in tensors]
        out = execute(kernel, values)
    else:
        values = [t._raw if type(t._raw) is Value else _held(t) for t in tensors]
        out = record(ctx, kernel, values)
    if ctx.grad and not kernel.nondiff:
        for t in tensors:
            if not t.stop_gradient:
                return _record(kernel, tensors, values, out)
    if type(out) is tuple or type(out) is list:
        return type(out)([wrap(o) for o in out])
    return wrap(out)


def _record(kernel, tensors, values, out):
    diff = tuple([i for i, t in enumerate(tensors) if not t.stop_gradient and is_inexact(values[i])])
    many = type(out) is tuple or type(out) is list
    if not diff:
        return type(out)([wrap(o) for o in out]) if many else wrap(out)
    edges = tuple([source_of(tensors[i]) for i in diff])
    packing, trace = local.ctx.packing, local.ctx.trace
    kind, kept = (Node, values) if packing is None else (PackedNode, packed(packing, values))
    if trace is not None and not trace.deferring and packing is None and has_loop(kernel, values):
        kind, (out, pull) = Linear, linearized(kernel.fn, diff, values)
    node = kind(kernel, kept, diff, edges, len(out) if many else 1)
    if kind is Linear:
        node.made = out, pull
    if many:
        return type(out)([wrap(o, False, node, i) if is_inexact(o) else wrap(o) for i, o in enumerate(out)])
    return wrap(out, False, node, 0) if is_inexact(out) else wrap(out)


def _held(tensor):
    """What a Tensor holds, as a Value where it can be one; the Tensor keeps it for the next time."""
    value = leaf(tensor._raw)
    if value is None:
        if type(tensor._raw) is Symbol:
            raise ArgumentError(f"{tensor._raw!r} belongs to a static program: operations on it are recorded after paddle.enable_static(), and run "
                                "by an Executor")
        return inside(tensor)
    tensor._raw = value
    return value
