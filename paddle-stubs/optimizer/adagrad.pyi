from paddle_jax.optimizer.adagrad import *
