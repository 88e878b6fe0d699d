from paddle_jax.device.cuda import *
