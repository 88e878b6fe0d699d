from paddle_jax.framework.model_files import *
