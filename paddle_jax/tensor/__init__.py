"""The functions of `paddle.*` on tensors, by family. Importing this module declares them and puts the
methods on Tensor."""

from __future__ import annotations


from typing import Any
from typing import TYPE_CHECKING
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

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class _TensorModule(types.ModuleType):
    """paddle.tensor is the module of tensor functions and, called, makes a tensor."""

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        return creation.tensor(*args, **kwargs)


sys.modules[__name__].__class__ = _TensorModule
