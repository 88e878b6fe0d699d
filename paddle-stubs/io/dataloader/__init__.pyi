from paddle_jax.io.dataloader import *
