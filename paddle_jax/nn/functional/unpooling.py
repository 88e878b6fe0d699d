"""Undoing maximum pooling, power-average pooling and pooling over random regions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lengths import has_lengths, to_int
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.random import next_key
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.nn.functional.adaptive_pooling import maximum_of_cells, positions
from paddle_jax.nn.functional.input import check_ids
from paddle_jax.nn.functional.pool_windows import Windows, max_values, sums
from paddle_jax.nn.functional.windows import channel_last, ints
from paddle_jax.tensor.axes import instead
from paddle_jax.tensor.creation import zeros

if TYPE_CHECKING:
    from paddle_jax._annotations import Padding, Size
    from paddle_jax._core.tensors.tensor import Tensor


@known_as(code="pooling:scatter_back")
@op("x indices", method=False, register=False)
def _scatter_back(x: jax.Array, indices: jax.Array, sizes: Any) -> jax.Array:
    # As `put_along_axis` over the flattened image.
    flat = jnp.zeros((*x.shape[:2], math.prod(sizes)), x.dtype)
    # The indices count within one channel of one sample.
    n, c = jnp.ogrid[: x.shape[0], : x.shape[1]]
    return (
        flat.at[n[..., None], c[..., None], indices.reshape(*x.shape[:2], -1)]
        .set(x.reshape(*x.shape[:2], -1))
        .reshape(*x.shape[:2], *sizes)
    )


def _unpool(
    op_name: str,
    n: int,
    x: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size,
    padding: Size,
    data_format: str,
    output_size: Any,
) -> Tensor:
    allowed = ("NCL", "NCHW", "NCDHW")[n - 1]
    if data_format != allowed:
        raise ValueError(f"{op_name}: data_format: got {data_format!r}; allowed is {allowed!r}")
    if x.ndim != n + 2 or list(indices.shape) != list(x.shape):
        raise ValueError(
            f"{op_name}: got indices of shape {list(indices.shape)} for x of shape "
            f"{list(x.shape)}; both must have {n + 2} axes"
        )
    kernel = ints(op_name, "kernel_size", _listed(kernel_size), n)
    if stride is None:
        strides = kernel
    else:
        strides = ints(op_name, "stride", _listed(stride), n)
    pads = ints(op_name, "padding", _listed(padding), n, 0)
    # The lengths that pooling without rounding started from.
    sizes = [(s - 1) * t - 2 * p + k for s, t, p, k in zip(x.shape[2:], strides, pads, kernel, strict=True)]
    if output_size is not None:
        wanted = [to_int(s) for s in output_size][-n:]
        if len(wanted) != n or any(
            # Inputs of several sizes are pooled to this one: less than one stride more or less.
            not s - t < w < s + t
            for w, s, t in zip(wanted, sizes, strides, strict=True)
        ):
            raise ValueError(
                f"{op_name}: output_size: got {list(output_size)}; "
                f"each length must be within one stride {list(strides)} of {sizes}"
            )
        sizes = wanted
    return put_back(op_name, x, indices, sizes)


def put_back(op_name: str, x: Tensor, indices: Tensor, sizes: Sequence[Any]) -> Tensor:
    """The maxima x [N, C, ...] at their indices in images of these sizes; zeros elsewhere."""
    if 0 in x.shape:
        if math.prod([*x.shape[:2], *sizes]) == 0:
            return x.reshape([*x.shape[:2], *sizes])
        return zeros([*x.shape[:2], *sizes], x.dtype)
    if numpy_dtype(indices).kind not in "iu":
        raise ValueError(
            f"{op_name}: indices: got {indices.dtype}; they must be integers; cast them with astype"
        )
    check_ids(op_name, "indices", indices, math.prod(sizes))
    return _scatter_back(x, indices, tuple(sizes))


def _listed(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    # NumPy's integers are no ints for the checks.
    return tuple(int(v) if isinstance(v, np.integer) else v for v in value)


@composite(
    method=False,
    cases=[
        "f(1,1,3), const([[[0,3,4]]],'int32'), 2",
        "f(1,1,3), const([[[0,3,4]]],'int32'), 2, output_size=[1,1,7]",
        "f(1,1,3), const([[[0,3,9]]],'int32'), 2",
        "f(1,3), const([[0,3,4]],'int32'), 2",
    ],
)
def max_unpool1d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    data_format: str = "NCL",
    output_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Puts the maxima of a sequence back where `max_pool1d` found them; zeros elsewhere. Arguments as
    for `max_unpool2d`.

    Args:
        x: Tensor [N, C, L], the maxima.
        indices: int Tensor of the shape of x, the positions that `max_pool1d` gave.
        kernel_size, stride, padding: ints, or lists of one, as they were for `max_pool1d`.
        data_format: "NCL".
        output_size: list of the length of the result. Default: from the other arguments.
    Returns:
        Tensor [N, C, length].
    Example:
        >>> x, i = paddle.to_tensor([[[5.0]]]), paddle.to_tensor([[[1]]], dtype="int32")
        >>> paddle.nn.functional.max_unpool1d(x, i, 2).tolist()
        [[[0.0, 5.0]]]
    """
    return _unpool("max_unpool1d", 1, x, indices, kernel_size, stride, padding, data_format, output_size)


