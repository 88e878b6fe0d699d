from paddle_jax.nn.layer.rnn import *
