"""Models of low precision with float32 gradients, in programs of several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.state import Precision
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax.nn import Layer
from paddle_jax.optimizer.states import LOW

if TYPE_CHECKING:
    from paddle_jax.amp import GradScaler
    from paddle_jax.optimizer.optimizer import Optimizer

__all__ = []


class MixPrecisionLayer(Layer):
    """A Layer whose Parameters of low precision have float32 gradients, which add up without loss.

    Args:
        layers: Layer.
        dtype: "float16" or "bfloat16".
    Raises:
        AssertionError: dtype is another one.
    Differs from Paddle: the float32 gradient is `grad`, and there is no `main_grad`.

    Example:
        >>> from paddle_jax.distributed.fleet.utils.mix_precision_utils import MixPrecisionLayer
        >>> net = paddle.amp.decorate(paddle.nn.Linear(2, 1), level="O2", dtype="bfloat16")
        >>> net = MixPrecisionLayer(net, "bfloat16")
        >>> net(paddle.ones([1, 2], "bfloat16")).sum().backward()
        >>> net.parameters()[0].grad.dtype == paddle.float32
        True
    """

    def __init__(self, layers: Layer, dtype: str = "float16") -> None:
        super().__init__(layers.full_name() + "_mix_precision")
        if dtype not in LOW:
            raise CheckError(f"MixPrecisionLayer: dtype: got {dtype!r}; it must be one of {', '.join(LOW)}")
        self._layers = layers
        self._dtype = dtype
        for parameter in layers.parameters():
            if numpy_dtype(parameter).name in LOW:
                parameter.master_grad = True
        Precision.master_grads = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Calls the Layer within."""
        return self._layers(*inputs, **kwargs)

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The state of the Layer within, under its own names."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Loads a state into the Layer within."""
        return self._layers.set_state_dict(*args, **kwargs)


class MixPrecisionOptimizer:
    """An optimizer of the Parameters of a MixPrecisionLayer. It has the methods of the optimizer within.

    Args:
        optimizer: Optimizer.
    Attributes:
        _inner_opt: as given.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self._inner_opt = optimizer

    def __getattr__(self, name: str) -> Any:
        # Copies and pickles ask before the attribute is there.
        if name.startswith("__") or "_inner_opt" not in vars(self):
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


def MixPrecisionScaler(scaler: GradScaler) -> GradScaler:  # noqa: N802  Paddle's name
    """The GradScaler itself: it divides float32 gradients as others.

    Args:
        scaler: GradScaler.
    """
    return scaler
