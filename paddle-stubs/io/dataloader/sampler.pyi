from paddle_jax.io.dataloader.sampler import *
