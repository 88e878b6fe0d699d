"""Attention as one primitive of JAX, which each platform lowers to its own fused kernel.

    fused_attention(q, k, v[, mask])                          result, log of the sums of exponentials
    fused_attention_grad(q, k, v[, mask], result, log, ct)    what a cotangent of the result gives for q, k, v

On NVIDIA GPUs both are calls of cuDNN, on TPUs kernels of Pallas, where their limits allow; else, and for all
further derivatives, they are the plain formula, block by block. The platform is that of the lowering. Where a
CPU is the target nothing of this is used (`sdpa.py`).
"""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.core import Primitive  # jax.extend takes 0.05 s to import
from jax._src.sharding_impls import ShardingContext, SPMDAxisContext  # what a program is lowered for
from jax.core import ShapedArray
from jax.interpreters import ad, batching, mlir

from paddle_jax._core.base.size import are_known
from paddle_jax._core.kernels.reverse import LINEARIZE_RULES
from paddle_jax._core.lazy.devices import traced_for
from paddle_jax.nn.functional import cudnn_attention, pallas_attention, partitioned_attention

_FEWEST = 64  # queries and keys from which on a fused kernel is worth its call
_MORE_IN_GRADIENTS = 3  # operands of the gradient besides those of attention: result, log, cotangent
_REFERENCE: dict[str, Callable[..., Any]] = {}  # "attention": the plain formula, which sdpa.py fills in


def register_reference(function: Callable[..., Any]) -> None:
    """Sets the plain formula: (q, k, v, mask, causal, scale) -> (result, log of the sums)."""
    _REFERENCE["attention"] = function


def is_fusible(q: Any, k: Any, v: Any, mask: Any) -> bool:
    """Whether attention of these operands may be the primitive."""
    shapes = [*q.shape, *k.shape, *v.shape, *([] if mask is None else mask.shape)]
    return (
        are_known(*shapes)
        # Below that the call of a kernel costs more than it saves.
        and q.dtype == k.dtype == v.dtype
        and q.dtype in (jnp.bfloat16, jnp.float16, jnp.float32)
        and min(q.shape[1], k.shape[1]) >= _FEWEST
        and min(shapes) > 0
    )


def fused_attention(
    q: jax.Array, k: jax.Array, v: jax.Array, mask: jax.Array | None, causal: bool, scale: float | None
) -> jax.Array:
    """Attention of [batch, length, heads, width] by the fused kernel of the platform.

    Args:
        q, k, v: operands for which `is_fusible` holds.
        mask: None, or bool (True takes part) or numbers that are added, broadcastable to
            [batch, heads, queries, keys].
        causal: query i sees keys 0..i only.
        scale: factor of the products; None: 1 / sqrt(width).
    """
    operands = [q, k, v]
    if mask is not None:
        # Missing axes of a mask are those in front.
        operands.append(mask.reshape((1,) * (4 - mask.ndim) + mask.shape))
    if scale is None:
        scale = 1 / math.sqrt(q.shape[-1])
    precision = jax.config.jax_default_matmul_precision  # pyright: ignore[reportAttributeAccessIssue]
    return FORWARD.bind(*operands, causal=causal, scale=scale, precision=precision)[0]


def _plain(*operands: Any, causal: bool, scale: float, precision: str) -> list[Any]:
    """The result and the log of the sums by the plain formula."""
    q, k, v, *mask = operands
    # The precision of the moment of the call, which is part of the compiled program.
    with jax.default_matmul_precision(precision):
        return list(_REFERENCE["attention"](q, k, v, mask[0] if mask else None, causal, scale))


def _plain_grad(*operands: Any, causal: bool, scale: float, precision: str) -> list[Any]:
    """The gradients of q, k and v by the plain formula."""
    q, k, v, *mask = operands[:-3]

    def result(q: Any, k: Any, v: Any) -> Any:
        return _plain(q, k, v, *mask, causal=causal, scale=scale, precision=precision)[0]

    # The last operand is the cotangent of the result.
    return list(jax.vjp(result, q, k, v)[1](operands[-1]))


def _with_nan(out: Any, mask: Any) -> Any:
    """A result with NaN for queries that see no key, as the plain formula gives; kernels give a mean."""
    if mask is None:
        return out
    sees = mask if mask.dtype == jnp.bool_ else mask > -jnp.inf
    sees = jnp.swapaxes(jnp.any(sees, -1), 1, 2)[..., None]  # [batch or 1, queries or 1, heads or 1, 1]
    return jnp.where(sees, out, jnp.asarray(jnp.nan, out.dtype))


def _fused(kernels: Any) -> Callable[..., list[Any]]:
    """The forward function by the kernels of a platform, where their limits allow."""

    def forward(*operands: Any, causal: bool, scale: float, precision: str) -> list[Any]:
        q, k, v, *masks = operands
        mask = masks[0] if masks else None
        if not kernels.takes(q, k, v, mask):
            # Kernels have limits of width and alignment.
            return _plain(*operands, causal=causal, scale=scale, precision=precision)
        # The precision of the call: its setting may have ended when the program is lowered.
        with jax.default_matmul_precision(precision):
            out, log = kernels.forward(q, k, v, mask, causal, scale)
        return [_with_nan(out, mask), log]

    return forward


