"""Dropout and its relatives. Outside training they are the identity and draw no random numbers."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lengths import to_float
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.evaluation_rules import Replacement, register_evaluation
from paddle_jax.tensor.creation import clone
from paddle_jax.tensor.inner import chosen_at_random

if TYPE_CHECKING:
    from paddle_jax._annotations import Size


# SELU's fixed point: the value that a dropped unit takes, -scale * alpha
ALPHA_DROPPED = -1.0507009873554805 * 1.6732632423543772


@known_as(code="creation:drop")
@op(random=True, register=False, method=False)
def _drop(x: jax.Array, p: Any, axes: Any, upscale: bool, *, key: jax.Array) -> jax.Array:
    """Zeros elements with probability p; one draw for all elements that differ only in axes not listed."""
    if axes is None:
        shape = x.shape
    else:
        shape = tuple(n if a in axes else 1 for a, n in enumerate(x.shape))
    # 1 - p would divide by 0.
    if p == 1:
        return jnp.zeros_like(x)
    keep = chosen_at_random(key, 1 - p, shape)
    # Scaled up in training, so that evaluation needs nothing.
    return jnp.where(keep, x / (1 - p) if upscale else x, jnp.zeros_like(x))


@known_as(code="creation:alpha_drop")
@op(random=True, register=False, method=False)
def _alpha_drop(x: jax.Array, p: Any, per_feature: bool, *, key: jax.Array) -> jax.Array:
    """Replaces elements (or whole features) by SELU's saturation value and restores mean and variance."""
    # The scale below would be infinite.
    if p == 1:
        return jnp.zeros_like(x)
    if per_feature:
        shape = (*x.shape[:2], *[1] * (x.ndim - 2))
    else:
        shape = x.shape
    keep = chosen_at_random(key, 1 - p, shape)
    # Mean and variance of a standard normal input stay (Klambauer and others, 2017).
    scale = ((1 - p) * (1 + p * ALPHA_DROPPED**2)) ** -0.5
    shift = -scale * ALPHA_DROPPED * p
    return scale * jnp.where(keep, x, jnp.asarray(ALPHA_DROPPED, x.dtype)) + shift


def _no_dropout(layout: tuple[int, ...], attrs: tuple[Any, ...]) -> Any:
    """Nothing is dropped in evaluation; without upscaling the input is scaled down instead."""
    if attrs.get("upscale", True):
        return Replacement(clone.op.kernel((-2,), ()), 1)
    # The other mode scales in evaluation in place of training.
    keep = 1 - attrs["p"]
    return Replacement(Kernel("scale", lambda x: x * keep), 1)


register_evaluation("_drop", _no_dropout)
register_evaluation("_alpha_drop", _no_dropout)


def _probability(op_name: str, p: Any) -> float:
    if isinstance(p, Tensor):
        p = p.item()
    if not isinstance(p, numbers.Real | np.number):
        raise TypeError(f"{op_name}: p: got {type(p).__name__}; it must be a number")
    if not 0 <= p <= 1:
        raise ValueError(f"{op_name}: p: got {p}; a probability lies between 0 and 1")
    return to_float(p)


def _axes(axis: Any, ndim: int) -> Any:
    if axis is None:
        return None
    if not isinstance(axis, int | list | tuple):
        raise TypeError(f"dropout: axis: got {type(axis).__name__}; it must be an int or a list of ints")
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if not axes or not all(0 <= a < ndim for a in axes) or len(axes) > ndim:
        raise ValueError(f"dropout: axis: got {axis}; each must be in 0..{ndim - 1}")
    return axes


