"""Functions and Layers that are run for their results alone (`paddle.incubate.jit`)."""

from paddle_jax.incubate.jit.inference_decorator import inference, is_inference_mode

__all__ = ["inference", "is_inference_mode"]
