from paddle_jax.device.cuda.streams import *
