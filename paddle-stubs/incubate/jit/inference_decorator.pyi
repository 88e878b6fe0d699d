from paddle_jax.incubate.jit.inference_decorator import *
