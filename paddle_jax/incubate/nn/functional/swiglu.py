"""An older path of `paddle.nn.functional.swiglu`."""

from paddle_jax.nn.functional.activation import swiglu as swiglu
