"""Functions that do several steps at once (`paddle.incubate.nn.functional`). XLA fuses what
they are made of."""

from paddle_jax.incubate.nn.functional.block_multihead_attention import block_multihead_attention
from paddle_jax.incubate.nn.functional.fast_ln import fast_ln
from paddle_jax.incubate.nn.functional.fast_rms_norm import fast_rms_norm
from paddle_jax.incubate.nn.functional.fused_bias_act import fused_bias_act
from paddle_jax.incubate.nn.functional.fused_dropout_add import fused_dropout_add
from paddle_jax.incubate.nn.functional.fused_layer_norm import fused_layer_norm
from paddle_jax.incubate.nn.functional.fused_matmul_bias import (
    fused_linear,
    fused_linear_activation,
    fused_matmul_bias,
)
from paddle_jax.incubate.nn.functional.fused_rms_norm import fused_rms_norm
from paddle_jax.incubate.nn.functional.fused_rms_norm_ext import fused_rms_norm_ext
from paddle_jax.incubate.nn.functional.fused_rotary_position_embedding import fused_rotary_position_embedding
from paddle_jax.incubate.nn.functional.fused_transformer import (
    fused_bias_dropout_residual_layer_norm,
    fused_feedforward,
    fused_multi_head_attention,
    fused_multi_transformer,
)
from paddle_jax.incubate.nn.functional.blha_get_max_len import blha_get_max_len
from paddle_jax.incubate.nn.functional.fused_dot_product_attention import (
    fused_dot_product_attention as fused_dot_product_attention,
)
from paddle_jax.incubate.nn.functional.fused_gate_attention import (
    fused_gate_attention as fused_gate_attention,
)
from paddle_jax.incubate.nn.functional.masked_multihead_attention import masked_multihead_attention
from paddle_jax.incubate.nn.functional.expert_numbers import (
    build_src_rank_and_local_expert_id,
    cal_aux_loss,
    expand_modality_expert_id,
    int_bincount,
)
from paddle_jax.incubate.nn.functional.moe_combine import moe_combine
from paddle_jax.incubate.nn.functional.moe_gate_dispatch import (
    moe_gate_dispatch,
    moe_gate_dispatch_partial_nosoftmaxtopk,
    moe_gate_dispatch_permute,
)
from paddle_jax.incubate.nn.functional.variable_length_memory_efficient_attention import (
    variable_length_memory_efficient_attention,
)
from paddle_jax.incubate.nn.functional.swiglu import swiglu as swiglu

__all__ = [
    "fast_ln",
    "fast_rms_norm",
    "fused_multi_head_attention",
    "fused_feedforward",
    "fused_multi_transformer",
    "fused_matmul_bias",
    "fused_linear",
    "fused_linear_activation",
    "fused_bias_dropout_residual_layer_norm",
    "fused_dropout_add",
    "fused_rotary_position_embedding",
    "fused_rms_norm",
    "fused_layer_norm",
    "fused_bias_act",
    "fused_rms_norm_ext",
    "variable_length_memory_efficient_attention",
    "masked_multihead_attention",
    "blha_get_max_len",
    "block_multihead_attention",
    "moe_combine",
    "moe_gate_dispatch",
    "moe_gate_dispatch_permute",
    "moe_gate_dispatch_partial_nosoftmaxtopk",
    "cal_aux_loss",
    "int_bincount",
    "expand_modality_expert_id",
    "build_src_rank_and_local_expert_id",
]
