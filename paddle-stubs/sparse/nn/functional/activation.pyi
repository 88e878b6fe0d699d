from paddle_jax.sparse.nn.functional.activation import *
from paddle_jax.sparse.nn.functional.activation import leaky_relu as leaky_relu
from paddle_jax.sparse.nn.functional.activation import relu as relu
from paddle_jax.sparse.nn.functional.activation import relu6 as relu6
from paddle_jax.sparse.nn.functional.activation import softmax as softmax
