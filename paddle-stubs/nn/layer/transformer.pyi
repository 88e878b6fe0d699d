from paddle_jax.nn.layer.transformer import *
from paddle_jax.nn.layer.transformer import _convert_param_attr_to_list as _convert_param_attr_to_list
