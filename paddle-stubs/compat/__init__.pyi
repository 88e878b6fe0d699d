from paddle_jax.compat import *
from paddle_jax.compat import MedianRetType as MedianRetType
from paddle_jax.compat import MinMaxRetType as MinMaxRetType
from paddle_jax.compat import SlogdetResult as SlogdetResult
from paddle_jax.compat import SortRetType as SortRetType
from paddle_jax.compat import nn as nn
