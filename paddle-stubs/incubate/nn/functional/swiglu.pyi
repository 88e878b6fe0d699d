from paddle_jax.incubate.nn.functional.swiglu import *
