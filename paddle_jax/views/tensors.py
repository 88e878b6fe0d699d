"""Views of Tensors, of dicts of Tensors, and of groups of live Tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle_jax._core.base.out_of_memory import format_bytes
from paddle_jax._core.tensors.held_values import (
    element_count,
    holds_abstract,
    holds_uninitialized,
    numpy_dtype,
)
from paddle_jax._core.tensors.memory_report import LiveTensors
from paddle_jax._core.tensors.tensor import Parameter, Tensor, host_elements
from paddle_jax.views.devices import pieces_of
from paddle_jax.views.markup import (
    Markup,
    bars,
    chip,
    code,
    counted,
    fold,
    head,
    joined,
    meter,
    number,
    place,
    row,
    soft,
    table,
    view,
    warning,
)
from paddle_jax.views.statistics import Statistics, statistics_of

_LEAST_BINNED = 9  # elements; fewer are seen at once
_SHOWN_AT_ONCE = 64  # elements; the values of larger Tensors are folded


def tensor_view(tensor: Tensor) -> Markup:
    """The view of a Tensor, a Parameter, or a Variable of a static program.

    Pending operations run, as for `print(tensor)`. Nothing is recorded on the tape.
    """
    if tensor.is_sparse():
        return _sparse_view(tensor)
    name = type(tensor).__name__
    if isinstance(tensor, Parameter):
        name = "Parameter"
    facts = [head(name), *_facts(tensor)]
    if holds_uninitialized(tensor):
        return view(row(*facts, soft("not initialized")))
    if holds_abstract(tensor):
        return view(row(*facts, soft("its value is known when the program runs")))
    array = host_elements(tensor)
    found = statistics_of(array)
    parts = [row(*facts, *bad_values(found)), *_numbers(found)]
    if tensor.is_dist():
        parts.append(pieces_of(tensor))
    values = fold("values", code(repr(tensor)), shown=array.size <= _SHOWN_AT_ONCE)
    return view(*parts, values)


def _sparse_view(tensor: Tensor) -> Markup:
    """The view of a sparse Tensor: its text and how many elements it holds."""
    facts = [f"shape {list(tensor.shape)}", short_dtype(tensor), f"{tensor.nnz():,} elements"]
    facts.append(f"stop_gradient={tensor.stop_gradient}")
    return view(row(head(type(tensor).__name__), *map(chip, facts)), code(repr(tensor)))


def _facts(tensor: Tensor) -> list[Markup]:
    """What is known without the elements."""
    texts = [f"shape {list(tensor.shape)}", short_dtype(tensor)]
    if not holds_abstract(tensor):
        texts += [str(tensor.place), format_bytes(element_count(tensor) * numpy_dtype(tensor).itemsize)]
    texts.append(f"stop_gradient={tensor.stop_gradient}")
    if isinstance(tensor, Parameter):
        texts.insert(0, tensor.name)
    return list(map(chip, texts))


def short_dtype(tensor: Tensor) -> str:
    """`float32` of `paddle.float32`."""
    return str(tensor.dtype).rpartition(".")[2]


def bad_values(found: Statistics) -> list[Markup]:
    """Badges of NaN and Inf."""
    badges = []
    if found.nan:
        badges.append(warning(f"{found.nan:,} NaN"))
    if found.infinite:
        badges.append(warning(f"{found.infinite:,} Inf"))
    return badges


def _numbers(found: Statistics) -> list[Markup]:
    """The numbers about the elements, and their histogram."""
    if not found.size:
        return [row(soft("no elements"))]
    if found.mean is None or found.deviation is None or found.low is None or found.high is None:
        return [row(soft("no finite elements"))]
    if found.what == "ones":
        ones = round(found.mean * found.read)
        texts = [f"True {number(ones)}", f"False {number(found.read - ones)}"]
    else:
        texts = [
            f"mean {number(found.mean)}",
            f"std {number(found.deviation)}",
            f"min {number(found.low)}",
            f"max {number(found.high)}",
        ]
        if found.what != "values":
            texts.append(f"of {found.what}")
    if found.is_sample:
        texts.append(f"of a sample: {found.read:,} of {found.size:,} elements")
    parts = [row(*map(soft, texts))]
    if found.binned >= _LEAST_BINNED and found.what != "ones":
        label = f"histogram of {found.binned:,} {found.what}"
        parts.append(bars(found.counts, found.edges, (found.low, found.high), label))
        # Bins were filled from a part of the finite elements.
        if found.binned < found.read - found.nan - found.infinite:
            parts.append(row(soft(f"histogram of {found.binned:,} elements")))
    return parts


def is_state_dict(value: Any) -> bool:
    """Whether a dict has names and Tensors alone."""
    return bool(value) and all(isinstance(k, str) and isinstance(v, Tensor) for k, v in value.items())


def state_view(state: Mapping[str, Tensor]) -> Markup:
    """The view of a dict of Tensors: one row each."""
    rows = [_state_row(name, tensor) for name, tensor in state.items()]
    # A Tensor under two names counts once.
    each = {id(tensor): tensor for tensor in state.values() if not tensor.is_sparse()}
    elements = sum(map(element_count, each.values()))
    size = sum(element_count(t) * numpy_dtype(t).itemsize for t in each.values())
    facts = [head("state dict"), chip(counted(len(state), "Tensor")), chip(counted(elements, "element"))]
    names = ("name", "shape", "dtype", "mean", "std", "min", "max", "")
    return view(row(*facts, chip(format_bytes(size))), table(names, rows))


def _state_row(name: str, tensor: Tensor) -> list[Any]:
    facts = [name, str(list(tensor.shape)), short_dtype(tensor)]
    if tensor.is_sparse() or holds_abstract(tensor) or holds_uninitialized(tensor):
        return [*facts, "", "", "", "", ""]
    found = statistics_of(host_elements(tensor))
    numbers = [found.mean, found.deviation, found.low, found.high]
    remark = joined(bad_values(found))
    if found.is_sample:
        remark = joined([remark, soft(f"sample of {found.read:,}")])
    return [*facts, *["" if value is None else value for value in numbers], remark]


def live_view(report: LiveTensors) -> Markup:
    """The view of `live_tensors()`."""
    most = max([group.nbytes + group.kept for group in report], default=0)
    rows = [
        [
            meter((group.nbytes + group.kept) / max(most, 1)),
            format_bytes(group.nbytes),
            format_bytes(group.kept),
            group.count,
            f"{group.dtype}{list(group.shape)}",
            group.op or "?",
            place(group.where),
        ]
        for group in report
    ]
    facts = row(
        head("live Tensors"), chip(counted(report.tensors, "Tensor")), chip(format_bytes(report.nbytes))
    )
    names = ("", "memory", "kept by the tape", "Tensors", "each", "operation", "line")
    return view(facts, table(names, rows))
