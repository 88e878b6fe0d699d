from paddle_jax.io.dataloader.worker import *
from paddle_jax.io.dataloader.worker import _generate_states as _generate_states
