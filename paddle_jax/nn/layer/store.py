"""AttributeStore under the name that pickles of older versions have."""

from paddle_jax._core.execution.module_protocol import AttributeStore as Store

__all__ = ["Store"]
