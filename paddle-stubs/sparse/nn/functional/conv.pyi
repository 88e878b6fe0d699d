from paddle_jax.sparse.nn.functional.conv import *
from paddle_jax.sparse.nn.functional.conv import conv2d as conv2d
from paddle_jax.sparse.nn.functional.conv import conv3d as conv3d
from paddle_jax.sparse.nn.functional.conv import subm_conv2d as subm_conv2d
from paddle_jax.sparse.nn.functional.conv import subm_conv2d_igemm as subm_conv2d_igemm
from paddle_jax.sparse.nn.functional.conv import subm_conv3d as subm_conv3d
from paddle_jax.sparse.nn.functional.conv import subm_conv3d_igemm as subm_conv3d_igemm