def _fused_grad(kernels: Any) -> Callable[..., list[Any]]:
    """The gradient by the kernels of a platform, where their limits allow."""

    def backward(*operands: Any, causal: bool, scale: float, precision: str) -> list[Any]:
        q, k, v, *masks = operands[:-3]
        mask = masks[0] if masks else None
        if not kernels.takes(q, k, v, mask):
            return _plain_grad(*operands, causal=causal, scale=scale, precision=precision)
        with jax.default_matmul_precision(precision):
            return kernels.backward(q, k, v, mask, *operands[-3:], causal, scale)

    return backward


def _lowering(platform: str, kernels: Any, fused: Callable[..., Any], plain: Any) -> Any:
    """The rule that lowers a primitive for a platform.

    Args:
        platform: of the lowering.
        kernels: module of the platform's kernels, or None.
        fused, plain: the functions with and without kernels.
    """

    def rule(context: Any, *operands: Any, **params: Any) -> Any:
        # The program may be lowered for another platform than that of this machine.
        with traced_for(platform):
            if kernels is None:
                function = plain
            elif _is_of_one_device(context):
                function = fused
            else:
                # Where kernels cannot be divided XLA divides the plain formula.
                function = _divided(kernels, context, fused) or plain
            return mlir.lower_fun(function, multiple_results=True)(context, *operands, **params)

    return rule


def _is_of_one_device(context: Any) -> bool:
    """Whether the program that a primitive is lowered in is that of one device."""
    axes = context.module_context.axis_context
    if isinstance(axes, SPMDAxisContext):
        # Within `shard_map` each device has its own part, but for axes that are left to XLA.
        return set(axes.manual_axes) == set(axes.mesh.axis_names)
    return not isinstance(axes, ShardingContext) or axes.num_devices == 1


def _divided(kernels: Any, context: Any, fused: Callable[..., Any]) -> Callable[..., Any] | None:
    """The function by kernels, divided over the devices of the program; None where that cannot be."""
    if not isinstance(context.module_context.axis_context, ShardingContext):
        return None
    q, k, v, *rest = context.avals_in
    is_gradient = len(rest) >= _MORE_IN_GRADIENTS
    masks = rest[:-_MORE_IN_GRADIENTS] if is_gradient else rest
    if not kernels.takes(q, k, v, masks[0] if masks else None):
        return None
    layout = partitioned_attention.layout_for(context, q, k)
    if layout is None:
        return None
    return partitioned_attention.divided(fused, layout, is_gradient)


def _primitive(name: str, plain: Callable[..., Any], fused: Callable[[Any], Any], shapes_of: Any) -> Any:
    """A primitive that is computed by `plain`, or on a platform by `fused(its kernels)`."""
    made = Primitive(name)
    made.multiple_results = True
    # Outside a program the primitive is compiled as one of its own.
    made.def_impl(lambda *operands, **params: _compiled(made, tuple(params.items()))(*operands))
    made.def_abstract_eval(lambda *operands, **params: shapes_of(*operands))
    # The plain formula serves platforms without kernels.
    mlir.register_lowering(made, mlir.lower_fun(plain, multiple_results=True))
    for platform, kernels in (("cuda", cudnn_attention), ("tpu", pallas_attention), ("rocm", None)):
        rule = _lowering(platform, kernels, fused(kernels), plain)
        mlir.register_lowering(made, rule, platform=platform)

    def batched(operands: Any, axes: Any, **params: Any) -> tuple[Any, ...]:
        # vmap of the formula: kernels have one batch axis.
        out = jax.vmap(ft.partial(plain, **params), tuple(axes))(*operands)
        return out, (0,) * len(out)

    def tangents(operands: Any, tangents: Any, **params: Any) -> Any:
        filled = [ad.instantiate_zeros(tangent) for tangent in tangents]
        # Forward mode needs derivatives of derivatives, which kernels do not have.
        return jax.jvp(ft.partial(plain, **params), tuple(operands), tuple(filled))

    batching.primitive_batchers[made] = batched
    ad.primitive_jvps[made] = tangents
    return made


@ft.lru_cache(maxsize=256)
def _compiled(primitive: Any, params: tuple[Any, ...]) -> Callable[..., Any]:
    return jax.jit(ft.partial(primitive.bind, **dict(params)))


def _result_shapes(q: Any, k: Any, v: Any, mask: Any = None) -> list[ShapedArray]:
    batch, length, heads, _ = q.shape
    return [
        ShapedArray((batch, length, heads, v.shape[3]), q.dtype),
        ShapedArray((batch, heads, length), jnp.dtype("float32")),
    ]


def _grad_shapes(q: Any, k: Any, v: Any, *rest: Any) -> list[ShapedArray]:
    return [ShapedArray(x.shape, x.dtype) for x in (q, k, v)]


FORWARD = _primitive("fused_attention", _plain, _fused, _result_shapes)
BACKWARD = _primitive("fused_attention_grad", _plain_grad, _fused_grad, _grad_shapes)


def _linearize(equation: Any, operands: Sequence[Any], active: Sequence[bool], wanted: Sequence[bool]) -> Any:
    """The result, and its gradients by the second primitive. A gradient of the mask is left to JAX."""
    if wanted[1] or any(active[3:]):
        # Kernels give no gradient of the mask.
        return None
    results = FORWARD.bind(*operands, **equation.params)

    def pull(cotangents: Sequence[Any]) -> list[Any]:
        grads = BACKWARD.bind(*operands, *results, cotangents[0], **equation.params)
        return [*grads, *[None] * (len(operands) - 3)]

    return list(results), pull


LINEARIZE_RULES["fused_attention"] = _linearize
