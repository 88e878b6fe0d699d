from paddle_jax.sparse.nn.layer.conv import *
from paddle_jax.sparse.nn.layer.conv import Conv2D as Conv2D
from paddle_jax.sparse.nn.layer.conv import Conv3D as Conv3D
from paddle_jax.sparse.nn.layer.conv import SubmConv2D as SubmConv2D
from paddle_jax.sparse.nn.layer.conv import SubmConv3D as SubmConv3D
