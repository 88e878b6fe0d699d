from paddle_jax.sparse.nn.layer.pooling import *
from paddle_jax.sparse.nn.layer.pooling import MaxPool3D as MaxPool3D