@composite(
    method=False,
    cases=[
        "f(1,1,2,2), const([[[[0,3],[9,14]]]],'int32'), 2",
        "f(1,1,2,2), const([[[[0,3],[9,14]]]]), 2, output_size=[5,5]",
        "f(1,1,2,2), const([[[[0,3],[9,99]]]],'int32'), 2",
        "f(1,1,2,2), const([[[[0,3],[9,14]]]],'int32'), 2, output_size=[9,9]",
        "f(1,1,2,2), const([[[[0,3],[9,14]]]],'int32'), 2, data_format='NHWC'",
        "f(1,1,2,2), const([[[0,3],[9,14]]],'int32'), 2",
        "d(2,1,2,2), const([[[[0,3],[5,8]]],[[[1,2],[4,7]]]],'int32'), 2, 2, [1,0], output_size=[2,4]",
        "d(2,1,1,2), const([[[[0,3]]],[[[1,2]]]],'int32'), [2,2]",
        "d(2,1,1,2), const([[[[0,3]]],[[[1,2]]]],'int32'), [np.int64(2),np.int64(2)]",
    ],
)
def max_unpool2d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    data_format: str = "NCHW",
    output_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Puts maxima back where `max_pool2d(..., return_mask=True)` found them; zeros elsewhere.

    Args:
        x: Tensor [N, C, H, W]: the maxima.
        indices: int Tensor of the same shape: their positions.
        kernel_size, stride, padding: those of the pooling.
        data_format: "NCHW".
        output_size: lengths of the result, with or without N and C. Default: (H - 1) * stride - 2 *
            padding + kernel_size.
    Returns:
        Tensor [N, C, H', W'].
    Raises:
        ValueError: shapes do not fit or a position lies outside.
    Example:
        >>> x, i = paddle.to_tensor([[[[5.0]]]]), paddle.to_tensor([[[[2]]]], dtype="int32")
        >>> paddle.nn.functional.max_unpool2d(x, i, 2)[0, 0].tolist()
        [[0.0, 0.0], [5.0, 0.0]]
    """
    return _unpool("max_unpool2d", 2, x, indices, kernel_size, stride, padding, data_format, output_size)


@composite(
    method=False,
    cases=[
        "f(1,1,1,1,2), const([[[[[0,3]]]]],'int32'), 2",
        "f(1,1,1,2), const([[[[0,3]]]],'int32'), 2",
        "f(1,1,1,1,2), const([[[[[0,15]]]]],'int32'), 2, output_size=[2,2,4]",
    ],
)
def max_unpool3d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    data_format: str = "NCDHW",
    output_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Puts the maxima of a volume back where `max_pool3d` found them; zeros elsewhere. Arguments as
    for `max_unpool2d`.

    Args:
        x: Tensor [N, C, D, H, W], the maxima.
        indices: int Tensor of the shape of x, the positions that `max_pool3d` gave.
        kernel_size, stride, padding: ints, or lists of three, as they were for `max_pool3d`.
        data_format: "NCDHW".
        output_size: list of the lengths of the result. Default: from the other arguments.
    Returns:
        Tensor [N, C, depth, height, width].
    Example:
        >>> x, i = paddle.to_tensor([[[[[5.0]]]]]), paddle.to_tensor([[[[[7]]]]], dtype="int32")
        >>> paddle.nn.functional.max_unpool3d(x, i, 2).sum().item()
        5.0
    """
    return _unpool("max_unpool3d", 3, x, indices, kernel_size, stride, padding, data_format, output_size)


