"""Convolution over positions that are moved by an input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from paddle_jax import nn
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax.nn.functional.vision import _fetch

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import ParamAttrLike, Size
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.parameter import Parameter


def _pair(value: Size) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value, value)
    return tuple(value)


@known_as(code="detection:deformable")
@op(
    "x offset weight bias mask",
    same_dtype="x offset weight",
    method=False,
    cases=[
        "f(2,3,5,5), u(-.9,.9,2,18,3,3), f(4,3,3,3)",
        "f(2,3,5,5), u(-.9,.9,2,18,3,3), f(4,3,3,3), f(4), mask=u(.1,.9,2,9,3,3)",
        "f(1,4,5,6), u(-1.5,1.5,1,16,3,4), f(4,2,2,2), None, 2, 1, 1, 2, 2",
        "f(1,2,6,6), u(-.9,.9,1,18,6,6), f(2,2,3,3), f(2), 1, 2, 2",
        "d(1,2,4,4), ud(-.9,.9,1,8,3,3), d(2,2,2,2), mask=ud(0,1,1,4,3,3)",
        "f(1,2,4,4), f(1,7,3,3), f(2,2,2,2)",
        "f(1,2,4,4), f(1,8,3,4), f(2,2,2,2)",
        "f(2,4,4), f(1,8,3,3), f(2,2,2,2)",
        "f(1,3,4,4), f(1,8,3,3), f(2,2,2,2)",
        "f(1,2,4,4), f(1,8,2,4), f(2,2,2,2), None, (2,1), (0, 1), (1, 2)",
    ],
)
def deform_conv2d(
    x: jax.Array,
    offset: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: jax.Array | None = None,
    name: str | None = None,
) -> jax.Array:
    """2-d convolution whose kernel reads x at moved positions by bilinear interpolation; what lies
    outside counts as 0.

    Args:
        x: Tensor [N, C, H, W].
        offset: Tensor [N, 2 D kh kw, H', W'], for every kernel point how far down and to the right it is
            moved, in pixels.
        weight: Tensor [M, C / groups, kh, kw].
        bias: Tensor [M], or None.
        stride, padding, dilation: int or pair. Default 1, 0, 1.
        deformable_groups: int D, groups of channels with their own offsets. Default 1.
        groups: int, groups of channels. Default 1.
        mask: Tensor [N, D kh kw, H', W'], factors of what is read (version 2), or None (version 1).
    Returns:
        Tensor [N, M, H', W'].
    Raises:
        ValueError: shapes do not fit.
    Example:
        >>> x, weight = paddle.arange(9.0).reshape([1, 1, 3, 3]), paddle.ones([1, 1, 1, 1])
        >>> moved = paddle.vision.ops.deform_conv2d(x, paddle.full([1, 2, 3, 3], 0.5), weight)
        >>> moved[0, 0, 0].tolist()
        [2.0, 3.0, 1.75]
    See:
        Dai et al., arXiv 1703.06211; Zhu et al. (version 2), arXiv 1811.11168.
    """
    (sy, sx), (py, px), (dy, dx) = _pair(stride), _pair(padding), _pair(dilation)
    if x.ndim != 4 or weight.ndim != 4 or offset.ndim != 4:
        raise ValueError(
            f"(InvalidArgument) deform_conv2d: got x {list(x.shape)}, "
            f"offset {list(offset.shape)}, weight {list(weight.shape)}; each must have 4 axes"
        )
    (n, channels, height, width), (out, per_group, kh, kw) = x.shape, weight.shape
    # The extent of the kernel is d * (k - 1) + 1.
    rows = (height + 2 * py - (dy * (kh - 1) + 1)) // sy + 1
    columns = (width + 2 * px - (dx * (kw - 1) + 1)) // sx + 1
    points = kh * kw
    d = deformable_groups
    expected = {
        "offset": (offset, (n, 2 * d * points, rows, columns)),
        "mask": (mask, (n, d * points, rows, columns)),
        "x": (x, (n, per_group * groups, height, width)),
    }
    for what, (value, shape) in expected.items():
        if value is not None and value.shape != shape:
            raise ValueError(
                f"(InvalidArgument) deform_conv2d: {what}: got shape {list(value.shape)}; "
                f"it must be {list(shape)}"
            )
    base = np.meshgrid(np.arange(kh) * dy, np.arange(kw) * dx, indexing="ij")
    starts = np.meshgrid(np.arange(rows) * sy - py, np.arange(columns) * sx - px, indexing="ij")
    # Pairs of (y, x), as in Paddle.
    moved = offset.reshape(n * d, points, 2, rows, columns)
    at = [moved[:, :, i] + jnp.asarray(base[i].reshape(-1, 1, 1) + starts[i], x.dtype) for i in range(2)]
    low = [jnp.floor(a) for a in at]
    read = 0
    # Bilinear: the four pixels around each place.
    for bits in np.ndindex(2, 2):
        # The share of a corner is larger the nearer it is, along both axes.
        corner = [(w + b).astype(jnp.int32) for w, b in zip(low, bits, strict=True)]
        share = math.prod(a - w if b else 1 - (a - w) for a, w, b in zip(at, low, bits, strict=True))
        read = read + _fetch(x.reshape(n * d, channels // d, height, width), corner) * share[:, None]
    # Version 2 (Zhu and others, 2019): each place has a weight as well.
    if mask is not None:
        read = read * mask.reshape(n * d, 1, points, rows, columns)
    read = read.reshape(n, groups, per_group, points, rows, columns)
    y = jnp.einsum(
        "ngcphw,gocp->ngohw",
        read,
        weight.reshape(groups, out // groups, per_group, points),
        precision="highest",
    )
    y = y.reshape(n, out, rows, columns)
    if bias is None:
        return y
    return y + bias.reshape(1, -1, 1, 1)


class DeformConv2D(nn.Layer):
    """2-d convolution over moved positions, see `deform_conv2d`.

    Args:
        in_channels, out_channels: int.
        kernel_size, stride, padding, dilation: int or pair; the last three with defaults 1, 0, 1.
        deformable_groups: int, groups of channels with their own offsets. Default 1.
        groups: int. Default 1.
        weight_attr, bias_attr: ParamAttr; bias_attr False for no bias.
    Attributes:
        _weight_attr, _bias_attr, _deformable_groups, _groups, _in_channels, _out_channels: as given.
        _stride, _padding, _dilation, _kernel_size: [int, int].
        weight: Parameter [out_channels, in_channels / groups, *kernel_size].
        bias: Parameter [out_channels], or None.
    Shape:
        x: [N, in_channels, H, W]; offset: [N, 2 D kh kw, H', W']; mask: [N, D kh kw, H', W']; output:
        [N, out_channels, H', W'].
    Raises:
        AssertionError: weight_attr is False.
        ValueError: in_channels is not a multiple of groups.
    Example:
        >>> layer = paddle.vision.ops.DeformConv2D(3, 8, 3)
        >>> layer(paddle.ones([1, 3, 5, 5]), paddle.zeros([1, 18, 3, 3])).shape
        paddle.Size([1, 8, 3, 3])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        dilation: Size = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
    ) -> None:
        super().__init__()
        if weight_attr is False:
            raise AssertionError("DeformConv2D: weight_attr: got False; a convolution needs a weight")
        if in_channels % groups:
            raise ValueError(
                f"DeformConv2D: in_channels: got {in_channels}; it must be a multiple of groups, {groups}"
            )
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._deformable_groups = deformable_groups
        self._groups = groups
        self._in_channels = in_channels
        self._out_channels = out_channels
        self._stride, self._padding, self._dilation, self._kernel_size = (
            _pair(stride),
            _pair(padding),
            _pair(dilation),
            _pair(kernel_size),
        )
        shape = [out_channels, in_channels // groups, *self._kernel_size]
        # He and others, 2015.
        spread = math.sqrt(2 / (math.prod(self._kernel_size) * in_channels))
        self.weight: Parameter = self.create_parameter(
            shape, attr=weight_attr, default_initializer=nn.initializer.Normal(0.0, spread)
        )
        self.bias: Parameter = self.create_parameter([out_channels], attr=bias_attr, is_bias=True)

    def forward(self, x: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        """Tensor [N, out_channels, H', W']: see `deform_conv2d`."""
        return deform_conv2d(
            x,
            offset,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._dilation,
            self._deformable_groups,
            self._groups,
            mask,
        )


__all__ = ["DeformConv2D", "deform_conv2d"]
