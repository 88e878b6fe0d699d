from paddle_jax.device.custom_device import *
