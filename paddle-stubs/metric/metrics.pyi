from paddle_jax.metric.metrics import *
