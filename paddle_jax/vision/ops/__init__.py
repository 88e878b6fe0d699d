"""paddle.vision.ops: what detection networks compute on boxes, and blocks of image networks."""

from paddle_jax.vision.ops.conv_norm import ConvNormActivation
