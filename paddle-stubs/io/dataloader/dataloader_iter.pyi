from paddle_jax.io.dataloader.dataloader_iter import *
from paddle_jax.io.dataloader.dataloader_iter import _DataLoaderIterBase as _DataLoaderIterBase
