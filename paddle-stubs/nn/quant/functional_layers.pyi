from paddle_jax.nn.quant.functional_layers import *
from paddle_jax.nn.quant.functional_layers import FloatFunctionalLayer as FloatFunctionalLayer
from paddle_jax.nn.quant.functional_layers import add as add
from paddle_jax.nn.quant.functional_layers import concat as concat
from paddle_jax.nn.quant.functional_layers import divide as divide
from paddle_jax.nn.quant.functional_layers import flatten as flatten
from paddle_jax.nn.quant.functional_layers import matmul as matmul
from paddle_jax.nn.quant.functional_layers import multiply as multiply
from paddle_jax.nn.quant.functional_layers import reshape as reshape
from paddle_jax.nn.quant.functional_layers import subtract as subtract
from paddle_jax.nn.quant.functional_layers import transpose as transpose
