from paddle_jax.amp import *
from paddle_jax.amp import autocast as autocast
from paddle_jax.amp import debugging as debugging
