from paddle_jax.distributed.fleet.layers.mpu import *
