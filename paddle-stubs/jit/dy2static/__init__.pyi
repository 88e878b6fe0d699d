from paddle_jax.jit.dy2static import *
