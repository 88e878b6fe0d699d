"""paddle.nn.utils: normalised weights, parameters as vectors, clipping of gradients."""

from paddle_jax.nn.utils.clip_grad import clip_grad_norm_, clip_grad_value_
from paddle_jax.nn.utils.spectral_norm_hook import spectral_norm
from paddle_jax.nn.utils.transform_parameters import parameters_to_vector, vector_to_parameters
from paddle_jax.nn.utils.weight_norm_hook import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
