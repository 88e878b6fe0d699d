from paddle_jax.io.dataloader.dataset import *
