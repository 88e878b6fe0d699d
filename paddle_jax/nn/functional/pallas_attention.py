"""Attention by the flash attention kernels of Pallas, on TPUs.

They take sequences in blocks of 128, so others are filled up with keys of another segment, which no query
sees. Heads of keys that several heads of queries share are repeated.
"""

from __future__ import annotations

import contextlib
import functools as ft
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import jax.numpy as jnp

from paddle_jax.nn.functional.kernel_versions import Expected, usable

if TYPE_CHECKING:
    from collections.abc import Sequence

_T = TypeVar("_T")
# Lengths are filled up to a multiple of this.
_BLOCK = 128
# The largest one that divides a length is taken.
_BLOCKS = (512, 256, 128)
_OPERANDS = "q k v ab segment_ids".split()
_OF_GRADIENTS = [*_OPERANDS, *"l m do di".split()]
_EXPECTED: Expected = {
    "_flash_attention_impl": [
        *_OPERANDS,
        *"save_residuals causal sm_scale block_b block_q block_k_major block_k debug".split(),
    ],
    "_flash_attention_bwd_dkv": [
        *_OF_GRADIENTS,
        *"block_q_major block_q block_k_major block_k sm_scale causal mask_value debug".split(),
    ],
    "_flash_attention_bwd_dq": [
        *_OF_GRADIENTS,
        *"block_q_major block_k_major block_k sm_scale causal mask_value debug".split(),
    ],
    "SegmentIds": None,
    "DEFAULT_MASK_VALUE": None,
}
_SEEN = 1  # the segment of queries, and of keys that they see


def _kernels() -> Any:
    """The module of the kernels, None where this JAX has none."""
    try:
        # lazy: Pallas takes 0.5 s to import, and only programs for TPUs need it
        from jax.experimental.pallas.ops.tpu import flash_attention
    except ImportError:  # another version of JAX
        return None
    return flash_attention


def takes(q: jax.Array, k: jax.Array, v: jax.Array, mask: jax.Array | None) -> bool:
    """Whether the kernels can compute attention of these operands: one width, and no mask but one of keys."""
    # The kernels have one width, and no float16.
    if q.dtype == jnp.float16 or q.shape[3] != v.shape[3]:
        return False
    # The kernels know a mask as segments of keys, nothing else.
    if mask is not None and (mask.dtype != jnp.bool_ or mask.shape[1:3] != (1, 1)):
        return False
    return usable("Pallas", _kernels(), _EXPECTED)


def _with_settings(function: Callable[..., _T]) -> Callable[..., _T]:
    """Traces the kernels with indices of 32 bits, and products of bfloat16 as they are."""

    @ft.wraps(function)
    def traced(q: jax.Array, *rest: Any) -> _T:
        with contextlib.ExitStack() as stack:
            # The indices of the kernels are 32 bits wide.
            stack.enter_context(jax.enable_x64(False))
            if q.dtype != jnp.float32:
                stack.enter_context(jax.default_matmul_precision("default"))
            return function(q, *rest)

    return traced


def _block(length: int) -> int:
    """The largest block that divides a length."""
    return next(block for block in _BLOCKS if length % block == 0)


def _filled(x: jax.Array, axis: int) -> jax.Array:
    """x with zeros at the end of an axis, up to whole blocks."""
    # Kernels work on whole blocks.
    missing = -x.shape[axis] % _BLOCK
    if not missing:
        return x
    return jnp.pad(x, [(0, missing if a == axis else 0) for a in range(x.ndim)])


def _by_head(x: jax.Array, repeats: int = 1) -> jax.Array:
    """[batch, length, heads, width] as [batch, heads, whole blocks, width]."""
    # The kernels have heads before lengths.
    x = jnp.swapaxes(x, 1, 2)
    if repeats > 1:
        x = jnp.repeat(x, repeats, 1)
    return _filled(x, 2)


