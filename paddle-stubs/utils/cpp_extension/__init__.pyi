from paddle_jax.utils.cpp_extension import *
from paddle_jax.utils.cpp_extension import cpp_extension as cpp_extension
from paddle_jax.utils.cpp_extension import extension_utils as extension_utils
