from paddle_jax.fft import *
