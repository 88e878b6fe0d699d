"""paddle.compat.nn.functional: functions with PyTorch's signatures and layouts."""

from paddle_jax.compat.nn.functional.common import linear, pad, unfold
from paddle_jax.compat.nn.functional.sdpa import scaled_dot_product_attention
from paddle_jax.nn.functional.softmaxes import tensor_softmax as softmax

__all__ = ["pad", "softmax", "linear", "scaled_dot_product_attention", "unfold"]
