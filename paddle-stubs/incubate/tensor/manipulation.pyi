from paddle_jax.incubate.tensor.manipulation import *
from paddle_jax.incubate.tensor.manipulation import async_offload as async_offload
from paddle_jax.incubate.tensor.manipulation import async_reload as async_reload
from paddle_jax.incubate.tensor.manipulation import create_async_load as create_async_load
