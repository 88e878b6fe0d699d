"""Linear maps, similarity, label smoothing, unfolding; dropout, padding and resizing have
files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base.dtype import promote_np
from paddle_jax._core.base.size import is_symbolic
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax.nn.functional.drop import (  # noqa: F401
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from paddle_jax.nn.functional.many_classes import class_center_sample  # noqa: F401
from paddle_jax.nn.functional.padding import pad, zeropad2d  # noqa: F401
from paddle_jax.nn.functional.resize import interpolate, upsample  # noqa: F401
from paddle_jax.nn.functional.windows import ints, paddings
from paddle_jax.tensor.products import product

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Size


@known_as(amp="linear_v2", code="matrices:linear", node="matmul")
@op(
    "x weight bias",
    same_dtype="x weight",
    method=False,
    cases=[
        "f(2,3), f(3,4), f(4)",
        "f(2,3), f(3,4), d(4)",
        "d(2,3), d(3,4), f(4)",
        "f(2,3), f(3,4), i(4)",
        "f(2,3), d(3,4), f(4)",
        "f(3), f(3,4), f(4)",
        "f(2,3), f(3,4)",
        "d(2,5,3), d(3,4), d(4)",
        "f(2,3), f(3,4), f(2,4)",
        "f(2,3), f(4,4)",
        "f(0,3), f(3,4), f(4)",
        "f(2,0), f(0,4), f(4)",
        "f(2,3), f(3,4), f(3)",
        "i(2,3), i(3,4)",
    ],
)
def linear(
    x: jax.Array, weight: jax.Array, bias: jax.Array | None = None, name: str | None = None
) -> jax.Array:
    """Computes x @ weight + bias.

    Args:
        x: Tensor [..., in].
        weight: Tensor [in, out].
        bias: Tensor [out], or None. Of two floating dtypes the sum has the wider one.
    Returns:
        Tensor [..., out].
    Raises:
        ValueError: the sizes do not fit, or x and weight differ in dtype.
        TypeError: bias holds integers and the product does not, or the other way round.
    Example:
        >>> paddle.nn.functional.linear(paddle.ones([1, 2]), paddle.ones([2, 3]), paddle.ones([3])).tolist()
        [[3.0, 3.0, 3.0]]
    """
    out = product(x, weight)
    if bias is None:
        return out
    if bias.dtype == out.dtype:
        if bias.shape != out.shape[-1:]:
            return out + bias
        # Shapes are known to fit, so the checks of jnp are left out: this runs for each layer.
        return lax.add(out, lax.broadcast_in_dim(bias, out.shape, (out.ndim - 1,)))
    # A bias of another dtype widens the result, as Paddle promotes.
    common = promote_np(out.dtype, bias.dtype)
    return out.astype(common) + bias.astype(common)


@known_as(amp="reduce_sum", code="reductions:cosine_similarity")
@op(
    "x1 x2",
    method=False,
    promote=True,
    alias={"dim": "axis"},
    cases=[
        "f(2,3), f(2,3)",
        "f(2,3), f(2,3), axis=0",
        "f(2,3), f(3), axis=-1",
        "f(2,3), f(2,3), eps=5.0",
        "d(2,3,4), d(2,3,4)",
        "f(2,3), f(2,3), axis=2",
        "f(2,3), f(3)",
        "f(2,3), f(3), axis=0",
        "f(3), f(2,3), axis=-1",
        "f(2,3), f(2,1)",
        "f(2,3,4), f(3,4), axis=1",
        "f(3), f(3), axis=0",
        "f(0,3), f(0,3)",
    ],
)
def cosine_similarity(x1: jax.Array, x2: jax.Array, axis: int = 1, eps: float = 1e-8) -> jax.Array:
    """The cosine of the angle between vectors along an axis: dot / max(|x1| |x2|, eps).

    Args:
        x1, x2: Tensors that broadcast.
        axis: int. `dim` is accepted as a name.
        eps: the least product of lengths that is divided by.
    Returns:
        Tensor without the axis.
    Raises:
        IndexError: axis is out of range for x1 or x2. ValueError: they are not equally long along it.
    Example:
        >>> paddle.nn.functional.cosine_similarity(paddle.to_tensor([[3.0, 4.0]]),
        ...                                        paddle.to_tensor([[6.0, 8.0]])).tolist()
        [1.0]
    """
    n = min(x1.ndim, x2.ndim)
    if not -n <= axis < n:
        if n:
            allowed = f"use {-n}..{n - 1}"
        else:
            allowed = "the Tensors must have axes"
        raise IndexError(f"cosine_similarity: axis={axis} is out of range for {n} axes; {allowed}")
    # Paddle broadcasts the axis itself only where one of both has length 1.
    if x1.shape[axis] != x2.shape[axis] and 1 not in (x1.shape[axis], x2.shape[axis]):
        raise ValueError(
            f"cosine_similarity: x2: got length {x2.shape[axis]} along axis {axis}; "
            f"it must be {x1.shape[axis]}, that of x1, or 1"
        )
    x1, x2 = jnp.broadcast_arrays(x1, x2)
    dot = jnp.sum(x1 * x2, axis)
    a = jnp.sum(x1 * x1, axis)
    b = jnp.sum(x2 * x2, axis)
    # The root of the product of squares: one root in place of two.
    return dot / jnp.sqrt(jnp.maximum(a * b, eps * eps))


@known_as(pir="label_smooth epsilon:f32")
@op(
    "label prior_dist",
    same_dtype=True,
    method=False,
    constant="prior_dist",
    cases=[
        "u(0,1,2,3)",
        "u(0,1,2,3), epsilon=0.3",
        "u(0,1,2,3), (idx(9,1,3).astype('float32') + 1) / 10",
        "ud(0,1,3), None, 0.0",
        "u(0,1,2,3), epsilon=1.5",
        "f(0,3)",
        "f(2,0)",
        "f(0,0)",
    ],
)
def label_smooth(
    label: jax.Array, prior_dist: jax.Array | None = None, epsilon: float = 0.1, name: str | None = None
) -> jax.Array:
    """(1 - epsilon) * label + epsilon * prior.

    Args:
        label: Tensor [..., C]: one-hot or class probabilities.
        prior_dist: Tensor [1, C] or [C]: what is mixed in. Default: 1 / C each.
        epsilon: how much of it, from 0 to 1.
    Returns:
        Tensor of the shape of label.
    Raises:
        ValueError: epsilon is out of range.
    Example:
        >>> paddle.nn.functional.label_smooth(paddle.to_tensor([1.0, 0.0]), epsilon=0.5).tolist()
        [0.75, 0.25]

    See: Szegedy et al., Rethinking the Inception Architecture, 2015.
    """
    if not 0 <= epsilon <= 1:
        raise ValueError(f"label_smooth: epsilon: got {epsilon}; it must be between 0 and 1")
    if prior_dist is None:
        # An empty last axis has no classes to share among.
        prior = 1 / max(label.shape[-1], 1)
    else:
        prior = prior_dist.reshape(-1)
    return (1 - epsilon) * label + epsilon * prior


@known_as(pir="bilinear")
@op(
    "x1 x2 weight bias",
    same_dtype=True,
    method=False,
    cases=[
        "f(2,3), f(2,4), f(5,3,4)",
        "f(2,3), f(2,4), f(5,3,4), f(1,5)",
        "d(2,3), d(2,4), d(5,3,4), d(1,5)",
        "f(2,3), f(2,4), f(5,4,3)",
        "f(3), f(4), f(5,3,4)",
        "f(2,3), f(2,4), f(5,3,4), f(5)",
        "f(0,3), f(0,4), f(5,3,4)",
    ],
)
def bilinear(
    x1: jax.Array, x2: jax.Array, weight: jax.Array, bias: jax.Array | None = None, name: str | None = None
) -> jax.Array:
    """x1 @ weight[k] @ x2 for each output feature k, plus bias.

    Args:
        x1: Tensor [N, D1].
        x2: Tensor [N, D2].
        weight: Tensor [out, D1, D2].
        bias: Tensor [1, out], or None.
    Returns:
        Tensor [N, out].
    Raises:
        ValueError: sizes do not fit.
    Example:
        >>> paddle.nn.functional.bilinear(paddle.to_tensor([[2.0]]), paddle.to_tensor([[3.0]]),
        ...                               paddle.to_tensor([[[4.0]]])).tolist()
        [[24.0]]
    """
    if (
        x1.ndim != 2
        or x2.ndim != 2
        or weight.shape[1:] != (x1.shape[1], x2.shape[1])
        or bias is not None
        and bias.shape != (1, weight.shape[0])
    ):
        raise ValueError(
            f"bilinear: got shapes {list(x1.shape)}, {list(x2.shape)} and weight "
            f"{list(weight.shape)}; they must be [N, D1], [N, D2], [out, D1, "
            "D2] and bias [1, out]"
        )
    # One contraction: the product of each pair of features is not stored.
    out = jnp.einsum("ni,kij,nj->nk", x1, weight, x2)
    if bias is None:
        return out
    return out + bias


def _blocks(
    op_name: str, kernel: Any, strides: Any, pads: Any, dilations: Any, sizes: Any
) -> tuple[Any, ...]:
    """Sizes of sliding blocks and how many fit along each axis."""
    kernel, strides, dilations = (
        ints(op_name, w, v, 2)
        for w, v in (("kernel_sizes", kernel), ("strides", strides), ("dilations", dilations))
    )
    if isinstance(pads, tuple) and len(pads) == 4:  # top, left, bottom, right
        pads = ((pads[0], pads[2]), (pads[1], pads[3]))
    else:
        # Other forms are those of convolutions.
        pads = paddings(op_name, pads, 2, False)
    counts = tuple(
        # The extent of a block is d * (k - 1) + 1.
        (s + a + b - d * (k - 1) - 1) // t + 1
        for s, (a, b), d, k, t in zip(sizes, pads, dilations, kernel, strides, strict=True)
    )
    if any(c <= 0 for c in counts):
        raise ValueError(
            f"{op_name}: kernel_sizes: blocks of {list(kernel)} do not fit into {list(sizes)} "
            f"with padding {pads}"
        )
    return kernel, strides, pads, dilations, counts


@known_as(
    pir="unfold kernel_sizes:i32s strides:i32s paddings:i32s dilations:i32s",
    code="images:windows",
    id="nn_unfold",
    formerly=("nn.functional.common.unfold",),
)
@op(method=False, register=False)
def unfold(
    x: jax.Array,
    kernel_sizes: Size,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> jax.Array:
    """Collects sliding blocks of images as columns (im2col).

    Args:
        x: Tensor [N, C, H, W].
        kernel_sizes: int or [height, width] of a block.
        strides, dilations: int or [height, width].
        paddings: int, [height, width] or [top, left, bottom, right].
    Returns:
        Tensor [N, C * height * width, number of blocks].
    Raises:
        AssertionError: x has not 4 axes.
        ValueError: the blocks do not fit.
    Example:
        >>> paddle.nn.functional.unfold(paddle.ones([1, 1, 3, 3]), 2).shape
        paddle.Size([1, 4, 4])
    """
    if x.ndim != 4:
        raise AssertionError(f"unfold: x: got shape {list(x.shape)}; it must be [N, C, H, W]")
    kernel, strides, pads, dilations, counts = _blocks(
        "unfold", kernel_sizes, strides, paddings, dilations, x.shape[2:]
    )
    padded = lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *[(a, b, 0) for a, b in pads]])
    # One slice for each place in the kernel: few, and each is a plain copy.
    columns = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            start = (0, 0, i * dilations[0], j * dilations[1])
            stop = (
                *x.shape[:2],
                start[2] + strides[0] * (counts[0] - 1) + 1,
                start[3] + strides[1] * (counts[1] - 1) + 1,
            )
            columns.append(lax.slice(padded, start, stop, (1, 1, *strides)))
    # Channel and place in the kernel share an axis, the channel first.
    return jnp.stack(columns, 2).reshape(x.shape[0], x.shape[1] * len(columns), counts[0] * counts[1])


_FOLD = {
    "input": "x",
    "output_size": "output_sizes",
    "kernel_size": "kernel_sizes",
    "stride": "strides",
    "padding": "paddings",
    "dilation": "dilations",
}


@known_as(code="images:fold")
@op(
    method=False,
    alias=_FOLD,
    cases=[
        "f(1,8,4), [3,3], 2",
        "f(1,8,9), [4,4], 2, 1",
        "f(1,8,4), [4,4], 2, 2",
        "f(1,8,4), [4,4], 2, 1",
        "f(1,7,4), [3,3], 2",
        "f(8,4), [3,3], 2",
        "f(1,8,4), 3, 2",
        "d(2,12,4), [4,5], [2,3], 2, 1, 1",
        "f(1,8,9), [4,4], [2,2], 1, [0,0,0,0]",
        "f(1,8,6), [5,4], 2, 1, [0,0], [2,1]",
        "f(0,8,4), [3,3], 2",
    ],
)
def fold(
    x: jax.Array,
    output_sizes: Size,
    kernel_sizes: Size,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> jax.Array:
    """Adds up columns as sliding blocks of images (col2im): the adjoint of `unfold`.

    Args:
        x: Tensor [N, C * height * width, number of blocks].
        output_sizes: int or [H, W] of the images.
        kernel_sizes, strides, paddings, dilations: as for `unfold`.
    Returns:
        Tensor [N, C, H, W].
    Raises:
        AssertionError: x has not 3 axes.
        ValueError: the sizes do not fit.
    Example:
        >>> paddle.nn.functional.fold(paddle.ones([1, 4, 4]), 3, 2)[0, 0].tolist()
        [[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]
    """
    if x.ndim != 3:
        raise AssertionError(f"fold: x: got shape {list(x.shape)}; it must be [N, C * block size, blocks]")
    for what, value in (("output_sizes", output_sizes), ("kernel_sizes", kernel_sizes)):
        if not isinstance(value, int) and not (isinstance(value, list | tuple) and len(value) == 2):
            raise AssertionError(f"fold: {what}: got {value!r}; it must be an int or a list of 2 ints")
    if isinstance(output_sizes, tuple) and any(map(is_symbolic, output_sizes)):
        # Lengths that JAX traces are no numbers.
        sizes = output_sizes
    else:
        sizes = ints("fold", "output_sizes", output_sizes, 2)
    kernel, strides, pads, dilations, counts = _blocks(
        "fold", kernel_sizes, strides, paddings, dilations, sizes
    )
    area = kernel[0] * kernel[1]
    # The blocks must be those that `unfold` gives for this image.
    if x.shape[1] % area or x.shape[2] != counts[0] * counts[1]:
        raise ValueError(
            f"fold: x: got shape {list(x.shape)}; for these sizes it must be [N, multiple of "
            f"{area}, {counts[0] * counts[1]}]"
        )
    blocks = x.reshape(x.shape[0], x.shape[1] // area, *kernel, *counts)
    full = [s + a + b for s, (a, b) in zip(sizes, pads, strict=True)]
    total = 0
    # The adjoint of a strided slice is a padding with gaps.
    for at in [(i, j) for i in range(kernel[0]) for j in range(kernel[1])]:
        config = [(0, 0, 0), (0, 0, 0)]
        for o, d, t, c, n in zip(at, dilations, strides, counts, full, strict=True):
            config.append((o * d, n - o * d - t * (c - 1) - 1, t - 1))
        total = total + lax.pad(blocks[:, :, at[0], at[1]], jnp.zeros((), x.dtype), config)
    # The padding is cut off again.
    return total[:, :, pads[0][0] : full[0] - pads[0][1], pads[1][0] : full[1] - pads[1][1]]
