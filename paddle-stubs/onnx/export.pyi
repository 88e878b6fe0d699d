from paddle_jax.onnx.export import *
