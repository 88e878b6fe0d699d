from paddle_jax.sparse.nn.layer.activation import *
from paddle_jax.sparse.nn.layer.activation import LeakyReLU as LeakyReLU
from paddle_jax.sparse.nn.layer.activation import ReLU as ReLU
from paddle_jax.sparse.nn.layer.activation import ReLU6 as ReLU6
from paddle_jax.sparse.nn.layer.activation import Softmax as Softmax
