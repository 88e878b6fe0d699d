"""Pictures of meshes, and of the pieces of a Tensor that its devices hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.tensors.held_values import plain_shape
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.auto_parallel.layout import layout_of
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh
from paddle_jax.views.markup import (
    Markup,
    chip,
    counted,
    element,
    head,
    joined,
    row,
    shortened,
    soft,
    svg,
    view,
)

_CELL = 40  # pixels of a device in the picture of a mesh
_MOST = 256  # devices that are drawn
# In pixels. Every Tensor gets the same picture, into which its axes are scaled.
_WIDTH = 300
_HEIGHT = 150
_LETTER = 7  # pixels of one letter, at most


def mesh_view(mesh: ProcessMesh) -> Markup:
    """The view of a ProcessMesh: a grid of the numbers of its devices."""
    sides = [f"{name}={length}" for name, length in zip(mesh.dim_names, mesh.shape, strict=True)]
    facts = [head("ProcessMesh"), *map(chip, sides), soft(counted(mesh.size, "device"))]
    if mesh.size > _MOST:
        return view(row(*facts), soft(f"more than {_MOST} devices are not drawn"))
    ids = np.asarray(mesh.process_ids).reshape(mesh.shape)
    # One dimension is drawn as a row.
    if ids.ndim == 1:
        return view(row(*facts), _grid(ids[None, :], "", mesh.dim_names[0], ""))
    *outer, down, across = mesh.dim_names
    grids = []
    for index in np.ndindex(*ids.shape[:-2]):
        words = [f"{name}={i}" for name, i in zip(outer, index, strict=True)]
        grids.append(_grid(ids[index], down, across, ", ".join(words)))
    return view(row(*facts), row(*grids))


def _box(x: float, y: float, width: float, height: float, text: str, tip: str, shade: float) -> Markup:
    """A rectangle with a text; `shade` 0 to 1 says how much of the bar's colour it has."""
    rect = element(
        "rect",
        element("title", tip),
        x=f"{x:.1f}",
        y=f"{y:.1f}",
        width=f"{width:.1f}",
        height=f"{height:.1f}",
        class_="bar",
        fill_opacity=f"{shade:.2f}",
        style="stroke:var(--pv-text);stroke-width:0.8",
    )
    letters = max(int(width // _LETTER), 1)
    shown = text
    if len(text) > letters:
        shown = text[: max(letters - 2, 0)] + ".."
    label = element(
        "text",
        shown,
        x=f"{x + width / 2:.1f}",
        y=f"{y + height / 2 + 3.5:.1f}",
        text_anchor="middle",
        style="fill:var(--pv-text)",
    )
    return joined([rect, label])


def _grid(ids: np.ndarray, down: str, across: str, name: str) -> Markup:
    """The devices of two dimensions of a mesh.

    Args:
        ids: numbers of devices [rows, columns].
        down, across: names of the dimensions.
        name: where in the other dimensions it is.
    """
    rows, columns = ids.shape
    parts = []
    left = 0
    if down:
        left = _LETTER * len(down) + 6
    top = 16
    if name:
        top = 30
        parts.append(element("text", name, x=left, y=10))
    parts.append(element("text", across, x=left + columns * _CELL / 2, y=top - 4, text_anchor="middle"))
    if down:
        parts.append(element("text", down, x=0, y=top + rows * _CELL / 2))
    for r in range(rows):
        for c in range(columns):
            place = f"{across} {c}"
            if down:
                place = f"{down} {r}, {place}"
            tip = f"device {ids[r, c]}: {place}"
            parts.append(
                _box(left + c * _CELL, top + r * _CELL, _CELL - 3, _CELL - 3, str(ids[r, c]), tip, 0.25)
            )
    wide = max(left + columns * _CELL, _LETTER * len(name) + left)
    return svg(wide, top + rows * _CELL, *parts, label=f"devices by {down or 'position'} and {across}")


def pieces_of(tensor: Tensor) -> Markup:
    """The picture of a Tensor on several devices: which piece of it is where."""
    layout = layout_of(tensor)
    if layout is None:
        return soft("its layout on several devices has no name")
    mesh = layout.mesh
    sides = ", ".join(f"{name}={n}" for name, n in zip(mesh.dim_names, mesh.shape, strict=True))
    words = row(soft(f"mesh {sides}"), *[chip(str(placement)) for placement in layout.placements])
    if mesh.size > _MOST:
        return joined([words, soft(f"more than {_MOST} devices are not drawn")])
    shape = plain_shape(tensor)
    holders: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for index, number in zip(np.ndindex(*mesh.shape), mesh.process_ids, strict=True):
        # Devices with equal ranges hold copies of one piece.
        ranges = tuple((s.start, s.stop) for s in layout.range(shape, index))
        holders.setdefault(ranges, []).append(number)
    return joined([words, _cut(shape, holders)])


def _cut(shape: Sequence[int], holders: dict[tuple[tuple[int, int], ...], list[int]]) -> Markup:
    """The pieces of a Tensor as rectangles.

    Args:
        shape: that of the Tensor.
        holders: the devices of each piece, given by its range along each axis.
    """
    axes = _drawn_axes(shape, list(holders))
    parts = []
    # Pieces that differ only along axes that are not drawn share a rectangle.
    seen: dict[Any, list[int]] = {}
    for ranges, devices in holders.items():
        seen.setdefault(tuple(ranges[axis] for axis in axes), []).extend(devices)
    for order, (ranges, devices) in enumerate(seen.items()):
        down, across = _extents(shape, axes, ranges)
        text = ", ".join(map(str, sorted(devices)))
        piece = ", ".join(f"axis {a}: {r[0]} to {r[1]}" for a, r in zip(axes, ranges, strict=True))
        tip = shortened(f"{piece or 'all of it'}; on device {text}", 300)
        # A piece without elements has no rectangle.
        if down[1] > down[0] and across[1] > across[0]:
            corner = (across[0] * _WIDTH + 1, down[0] * _HEIGHT + 1)
            wide = (across[1] - across[0]) * _WIDTH - 2
            tall = (down[1] - down[0]) * _HEIGHT - 2
            parts.append(_box(*corner, wide, tall, text, tip, 0.15 + 0.5 * order / len(seen)))
    height = _HEIGHT
    if len(axes) < 2:
        height = _HEIGHT // 3
    names = " down, ".join(f"axis {axis}" for axis in axes)
    note = "numbers of devices"
    if names:
        note = f"{names} across; {note}"
    return joined([svg(_WIDTH, height, *parts, label="pieces of the Tensor"), row(soft(note))])


def _drawn_axes(shape: Sequence[int], pieces: Sequence[Any]) -> list[int]:
    """The axes that the picture shows: at most two, those that are cut first."""
    cut = [axis for axis in range(len(shape)) if len({piece[axis] for piece in pieces}) > 1]
    rest = [axis for axis in range(len(shape)) if axis not in cut]
    return sorted([*cut, *rest][:2])


def _extents(
    shape: Sequence[int], axes: Sequence[int], ranges: Sequence[tuple[int, int]]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where a piece begins and ends, down and across, as shares of the whole."""
    shares = [(r[0] / max(shape[a], 1), r[1] / max(shape[a], 1)) for a, r in zip(axes, ranges, strict=True)]
    if len(shares) == 2:
        return shares[0], shares[1]
    # A vector or a number is drawn as a flat row.
    across = shares[0] if shares else (0.0, 1.0)
    return (0.0, 1 / 3), across
