from paddle_jax.onnx import *
