from paddle_jax.geometric.message_passing import *
