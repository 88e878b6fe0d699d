"""Maximum and average pooling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax.nn.functional.adaptive_pooling import (
    adaptive_avg_pool1d,  # noqa: F401
    adaptive_avg_pool2d,  # noqa: F401
    adaptive_avg_pool3d,  # noqa: F401
    adaptive_max_pool1d,  # noqa: F401
    adaptive_max_pool2d,  # noqa: F401
    adaptive_max_pool3d,  # noqa: F401
)
from paddle_jax.nn.functional.pool_windows import Windows, max_values, max_with_index, mean_values
from paddle_jax.nn.functional.unpooling import (
    fractional_max_pool2d,  # noqa: F401
    fractional_max_pool3d,  # noqa: F401
    lp_pool1d,  # noqa: F401
    lp_pool2d,  # noqa: F401
    max_unpool1d,  # noqa: F401
    max_unpool2d,  # noqa: F401
    max_unpool3d,  # noqa: F401
)
from paddle_jax.nn.functional.windows import channel_last

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Padding, Size


def _max(
    op_name: str,
    n: int,
    x: jax.Array,
    kernel: Any,
    stride: Any,
    padding: Any,
    return_mask: bool,
    ceil_mode: bool,
    data_format: str,
) -> Any:
    last = channel_last(op_name, n, data_format)
    # Positions count within an image of one channel.
    if return_mask and last:
        raise ValueError(
            f"{op_name}: return_mask: got True with data_format {data_format!r}; "
            "positions need channels on axis 1"
        )
    windows = Windows(op_name, x, n, kernel, stride, padding, ceil_mode, last)
    if return_mask:
        return max_with_index(x, windows)
    return max_values(x, windows)


def _mean(
    op_name: str,
    n: int,
    x: jax.Array,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    exclusive: bool,
    divisor: int | None,
    data_format: str,
) -> jax.Array:
    windows = Windows(
        op_name, x, n, kernel, stride, padding, ceil_mode, channel_last(op_name, n, data_format)
    )
    return mean_values(x, windows, exclusive, divisor)


@known_as(code="pooling:max_pool1d")
@op(
    method=False,
    cases=[
        "f(1,2,7), 2",
        "f(1,2,7), 3, 2, 1",
        "f(1,2,7), [2], [2], return_mask=True",
        "f(1,2,7), 2, ceil_mode=True",
        "f(1,2,7), 3, 2, 'SAME'",
        "f(1,2,7), 8",
        "d(0,2,7), 2",
        "f(2,7), 2",
        "f(1,2,7), 3, 2, 'VALID'",
        "f(1,2,7), 0",
        "f(1,2,7), 2, padding='X'",
    ],
)
def max_pool1d(
    x: jax.Array,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """Takes the maximum over windows of a sequence [N, C, L]. Arguments as for `max_pool2d`, with
    one spatial axis.

    Args:
        x: Tensor [N, C, L].
        kernel_size, stride, padding: ints, or lists of one, as for `max_pool2d`.
        return_mask: also give the positions of the maxima.
        ceil_mode: also take the last window where it is not full.
    Returns:
        Tensor [N, C, windows]; with return_mask also an int32 Tensor of that shape.
    Example:
        >>> paddle.nn.functional.max_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[3.0, 2.0]]]
    """
    return _max("max_pool1d", 1, x, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


@known_as(
    pir="max_pool2d_with_index kernel_size:i32s strides:i32s paddings:i32s "
    "global_pooling:bool=False adaptive:bool=False ceil_mode:bool=False",
    code="pooling:max_pool2d",
)
@op(
    method=False,
    cases=[
        "f(1,2,6,6), 2",
        "f(1,2,7,5), 3, 2, 1",
        "f(2,2,7,5), [3,2], [2,1], [1,0]",
        "f(1,2,7,5), 2, 2, return_mask=True",
        "f(1,1,7,5), 3, 2, 1, True, True",
        "f(1,2,7,5), 2, ceil_mode=True",
        "f(1,2,7,5), 3, 2, 'SAME'",
        "f(1,2,7,5), 3, 2, 'VALID'",
        "f(1,2,7,5), 3, 2, [1,0,0,1]",
        "f(1,2,7,5), 3, 2, [[0,0],[0,0],[1,0],[0,1]]",
        "f(1,7,5,2), 3, 2, data_format='NHWC'",
        "d(0,2,6,6), 2",
        "f(2,6,6), 2",
        "f(1,2,6,6), 7",
        "f(1,2,6,6), 2, data_format='X'",
        "f(1,2,6,6), 2, 2, [1,1,1]",
        "f(1,2,6,6), 2, 2, 'VALID', ceil_mode=True",
        "f(1,2,9,9), 7, 1",
        "f(1,2,6,6), 2, 0",
        "f(1,7,5,2), 3, 2, return_mask=True, data_format='NHWC'",
    ],
)
def max_pool2d(
    x: jax.Array,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Takes the maximum over windows of an image.

    Args:
        x: Tensor [N, C, H, W], or [N, H, W, C] with data_format "NHWC".
        kernel_size: int or [height, width].
        stride: int or [height, width]. Default: kernel_size.
        padding: int, [height, width], [top, bottom, left, right], pairs for all four axes, "SAME" or "VALID".
            Padding never wins.
        return_mask: also return where each maximum is.
        ceil_mode: round output lengths up instead of down.
        data_format: "NCHW" or "NHWC".
    Returns:
        Tensor, or (Tensor, int32 Tensor of positions in the flattened H * W).
    Raises:
        ValueError: an argument does not fit x.
    Example:
        >>> paddle.nn.functional.max_pool2d(paddle.to_tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2).tolist()
        [[[[3.0]]]]
    """
    return _max("max_pool2d", 2, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@known_as(
    pir="max_pool3d_with_index kernel_size:i32s strides:i32s paddings:i32s "
    "global_pooling:bool=False adaptive:bool=False ceil_mode:bool=False",
    code="pooling:max_pool3d",
)
@op(
    method=False,
    cases=[
        "f(1,2,4,5,4), 2",
        "f(1,2,4,5,4), [2,3,2], 2, 1",
        "f(1,2,4,4,4), 2, return_mask=True",
        "f(1,4,4,4,2), 2, data_format='NDHWC'",
        "f(1,2,4,4), 2",
        "f(1,2,4,5,4), 3, 2, 'SAME'",
        "f(1,2,4,5,4), 3, 2, ceil_mode=True",
        "f(1,2,4,5,4), 3, 2, [1,0,1,0,0,1]",
    ],
)
def max_pool3d(
    x: jax.Array,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Takes the maximum over windows of a volume [N, C, D, H, W] or [N, D, H, W, C]. Arguments as for
    `max_pool2d`, with three spatial axes.

    Args:
        x: Tensor [N, C, D, H, W], or [N, D, H, W, C] with data_format "NDHWC".
        kernel_size, stride, padding: ints, or lists of three, as for `max_pool2d`.
        return_mask: also give the positions of the maxima in the flattened volume.
        ceil_mode: also take the last windows where they are not full.
        data_format: "NCDHW" or "NDHWC".
    Returns:
        Tensor [N, C, depth, height, width], or with the channels last; with return_mask also an int32 Tensor
            of that shape.
    Example:
        >>> paddle.nn.functional.max_pool3d(paddle.ones([1, 1, 2, 2, 2]), 2).shape
        paddle.Size([1, 1, 1, 1, 1])
    """
    return _max("max_pool3d", 3, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@known_as(code="pooling:avg_pool1d")
@op(
    method=False,
    cases=[
        "f(1,2,7), 2",
        "f(1,2,7), 3, 2, 1",
        "f(1,2,7), 3, 2, 1, exclusive=False",
        "f(1,2,7), 2, ceil_mode=True",
        "f(1,2,7), 3, 2, 'SAME'",
        "f(1,2,7), 8",
        "d(0,2,7), 2",
        "f(2,7), 2",
        "f(1,2,7), 3, 2, 1, False, True",
    ],
)
def avg_pool1d(
    x: jax.Array,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Takes the mean over windows of a sequence [N, C, L]. Arguments as for `avg_pool2d`, with
    one spatial axis.

    Args:
        x: Tensor [N, C, L].
        kernel_size, stride, padding: ints, or lists of one, as for `avg_pool2d`.
        exclusive: padding does not count in the mean.
        ceil_mode: also take the last window where it is not full.
    Returns:
        Tensor [N, C, windows].
    Example:
        >>> paddle.nn.functional.avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2).tolist()
        [[[2.0, 1.0]]]
    """
    return _mean("avg_pool1d", 1, x, kernel_size, stride, padding, ceil_mode, exclusive, None, "NCL")


@known_as(
    pir="pool2d strides:i64s paddings:i64s ceil_mode:bool=False exclusive:bool=True "
    "data_format:str='NCHW' pooling_type:str global_pooling:bool=False adaptive:bool=False "
    "padding_algorithm:str='EXPLICIT'",
    code="pooling:avg_pool2d",
)
@op(
    method=False,
    cases=[
        "f(1,2,6,6), 2",
        "f(1,2,7,5), 3, 2, 1",
        "f(2,2,7,5), [3,2], [2,1], [1,0], exclusive=False",
        "f(1,2,7,5), 2, ceil_mode=True",
        "f(1,2,7,5), 3, 2, 1, True, False",
        "f(1,2,7,5), 3, 2, 1, True, True",
        "f(1,2,7,5), 3, 2, 'SAME'",
        "f(1,2,7,5), 3, 2, [1,0,0,1]",
        "f(1,7,5,2), 3, 2, 1, data_format='NHWC'",
        "f(1,2,7,5), 3, 2, 1, divisor_override=4",
        "d(0,2,6,6), 2",
        "f(2,6,6), 2",
        "f(1,2,6,6), 7",
        "f(1,2,8,8), 8",
        "f(1,2,9,9), 7, 1",
        "f(1,2,6,6), 2, data_format='X'",
        "f(1,2,7,5), 3, 2, 'SAME', exclusive=False",
        "f(1,2,4,4), 3, 2, 'SAME', exclusive=False",
        "f(1,1,4,4), 3, 2, [1,2,0,1], exclusive=False",
    ],
)
def avg_pool2d(
    x: jax.Array,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: int | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> jax.Array:
    """Takes the mean over windows of an image.

    Args:
        x: Tensor [N, C, H, W], or [N, H, W, C] with data_format "NHWC".
        kernel_size, stride, padding, ceil_mode, data_format: as for `max_pool2d`.
        exclusive: divide by the number of elements of x in the window; False counts padding too.
        divisor_override: number that takes the place of the kernel's size in the mean.
    Returns:
        Tensor.
    Raises:
        ValueError: an argument does not fit x.
    Example:
        >>> paddle.nn.functional.avg_pool2d(paddle.to_tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 2).tolist()
        [[[[1.5]]]]
    """
    return _mean(
        "avg_pool2d", 2, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format
    )


@known_as(
    pir="pool3d kernel_size:i64s strides:i64s paddings:i64s ceil_mode:bool=False "
    "exclusive:bool=True data_format:str='NCDHW' pooling_type:str "
    "global_pooling:bool=False adaptive:bool=False padding_algorithm:str='EXPLICIT'",
    code="pooling:avg_pool3d",
)
@op(
    method=False,
    cases=[
        "f(1,2,4,5,4), 2",
        "f(1,2,4,5,4), [2,3,2], 2, 1",
        "f(1,2,4,4,4), 2, 2, 1, exclusive=False",
        "f(1,4,4,4,2), 2, data_format='NDHWC'",
        "f(1,2,4,4), 2",
        "f(1,2,4,5,4), 3, 2, 'SAME'",
        "f(1,2,4,5,4), 3, 2, ceil_mode=True",
        "f(1,2,4,4,4), 2, divisor_override=3",
    ],
)
def avg_pool3d(
    x: jax.Array,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: int | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> jax.Array:
    """Takes the mean over windows of a volume [N, C, D, H, W] or [N, D, H, W, C]. Arguments as for
    `avg_pool2d`, with three spatial axes.

    Args:
        x: Tensor [N, C, D, H, W], or [N, D, H, W, C] with data_format "NDHWC".
        kernel_size, stride, padding: ints, or lists of three, as for `avg_pool2d`.
        ceil_mode: also take the last windows where they are not full.
        exclusive: padding does not count in the mean.
        divisor_override: number to divide the sums by. Default: the number of elements.
        data_format: "NCDHW" or "NDHWC".
    Returns:
        Tensor [N, C, depth, height, width], or with the channels last, as x.
    Example:
        >>> paddle.nn.functional.avg_pool3d(paddle.ones([1, 1, 2, 2, 2]), 2).tolist()
        [[[[[1.0]]]]]
    """
    return _mean(
        "avg_pool3d", 3, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format
    )
