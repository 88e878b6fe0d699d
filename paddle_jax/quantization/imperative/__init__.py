"""The predecessor of `QAT`, which changes a model in place."""

from paddle_jax.quantization.imperative import qat
from paddle_jax.quantization.imperative.qat import ImperativeQuantAware as ImperativeQuantAware
