from paddle_jax.utils.cpp_extension.cpp_extension import *
from paddle_jax.utils.cpp_extension.cpp_extension import CppExtension as CppExtension
from paddle_jax.utils.cpp_extension.cpp_extension import load as load
from paddle_jax.utils.cpp_extension.cpp_extension import setup as setup
