"""Boxes of anchors: making them, and coding others relative to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jax

_PRIORS = "const([[.5,.5,2.5,3],[1,1.5,3.5,5]],'float32')"
_TARGETS = "const([[1,1,2.5,4],[.5,2,3.5,5],[1.5,1.5,4.5,2.5]],'float32')"
_CODES = "f(3,2,4).detach()"


@known_as(code="detection:coded")
@op("prior_box target_box prior_box_var", method=False, nondiff=True, register=False)
def _coded(
    prior_box: jax.Array,
    target_box: jax.Array,
    prior_box_var: jax.Array | None = None,
    factors: Any = None,
    encode: bool = True,
    extra: float = 0.0,
    axis: int = 0,
) -> jax.Array:
    # Boxes in pixels include their last pixel.
    width = prior_box[:, 2] - prior_box[:, 0] + extra
    height = prior_box[:, 3] - prior_box[:, 1] + extra
    sizes = jnp.stack([width, height], -1)
    centres = prior_box[:, :2] + sizes / 2
    if prior_box_var is None:
        factors = jnp.asarray(factors, prior_box.dtype)
    else:
        factors = prior_box_var
    if encode:
        ends = target_box[:, None]
        # Offsets of the centres in units of the prior, sizes as logarithms (SSD, Liu and others, 2016).
        moved = ((ends[..., :2] + ends[..., 2:]) / 2 - centres) / sizes
        # abs, as Paddle does it, for boxes whose ends are exchanged.
        grown = jnp.log(jnp.abs((ends[..., 2:] - ends[..., :2] + extra) / sizes))
        return jnp.concatenate([moved, grown], -1) / factors

    def along(v: jax.Array) -> jax.Array:
        if axis == 1 and v.ndim == 2:
            return v[:, None]
        return v

    sizes = along(sizes)
    centres = along(centres)
    codes = target_box * along(factors)
    middle = codes[..., :2] * sizes + centres
    half = jnp.exp(codes[..., 2:]) * sizes / 2
    # The last pixel is part of the box.
    return jnp.concatenate([middle - half, middle + half - extra], -1)


@composite(
    method=False,
    cases=[
        f"{_PRIORS}, [.5,.5,.25,.25], {_TARGETS}",
        f"{_PRIORS}, u(.1,.2,2,4).detach(), {_TARGETS}, box_normalized=False",
        f"{_PRIORS}, [.1,.1,.2,.2], {_CODES}, 'decode_center_size'",
        f"{_PRIORS}, u(.1,.2,2,4).detach(), {_CODES}, 'decode_center_size', False",
        f"{_TARGETS}, [.1,.1,.2,.2], {_CODES}, 'decode_center_size', axis=1",
        f"{_TARGETS}, u(.1,.2,3,4).detach(), {_CODES}, 'decode_center_size', True, 1",
        f"{_PRIORS}, None, {_TARGETS}",
        f"{_PRIORS}, [.1,.1,.2], {_TARGETS}",
        f"{_PRIORS}, [.1,.1,.2,.2], {_TARGETS}, 'x'",
        f"{_PRIORS}, [.1,.1,.2,.2], {_TARGETS}, 'decode_center_size'",
        "d(2,4).detach(), [1.,1.,1.,1.], d(3,4).detach()",
    ],
)
def box_coder(
    prior_box: Tensor,
    prior_box_var: Tensor | Sequence[float] | None,
    target_box: Tensor,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Tensor:
    """Boxes as moves and growths relative to anchors, or the boxes that such numbers stand for.

    With the anchor's centre p and size s and the factors v, the box of centre c and size t has the code ((c -
    p) / s / v, log(t / s) / v).

    Args:
        prior_box: Tensor [M, 4] of anchors (x1, y1, x2, y2).
        prior_box_var: Tensor [M, 4], or list of four numbers: the factors.
        target_box: Tensor [N, 4] of boxes to encode, or [N, M, 4] of codes to decode.
        code_type: "encode_center_size" or "decode_center_size".
        box_normalized: bool; False where coordinates are whole pixels and a box has one pixel more than their
            difference. Default True.
        axis: int, which axis of the codes the anchors go with, 0: the second, 1: the first (then prior_box is
            [N, 4]). Default 0.
    Returns:
        Tensor [N, M, 4]. No gradient flows through it.
    Raises:
        TypeError: prior_box_var is neither a Tensor nor a list.
        ValueError: another code_type, or shapes do not fit.
    Example:
        >>> anchor, box = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]]), paddle.to_tensor([[1.0, 1.0, 3.0, 3.0]])
        >>> paddle.vision.ops.box_coder(anchor, [0.5, 0.5, 1.0, 1.0], box).tolist()
        [[[1.0, 1.0, 0.0, 0.0]]]
    """
    if not isinstance(prior_box_var, Tensor | list | tuple):
        raise TypeError(
            f"box_coder: prior_box_var: got {prior_box_var!r}; it must be a Tensor or a list of four numbers"
        )
    given = isinstance(prior_box_var, Tensor)
    if not given and len(prior_box_var) != 4:
        raise AssertionError(
            f"box_coder: prior_box_var: got {len(prior_box_var)} numbers; there must be four"
        )
    if code_type not in ("encode_center_size", "decode_center_size"):
        raise ValueError(
            f"(InvalidArgument) box_coder: code_type: got {code_type!r}; "
            "allowed are 'encode_center_size' and 'decode_center_size'"
        )
    encode = code_type == "encode_center_size"
    if not encode and axis not in (0, 1):
        raise ValueError(f"(InvalidArgument) box_coder: axis: got {axis}; allowed are 0 and 1")
    if target_box.ndim != (2 if encode else 3):
        raise ValueError(
            f"(InvalidArgument) box_coder: target_box: got shape {list(target_box.shape)}; "
            "it must be " + ("[N, 4] to encode" if encode else "[N, M, 4] to decode")
        )
    # Four numbers are attributes of the operation, a Tensor is an operand.
    factors = None if given else tuple(map(float, prior_box_var))
    return _coded(
        prior_box,
        target_box,
        prior_box_var if given else None,
        factors,
        encode,
        0.0 if box_normalized else 1.0,
        axis,
    )


def _sizes(
    min_sizes: Sequence[float], max_sizes: Sequence[float], ratios: Sequence[float], min_max_first: bool
) -> np.ndarray:
    """Widths and heights of the boxes of one cell, in pixels."""
    found = []
    for i, low in enumerate(min_sizes):
        # The same area for each ratio of the sides.
        shapes = [(low * np.sqrt(r), low / np.sqrt(r)) for r in ratios]
        if max_sizes:
            # One more square between the two sizes.
            square = [(np.sqrt(low * max_sizes[i]),) * 2]
        else:
            square = []
        found += [shapes[0], *square, *shapes[1:]] if min_max_first else [*shapes, *square]
    return np.asarray(found)


def ratios_of(aspect_ratios: Sequence[float], flip: bool) -> list[float]:
    """The ratios of width to height of prior boxes: 1, the given ones, and with `flip` their inverses."""
    found = [1.0]
    for ratio in aspect_ratios:
        # A ratio that is there already adds no box.
        if all(abs(ratio - known) > 1e-6 for known in found):
            found += [ratio, 1.0 / ratio] if flip else [ratio]
    return found


@known_as(code="data_dependent:priors")
@composite(
    method=False,
    cases=[
        "f(1,1,2,3), f(1,3,10,20), [4.]",
        "f(1,1,2,3), f(1,3,10,20), [4.,5.], [8.,9.], [2.], flip=True",
        "f(1,1,2,3), f(1,3,10,20), 4",
        "f(1,1,2,3), f(1,3,10,20), [4.], [8.], [2.], flip=True, min_max_aspect_ratios_order=True, clip=True",
        "f(1,1,2,3), f(1,3,10,20), [4.], [2.]",
        "f(1,1,2,3), f(1,3,10,20), [4.], steps=[3.,2.], offset=.3",
        "f(1,1,2,3), f(1,3,10,20), [4.], steps=[3.]",
        "f(1,1,2,3), f(1,3,10,20), [4.], variance=[1.,2.,3.,4.]",
        "f(1,1,2,3), f(1,3,10,20), [4.,5.], [8.]",
        "f(1,1,2,3), f(1,3,10,20), [4.], aspect_ratios=2.",
        "f(1,1,2,3), f(1,3,10,20), [4.], aspect_ratios=[1.,2.,.5], flip=True",
        "d(1,1,1,1), d(1,3,10,20), [4.]",
        "f(1,2,3), f(1,3,10,20), [4.]",
        "f(1,1,2,3), d(1,3,10,20), [4.]",
    ],
)
def prior_box(
    input: Tensor,
    image: Tensor,
    min_sizes: Any,
    max_sizes: Sequence[float] | None = None,
    aspect_ratios: float | list[float] | tuple[float, ...] = [1.0],  # noqa: B006
    variance: Sequence[float] = [0.1, 0.1, 0.2, 0.2],  # noqa: B006
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] = [0.0, 0.0],  # noqa: B006
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The anchors of a single shot detector: boxes of several sizes and shapes round the centre of each cell
    of a feature map.

    Args:
        input: Tensor [N, C, H, W], the feature map; only its shape and dtype count.
        image: Tensor [N, C, height, width], the image; only its shape counts.
        min_sizes: float or list of floats, sides of squares, in pixels of the image.
        max_sizes: list of the same length: with each, a further square with the side sqrt(min *
            max). Default None.
        aspect_ratios: float or list, width by height of further boxes with the area min * min. Default [1.0].
        variance: list of four factors for `box_coder`, repeated for every box.
        flip: bool, also with the inverse aspect ratios. Default False.
        clip: bool, cut the boxes off at the image's edges. Default False.
        steps: (x, y), distance of cells in pixels; 0 for the image's size by the feature
            map's. Default (0, 0).
        offset: float, place of the centre in its cell. Default 0.5.
        min_max_aspect_ratios_order: bool, the square of max_sizes comes second instead of
            last. Default False.
    Returns:
        (boxes, factors), Tensors [H, W, boxes per cell, 4]; boxes as (x1, y1, x2, y2) in parts of the image's
        width and height.
    Raises:
        ValueError: steps are not two, or a max size is not above its min size.
    Example:
        >>> boxes, _ = paddle.vision.ops.prior_box(paddle.ones([1, 1, 1, 1]), paddle.ones([1, 3, 10, 10]),
        ...                                        [4.0])
        >>> [round(v, 2) for v in boxes.flatten().tolist()]
        [0.3, 0.3, 0.7, 0.7]
    See:
        Liu et al., SSD, arXiv 1512.02325.
    """
    as_list = [list(v) if isinstance(v, list | tuple) else [v] for v in (min_sizes, aspect_ratios)]
    min_sizes = as_list[0]
    ratios = ratios_of(as_list[1], flip)
    max_sizes = list(max_sizes or [])
    if len(steps) != 2:
        raise ValueError(f"prior_box: steps: got {steps}; it must be (x, y)")
    if input.ndim != 4 or image.ndim != 4:
        raise ValueError(
            f"(InvalidArgument) prior_box: got input {list(input.shape)} and image "
            f"{list(image.shape)}; both must have 4 axes"
        )
    if max_sizes and (
        len(max_sizes) != len(min_sizes)
        or any(high <= low for low, high in zip(min_sizes, max_sizes, strict=True))
    ):
        raise ValueError(
            f"(InvalidArgument) prior_box: max_sizes: got {max_sizes} for min_sizes "
            f"{min_sizes}; as many, each above the other"
        )
    (rows, columns), (height, width) = input.shape[2:], image.shape[2:]
    sizes = _sizes(min_sizes, max_sizes, ratios, min_max_aspect_ratios_order)
    # Centres of the cells, in pixels.
    x = (np.arange(columns) + offset) * (steps[0] or width / columns)
    y = (np.arange(rows) + offset) * (steps[1] or height / rows)
    centres = np.stack(np.broadcast_arrays(x[None, :, None], y[:, None, None]), -1)
    scale = np.array([width, height], "float64")
    boxes = np.concatenate([(centres - sizes / 2) / scale, (centres + sizes / 2) / scale], -1)
    if clip:
        boxes = np.clip(boxes, 0, 1)
    factors = np.broadcast_to(np.asarray(variance), boxes.shape)
    return to_tensor(boxes, dtype=input.dtype), to_tensor(np.ascontiguousarray(factors), dtype=input.dtype)


__all__ = ["box_coder", "prior_box"]
