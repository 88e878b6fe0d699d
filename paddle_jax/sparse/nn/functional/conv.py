"""Convolutions of sparse Tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.sparse.nn.functional.products import convolved

if TYPE_CHECKING:
    from paddle_jax._annotations import Padding, Size
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.sparse.base import SparseTensor

__all__ = []


def conv3d(
    x: SparseTensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> SparseTensor:
    """Convolves a sparse volume. The result has an element wherever some element of the volume lies
    below the kernel.

    Args:
        x: SparseCooTensor [n, depth, height, width, in_channels] with coordinates of all axes but the last;
            float32 or float64.
        weight: Tensor [depth, height, width, in_channels, out_channels] of the same dtype.
        bias: Tensor [out_channels], added to the elements that are kept.
        stride: int or 3 ints.
        padding: int, 3 ints, 6 ints or 5 pairs: the zeros beside each axis. As in Paddle "SAME" and "VALID"
            mean 0, and of six numbers that are not equal by pairs the first three count, one for each axis.
        dilation: int or 3 ints, the distance of the elements of the kernel.
        groups: 1.
        data_format: "NDHWC".
    Returns:
        SparseCooTensor [n, depth, height, width, out_channels], its coordinates sorted.
    Raises:
        AssertionError: groups is not 1.
        ValueError: a shape, dtype, number or data_format does not fit.
        NotImplementedError: x is not a SparseCooTensor.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 0], [1, 1], [0, 2]], [[1.0], [2.0]],
        ...                                     [1, 1, 3, 3, 1])
        >>> paddle.sparse.nn.functional.conv3d(x, paddle.ones([1, 3, 3, 1, 1]),
        ...                                    padding=[0, 1, 1]).values().flatten().tolist()
        [1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0]
    """
    return convolved("conv3d", x, weight, bias, stride, padding, dilation, groups, data_format, 3, False)


def conv2d(
    x: SparseTensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    name: str | None = None,
) -> SparseTensor:
    """Convolves a sparse image. Arguments as for `conv3d`, with two axes of space.

    Args:
        x: SparseCooTensor [n, height, width, in_channels] with coordinates of all axes but the last.
        weight: Tensor [height, width, in_channels, out_channels].
        data_format: "NHWC".
        bias, stride, padding, dilation, groups: as for `conv3d`.
    Returns:
        SparseCooTensor [n, height, width, out_channels].
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [1, 1], [0, 2]], [[1.0], [2.0]], [1, 3, 3, 1])
        >>> paddle.sparse.nn.functional.conv2d(x, paddle.ones([3, 3, 1, 1]),
        ...                                    padding=1).values().flatten().tolist()
        [1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0]
    """
    return convolved("conv2d", x, weight, bias, stride, padding, dilation, groups, data_format, 2, False)


def subm_conv3d(
    x: SparseTensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    key: str | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Convolves a sparse volume; the result has the coordinates of x, so a net of many layers stays sparse.

    Args:
        x: SparseCooTensor [n, depth, height, width, in_channels] with coordinates of all axes but the last;
            float32 or float64.
        weight: Tensor [depth, height, width, in_channels, out_channels] of the same dtype.
        bias: Tensor [out_channels], added to the elements that are kept.
        stride, padding: as for `conv3d`. They do not matter: windows lie with their middle on each element of
            x, as in Paddle.
        dilation: int or 3 ints, the distance of the elements of the kernel.
        groups: 1.
        data_format: "NDHWC".
        key: str, a name under which Paddle keeps what it found for the coordinates. It has no effect here.
    Returns:
        SparseCooTensor [n, depth, height, width, out_channels], its coordinates sorted.
    Raises:
        AssertionError: groups is not 1.
        ValueError: a shape, dtype, number or data_format does not fit.
        NotImplementedError: x is not a SparseCooTensor.
    Differs from Paddle: the shape stays with a dilation, and with a kernel of even length (which reaches
    further to the front), where Paddle's changes and its coordinates get mixed up.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 0], [1, 1], [0, 1]], [[1.0], [2.0]],
        ...                                     [1, 1, 3, 3, 1])
        >>> paddle.sparse.nn.functional.subm_conv3d(x, paddle.ones([1, 3, 3, 1, 1]),
        ...                                         padding=0).values().flatten().tolist()
        [3.0, 3.0]
    """
    return convolved("subm_conv3d", x, weight, bias, stride, padding, dilation, groups, data_format, 3, True)


def subm_conv2d(
    x: SparseTensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    key: str | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Convolves a sparse image; the result has the coordinates of x. Arguments as for `subm_conv3d`, with
    two axes of space.

    Args:
        x: SparseCooTensor [n, height, width, in_channels] with coordinates of all axes but the last.
        weight: Tensor [height, width, in_channels, out_channels].
        data_format: "NHWC".
        bias, stride, padding, dilation, groups, key: as for `subm_conv3d`.
    Returns:
        SparseCooTensor [n, height, width, out_channels].
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [1, 1], [0, 1]], [[1.0], [2.0]], [1, 3, 3, 1])
        >>> paddle.sparse.nn.functional.subm_conv2d(x, paddle.ones([3, 3, 1, 1]),
        ...                                         padding=0).values().flatten().tolist()
        [3.0, 3.0]
    """
    return convolved("subm_conv2d", x, weight, bias, stride, padding, dilation, groups, data_format, 2, True)


def subm_conv3d_igemm(
    x: SparseTensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    key: str | None = None,
    name: str | None = None,
) -> SparseTensor:
    """`subm_conv3d` under the name of another of Paddle's kernels.

    Args:
        x, weight, bias, stride, padding, dilation, groups, data_format, key: as for `subm_conv3d`.
    Returns:
        SparseCooTensor [n, depth, height, width, out_channels].
    Differs from Paddle: it works on the CPU, too.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 0], [1, 1], [0, 1]], [[1.0], [2.0]],
        ...                                     [1, 1, 3, 3, 1])
        >>> paddle.sparse.nn.functional.subm_conv3d_igemm(x, paddle.ones([1, 3, 3, 1, 1]),
        ...                                               padding=0).values().flatten().tolist()
        [3.0, 3.0]
    """
    return convolved(
        "subm_conv3d_igemm", x, weight, bias, stride, padding, dilation, groups, data_format, 3, True
    )


def subm_conv2d_igemm(
    x: SparseTensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    key: str | None = None,
    name: str | None = None,
) -> SparseTensor:
    """`subm_conv2d` under the name of another of Paddle's kernels.

    Args:
        x, weight, bias, stride, padding, dilation, groups, data_format, key: as for `subm_conv2d`.
    Returns:
        SparseCooTensor [n, height, width, out_channels].
    Differs from Paddle: it works on the CPU, too.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [1, 1], [0, 1]], [[1.0], [2.0]], [1, 3, 3, 1])
        >>> paddle.sparse.nn.functional.subm_conv2d_igemm(x, paddle.ones([3, 3, 1, 1]),
        ...                                               padding=0).values().flatten().tolist()
        [3.0, 3.0]
    """
    return convolved(
        "subm_conv2d_igemm", x, weight, bias, stride, padding, dilation, groups, data_format, 2, True
    )
