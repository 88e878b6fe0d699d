"""PaddlePaddle's Python API on JAX. Names, arguments and results are Paddle 3.3's; see docs/architecture.md for how it works."""

from paddle_jax import _config as _config  # noqa: I001  configures jax before anything else is imported

# dtypes, devices, modes
from paddle_jax._core.autograd_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from paddle_jax._core.dtype import (
    DType as dtype, bfloat16, bool_ as bool, complex64, complex128, float16, float32, float64, float8_e4m3fn, float8_e5m2, get_default_dtype, int8,
    int16, int32, int64, pstring, set_default_dtype, uint8, uint16, uint32, uint64,
)
from paddle_jax._core.printing import set_printoptions
from paddle_jax._core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, XPUPlace, get_device, set_device
from paddle_jax._core.random import Generator, get_rng_state, seed, set_rng_state
from paddle_jax._core.tensor import Tensor

# gradients
from paddle_jax.autograd import grad

# tensor functions, by file
from paddle_jax.tensor.creation import ones, to_tensor, zeros
from paddle_jax.tensor.logic import equal, greater_equal, greater_than, less_equal, less_than, not_equal
from paddle_jax.tensor.math import add, divide, floor_divide, multiply, pow, remainder, subtract

__version__ = "0.1.0"
