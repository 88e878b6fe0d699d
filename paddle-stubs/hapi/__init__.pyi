from paddle_jax.hapi import *
from paddle_jax.hapi import Model as Model
from paddle_jax.hapi import callbacks as callbacks
from paddle_jax.hapi import hub as hub
from paddle_jax.hapi import summary as summary
