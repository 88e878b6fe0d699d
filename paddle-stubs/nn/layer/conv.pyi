from paddle_jax.nn.layer.conv import *
from paddle_jax.nn.layer.conv import _ConvNd as _ConvNd
