from paddle_jax.io.dataloader.batch_sampler import *
