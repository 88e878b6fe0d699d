"""Attention by cuDNN's fused kernels, on NVIDIA GPUs: bfloat16 and float16, widths up to 128, on Hopper 256.

The calls are those of `jax.nn.dot_product_attention(implementation="cudnn")`. That function asks the GPU of
this machine whether it can run them; the calls here can also be compiled where there is none.
"""

from __future__ import annotations

import inspect
from typing import Any

import jax
import jax.numpy as jnp

from paddle_jax._core.lazy.devices import compute_capability
from paddle_jax.nn.functional.kernel_versions import Expected, usable

try:
    from jax._src.cudnn import fused_attention_stablehlo as cudnn
except ImportError:  # another version of JAX
    cudnn = None

# GPUs of this compute capability take wider heads.
_HOPPER = (9, 0)
_WIDEST = 128
_WIDEST_ON_HOPPER = 256
_LARGEST_MASK = 1 << 28  # numbers of a mask that is written out for the kernel
# Arguments of functions inside JAX, which another version may have changed.
_INPUTS = "query key value bias q_seqlen kv_seqlen q_offsets kv_offsets page_table_k page_table_v".split()
_SETTINGS = "scale seed dropout_rate variadic_args mask_type layout sliding_window_length".split()
_EXPECTED: Expected = {
    "_dot_product_attention_fwd_impl": [*_INPUTS, *_SETTINGS, "is_training"],
    "_dot_product_attention_bwd_impl": [
        *_INPUTS,
        *"activation fwd_output grad_output".split(),
        *_SETTINGS,
    ],
    "get_large_negative_number": ["dtype"],
    "MaskType": None,
    "AttentionLayout": None,
}
# JAX 0.11 and newer take a function that changes the scores, which is not used here.
_LATER: dict[str, Any] = {"score_mod_args": (), "score_mod": None}


def takes(q: jax.Array, k: jax.Array, v: jax.Array, mask: jax.Array | None) -> bool:
    """Whether the kernels can compute attention of these operands."""
    if q.dtype not in (jnp.bfloat16, jnp.float16):
        return False
    widest = _WIDEST_ON_HOPPER if compute_capability() >= _HOPPER else _WIDEST
    width = q.shape[3]
    # The kernels read 8 numbers at a time.
    if width != v.shape[3] or width % 8 or width > widest:
        return False
    if not usable("cuDNN", cudnn, _EXPECTED, _LATER):
        return False
    if mask is None:
        return True
    queries = q.shape[1]
    keys = k.shape[1]
    written = mask.shape[0] * mask.shape[1] * queries * keys
    is_given = mask.shape[2:] == (queries, keys)
    # A mask that has to be written out must not be too large.
    return not (queries % 2 or keys % 2) and (is_given or written <= _LARGEST_MASK)


def _settings(mask: jax.Array | None, causal: bool, scale: float) -> dict[str, Any]:
    kind = cudnn.MaskType.CAUSAL if causal else cudnn.MaskType.NO_MASK
    parameters = inspect.signature(cudnn._dot_product_attention_fwd_impl).parameters
    return {
        **{name: value for name, value in _LATER.items() if name in parameters},
        "scale": scale,
        "seed": 42,
        "dropout_rate": 0.0,
        "variadic_args": (mask is not None, False),
        "mask_type": kind,
        "layout": cudnn.AttentionLayout.BTNH.value,
        "sliding_window_length": None,
    }


def _operands(q: jax.Array, k: jax.Array, v: jax.Array, mask: jax.Array | None) -> list[Any]:
    """The operands of the calls: those that are not used are empty."""
    # Empty arrays stand for operands of other forms.
    unused = jnp.zeros(0, q.dtype)
    if mask is None:
        bias = unused
    else:
        if mask.dtype == jnp.bool_:
            # A very low number, as the kernels compute with infinity as NaN.
            lowest = cudnn.get_large_negative_number(q.dtype)
            mask = jnp.where(mask, jnp.zeros((), q.dtype), lowest)
        bias = jnp.broadcast_to(mask.astype(q.dtype), (*mask.shape[:2], q.shape[1], k.shape[1]))
    return [q, k, v, bias, *[unused] * 6]


def forward(
    q: jax.Array, k: jax.Array, v: jax.Array, mask: jax.Array | None, causal: bool, scale: float
) -> tuple[jax.Array, jax.Array]:
    """The result and the log of the sums of exponentials."""
    operands = _operands(q, k, v, mask)
    out, log = cudnn._dot_product_attention_fwd_impl(
        *operands, **_settings(mask, causal, scale), is_training=True
    )
    return out, log


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
    operands = _operands(q, k, v, mask)
    return list(
        cudnn._dot_product_attention_bwd_impl(
            *operands, log, out, ct.astype(q.dtype), **_settings(mask, causal, scale)
        )
    )
