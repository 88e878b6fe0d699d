"""The functions of `paddle.*` on tensors, by family. Importing this module declares them and puts the
methods on Tensor."""

import sys
import types

from paddle_jax.tensor import operators as operators  # noqa: F401  installs the Python operators
from paddle_jax.tensor import array as array  # noqa: F401
from paddle_jax.tensor import creation as creation  # noqa: F401
from paddle_jax.tensor import logic as logic  # noqa: F401
from paddle_jax.tensor import math as math  # noqa: F401
from paddle_jax.tensor import indexing as indexing  # noqa: F401
from paddle_jax.tensor import methods as methods  # noqa: F401
from paddle_jax.tensor import internals as internals  # noqa: F401
from paddle_jax.tensor.sampling import top_p_sampling as top_p_sampling  # noqa: F401


class _TensorModule(types.ModuleType):
    """paddle.tensor is the module of tensor functions and, called, makes a tensor."""

    def __call__(self, *args, **kwargs):
        return creation.tensor(*args, **kwargs)


sys.modules[__name__].__class__ = _TensorModule
