"""Linear layers whose weight is kept in 8 or 4 bits, with a scale for each column or for each group of
rows of a column.

See: Dettmers et al., LLM.int8(): 8-bit Matrix Multiplication for Transformers at Scale, 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.ops.op import op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.device import is_compiled_with_cuda
from paddle_jax.device.cuda import get_device_capability
from paddle_jax.tensor.lowering import on_cpu

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.kernels.lifted_attributes import Number


_ALGOS = ("weight_only_int8", "weight_only_int4", "llm.int8")
# elements from which a matrix is taken in blocks, and their rows
_LARGE = 1 << 18
_BLOCK = 128
# Compute capabilities of Paddle's kernels, times ten.
_ARCHS = (70, 75, 80, 86, 89, 90, 100)


def _check_group(name: str, group_size: int) -> None:
    if group_size not in (-1, 64, 128):
        raise AssertionError(f"{name}: group_size: got {group_size}; it must be -1, 64 or 128")


def _check_algo(name: str, algo: str) -> None:
    if algo not in _ALGOS:
        raise ValueError(
            f"(InvalidArgument) {name}: algo: got {algo!r}; it must be one of {', '.join(_ALGOS)}"
        )


def _get_arch_info() -> int:
    """The compute capability of the GPU as a number, 90 for 9.0; 0 where there is none."""
    if not is_compiled_with_cuda():
        return 0
    major, minor = get_device_capability()
    return 10 * major + minor


def _check_arch(name: str, arch: int | None) -> None:
    if arch is not None and arch not in _ARCHS:
        raise ValueError(
            f"(InvalidArgument) {name}: arch: got {arch}; "
            f"it must be None or one of {', '.join(map(str, _ARCHS))}"
        )


def _rows(weight: jax.Array, bits: int) -> list[Any]:
    """[the integers of all rows], or for 4 bits [those of the even rows, those of the odd rows],
    which share bytes."""
    if bits == 8:
        return [weight]
    # Up and down again by four bits: the sign of the lower half comes along.
    return [(weight << 4) >> 4, weight >> 4]


def _in_turn(rows: Sequence[jax.Array]) -> jax.Array:
    """Rows from several matrices in turn."""
    return jnp.stack(rows, 1).reshape(-1, rows[0].shape[1])


def _grouped(scale: jax.Array, group_size: int, rows: int) -> jax.Array:
    """Scales [out, in] of groups [groups, out]."""
    return jnp.repeat(scale, group_size, axis=0)[:rows].T


@op("x", register=False, method=False, nondiff=True)
def quantized_weight(x: jax.Array, bits: Any, group_size: Any, kept: str) -> tuple[jax.Array, ...]:
    """(integers [out, in], scales of the dtype `kept`) of a weight [in, out]."""
    bound = 2.0 ** (bits - 1) - 1
    wide = x.astype(jnp.float32)
    if group_size == -1:
        scale = (jnp.max(jnp.abs(wide), 0) / bound).astype(kept)
        rows = scale.astype(jnp.float32)[None]
    else:
        # The last group may be shorter; zeros do not change its largest magnitude.
        groups = -(-x.shape[0] // group_size)
        padded = jnp.pad(jnp.abs(wide), ((0, groups * group_size - x.shape[0]), (0, 0)))
        scale = (jnp.max(padded.reshape(groups, group_size, -1), 1) / bound).astype(kept)
        rows = jnp.repeat(scale.astype(jnp.float32), group_size, axis=0)[: x.shape[0]]
    # A column of zeros has the scale 0.
    steps = lax.round(wide / jnp.where(rows == 0, 1, rows), lax.RoundingMethod.AWAY_FROM_ZERO)
    # The scale was rounded to its dtype, so a quotient may be above the bound.
    whole = jnp.clip(steps, -bound, bound).astype(jnp.int8).T
    return (whole if bits == 8 else (whole[::2] & 15) | (whole[1::2] << 4)), scale


@op("weight scale", register=False, method=False)
def dequantized_weight(
    weight: jax.Array, scale: jax.Array, bits: Any, group_size: Any, dtype: DTypeLike
) -> jax.Array:
    """The weight [in, out] of integers [out, in]."""
    whole = _in_turn(_rows(weight, bits)).astype(jnp.float32)
    if group_size == -1:
        rows = scale[:, None]
    else:
        rows = _grouped(scale, group_size, whole.shape[1])
    return (whole * rows.astype(jnp.float32)).T.astype(dtype)


def _product(
    x: jax.Array, weight: jax.Array, bits: int = 8, scale: jax.Array | None = None, group_size: int = -1
) -> jax.Array:
    """x times the transposed matrix of integers [out, in], in float32; with the scales of groups,
    if there are any.

    On a CPU large matrices are taken in blocks of rows: XLA would write all of the matrix as floating numbers
    first, which takes ten times as long as the product for few rows of x.
    """
    flat = x.reshape(-1, x.shape[-1])

    def product(part: Any) -> jax.Array:
        found = []
        weights = _rows(part[0], bits)
        for i, rows in enumerate(weights):
            whole = rows.astype(x.dtype)
            # Rows of 4 bits come as every other one, and so do their scales.
            if part[1] is not None:
                whole = (
                    whole * jnp.repeat(part[1][i :: len(weights)], group_size, axis=1)[:, : whole.shape[1]]
                ).astype(x.dtype)
            found.append(
                lax.dot_general(whole, flat, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
            )
        return _in_turn(found)

    parts = weight, None if scale is None else scale.T
    outputs = weight.shape[0] * 8 // bits
    # A block of floats fits into the cache; the whole matrix would be written to memory and read again.
    if on_cpu() and weight.size >= _LARGE and outputs % _BLOCK == 0:
        blocks = outputs // _BLOCK
        split = [None if part is None else part.reshape(blocks, -1, part.shape[1]) for part in parts]
        out = lax.map(product, tuple(split)).reshape(outputs, -1)
    else:
        out = product(parts)
    return out.T.reshape(*x.shape[:-1], outputs)


@op("x weight scale bias", register=False, method=False)
def linear_of_integers(
    x: jax.Array,
    weight: jax.Array,
    scale: jax.Array,
    bias: jax.Array | None = None,
    bits: Any = 8,
    group_size: Any = -1,
) -> jax.Array:
    """x times the weight of integers [out, in], plus bias. Without groups the product is scaled,
    instead of the weight."""
    if group_size == -1:
        out = _product(x, weight, bits) * scale
    else:
        out = _product(x, weight, bits, scale, group_size)
    return (out if bias is None else out + bias).astype(x.dtype)


@op("x weight scale bias", register=False, method=False, nondiff=True)
def linear_with_outliers(
    x: jax.Array,
    weight: jax.Array,
    scale: jax.Array,
    bias: jax.Array | None = None,
    threshold: Number | float = 6.0,
) -> jax.Array:
    """As `linear_of_integers`, with x as integers as well, but for the features in which one of its numbers
    is beyond the threshold."""
    wide = x.astype(jnp.float32)
    far = jnp.any(jnp.abs(wide).reshape(-1, x.shape[-1]) > threshold, 0)
    # One large number would leave few steps for all others of its row.
    near = jnp.where(far, 0, wide)
    step = jnp.max(jnp.abs(near), -1, keepdims=True, initial=0) / 127
    whole = lax.round(near / jnp.where(step == 0, 1, step), lax.RoundingMethod.AWAY_FROM_ZERO)
    # one product for both: XLA's of 8-bit integers is many times slower than that of float32 on a CPU
    out = _product(jnp.where(far, wide, whole * step), weight) * scale
    return (out if bias is None else out + bias).astype(x.dtype)


def weight_quantize(
    x: Tensor, algo: str = "weight_only_int8", arch: int | None = None, group_size: Any = -1
) -> tuple[Tensor, ...]:
    """Brings the weight of a linear layer into 8 or 4 bits.

    Args:
        x: Tensor [in, out], float16, bfloat16 or float32.
        algo: "weight_only_int8", "weight_only_int4" (out must be even) or "llm.int8".
        arch: int, a kind of GPU in Paddle; the result is the same for all.
        group_size: -1 for a scale for each column, or 64 or 128: the rows that share one.
    Returns:
        (Tensor, Tensor): int8 [out, in], for 4 bits [out / 2, in], with rows 2i and 2i + 1 in the lower and
        upper half of a byte; and scales [out], or [groups, out], of the dtype of x (float32 for "llm.int8"):
        the weight is the integer times the scale.
    Raises:
        ValueError: x has not two axes, or algo or arch is none of these.
        AssertionError: group_size is none of these.
        RuntimeError: another dtype.
    Differs from Paddle: float32 is accepted, arch may be left out on every device, and the integers are in
        plain order, not in that of tensor cores.
    Example:
        >>> whole, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, -2.0], [-0.5, 1.0]]))
        >>> whole.tolist(), [round(s, 5) for s in scale.tolist()]
        ([[127, -64], [-127, 64]], [0.00787, 0.01575])
    """
    _check_group("weight_quantize", group_size)
    _check_algo("weight_quantize", algo)
    _check_arch("weight_quantize", arch)
    if x.ndim != 2:
        raise ValueError(f"(InvalidArgument) weight_quantize: x: got {x.ndim} axes; it must have 2")
    if numpy_dtype(x).name not in ("float16", "bfloat16", "float32"):
        raise RuntimeError(
            f"weight_quantize: x: got {numpy_dtype(x).name}; it must be float16, bfloat16 or float32"
        )
    bits = 4 if algo == "weight_only_int4" else 8
    if bits == 4 and x.shape[1] % 2:
        raise ValueError(
            f"(InvalidArgument) weight_quantize: x: got {x.shape[1]} columns; "
            "for 4 bits the number must be even"
        )
    # It knows no groups, and its scales are always float32.
    plain = algo == "llm.int8"
    return quantized_weight(
        x.detach(), bits, -1 if plain else group_size, "float32" if plain else numpy_dtype(x).name
    )


def weight_dequantize(
    x: Sequence[Tensor],
    scale: Sequence[Tensor],
    algo: str = "weight_only_int8",
    out_dtype: str = "float16",
    group_size: Any = -1,
) -> Tensor:
    """The weight that integers from `weight_quantize` stand for.

    Args:
        x, scale: Tensors from `weight_quantize`.
        algo, group_size: as given there.
        out_dtype: dtype of the result.
    Returns:
        Tensor [in, out].
    Raises:
        ValueError: another algo.
        AssertionError: another group_size.
    Differs from Paddle: it works on every device.
    Example:
        >>> whole, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, -2.0], [-0.5, 1.0]]))
        >>> paddle.nn.quant.weight_dequantize(whole, scale, out_dtype="float32").numpy().round(2).tolist()
        [[1.0, -2.0], [-0.5, 1.01]]
    """
    _check_group("weight_dequantize", group_size)
    _check_algo("weight_dequantize", algo)
    return dequantized_weight(
        x,
        scale,
        4 if algo == "weight_only_int4" else 8,
        -1 if scale.ndim == 1 else group_size,
        dtypes.convert(out_dtype).np,
    )


def _check_scale(name: str, weight_scale: Tensor | None) -> None:
    if not isinstance(weight_scale, Tensor):
        raise ValueError(
            f"(InvalidArgument) {name}: weight_scale: got {type(weight_scale).__name__}; "
            "give the Tensor from weight_quantize"
        )


def weight_only_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    weight_scale: Tensor | None = None,
    weight_dtype: str = "int8",
    arch: int | None = None,
    group_size: Any = -1,
) -> Tensor:
    """A linear layer with a weight from `weight_quantize`: x W + bias. Gradients flow to x and bias.

    Args:
        x: Tensor [..., in] of floating numbers.
        weight: Tensor of int8.
        bias: Tensor [out], or None.
        weight_scale: Tensor, the scales of the weight.
        weight_dtype: "int8" or "int4".
        arch: int, a kind of GPU in Paddle; the result is the same for all.
        group_size: as given to `weight_quantize`.
    Returns:
        Tensor [..., out] of the dtype of x.
    Raises:
        ValueError: weight_scale is missing, or weight_dtype is another.
        AssertionError: another group_size.
    Differs from Paddle: it works on every device.
    Example:
        >>> whole, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, -2.0], [-0.5, 1.0]]))
        >>> paddle.nn.quant.weight_only_linear(paddle.ones([1, 2]), whole, None,
        ...                                    scale).numpy().round(2).tolist()
        [[0.5, -0.99]]
    """
    _check_group("weight_only_linear", group_size)
    _check_scale("weight_only_linear", weight_scale)
    _check_arch("weight_only_linear", arch)
    if weight_dtype not in ("int8", "int4"):
        raise ValueError(
            f"(InvalidArgument) weight_only_linear: weight_dtype: got {weight_dtype!r}; "
            "it must be 'int8' or 'int4'"
        )
    return linear_of_integers(
        x,
        weight,
        weight_scale,
        bias,
        8 if weight_dtype == "int8" else 4,
        -1 if weight_scale.ndim == 1 else group_size,
    )


def llm_int8_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    weight_scale: Tensor | None = None,
    threshold: float = 6.0,
) -> Tensor:
    """A linear layer in 8-bit integers: x is brought to integers as well, except for features with a number
    beyond the threshold.

    Args:
        x: Tensor [..., in] of floating numbers.
        weight: Tensor [out, in] of int8, from `weight_quantize` with algo "llm.int8".
        bias: Tensor [out], or None.
        weight_scale: Tensor [out] of float32, the scales of the weight.
        threshold: float; features in which |x| is larger are multiplied as floating numbers.
    Returns:
        Tensor [..., out] of the dtype of x; no gradient flows through.
    Raises:
        ValueError: weight_scale is missing.
    Differs from Paddle: it works on every device.
    Example:
        >>> whole, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, -2.0], [-0.5, 1.0]]),
        ...                                                algo="llm.int8")
        >>> paddle.nn.quant.llm_int8_linear(paddle.to_tensor([[1.0, 8.0]]), whole, None,
        ...                                 scale).numpy().round(2).tolist()
        [[-3.03, 6.06]]
    """
    _check_scale("llm_int8_linear", weight_scale)
    return linear_with_outliers(x, weight, weight_scale, bias, float(threshold))


def apply_per_channel_scale(x: Tensor, scales: Tensor) -> Tensor:
    """x with each feature multiplied by a number, as activations are smoothed before their quantization.

    Args:
        x: Tensor [..., in].
        scales: Tensor [in].
    Returns:
        Tensor of the shape and dtype of x.
    Differs from Paddle: it works on every device.
    Example:
        >>> paddle.nn.quant.apply_per_channel_scale(paddle.ones([2, 2]),
        ...                                         paddle.to_tensor([1.0, 3.0])).tolist()
        [[1.0, 3.0], [1.0, 3.0]]
    """
    return (x * scales).astype(x.dtype)
