from paddle_jax.incubate.optimizer.lookahead import *
