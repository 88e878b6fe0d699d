from paddle_jax.device.xpu.streams import *
