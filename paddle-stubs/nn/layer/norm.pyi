from paddle_jax.nn.layer.norm import *
from paddle_jax.nn.layer.norm import _InstanceNormBase as _InstanceNormBase
