from paddle_jax.hapi.model_summary import *
from paddle_jax.hapi.model_summary import summary as summary
from paddle_jax.hapi.model_summary import summary_string as summary_string
