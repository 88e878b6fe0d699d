"""Quanters: they simulate quantization while a network is trained."""

from paddle_jax.quantization.quanters.abs_max import FakeQuanterWithAbsMaxObserver

__all__ = ["FakeQuanterWithAbsMaxObserver"]
