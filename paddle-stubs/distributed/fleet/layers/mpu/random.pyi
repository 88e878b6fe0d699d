from paddle_jax.distributed.fleet.layers.mpu.random import *
