from paddle_jax.framework.recall_error import *
