"""How a convolution is computed. Plain jax functions over arrays.

XLA:CPU convolves large images well and small ones badly, so on CPU the shape decides: kernels of one element are a matrix product over
channels, small outputs gather their patches and multiply (im2col), the rest is XLA's convolution.
"""

import itertools
import math

import jax
import jax.numpy as jnp
from jax import lax

from paddle_jax.nn.functional.windows import channel_last, check_ndim, ints, paddings, same_pads

SPATIAL = {1: "L", 2: "HW", 3: "DHW"}
_SMALL = 64  # outputs with fewer positions than this are multiplied out on CPU


def convolve(op_name, n, x, weight, bias, stride, padding, dilation, groups, data_format):
    """The convolution of x [N, C, ...] with weight [out, C / groups, ...], bias added."""
    last = channel_last(op_name, n, data_format)
    check_ndim(op_name, x, n + 2)
    _check(op_name, x, weight, bias, groups, last)
    strides, dilations = ints(op_name, "stride", stride, n), ints(op_name, "dilation", dilation, n)
    sizes, kernel = x.shape[1:-1] if last else x.shape[2:], weight.shape[2:]
    pads = paddings(op_name, padding, n, last)
    if pads == "SAME":
        pads, dilations = same_pads(sizes, kernel, strides), (1,) * n
    elif pads == "VALID":
        pads = ((0, 0),) * n
    out = tuple((s + a + b - d * (k - 1) - 1) // t + 1 for s, (a, b), k, t, d in zip(sizes, pads, kernel, strides, dilations, strict=True))
    if any(o <= 0 for o in out):
        raise ValueError(f"{op_name}: weight: a kernel of {list(kernel)} does not fit into {list(sizes)} with padding {pads}")
    y = _multiply(x, weight, strides, pads, dilations, groups, last, out)
    if bias is None:
        return y
    return y + (bias if last else bias.reshape(-1, *[1] * n))


def _check(op_name, x, weight, bias, groups, last):
    channels = x.shape[-1] if last else x.shape[1]
    if weight.ndim != x.ndim:
        raise ValueError(f"{op_name}: weight: got shape {list(weight.shape)}; it must have {x.ndim} axes like x")
    if not isinstance(groups, int) or groups < 1:
        raise ValueError(f"{op_name}: groups: got {groups!r}; it must be a positive int")
    if weight.shape[1] * groups != channels or weight.shape[0] % groups:
        raise ValueError(f"{op_name}: weight: got shape {list(weight.shape)} with groups={groups}; x has {channels} channels, so the shape must be "
                         f"[multiple of {groups}, {channels} / {groups}, ...]")
    if bias is not None and bias.shape != (weight.shape[0],):
        raise ValueError(f"{op_name}: bias: got shape {list(bias.shape)}; it must be [{weight.shape[0]}]")
    if x.dtype != weight.dtype:
        raise ValueError(f"{op_name}: weight: got {weight.dtype}; it must have the dtype of x, {x.dtype}")


def _multiply(x, weight, strides, pads, dilations, groups, last, out):
    if groups == 1 and jax.default_backend() == "cpu" and x.size:
        if math.prod(weight.shape[2:]) == 1:
            return _pointwise(x, weight, strides, pads, last, out)
        if math.prod(out) < _SMALL:
            return _patches(x, weight, strides, pads, dilations, last, out)
    letters = SPATIAL[x.ndim - 2]
    image = f"N{letters}C" if last else f"NC{letters}"
    return lax.conv_general_dilated(x, weight, strides, pads, rhs_dilation=dilations, dimension_numbers=(image, "OI" + letters, image),
                                    feature_group_count=groups)


def _padded(x, pads, last):
    if not any(map(any, pads)):
        return x
    config = [(a, b, 0) for a, b in pads]
    config = [(0, 0, 0), *config, (0, 0, 0)] if last else [(0, 0, 0), (0, 0, 0), *config]
    return lax.pad(x, jnp.zeros((), x.dtype), config)


def _taken(x, offsets, strides, out, last):
    """The input element under one kernel element, for every output position."""
    start = [0, *offsets, 0] if last else [0, 0, *offsets]
    stops = [o + s * (c - 1) + 1 for o, s, c in zip(offsets, strides, out, strict=True)]
    limit = [x.shape[0], *stops, x.shape[-1]] if last else [x.shape[0], x.shape[1], *stops]
    return lax.slice(x, start, limit, [1, *strides, 1] if last else [1, 1, *strides])


def _pointwise(x, weight, strides, pads, last, out):
    x = _taken(_padded(x, pads, last), [0] * len(out), strides, out, last)
    matrix = weight.reshape(weight.shape[:2])
    return jnp.einsum("n...c,oc->n...o", x, matrix) if last else jnp.einsum("oc,nc...->no...", matrix, x)


def _patches(x, weight, strides, pads, dilations, last, out):
    x = _padded(x, pads, last)
    places = itertools.product(*[range(0, k * d, d) for k, d in zip(weight.shape[2:], dilations, strict=True)])
    taken = [_taken(x, at, strides, out, last) for at in places]
    matrix = weight.reshape(*weight.shape[:2], -1)
    if last:
        return jnp.einsum("n...kc,ock->n...o", jnp.stack(taken, -2), matrix)
    columns = jnp.stack(taken, 2).reshape(x.shape[0], -1, math.prod(out))
    return jnp.einsum("om,nmp->nop", matrix.reshape(weight.shape[0], -1), columns).reshape(x.shape[0], -1, *out)
