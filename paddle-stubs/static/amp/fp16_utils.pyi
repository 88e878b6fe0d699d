from paddle_jax.static.amp.fp16_utils import *
