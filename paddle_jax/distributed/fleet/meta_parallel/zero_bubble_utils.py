"""Linear layers whose weights get their gradients later, when the program asks for them."""

from __future__ import annotations

import functools as ft
import queue
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.autograd import PyLayer
from paddle_jax.nn import functional
from paddle_jax.nn.layer.common import Linear
from paddle_jax.tensor.linalg import matmul

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = []


class WeightGradStore:
    """Functions that compute gradients of weights, in the order in which a backward pass has put them here.

    Attributes:
        enabled: bool, whether layers such as SplitBWLinear put them here. Default: False.
        cache: list of the functions since the last `flush`.
        funcs_queue: queue.Queue of the lists that wait for `pop`.
    Example:
        >>> from paddle_jax.distributed.fleet.meta_parallel import zero_bubble_utils
        >>> store = zero_bubble_utils.WeightGradStore
        >>> layer = zero_bubble_utils.SplitBWLinear(2, 1)
        >>> store.enabled = True
        >>> layer(paddle.ones([3, 2])).sum().backward()
        >>> store.enabled = False
        >>> layer.weight.grad is None
        True
        >>> store.flush(); store.pop(); layer.weight.grad.tolist()
        [[3.0], [3.0]]
    """

    enabled: bool = False
    cache: ClassVar[list[Callable[[], Any]]] = []
    funcs_queue: ClassVar[queue.Queue[Any]] = queue.Queue()

    @classmethod
    def put(cls, func: Callable[[], Any]) -> None:
        """Adds a function without arguments."""
        cls.cache.append(func)

    @classmethod
    def flush(cls) -> None:
        """Closes the present list, for one `pop`."""
        cls.funcs_queue.put(cls.cache)
        cls.cache = []

    @classmethod
    def pop(cls) -> None:
        """Calls the functions of the oldest list.

        Raises:
            AssertionError: no list waits.
        """
        if cls.funcs_queue.empty():
            raise CheckError("WeightGradStore: pop: got an empty queue; call flush once for each pop")
        for func in cls.funcs_queue.get():
            func()

    @classmethod
    def clear(cls) -> None:
        """Drops all functions."""
        cls.cache = []
        cls.funcs_queue = queue.Queue()


def fold_init_dims(tensor: Tensor) -> Tensor:
    """A Tensor [p, m, n] as [p * m, n]; others as they are."""
    if tensor.ndim != 3:
        return tensor
    return tensor.reshape([-1, tensor.shape[-1]])


def grad_weight_fn(input: Tensor, weight: Tensor, out_grad: Tensor, inplace_update_grad: bool = True) -> None:
    """Adds the gradient of the weight of a linear layer to `main_grad` where it has that, else to `grad`.

    Args:
        input: Tensor [..., in_features] that the layer got.
        weight: Parameter [in_features, out_features]; with stop_gradient nothing is done.
        out_grad: Tensor [..., out_features], the gradient of what the layer gave.
        inplace_update_grad: accepted.
    """
    if weight.stop_gradient:
        return
    with no_grad():
        gradient = matmul(fold_init_dims(input), fold_init_dims(out_grad), transpose_x=True)
        # Trainers of mixed precision add up in float32.
        if hasattr(weight, "main_grad"):
            weight.main_grad = _sum(weight.main_grad, gradient.astype("float32"))
        else:
            weight.grad = _sum(weight.grad, gradient)


def _sum(before: Tensor | None, gradient: Tensor) -> Tensor:
    if before is None:
        return gradient
    return before + gradient


class SplitBWMatmul(PyLayer):
    """`apply(input, weight, bias)`: a linear layer whose backward pass may leave the weight to
    WeightGradStore."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The linear layer."""
        ctx.save_for_backward(input, weight, bias)
        return functional.linear(input, weight, bias)

    @staticmethod
    def backward(ctx: Any, out_grad: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of the input and the bias; that of the weight goes to the weight."""
        input, weight, bias = ctx.saved_tensor()
        compute = ft.partial(grad_weight_fn, input, weight, out_grad)
        if WeightGradStore.enabled:
            WeightGradStore.put(compute)
        else:
            compute()
        input_grad = None
        if not input.stop_gradient:
            input_grad = matmul(out_grad, weight, transpose_y=True)
        # A bias of None is no Tensor, and has no gradient to return.
        if bias is None:
            return input_grad, None
        if bias.stop_gradient:
            return input_grad, None, None
        return input_grad, None, fold_init_dims(out_grad).sum(0)


class SplitBWLinear(Linear):
    """`nn.Linear` whose weight gets its gradient from WeightGradStore while that is enabled."""

    def forward(self, input: Tensor) -> Any:
        """The layer's result for an input [..., in_features]."""
        return SplitBWMatmul.apply(input, self.weight, self.bias)
