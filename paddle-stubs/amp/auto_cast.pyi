from paddle_jax.amp.auto_cast import *
from paddle_jax.amp.auto_cast import amp_state as amp_state