@composite(
    method=False,
    alias={"input": "x"},
    cases=[
        "~f(2,3)",
        "~d(2,3), 0.3",
        "f(2,3), 1.0",
        "f(2,3), 0",
        "f(2,3), 0.5, training=False",
        "f(2,3), 0.3, training=False, mode='downscale_in_infer'",
        "~f(2,3), 0.5, 0",
        "~f(2,3), 0.5, [0, 1], mode='downscale_in_infer'",
        "f(2,3), 0.5, 2",
        "f(2,3), 0.5, -1",
        "f(2,3), 1.5",
        "f(2,3), 'a'",
        "f(2,3), mode='x'",
        "~f(0,3)",
        "~f()",
    ],
)
def dropout(
    x: Tensor,
    p: Any = 0.5,
    axis: Size | None = None,
    training: bool = True,
    inplace: bool = False,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """Sets elements to zero at random while training.

    Args:
        x: Tensor [...], floating. `input` is accepted as a name.
        p: probability of zeroing, from 0 to 1.
        axis: int or list of ints: a value is drawn for each index along these axes and shared by the others.
            Default: each element.
        training: False makes it the identity (or x * (1 - p), see mode).
        inplace: put the result into x.
        mode: "upscale_in_train" divides what is kept by 1 - p; "downscale_in_infer" multiplies by 1 - p
            outside training instead.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: p, axis or mode is out of range.
        TypeError: p is not a number or axis not an int or list.
    Example:
        >>> x = paddle.ones([2, 3])
        >>> paddle.nn.functional.dropout(x, 0.5, training=False).tolist() == x.tolist()
        True

    See: Srivastava et al., Dropout: A Simple Way to Prevent Neural Networks from Overfitting, 2014.
    """
    p = _probability("dropout", p)
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ValueError(
            f"dropout: mode: got {mode!r}; allowed are 'upscale_in_train' and 'downscale_in_infer'"
        )
    axes = _axes(axis, x.ndim)
    upscale = mode == "upscale_in_train"
    if training:
        # Without dropping no number is drawn.
        out = _drop(x, p, axes, upscale) if p else x
    else:
        out = x if upscale else x * (1 - p)
    if inplace and out is not x:
        return x._adopt(out)
    return out


@composite(
    method=False,
    cases=["~f(2,3,4)", "~f(2,3), 0.3", "f(2)", "f(2,3,4,1)", "f(2,3,4), training=False", "f(2,3,4), 1.0"],
)
def dropout1d(input: Tensor, p: Any = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels of [N, C, L] or [C, L] to zero at random while training.

    Args:
        input: Tensor [N, C, L] or [C, L].
        p, training, inplace: as for `dropout`.
    Returns:
        Tensor of the same shape and dtype.
    Raises:
        RuntimeError: input has another number of axes.
    Example:
        >>> paddle.nn.functional.dropout1d(paddle.ones([1, 2, 3]), 1.0).sum().item()
        0.0
    """
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: input: got shape {list(input.shape)}; it must have 2 or 3 axes")
    # [C, L] has no batch axis.
    return dropout(input, p, [0, 1] if input.ndim == 3 else 0, training, inplace)


def _channels(
    op_name: str, x: Tensor, p: Any, training: bool, data_format: str, formats: Sequence[str]
) -> Tensor:
    if x.ndim != len(formats[0]):
        raise ValueError(f"{op_name}: x: got shape {list(x.shape)}; it must have {len(formats[0])} axes")
    if data_format not in formats:
        raise ValueError(f"{op_name}: data_format: got {data_format!r}; allowed are {' and '.join(formats)}")
    # One decision for each channel of a sample.
    return dropout(x, p, [0, data_format.index("C")], training)


@composite(
    method=False,
    cases=[
        "~f(2,3,1,2)",
        "~f(2,1,2,3), 0.3, data_format='NHWC'",
        "f(2,3,1)",
        "f(2,3,1,1), data_format='X'",
        "f(2,3,1,2), training=False",
    ],
)
def dropout2d(
    x: Tensor, p: Any = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Sets whole channels of images to zero at random while training.

    Args:
        x: Tensor [N, C, H, W], or [N, H, W, C] with data_format "NHWC".
        p, training: as for `dropout`.
    Returns:
        Tensor of the same shape and dtype.
    Raises:
        ValueError: x has another number of axes or data_format is something else.
    Example:
        >>> paddle.nn.functional.dropout2d(paddle.ones([1, 2, 3, 3]), 1.0).sum().item()
        0.0

    See: Tompson et al., Efficient Object Localization Using Convolutional Networks, 2014.
    """
    return _channels("dropout2d", x, p, training, data_format, ("NCHW", "NHWC"))


@composite(
    method=False,
    cases=[
        "~f(2,3,1,2,1)",
        "~f(2,1,2,1,3), 0.3, data_format='NDHWC'",
        "f(2,3,1,1)",
        "f(2,3,1,1,1), data_format='X'",
    ],
)
def dropout3d(
    x: Tensor, p: Any = 0.5, training: bool = True, data_format: str = "NCDHW", name: str | None = None
) -> Tensor:
    """Sets whole channels of volumes to zero at random while training. x is [N, C, D, H, W] or
    [N, D, H, W, C]; arguments as for `dropout2d`.

    Args:
        x: Tensor [N, C, D, H, W], or [N, D, H, W, C] with data_format "NDHWC".
        p: float in 0..1, the probability that a channel becomes zero.
        training: False returns x.
        data_format: "NCDHW" or "NDHWC".
    Returns:
        Tensor of the shape of x.
    Example:
        >>> paddle.nn.functional.dropout3d(paddle.ones([1, 2, 3, 3, 3]), 1.0).sum().item()
        0.0
    """
    return _channels("dropout3d", x, p, training, data_format, ("NCDHW", "NDHWC"))


@composite(
    method=False,
    cases=[
        "~f(2,3)",
        "~d(2,3), 0.3",
        "f(2,3), 1",
        "f(2,3), 0.0",
        "f(2,3), 2",
        "f(2,3), training=False",
        "f(2,3), 'a'",
        "~f(0,3)",
    ],
)
def alpha_dropout(x: Tensor, p: Any = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """Dropout for SELU networks: keeps mean and variance of standard normal inputs.

    Args:
        x: Tensor [...], floating.
        p: probability of dropping, from 0 to 1.
        training: False makes it the identity.
    Returns:
        Tensor of the same shape and dtype.
    Example:
        >>> paddle.nn.functional.alpha_dropout(paddle.ones([3]), training=False).tolist()
        [1.0, 1.0, 1.0]

    See: Klambauer et al., Self-Normalizing Neural Networks, 2017.
    """
    p = _probability("alpha_dropout", p)
    if training and p:
        return _alpha_drop(x, p, False)
    return x


@composite(
    method=False,
    cases=["~f(2,3,2)", "~f(2,3), 0.3", "f(3)", "f(2,3), 1", "f(2,3), 2", "f(2,3), training=False"],
)
def feature_alpha_dropout(x: Tensor, p: Any = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """`alpha_dropout` of whole channels: x is [N, C, ...].

    Args:
        x: Tensor [N, C, ...].
        p: float in 0..1, the probability that a channel is dropped.
        training: False returns x.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: x has fewer than 2 axes, or p is out of range.
    Example:
        >>> paddle.nn.functional.feature_alpha_dropout(paddle.ones([1, 2, 3]), 1.0).sum().item()
        0.0
    """
    p = _probability("feature_alpha_dropout", p)
    if x.ndim < 2:
        raise ValueError(f"feature_alpha_dropout: x: got shape {list(x.shape)}; it must have at least 2 axes")
    if training and p:
        return _alpha_drop(x, p, True)
    return x
