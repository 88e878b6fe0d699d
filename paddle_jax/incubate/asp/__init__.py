"""Sparse networks: of each four neighbouring weights two are zero (`paddle.incubate.asp`)."""

from paddle_jax.incubate.asp.asp import decorate, prune_model, reset_excluded_layers, set_excluded_layers
from paddle_jax.incubate.asp.supported_layer_list import add_supported_layer
from paddle_jax.incubate.asp.utils import CheckMethod as CheckMethod
from paddle_jax.incubate.asp.utils import MaskAlgo as MaskAlgo
from paddle_jax.incubate.asp.utils import calculate_density
from paddle_jax.incubate.asp.utils import check_mask_1d as check_mask_1d
from paddle_jax.incubate.asp.utils import check_mask_2d as check_mask_2d
from paddle_jax.incubate.asp.utils import check_sparsity as check_sparsity
from paddle_jax.incubate.asp.utils import create_mask as create_mask
from paddle_jax.incubate.asp.utils import get_mask_1d as get_mask_1d
from paddle_jax.incubate.asp.utils import get_mask_2d_best as get_mask_2d_best
from paddle_jax.incubate.asp.utils import get_mask_2d_greedy as get_mask_2d_greedy

__all__ = [
    "calculate_density",
    "decorate",
    "prune_model",
    "set_excluded_layers",
    "reset_excluded_layers",
    "add_supported_layer",
]
