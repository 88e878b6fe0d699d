from paddle_jax.framework.io_utils import *
from paddle_jax.framework.io_utils import _is_file_path as _is_file_path
from paddle_jax.framework.io_utils import _is_memory_buffer as _is_memory_buffer
from paddle_jax.framework.io_utils import _open_file_buffer as _open_file_buffer
