from paddle_jax.amp.grad_scaler import *
