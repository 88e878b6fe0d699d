from paddle_jax.incubate.operators.graph_sample_neighbors import *
