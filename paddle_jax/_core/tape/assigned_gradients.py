"""Gradients that user code puts into a Tensor."""

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.state import local
from paddle_jax._core.tape.sparse_rows import RowsGrad
from paddle_jax._core.tensors.tensor import Tensor, held, wrap


class GradOfResultError(RuntimeError, SystemError):
    """A gradient is put into the result of a recorded operation. Paddle raises SystemError."""


def assign(tensor, value):
    """`tensor.grad = value`. A gradient that is there stays the same object and keeps its flag."""
    if tensor._node is not None:
        raise GradOfResultError(
            "(Fatal) Tensor.grad: the tensor is the result of an operation; only leaves "
            "can be given a gradient"
        )
    if value is not None and not isinstance(value, Tensor):
        raise ArgumentError(f"Tensor.grad: got {type(value).__name__}; assign a Tensor or None")
    local.ctx.frame.watch(tensor)
    if type(value) is RowsGrad and (tensor._grad is None or type(tensor._grad) is RowsGrad):
        tensor._grad = RowsGrad(value.rows(), True)
    elif value is None or tensor._grad is None or type(tensor._grad) is RowsGrad:
        tensor._grad = None if value is None else wrap(held(value))
    elif value._raw.dtype != tensor._grad._raw.dtype:
        raise RuntimeError(
            f"Tensor.grad: got a Tensor of {value.dtype}; the gradient that is there is "
            f"{tensor._grad.dtype}; cast it with astype, or assign None first"
        )
    else:
        tensor._grad._fill(held(value))
