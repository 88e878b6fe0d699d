from paddle_jax.incubate.operators.graph_reindex import *
