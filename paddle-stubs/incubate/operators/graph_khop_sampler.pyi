from paddle_jax.incubate.operators.graph_khop_sampler import *