def _fifth_is_ceil_mode(public: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a bool as the fifth and last positional argument be `ceil_mode`, as in torch's signature."""

    def call(*args: Any, **kwargs: Any) -> Any:
        # Paddle's fifth argument is a padding or a data format, which is no bool.
        if len(args) == 5 and isinstance(args[4], bool):
            return public(*args[:4], ceil_mode=args[4], **kwargs)
        return public(*args, **kwargs)

    return instead(public, call, False)


def _power_mean(
    op_name: str,
    n: int,
    x: jax.Array,
    norm_type: float,
    kernel_size: Size,
    stride: Size,
    padding: Padding,
    ceil_mode: bool,
    data_format: str,
) -> jax.Array:
    p = float(norm_type)
    if p == 0:
        raise ValueError(f"{op_name}: norm_type: got 0; it must not be 0")
    windows = Windows(
        op_name, x, n, kernel_size, stride, padding, ceil_mode, channel_last(op_name, n, data_format)
    )
    if p == math.inf:
        # The limit of the power mean is the maximum.
        return max_values(x, windows)
    if p == -math.inf:  # every root of degree -inf is 1
        return jnp.ones_like(sums(x, windows))
    # No absolute value, as in Paddle: an odd power keeps the sign, and the root of a negative sum is NaN.
    total = sums(jnp.square(x) if p == 2 else jnp.power(x, p), windows)
    some = total != 0  # the root has no slope at 0
    # Any number but 0, whose root has an infinite slope.
    root = jnp.where(some, total, 1)
    return jnp.where(some, jnp.sqrt(root) if p == 2 else jnp.power(root, 1 / p), 0)


@known_as(code="pooling:lp_pool1d")
@op(
    alias={"input": "x"},
    method=False,
    cases=[
        "f(1,2,6), 2, 2",
        "pos(1,2,7), 2.5, 3, 2, 1, True",
        "f(1,2,7), float('inf'), 3, 2",
        "f(1,2,6), 0, 2",
        "pos(1,7,2), 3, 3, data_format='NLC'",
        "d(1,2,6), 2, 3, 1",
    ],
)
def lp_pool1d(
    x: jax.Array,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    data_format: str = "NCL",
    name: str | None = None,
) -> jax.Array:
    """(sum of x ** norm_type) ** (1 / norm_type) over windows of a sequence. Arguments as for `lp_pool2d`.

    Args:
        x: Tensor [N, C, L] or [N, L, C].
        norm_type: number other than 0; infinity takes the maximum.
        kernel_size, stride, padding, ceil_mode: as for `max_pool1d`.
        data_format: "NCL" or "NLC".
    Returns:
        Tensor [N, C, windows], or with the channels last, as x.
    Example:
        >>> paddle.nn.functional.lp_pool1d(paddle.to_tensor([[[3.0, 4.0]]]), 2, 2).tolist()
        [[[5.0]]]
    """
    return _power_mean("lp_pool1d", 1, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


lp_pool1d = _fifth_is_ceil_mode(lp_pool1d)


@known_as(
    pir="lp_pool2d kernel_size:ints strides:i64s paddings:i64s ceil_mode:bool=False "
    "exclusive:bool=True data_format:str='NCHW' pooling_type:str global_pooling:bool=False "
    "adaptive:bool=False padding_algorithm:str='EXPLICIT' norm_type:f32",
    code="pooling:lp_pool2d",
)
@op(
    alias={"input": "x"},
    method=False,
    cases=[
        "f(1,1,4,4), 2, 2",
        "pos(1,1,5,5), 3.0, [2,3], [2,1], 1",
        "f(1,1,4,4), 0, 2",
        "d(1,4,4,2), 2, 2, data_format='NHWC'",
        "f(1,1,4,4), float('inf'), 2",
    ],
)
def lp_pool2d(
    x: jax.Array,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> jax.Array:
    """(sum of x ** norm_type) ** (1 / norm_type) over windows of an image.

    Args:
        x: Tensor [N, C, H, W] or [N, H, W, C]. `input` is accepted as a name.
        norm_type: number other than 0; infinity takes the maximum. A negative x with a
            fractional power is NaN.
        kernel_size, stride, padding, ceil_mode, data_format: as for `max_pool2d`. A bool as the fifth of five
            positional arguments is ceil_mode.
    Returns:
        Tensor [N, C, height, width], or with the channels last, as x.
    Raises:
        ValueError: norm_type is 0 or an argument does not fit x.
    Example:
        >>> paddle.nn.functional.lp_pool2d(paddle.to_tensor([[[[3.0, 4.0]]]]), 2, [1, 2]).item()
        5.0
    """
    return _power_mean("lp_pool2d", 2, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


lp_pool2d = _fifth_is_ceil_mode(lp_pool2d)


def _random_cells(size: int, out: int, kernel: Any, u: Any) -> tuple[np.ndarray, np.ndarray]:
    """First and past-the-end positions of pseudo-random regions for u in (0, 1), in single precision as
    Paddle computes them."""
    f = np.float32
    if kernel is None:
        # Edges are int((i + u) * alpha) - int(u * alpha); u is limited so that they end within the axis.
        alpha = f(size) / f(out)
        base = size // out
        u = f(u) * min(f(base + 2) / alpha - f(1), f(size + 1 - base) / alpha - f(out - 1))
    else:
        alpha = f(size - kernel) / f(out - 1) if out > 1 else f(0)
        u = f(u)
    edges = ((np.arange(out + 1).astype(f) + u) * alpha).astype(int) - int(u * alpha)
    first = edges[:-1]
    end = edges[1:] if kernel is None else first + kernel
    # At least one element in each region, none behind the end.
    return first, np.minimum(np.maximum(end, first + 1), size)


@known_as(code="pooling:fractional")
@op("x *tables", method=False, register=False)
def _fractional(
    x: jax.Array,
    tables: Any,
    return_mask: bool,
    sizes: Any = None,
    kernel: Any = None,
    share: float | None = None,
) -> Any:
    value, place = maximum_of_cells(x, tables)
    if return_mask:
        return (value, place)
    return value


@known_as(code="pooling:fractional")
@op(method=False, register=False)
def _fractional_of_lengths(
    x: jax.Array, output_size: Any, return_mask: bool, kernel: Any, share: float | None
) -> Any:
    """As `_fractional` for lengths that are unknown while a Program is recorded: the regions come from x."""
    u = 0.5 if share is None else share
    tables = []
    for size, out, k in zip(x.shape[2:], output_size, kernel or [None] * len(output_size), strict=True):
        _check_regions("fractional_max_pool", x.shape, output_size, size, out, k)
        tables.append(_regions(size, out, k, u))
    value, place = maximum_of_cells(x, tables)
    if return_mask:
        return (value, place)
    return value


def _regions(size: int, out: int, kernel: int | None, u: float) -> np.ndarray:
    """The positions in each pseudo-random region [out, reach]."""
    reach = size // out + 2 if kernel is None else kernel
    return positions(*_random_cells(size, out, kernel, u), reach)


def _check_regions(
    op_name: str, shape: Sequence[Any], output_size: Any, size: int, out: int, kernel: int | None
) -> None:
    """Raises where an axis of `size` has no `out` regions."""
    # Regions of a given length may overlap, but must lie within the axis.
    if not 1 <= out <= size or kernel is not None and out + kernel - 1 > size:
        raise ValueError(
            f"{op_name}: output_size: got {output_size} for shape {list(shape)}; "
            "there must be that many regions"
        )


def _fractional_pool(
    op_name: str, n: int, x: Tensor, output_size: Any, kernel_size: Size, random_u: float, return_mask: bool
) -> Any:
    if x.ndim != n + 2:
        raise ValueError(f"{op_name}: x: got shape {list(x.shape)}; it must have {n + 2} axes")
    if random_u is None and local.ctx.frame.symbolic:
        u = 0.5  # a model file draws it in each run
    elif random_u is None:
        u = float(jax.random.uniform(next_key(), minval=1e-6))
    # NumPy's floats count as well.
    elif isinstance(random_u, float | np.floating) and 0 < random_u < 1:
        u = float(random_u)
    else:
        raise ValueError(f"{op_name}: random_u: got {random_u!r}; it must be a float between 0 and 1")
    if isinstance(output_size, int):
        sizes = [output_size] * n
    else:
        sizes = [s if s is not None else k for s, k in zip(output_size, x.shape[2:], strict=True)]
    if kernel_size is None:
        kernel = [None] * n
    else:
        kernel = ints(op_name, "kernel_size", _listed(kernel_size), n)
    lengths = None if kernel_size is None else tuple(kernel)
    # None says that no number was given, so that a saved model draws its own.
    share = None if random_u is None else u
    if has_lengths([*x.shape[2:], *sizes]):
        return _fractional_of_lengths(x, tuple(sizes), bool(return_mask), lengths, share)
    tables = []  # operands, so that new regions need no new compilation
    for size, out, k in zip(x.shape[2:], sizes, kernel, strict=True):
        _check_regions(op_name, x.shape, output_size, size, out, k)
        tables.append(wrap(jnp.asarray(_regions(size, out, k, u))))
    return _fractional(x, tables, bool(return_mask), tuple(sizes), lengths, share)


@composite(
    method=False,
    cases=[
        "f(1,1,6,6), 3, random_u=0.3",
        "f(1,2,7,7), [3,4], 2, 0.3, True",
        "~f(1,1,7,7), [3,4]",
        "f(1,1,7,7), [3,None], random_u=0.5",
        "f(1,1,7,7), 3, random_u=1.5",
        "f(1,7,7), 3, random_u=.5",
        "f(1,1,6,6), 3, random_u=np.float32(0.3)",
        "d(1,1,9,8), 4, random_u=0.8, return_mask=True",
    ],
)
def fractional_max_pool2d(
    x: Tensor,
    output_size: Any,
    kernel_size: Size | None = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """Takes maxima over pseudo-random regions whose number is given.

    Args:
        x: Tensor [N, C, H, W].
        output_size: int or [height, width]; None keeps that length.
        kernel_size: int or [height, width] of overlapping regions. Default: regions that just touch.
        random_u: float in (0, 1) that fixes the regions. Default: drawn at random.
        return_mask: also return where each maximum is.
    Returns:
        Tensor, or (Tensor, int32 Tensor of positions in the flattened H * W).
    Raises:
        ValueError: an argument does not fit.
    Example:
        >>> paddle.nn.functional.fractional_max_pool2d(paddle.ones([1, 1, 6, 6]), 3).shape
        paddle.Size([1, 1, 3, 3])

    See: Graham, Fractional Max-Pooling, 2015.
    """
    return _fractional_pool("fractional_max_pool2d", 2, x, output_size, kernel_size, random_u, return_mask)


@composite(
    method=False,
    cases=[
        "f(1,1,5,5,5), 2, random_u=0.6",
        "f(1,2,5,6,7), [2,3,4], 2, 0.3, True",
        "~f(1,1,5,5,5), 2",
        "f(1,5,5,5), 2, random_u=.5",
    ],
)
def fractional_max_pool3d(
    x: Tensor,
    output_size: Any,
    kernel_size: Size | None = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """Takes maxima over pseudo-random regions of volumes [N, C, D, H, W]. Arguments as for
    `fractional_max_pool2d`.

    Args:
        x: Tensor [N, C, D, H, W].
        output_size: int, or list of three; None keeps the length of an axis.
        kernel_size: int or list of three. Default: regions that do not overlap.
        random_u: number in (0, 1) that chooses the regions. Default: drawn.
        return_mask: also give the positions of the maxima in the flattened volume.
    Returns:
        Tensor [N, C, *output_size]; with return_mask also an int32 Tensor of that shape.
    Example:
        >>> paddle.nn.functional.fractional_max_pool3d(paddle.ones([1, 1, 4, 4, 4]), 2).shape
        paddle.Size([1, 1, 2, 2, 2])
    """
    return _fractional_pool("fractional_max_pool3d", 3, x, output_size, kernel_size, random_u, return_mask)
