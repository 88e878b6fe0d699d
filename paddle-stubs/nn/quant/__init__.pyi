from paddle_jax.nn.quant import *
from paddle_jax.nn.quant import QuantStub as QuantStub
from paddle_jax.nn.quant import format as format
from paddle_jax.nn.quant import functional_layers as functional_layers
from paddle_jax.nn.quant import qat as qat
from paddle_jax.nn.quant import quant_layers as quant_layers
