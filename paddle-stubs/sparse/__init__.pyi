from paddle_jax.sparse import *
from paddle_jax.sparse import creation as creation
from paddle_jax.sparse import nn as nn
from paddle_jax.sparse import pytree as pytree
