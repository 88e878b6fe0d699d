from paddle_jax.geometric.sampling import *
