"""Which kept element meets which element of a kernel, and where the product goes: found on the host, from the
coordinates alone.

A window at output p covers the inputs p * stride - padding + offset * dilation. A rulebook lists for each
offset in the kernel the pairs (row of the input, row of the output) that meet there (Graham, Engelcke and van
der Maaten, 3D Semantic Segmentation with Submanifold Sparse Convolutional Networks, 2018).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paddle_jax.sparse.coordinates import coordinates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax.sparse.base import SparseTensor

_TABLE = 1 << 26  # cells up to which numbers are looked up in a table; beyond it they are sorted


class Window(NamedTuple):
    """Lengths of a kernel and how it moves; one number per axis of space."""

    kernel: tuple[Any, ...]
    stride: tuple[Any, ...]
    padding: tuple[Any, ...]
    dilation: tuple[Any, ...]

    def lengths(self, shape: Sequence[int]) -> list[int]:
        """The lengths of the axes of the result."""
        moves = zip(shape, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in moves]


class Rulebook(NamedTuple):
    """Pairs of rows, grouped by the offset in the kernel."""

    places: np.ndarray  # [1 + axes, outputs], sorted
    rows: np.ndarray  # of the input, [pairs]
    targets: np.ndarray  # of the output, [pairs]
    counts: np.ndarray  # pairs of each offset, [offsets]


def rulebook(x: SparseTensor, window: Window, space: Sequence[int]) -> Rulebook:
    """The rulebook of a convolution or pooling whose result has the lengths `space`: an output exists where
    some input is in its window."""
    cells, hit, rows = _meetings(x, window, space)
    outputs, targets = _numbered(cells, [x.shape[0], *space])
    return Rulebook(_unravelled(outputs, [x.shape[0], *space]), rows, targets, hit)


def submanifold_rulebook(x: SparseTensor, window: Window) -> Rulebook:
    """The rulebook of a submanifold convolution: outputs are the coordinates of the input."""
    shape = x.shape[:-1]
    cells, hit, rows = _meetings(x, window, shape[1:])
    outputs, _ = _numbered(np.ravel_multi_index(tuple(coordinates(x)), tuple(shape)), shape)
    # A cell that is no coordinate of the input finds some place, and is dropped below.
    targets = np.searchsorted(outputs, cells).clip(max=max(len(outputs) - 1, 0))
    if len(outputs):
        kept = outputs[targets] == cells
    else:
        kept = np.zeros(0, bool)
    counts = np.bincount(np.repeat(np.arange(len(hit)), hit)[kept], minlength=len(hit))
    return Rulebook(_unravelled(outputs, shape), rows[kept], targets[kept], counts)


def _meetings(
    x: SparseTensor, window: Window, space: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(number of the output, pairs of each offset, row of the input) of all pairs, offset by offset."""
    places = coordinates(x, "sparse convolution")
    offsets = np.indices(window.kernel).reshape(len(window.kernel), -1)
    kept = True
    number = places[0]
    for axis, length in enumerate(space):
        start = places[axis + 1] + window.padding[axis] - offsets[axis][:, None] * window.dilation[axis]
        step = start // window.stride[axis]
        # Inside the result, and a multiple of the stride.
        kept = kept & (start >= 0) & (step < length) & (step * window.stride[axis] == start)
        number = number * length + step
    return number[kept], kept.sum(1), np.nonzero(kept)[1]


def _numbered(cells: np.ndarray, shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(the different numbers, sorted; the place of each number among them)."""
    size = int(np.prod(shape))
    if size > _TABLE:
        return np.unique(cells, return_inverse=True)
    table = np.zeros(size, np.int64)
    # Marks first, then numbers in the place of marks: linear, where sorting is not.
    table[cells] = 1
    found = np.flatnonzero(table)
    table[found] = np.arange(len(found))
    return found, table[cells]


def _unravelled(numbers: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    return np.stack(np.unravel_index(numbers, tuple(shape)))
