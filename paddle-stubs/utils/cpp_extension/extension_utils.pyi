from paddle_jax.utils.cpp_extension.extension_utils import *
from paddle_jax.utils.cpp_extension.extension_utils import find_cuda_home as find_cuda_home
from paddle_jax.utils.cpp_extension.extension_utils import get_build_directory as get_build_directory
from paddle_jax.utils.cpp_extension.extension_utils import run_cmd as run_cmd
