from paddle_jax.io.dataloader.collate import *
