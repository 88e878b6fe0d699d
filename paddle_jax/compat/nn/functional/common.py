"""Linear maps, padding and unfolding with PyTorch's signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax.nn import functional as F
from paddle_jax.nn.functional.padding import extended
from paddle_jax.tensor.axes import ints

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.tensors.tensor import Tensor


def _written(w: Any, attrs: Any, out: Any, x: Any, weight: Any, bias: Any) -> Any:
    """As operations of Paddle's model files."""
    done = w.op("matmul", [x, weight], out[0], transpose_y=True)
    if bias is None:
        return done
    return w.op("add", [done, bias], out[0])


@known_as(
    amp="linear_v2",
    node="matmul",
    write=_written,
    id="compat_linear",
    formerly=("compat.nn.functional.common.linear",),
)
@op("input weight bias", method=False, register=False)
def linear(input: jax.Array, weight: jax.Array, bias: jax.Array | None = None) -> jax.Array:
    """Computes input @ weight^T + bias.

    Args:
        input: Tensor [..., in].
        weight: Tensor [out, in], or [in] for one output without an axis.
        bias: Tensor [out], or None.
    Returns:
        Tensor [..., out].
    Raises:
        ValueError: the sizes do not fit.
    Example:
        >>> paddle.compat.nn.functional.linear(paddle.ones([1, 2]), paddle.ones([3, 2])).tolist()
        [[2.0, 2.0, 2.0]]
    """
    out = jnp.matmul(input, weight.T)
    if bias is None:
        return out
    return out + bias


@known_as(id="compat_pad", formerly=("compat.nn.functional.common.pad",))
@op("input", method=False, register=False)
def pad(input: jax.Array, pad: Any, mode: str = "constant", value: Any = 0.0) -> jax.Array:
    """Extends a tensor at its edges.

    Args:
        input: Tensor [...].
        pad: list of ints (before, after) for the last axis, then for the one before it, and so on.
            Negative numbers crop.
        mode: "constant", "reflect" (mirrored, edge not repeated), "replicate" (edge repeated) or "circular"
            (from the other end).
        value: what mode "constant" fills in.
    Returns:
        Tensor of the dtype of input.
    Raises:
        AssertionError: mode is unknown, or another than "constant" meets more than 5 axes.
        ValueError: the numbers do not fit input; modes other than "constant" leave the first axis alone and
            extend 3 axes at most.
        TypeError: pad is no list of ints, or value no number.
    Example:
        >>> paddle.compat.nn.functional.pad(paddle.ones([1, 2]), [1, 0], value=5.0).tolist()
        [[5.0, 1.0, 1.0]]
    """
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise AssertionError(
            f"pad: mode: got {mode!r}; allowed are 'constant', 'reflect', 'replicate' and 'circular'"
        )
    if not isinstance(pad, tuple) or not isinstance(value, int | float | complex):
        raise TypeError(
            f"pad: got pad={pad!r} and value={value!r}; pad must be a list of ints and value a number"
        )
    pad = ints("pad", pad, "pad")
    if mode != "constant" and input.ndim > 5:
        raise AssertionError(f"pad: input: got {input.ndim} axes; mode {mode!r} allows 2 to 5")
    if mode != "constant" and input.ndim < 2:
        raise ValueError(f"pad: input: got {input.ndim} axes; mode {mode!r} allows 2 to 5")
    axes = input.ndim
    if mode != "constant":
        axes = min(axes - 1, 3)  # the other modes leave batch and channels as they are
    most = 2 * axes
    if len(pad) % 2 or len(pad) > most:
        raise ValueError(
            f"pad: pad: got {len(pad)} numbers for {input.ndim} axes; "
            f"give pairs, at most {most} numbers with mode {mode!r}"
        )
    pairs = list(zip(pad[::2], pad[1::2], strict=True))
    if not pairs:
        return input
    return extended(input, [(0, 0)] * (input.ndim - len(pairs)) + pairs[::-1], mode, value)


def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: int | Sequence[int] = 0, stride: Any = 1
) -> Tensor:
    """Collects sliding blocks of images as columns: `nn.functional.unfold` with PyTorch's order of arguments.

    Args:
        input: Tensor [N, C, H, W].
        kernel_size, dilation, stride: int or [height, width].
        padding: int, [height, width] or [top, left, bottom, right].
    Returns:
        Tensor [N, C * height * width, number of blocks].
    Raises:
        AssertionError: input has not 4 axes.
        ValueError: the blocks do not fit.
    Example:
        >>> paddle.compat.nn.functional.unfold(paddle.ones([1, 1, 3, 3]), 2).shape
        paddle.Size([1, 4, 4])
    """
    return F.unfold(input, kernel_size, stride, padding, dilation)
