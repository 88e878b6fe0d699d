"""How a convolution is computed. Plain jax functions over arrays. On the CPU the shape decides, see
convolve_cpu.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base.size import are_known
from paddle_jax._core.kernels.product_precision import convolution_precision
from paddle_jax.nn.functional.convolve_cpu import Plan, better_than_xla
from paddle_jax.nn.functional.windows import channel_last, check_ndim, ints, paddings, same_pads
from paddle_jax.tensor.lowering import on_cpu

if TYPE_CHECKING:
    import jax


# Letters of the axes in JAX's names of layouts.
SPATIAL = {1: "L", 2: "HW", 3: "DHW"}


def convolve(
    op_name: str,
    n: int,
    x: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str,
) -> jax.Array:
    """The convolution of x [N, C, ...] with weight [out, C / groups, ...], bias added."""
    last = channel_last(op_name, n, data_format)
    check_ndim(op_name, x, n + 2)
    _check(op_name, x, weight, bias, groups, last)
    strides = ints(op_name, "stride", stride, n)
    dilations = ints(op_name, "dilation", dilation, n)
    sizes = x.shape[1:-1] if last else x.shape[2:]
    kernel = weight.shape[2:]
    pads = paddings(op_name, padding, n, last)
    # As TensorFlow's: the result has the length n / stride, rounded up.
    if pads == "SAME":
        pads = same_pads(sizes, kernel, strides)
        dilations = (1,) * n
    elif pads == "VALID":
        pads = ((0, 0),) * n
    # How many places the kernel has along each axis.
    out = tuple(
        (s + a + b - d * (k - 1) - 1) // t + 1
        for s, (a, b), k, t, d in zip(sizes, pads, kernel, strides, dilations, strict=True)
    )
    if any(are_known(o) and o <= 0 for o in out):
        raise ValueError(
            f"{op_name}: weight: a kernel of {list(kernel)} does not fit into {list(sizes)} "
            f"with padding {pads}"
        )
    y = _multiply(x, weight, strides, pads, dilations, groups, last, out)
    if bias is None:
        return y
    return y + (bias if last else bias.reshape(-1, *[1] * n))


def _check(
    op_name: str, x: jax.Array, weight: jax.Array, bias: jax.Array | None, groups: int, last: bool
) -> None:
    channels = x.shape[-1] if last else x.shape[1]
    if weight.ndim != x.ndim:
        raise ValueError(
            f"{op_name}: weight: got shape {list(weight.shape)}; it must have {x.ndim} axes like x"
        )
    if not isinstance(groups, int) or groups < 1:
        raise ValueError(f"{op_name}: groups: got {groups!r}; it must be a positive int")
    if weight.shape[1] * groups != channels or weight.shape[0] % groups:
        raise ValueError(_channels_message(op_name, x, weight, groups, channels))
    count = weight.shape[0]
    # Paddle takes one bias for all channels, and in 1D a column.
    if (
        bias is not None
        and bias.shape not in ((count,), (1,), ())
        and (x.ndim, bias.shape) != (3, (count, 1))
    ):
        raise ValueError(
            f"(InvalidArgument) {op_name}: bias: got shape {list(bias.shape)}; it must be [{count}] or [1]"
        )
    if x.dtype != weight.dtype:
        raise ValueError(f"{op_name}: weight: got {weight.dtype}; it must have the dtype of x, {x.dtype}")


def _channels_message(op_name: str, x: jax.Array, weight: jax.Array, groups: int, channels: int) -> str:
    """What is wrong with the channels of x or with the number of groups."""
    kind = "" if channels % groups else "(InvalidArgument) "
    expected = weight.shape[1] * groups
    if expected != channels:
        return (
            f"{kind}{op_name}: x: got shape {list(x.shape)} with {channels} channels; a weight of shape "
            f"{list(weight.shape)} with groups={groups} takes {expected} channels; "
            "check in_channels of the layer and data_format"
        )
    return (
        f"{kind}{op_name}: groups: got {groups}; it must divide the {weight.shape[0]} output channels "
        f"of the weight {list(weight.shape)}"
    )


def _multiply(
    x: jax.Array,
    weight: jax.Array,
    strides: Any,
    pads: Any,
    dilations: Any,
    groups: int,
    last: bool,
    out: int,
) -> jax.Array:
    if on_cpu():
        plan = Plan(strides, pads, dilations, out, groups)
        # The ways of the CPU have channels on axis 1.
        first = jnp.moveaxis(x, -1, 1) if last else x
        if better := better_than_xla(first, weight, plan):
            y = better(first, weight, plan)
            if last:
                return jnp.moveaxis(y, 1, -1)
            return y
    letters = SPATIAL[x.ndim - 2]
    image = f"N{letters}C" if last else f"NC{letters}"
    return lax.conv_general_dilated(
        x,
        weight,
        strides,
        pads,
        rhs_dilation=dilations,
        dimension_numbers=(image, "OI" + letters, image),
        feature_group_count=groups,
        precision=convolution_precision(),
    )
