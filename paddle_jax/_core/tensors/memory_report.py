"""`paddle_jax.live_tensors()`: the Tensors that take memory, with the lines that they come from."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from paddle_jax._core.base.caller_info import ENGINE, line_name
from paddle_jax._core.base.out_of_memory import MemoryDetails, detail_providers, format_bytes
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.positions import OP_MASK
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tensors.tensor import Parameter, Tensor

_GROUPS_IN_ERRORS = 8
_ENGINE_FILES = tuple(f"/{name}/" for name in ENGINE)


class LiveGroup:
    """Tensors of one shape and dtype from one line.

    Attributes:
        count: int, number of Tensors.
        nbytes: int, bytes that they hold together.
        kept: int, bytes of other arrays that only their history on the tape holds, for a backward pass that
            has not run.
        shape: tuple of int, of each.
        dtype: str, of each.
        op: str, the operation that they come from; "" where that is not known.
        where: str, its line; "?" where that is not known.
    """

    __slots__ = ("count", "dtype", "kept", "nbytes", "op", "shape", "where")

    count: int
    nbytes: int
    kept: int
    shape: tuple[int, ...]
    dtype: str
    op: str
    where: str

    def __repr__(self) -> str:
        return (
            f"<{self.count} x {self.dtype}{list(self.shape)} from {self.op or '?'} at {self.where}: "
            f"{self.nbytes} bytes, {self.kept} kept>"
        )


class LiveTensors(list):
    """LiveGroups, the largest first; its text is a table.

    Attributes:
        nbytes: int, bytes of all Tensors, also of those that are in no group of the list.
        tensors: int, number of all Tensors.
    """

    nbytes = 0
    tensors = 0

    def __repr__(self) -> str:
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


def _holds_memory(raw: Any) -> bool:
    """Whether a value is more than a shape.

    Variables of static programs, and values while code is exported for any batch size, hold no memory.
    """
    return type(raw) is not Symbol and all(type(length) is int for length in raw.shape)


def live_tensors(most: int = 20) -> LiveTensors:
    """The live Tensors that take most memory, grouped by shape, dtype and the line they come from.

    The line is that of the operation where that is known (on the tape; large results in the deferred tier),
    or where Python's `tracemalloc` is on (`python -X tracemalloc=20`) the line that made the Tensor; "?" for
    others. "Kept by tape" is the cost of a loss kept in a list: all that its backward pass would need.
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
    tensors = _tensors_with_memory()
    # What a Tensor holds does not count again as kept by the tape.
    owned = {id(t._raw) for t in tensors}
    members_by_key: dict[tuple[Any, ...], list[Tensor]] = {}
    for tensor in tensors:
        key = (tuple(tensor._raw.shape), str(tensor._raw.dtype), _operation_of(tensor), _line_of(tensor))
        members_by_key.setdefault(key, []).append(tensor)
    report = LiveTensors()
    report.tensors = len(tensors)
    for key, members in members_by_key.items():
        group = LiveGroup()
        group.shape, group.dtype, group.op, group.where = key
        group.count = len(members)
        # Tensors may share an array, which counts once.
        group.nbytes = _bytes({id(t._raw): t._raw for t in members}.values())
        group.kept = _bytes(_history(members, owned))
        report.append(group)
        report.nbytes += group.nbytes
    report.sort(key=lambda group: -(group.nbytes + group.kept))
    del report[most:]
    return report


def _tensors_with_memory() -> list[Tensor]:
    """The live Tensors that hold an array, or will hold one."""
    # the parts of a sparse Tensor are Tensors of their own
    # by `type`: `isinstance` asks weak proxies for their class, and dead ones raise ReferenceError
    dense = [t for t in gc.get_objects() if issubclass(type(t), Tensor) and not t.is_sparse()]
    return [t for t in dense if hasattr(getattr(t, "_raw", None), "dtype") and _holds_memory(t._raw)]


def _bytes(raws: Iterable[Any]) -> int:
    """Bytes of values; a few host numbers, also where they fill a shape, take none."""
    total = 0
    for raw in raws:
        array = getattr(raw, "array", raw)
        if array is not None and not isinstance(array, tuple):
            total += getattr(array, "nbytes", 0)
    return total


def _signature_of(raw: Any) -> Any:
    """The Signature of the recorded operation that gives or gave a value; None where that is not known."""
    if type(raw) is LazyArray and raw.array is None:
        ops = getattr(raw.segment, "ops", ())
        index = raw.position & OP_MASK
        if index < len(ops):  # else a compiled step keeps several Tensors in one array
            return ops[index][0]
    return getattr(raw, "signature", None)


def _operation_of(tensor: Tensor) -> str:
    """The name of the operation that a Tensor comes from, or ""."""
    name = getattr(getattr(tensor._node, "kernel", None), "name", "")
    if name:
        return name
    if isinstance(tensor, Parameter):
        return "a parameter"
    signature = _signature_of(tensor._raw)
    if signature is None:
        return ""
    return signature.kernel.name


def _line_of(tensor: Tensor) -> str:
    """The line that a Tensor comes from, or "?"."""
    for frame in _allocation_frames(tensor):
        # Lines of this package, and of code made from text, say nothing to the user.
        is_engine = any(part in frame.filename for part in _ENGINE_FILES)
        if not (frame.filename.startswith("<") or is_engine):
            return line_name(frame.filename, frame.lineno)
    signature = _signature_of(tensor._raw)
    if signature is not None:
        return signature.user_line
    kernel = getattr(tensor._node, "kernel", None)
    values = getattr(tensor._node, "values", None)
    if kernel is None or values is None:
        return "?"
    return kernel.recorded_line([tuple(value.shape) for value in values])


def _allocation_frames(tensor: Tensor) -> Iterator[tracemalloc.Frame]:
    """The frames that allocated a Tensor, innermost first, where tracemalloc is on."""
    if tracemalloc.is_tracing():
        trace = tracemalloc.get_object_traceback(tensor) or tracemalloc.get_object_traceback(tensor._raw)
        yield from reversed(trace or ())


def _history(tensors: Iterable[Tensor], owned: Collection[int]) -> Collection[Any]:
    """The values that the tape holds for Tensors, without those that a Tensor holds.

    Args:
        tensors: the Tensors.
        owned: ids of the values that Tensors hold.
    """
    stack: list[Any] = [t._node for t in tensors if t._node is not None]
    seen = set()
    kept = {}
    # A tape may be deeper than Python's stack.
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for value in getattr(node, "values", None) or ():
            if id(value) not in owned:
                kept[id(value)] = value
        stack += [source for source, _ in getattr(node, "edges", ()) if not isinstance(source, Tensor)]
    return kept.values()


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
