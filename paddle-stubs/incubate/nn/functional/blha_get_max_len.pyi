from paddle_jax.incubate.nn.functional.blha_get_max_len import *
