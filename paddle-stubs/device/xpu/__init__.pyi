from paddle_jax.device.xpu import *
