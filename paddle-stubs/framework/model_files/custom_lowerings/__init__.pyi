from paddle_jax.framework.model_files.custom_lowerings import *
