"""`paddle_jax.live_tensors()`: which Tensors take memory, where they come from, and what their history on the
tape keeps besides."""

import gc

from paddle_jax._core.base.caller_info import ENGINE
from paddle_jax._core.base.out_of_memory import MemoryDetails, detail_providers, format_bytes
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.positions import OP_MASK
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tensors.tensor import Parameter, Tensor

_GROUPS_IN_ERRORS = 8
_ENGINE_FILES = tuple(f"/{name}/" for name in ENGINE)


class LiveGroup:
    """Tensors of one shape and dtype from one place.

    count: how many. nbytes: what they hold together. kept: bytes of other arrays that only their history on
    the tape holds, for a backward pass that has not come. shape, dtype: of each. op: the operation they come
    from, "" where that is not known. where: its line, "?" where that is not known.
    """

    __slots__ = ("count", "dtype", "kept", "nbytes", "op", "shape", "where")

    def __repr__(self):
        return (
            f"<{self.count} x {self.dtype}{list(self.shape)} from {self.op or '?'} at {self.where}: "
            f"{self.nbytes} bytes, {self.kept} kept>"
        )


class LiveTensors(list):
    """LiveGroups, the largest first; printed it is a table. nbytes, tensors: of all Tensors, those
    left out included."""

    nbytes = tensors = 0

    def __repr__(self):
        rows = [("Bytes", "Kept by tape", "Tensors", "Shape", "Operation", "Line")]
        rows += [
            (str(g.nbytes), str(g.kept), str(g.count), f"{g.dtype}{list(g.shape)}", g.op or "?", g.where)
            for g in self
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows
        ]
        return "\n".join([f"{self.tensors} live tensors hold {self.nbytes} bytes.", *lines])

    __str__ = __repr__


def _holds_memory(raw):
    """Whether it is more than a shape: Variables of static programs and what is exported for any batch
    size hold nothing."""
    return type(raw) is not Symbol and all(type(n) is int for n in raw.shape)


def live_tensors(most=20):
    """The live Tensors that take most memory, grouped by shape, dtype and the line they come from.

    The line is that of the operation where that is known (on the tape; large results in the deferred tier),
    or where Python's `tracemalloc` is on (`python -X tracemalloc=20`) the line that made the Tensor; "?" for
    others. "Kept by tape" is what a loss kept in a list costs: all that its backward pass would need.
    `loss.item()` or `loss.detach()` keeps none of that.

    Args:
        most: int, how many groups. Default 20.
    Returns:
        list of groups with `nbytes`, `kept`, `count`, `shape`, `dtype`, `op`, `where`; printed it is a table.
    Example:
        >>> import paddle_jax
        >>> x = paddle.ones([1000, 1000])
        >>> any(group.nbytes == 4000000 for group in paddle_jax.live_tensors())
        True
    """
    # a sparse one has parts, which are among them
    dense = [t for t in gc.get_objects() if isinstance(t, Tensor) and not t.is_sparse()]
    tensors = [t for t in dense if hasattr(getattr(t, "_raw", None), "dtype") and _holds_memory(t._raw)]
    owned = {id(t._raw) for t in tensors}
    groups, found = {}, LiveTensors()
    for tensor in tensors:
        raw = tensor._raw
        key = (tuple(raw.shape), str(raw.dtype), *_origin(tensor))
        groups.setdefault(key, []).append(tensor)
    for (shape, dtype, op, where), members in groups.items():
        group = LiveGroup()
        group.shape, group.dtype, group.op, group.where, group.count = shape, dtype, op, where, len(members)
        group.nbytes = sum(_bytes({id(t._raw): t._raw for t in members}.values()))
        group.kept = sum(_bytes(_history(members, owned)))
        found.append(group)
        found.nbytes += group.nbytes
    found.tensors = len(tensors)
    found.sort(key=lambda g: -(g.nbytes + g.kept))
    del found[most:]
    return found


def _bytes(raws):
    """Bytes of values; a few host numbers, also where they fill a shape, take none."""
    for raw in raws:
        array = getattr(raw, "array", raw)
        yield 0 if array is None or isinstance(array, tuple) else getattr(array, "nbytes", 0)


def _origin(tensor):
    """(operation, line) of a Tensor."""
    import tracemalloc  # seldom on

    node, raw = tensor._node, tensor._raw
    pending = type(raw) is LazyArray and raw.array is None
    # none where a compiled step keeps several Tensors in one array
    ops = getattr(getattr(raw, "seg", None), "ops", ()) if pending else ()
    made = (
        ops[raw.pos & OP_MASK][0] if pending and raw.pos & OP_MASK < len(ops) else getattr(raw, "made", None)
    )
    kernel = getattr(node, "kernel", None)
    op = getattr(kernel, "name", "") or (
        "a parameter" if isinstance(tensor, Parameter) else "" if made is None else made.kernel.name
    )
    trace = tracemalloc.is_tracing() and (
        tracemalloc.get_object_traceback(tensor) or tracemalloc.get_object_traceback(tensor._raw)
    )
    for frame in reversed(trace or ()):
        if not (frame.filename.startswith("<") or any(part in frame.filename for part in _ENGINE_FILES)):
            return op, f"{frame.filename}:{frame.lineno}"
    if made is not None:
        return op, made.where
    values = getattr(node, "values", None)
    if kernel is None or values is None:
        return op, "?"
    return op, kernel.recorded_line([tuple(v.shape) for v in values])


def _history(tensors, owned):
    """The values that the tape holds for Tensors, without those that a Tensor holds itself."""
    stack, seen, found = [t._node for t in tensors if t._node is not None], set(), {}
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for value in getattr(node, "values", None) or ():
            if id(value) not in owned:
                found[id(value)] = value
        stack += [source for source, _ in getattr(node, "edges", ()) if not isinstance(source, Tensor)]
    return found.values()


def _details_of_live_tensors() -> MemoryDetails:
    """Lines about the largest Tensors for the message of an OutOfMemoryError."""
    report = live_tensors(_GROUPS_IN_ERRORS)
    facts = []
    if report.tensors:
        facts = [
            f"The largest of {report.tensors} live tensors, which hold {format_bytes(report.nbytes)}:",
            *repr(report).splitlines()[1:],
        ]
    kept_by_tape = sum(group.kept for group in report)
    advice = []
    if kept_by_tape:
        advice = [
            f"- {format_bytes(kept_by_tape)} are kept for backward passes: keep loss.item() or "
            "loss.detach() instead of a loss, evaluate under paddle.no_grad()"
        ]
    return MemoryDetails(facts, advice)


detail_providers.append(_details_of_live_tensors)
