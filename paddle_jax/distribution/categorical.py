"""The categorical distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import Distribution, sizes
from paddle_jax.distribution.draws import draw_category
from paddle_jax.nn.functional.activation import log_softmax
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike, TensorLike
    from paddle_jax._core.base.dtype import DType


class Categorical(Distribution):
    """Classes 0, 1, ... with weights along the last axis.

    As in Paddle the weights are read in two ways: `probs` and `log_prob` take them as probabilities up to a
    factor, `sample`, `entropy` and `kl_divergence` as logarithms of probabilities up to a constant. Both
    agree for no weights but equal ones.

    Args:
        logits: list, array or floating Tensor [..., classes].
    Raises:
        TypeError: logits is of another type.
    Example:
        >>> d = paddle.distribution.Categorical(paddle.to_tensor([1.0, 3.0]))
        >>> d.probs(paddle.to_tensor([0, 1])).tolist()
        [0.25, 0.75]
    """

    def __init__(self, logits: TensorLike, name: str | None = None) -> None:
        self.name: str = name or "Categorical"
        if isinstance(logits, np.ndarray) and logits.dtype == np.float64:
            # An array keeps double precision; `_to_tensor` below makes float32 of all others.
            logits = to_tensor(logits)
        self.logits: Tensor = self._to_tensor(logits)[0]
        self.dtype: DType = self.logits.dtype
        super().__init__(tuple(self.logits.shape[:-1]))

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random class numbers: int64 Tensor of shape `shape` + the shape of logits without its last axis."""
        self._need_classes()
        with no_grad():
            return draw_category(self.logits, sizes(self, [shape] if isinstance(shape, int) else shape))

    def _need_classes(self) -> None:
        if self.logits.ndim == 0:
            raise ArgumentError("Categorical: logits: got one number; it must have at least one axis")

    def kl_divergence(self, other: Categorical) -> Tensor:
        """The divergence from this categorical distribution to another; the axis of the classes
        stays, with length 1."""
        log_p = log_softmax(self.logits, -1)
        log_q = log_softmax(other.logits, -1)
        return (log_p.exp() * (log_p - log_q)).sum(-1, keepdim=True)

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape."""
        if self.logits.ndim == 0:
            # One class has no entropy; the product keeps dtype and gradient.
            return self.logits * 0
        log_p = log_softmax(self.logits, -1)
        return -(log_p.exp() * log_p).sum(-1)

    def probs(self, value: Tensor) -> Tensor:
        """The probabilities of class numbers.

        Args:
            value: integer Tensor. For logits of one axis any shape; otherwise of as many axes as logits, or
                of one: then each row gives the probabilities of all these classes.
        Returns:
            Tensor of the shape of value for logits of one axis, else of the shape of logits without the last
            axis + [number of values].
        Raises:
            ValueError: value is no integer Tensor, or has another number of axes.
        """
        # As in Paddle these are weights here, and logarithms in `sample` and `entropy`.
        return self._chosen(self.logits / self.logits.sum(-1, keepdim=True), value)

    def prob(self, value: Tensor) -> Tensor:
        """The probabilities of class numbers. See `probs`."""
        return self.probs(value)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithms of the probabilities of class numbers. Arguments as for `probs`."""
        return self.probs(value).log()

    def _chosen(self, probs: Tensor, value: Tensor) -> Tensor:
        if not isinstance(value, Tensor):
            raise AttributeError(f"Categorical: value: got {type(value).__name__}; give an integer Tensor")
        if not value.is_integer():
            raise ArgumentError(
                f"Categorical: value: got dtype {numpy_dtype(value).name}; it must be an integer dtype"
            )
        self._need_classes()
        # One distribution: values of any shape are looked up in it.
        if probs.ndim == 1:
            return probs.gather(value.reshape([-1])).reshape(value.shape)
        # One list of values serves all distributions of the batch.
        if value.ndim == 1:
            return probs.take_along_axis(
                value.reshape([1] * (probs.ndim - 1) + [-1]).expand([*probs.shape[:-1], value.shape[0]]), -1
            )
        if value.ndim != probs.ndim:
            raise ValueError(
                f"Categorical: value: got shape {list(value.shape)} for logits "
                f"{list(probs.shape)}; give one axis, or as many as logits"
            )
        return probs.take_along_axis(value, -1)