def _segments(q: jax.Array, k: jax.Array, mask: jax.Array | None) -> Any:
    """The segments of queries and keys; None where all keys are seen."""
    batch, keys = k.shape[:2]
    # Filled places must not be seen, so they get a segment of their own.
    if mask is None and keys % _BLOCK == 0:
        return None
    seen: Any = jnp.ones((batch, keys), bool)
    if mask is not None:
        seen = jnp.broadcast_to(mask[:, 0, 0, :], (batch, keys))
    of_keys = _filled(jnp.where(seen, _SEEN, 0).astype(jnp.int32), 1)
    queries = q.shape[1] + -q.shape[1] % _BLOCK
    return _kernels().SegmentIds(jnp.full((batch, queries), _SEEN, jnp.int32), of_keys)


@_with_settings
def forward(
    q: jax.Array, k: jax.Array, v: jax.Array, mask: jax.Array | None, causal: bool, scale: float
) -> tuple[jax.Array, jax.Array]:
    """The result and the log of the sums of exponentials."""
    # The kernels want as many heads of keys as of queries.
    repeats = q.shape[2] // k.shape[2]
    queries = _by_head(q)
    keys, values = (_by_head(x, repeats) for x in (k, v))
    block = _block(keys.shape[2])
    out, sums, largest = _kernels()._flash_attention_impl(
        queries,
        keys,
        values,
        None,
        _segments(q, k, mask),
        True,
        causal,
        scale,
        1,
        _block(queries.shape[2]),
        block,
        block,
        False,
    )
    # log(sum exp(s)) = largest + log(sum exp(s - largest)).
    log = (largest + jnp.log(sums)).astype(jnp.float32)
    return jnp.swapaxes(out, 1, 2)[:, : q.shape[1]], log[..., : q.shape[1]]


@_with_settings
def backward(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    mask: jax.Array | None,
    out: jax.Array,
    log: jax.Array,
    ct: jax.Array,
    causal: bool,
    scale: float,
) -> list[jax.Array]:
    """The gradients of q, k and v."""
    kernels = _kernels()
    repeats = q.shape[2] // k.shape[2]
    queries, cotangents = (_by_head(x) for x in (q, ct.astype(q.dtype)))
    keys, values = (_by_head(x, repeats) for x in (k, v))
    largest = _filled(log, 2)  # exp(s - log) / 1 are the weights
    # The part of the gradient of the softmax that rows share.
    inner = jnp.sum(out.astype(jnp.float32) * ct.astype(jnp.float32), -1)
    operands = (
        queries,
        keys,
        values,
        None,
        _segments(q, k, mask),
        jnp.ones_like(largest),
        largest,
        cotangents,
        _filled(jnp.swapaxes(inner, 1, 2), 2),
    )
    rows = _block(queries.shape[2])
    columns = _block(keys.shape[2])
    settings = {
        "block_k_major": columns,
        "block_k": columns,
        "sm_scale": scale,
        "causal": causal,
        "mask_value": kernels.DEFAULT_MASK_VALUE,
        "debug": False,
    }
    for_k, for_v = kernels._flash_attention_bwd_dkv(*operands, block_q_major=rows, block_q=rows, **settings)
    for_q, _ = kernels._flash_attention_bwd_dq(*operands, block_q_major=rows, **settings)
    return [
        _by_length(for_q, q, 1),
        _by_length(for_k, k, repeats),
        _by_length(for_v, v, repeats),
    ]


def _by_length(gradient: jax.Array, like: Any, repeats: int) -> jax.Array:
    """A gradient [batch, heads, blocks, width] in the shape of its operand; repeated heads are summed."""
    batch, length, heads, width = like.shape
    gradient = gradient[:, :, :length]
    if repeats > 1:
        split: Sequence[int] = (batch, heads, repeats, length, width)
        # Heads that were repeated share one operand; sums need float32.
        gradient = jnp.sum(gradient.reshape(split).astype(jnp.float32), 2)
    return jnp.swapaxes(gradient, 1, 2).astype(like.dtype)
