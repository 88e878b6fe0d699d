from paddle_jax.optimizer import *
from paddle_jax.optimizer import lr as lr
