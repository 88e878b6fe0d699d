from paddle_jax.quantization import *
from paddle_jax.quantization import observers as observers
from paddle_jax.quantization import quanters as quanters
