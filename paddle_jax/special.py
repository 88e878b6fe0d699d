"""paddle.special: functions of mathematics under the names that PyTorch gives them. The functions are
declared elsewhere."""

from paddle_jax.nn.functional.softmaxes import tensor_softmax as softmax
from paddle_jax.tensor.ops import expm1
from paddle_jax.tensor.reduction import logsumexp

__all__ = ["logsumexp", "softmax", "expm1"]
