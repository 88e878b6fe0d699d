"""Padding of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax.core import max_dim

from paddle_jax._core.base.size import are_known, index_range
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op

if TYPE_CHECKING:
    from paddle_jax._annotations import Padding
    from paddle_jax._core.tensors.tensor import Tensor


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
_FORMATS = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


def _spatial(x: jax.Array, pad: Any, data_format: str) -> list[tuple[int, int]]:
    """Pairs for all axes when pad lists only the spatial ones, last axis first."""
    if data_format not in _FORMATS[x.ndim]:
        raise AssertionError(
            f"pad: data_format: got {data_format!r}; "
            f"with {x.ndim} axes {' and '.join(_FORMATS[x.ndim])} are allowed"
        )
    # Paddle lists the last axis first.
    pairs = [(a, b) for a, b in zip(pad[::2], pad[1::2], strict=True)][::-1]
    if data_format[-1] == "C":
        return [(0, 0), *pairs, (0, 0)]
    return [(0, 0), (0, 0), *pairs]


def _all_axes(x: jax.Array, pad: Any, from_left: bool) -> list[tuple[int, int]]:
    """Pairs for all axes: in order when pad covers every axis, else from the last axis on."""
    if any(p < 0 for p in pad):
        raise ValueError(f"pad: pad: got {list(pad)}; numbers must not be negative")
    if len(pad) % 2:
        # One number: the last axis gets it in front alone.
        pad = (*pad, 0)
    pairs = list(zip(pad[::2], pad[1::2], strict=True))
    if len(pairs) > x.ndim:
        raise ValueError(f"pad: pad: got {len(pad)} numbers; x has only {x.ndim} axes")
    if len(pairs) == x.ndim and from_left:
        return pairs
    return [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]


def _checked(x: jax.Array, pairs: list[tuple[int, int]], mode: str) -> list[tuple[int, int]]:
    for (before, after), size in zip(pairs, x.shape, strict=True):
        # Reflection repeats no edge, so it needs one element less than the length.
        limit = size - 1 if mode == "reflect" else None
        if limit is not None and max(before, after) > limit and x.size:
            raise ValueError(
                f"pad: pad: got ({before}, {after}) for an axis of length {size}; "
                "mode 'reflect' needs numbers below the length"
            )
        if size == 0 and before + after > 0 and mode != "constant":
            raise ValueError(
                f"pad: x: got shape {list(x.shape)}; mode {mode!r} cannot extend an axis of length 0"
            )
    return pairs


@known_as(pir="pad3d mode:str pad_value:f64 data_format:str='NCDHW'", code="images:pad")
@op(
    method=False,
    alias={"input": "x"},
    cases=[
        "f(2,3), [1,1]",
        "f(3), [1,2]",
        "f(2,3), [1,1,0,2]",
        "f(2,3), [1,1,0,2], pad_from_left_axis=False",
        "f(2,3,4), [1,1,0,2], value=2.5",
        "f(2,3,4), [1,1], data_format='NLC'",
        "f(2,3,4,5), [1,2,3,4]",
        "f(2,3,4,5), [1,2,0,1], data_format='NHWC'",
        "f(2,3,4,5), [1,2,3,1], mode='reflect'",
        "f(2,3,4), [1,2], mode='replicate'",
        "f(1,1,3,4), [4,2,3,1], mode='circular'",
        "f(2,3,2,2,3), [1,1,1,1,1,0], mode='reflect'",
        "f(1,2,3,4,2), [1,2,0,1,1,0], mode='replicate', data_format='NDHWC'",
        "f(2,3,4,5), [1,2]",
        "f(1,2,4), [-1,2], mode='reflect'",
        "f(1,2,3), [-1,1], mode='circular'",
        "f(2,3), [-1,1]",
        "f(2,3,4), [4,1], mode='reflect'",
        "f(2,3), [1,1], mode='reflect'",
        "f(2,3,4), [1,1], mode='x'",
        "f(2,3,4), [1,1], data_format='NCHW'",
        "i(2,3), [1,1,0,0], value=2",
        "d(0,3), [1,1,1,1]",
        "f(2,3,4,5), [1,2,3,4,5,6,0,1]",
        "f(2,3,4,5), 1",
        "f(2,3,4), const([1,2],'int32')",
    ],
)
def pad(
    x: jax.Array,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str | None = None,
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> jax.Array:
    """Extends a tensor at its edges.

    Args:
        x: Tensor. `input` is accepted as a name.
        pad: list of ints, (before, after) for each axis. With 2 * ndim numbers and mode "constant": all axes,
            first axis first. With two numbers for each spatial axis of a 3 to 5-D x: those axes, last spatial
            axis first; negative numbers crop. Otherwise, with mode "constant": the last axes, last one first.
        mode: "constant", "reflect" (mirrored, edge not repeated), "replicate" (edge repeated) or "circular"
            (from the other end).
        value: what mode "constant" fills in.
        data_format: where the spatial axes are: "NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC". Default:
            channels on axis 1.
        pad_from_left_axis: False lists the axes in `pad` last axis first when it covers all of them.
    Returns:
        Tensor of the dtype of x.
    Raises:
        AssertionError: mode or data_format is unknown, or mode is not "constant" and x is not 3 to 5-D.
        ValueError: the numbers do not fit x.
    Example:
        >>> paddle.nn.functional.pad(paddle.ones([1, 2]), [1, 0], value=5.0).tolist()
        [[5.0, 1.0, 1.0]]
    """
    if mode not in _MODES:
        raise AssertionError(f"pad: mode: got {mode!r}; allowed are {', '.join(_MODES)}")
    if not isinstance(pad, tuple):
        raise TypeError(f"pad: pad: got {type(pad).__name__}; it must be a list of ints")
    # As many numbers as the spatial axes need mean these; other modes pad no other axes.
    if x.ndim in _FORMATS and (len(pad) == 2 * (x.ndim - 2) or mode != "constant"):
        if len(pad) != 2 * (x.ndim - 2):
            raise ValueError(
                f"pad: pad: got {len(pad)} numbers; mode {mode!r} takes {2 * (x.ndim - 2)} for "
                f"shape {list(x.shape)}"
            )
        return extended(x, _spatial(x, pad, data_format or _FORMATS[x.ndim][0]), mode, value)
    if mode != "constant":
        raise AssertionError(f"pad: x: got shape {list(x.shape)}; mode {mode!r} needs 3 to 5 axes")
    return extended(x, _all_axes(x, pad, pad_from_left_axis), mode, value)


def pad_pairs(
    x: Any, pad: tuple[Any, ...], data_format: str | None, pad_from_left_axis: bool
) -> list[tuple[Any, Any]]:
    """(before, after) for each axis, as `pad` with mode "constant" takes its numbers."""
    if x.ndim in _FORMATS and len(pad) == 2 * (x.ndim - 2):
        return _spatial(x, pad, data_format or _FORMATS[x.ndim][0])
    return _all_axes(x, pad, pad_from_left_axis)


def _extended_open(x: jax.Array, pairs: Sequence[tuple[Any, Any]], mode: str, value: float) -> jax.Array:
    """`extended` where JAX traces for every length."""
    for axis, (before, after) in enumerate(pairs):
        length = x.shape[axis]
        more = [(0, 0)] * x.ndim
        # Negative numbers crop, below.
        more[axis] = (max_dim(before, 0), max_dim(after, 0))
        if mode == "constant":
            x = jnp.pad(x, more, constant_values=jnp.asarray(value).astype(x.dtype))
        elif not (are_known(before, after) and before == after == 0):
            # The file is then for longer axes; numbers made of lengths cannot be asked.
            if mode == "reflect" and are_known(before, after) and length <= max(before, after):
                raise ValueError(
                    f"pad: pad: got ({before}, {after}) for an axis of length {length}; "
                    "mode 'reflect' needs numbers below the length"
                )
            # Each place reads the element that the mode puts there.
            place = index_range(length + more[axis][0] + more[axis][1]) - more[axis][0]
            x = jnp.take(x, _source_places(place, length, mode), axis)
        first = max_dim(-before, 0)
        if not (are_known(first) and first == 0):
            x = jax.lax.slice_in_dim(x, first, x.shape[axis], axis=axis)
        last = max_dim(-after, 0)
        if not (are_known(last) and last == 0):
            x = jax.lax.slice_in_dim(x, 0, x.shape[axis] - last, axis=axis)
    return x


def _source_places(place: jax.Array, length: Any, mode: str) -> jax.Array:
    """The places of an axis that places before, in and after it show."""
    if mode == "replicate":
        return jnp.clip(place, 0, length - 1)
    if mode == "circular":
        return place % length
    # The period of a mirrored axis; an axis of length 1 repeats itself.
    period = jnp.maximum(2 * (length - 1), 1)  # reflect
    folded = place % period
    return jnp.minimum(folded, period - folded)


def extended(x: jax.Array, pairs: Sequence[tuple[int, int]], mode: str, value: float) -> jax.Array:
    """x with pairs (before, after) added at both ends of each axis; negative numbers crop."""
    if not are_known(*x.shape, *[n for pair in pairs for n in pair]):
        return _extended_open(x, pairs, mode, value)
    if any(n + a + b < 0 for (a, b), n in zip(pairs, x.shape, strict=True)):
        raise ValueError(
            f"pad: pad: got {pairs} for shape {list(x.shape)}; no axis can get a negative length"
        )
    more = _checked(x, [(max(a, 0), max(b, 0)) for a, b in pairs], mode)
    if mode == "constant":
        x = jnp.pad(x, more, constant_values=jnp.asarray(value).astype(x.dtype))
    else:
        x = jnp.pad(x, more, mode=_MODES[mode])
    return x[
        tuple(slice(max(-a, 0), max(n - max(-b, 0), 0)) for (a, b), n in zip(pairs, x.shape, strict=True))
    ]


@composite(
    method=False,
    cases=[
        "f(1,2,3,4), [1,2,3,4]",
        "f(1,3,4,2), [1,0,0,1], 'NHWC'",
        "f(2,3), [1,1,1,1]",
        "d(1,1,2,2), [0,0,1,1]",
        "f(0,1,2,2), [1,1,1,1]",
        "f(2,3,4), [1,2,3,4]",
    ],
)
def zeropad2d(x: Tensor, padding: Padding, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Adds zeros round images.

    Args:
        x: Tensor [N, C, H, W] or [N, H, W, C]; others as `pad` takes them.
        padding: int, or [left, right, top, bottom].
        data_format: "NCHW" or "NHWC".
    Returns:
        Tensor whose height and width have grown by the padding.
    Raises:
        AssertionError: padding does not fit the axes of x.
    Example:
        >>> paddle.nn.functional.zeropad2d(paddle.ones([1, 1, 1, 1]), [1, 0, 0, 0]).tolist()
        [[[[0.0, 1.0]]]]
    """
    return pad(x, [padding] * 4 if isinstance(padding, int) else padding, "constant", 0.0, data_format)
