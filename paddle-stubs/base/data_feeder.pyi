from paddle_jax.base.data_feeder import *
