"""What programs ask of `paddle.static` without building a static program."""

from paddle_jax._core.tensor import Tensor as Variable  # an eager Tensor counts as one, as in Paddle
from paddle_jax.static.input_spec import InputSpec

__all__ = ["InputSpec", "Variable"]
