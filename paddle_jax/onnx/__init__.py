"""Models as ONNX files."""

from paddle_jax.onnx.export import export

__all__ = ["export"]
