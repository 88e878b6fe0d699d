"""The base class of distributions, and what distributions share: parameters, sample shapes,
sums over events."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.nn.functional import sigmoid, softmax
from paddle_jax.tensor.attribute import broadcast_shapes, is_floating_point
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.ops import exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import ShapeLike, TensorLike


class Distribution:
    """A probability distribution: a batch of independent ones (`batch_shape`), each over values
    of `event_shape`.

    Subclasses define what they can of `sample`, `rsample`, `log_prob`, `entropy`, `mean` and `variance`; the
    rest raises NotImplementedError.

    Args:
        batch_shape: lengths of the axes of independent distributions.
        event_shape: lengths of the axes of one value.
    Example:
        >>> d = paddle.distribution.Distribution((2,), (3,))
        >>> d.batch_shape, d.event_shape
        ((2,), (3,))
    """

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = ()) -> None:
        self._batch_shape = tuple(batch_shape)
        self._event_shape = tuple(event_shape)
        super().__init__()

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The lengths of the axes of independent distributions, a tuple."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The lengths of the axes of one value, a tuple."""
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        """The mean, of shape batch_shape + event_shape."""
        raise self._undefined("mean")

    @property
    def variance(self) -> Tensor:
        """The variance, of shape batch_shape + event_shape."""
        raise self._undefined("variance")

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values of shape `shape` + batch_shape + event_shape."""
        raise self._undefined("sample")

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """As `sample`, with gradients to the parameters."""
        raise self._undefined("rsample")

    def entropy(self) -> Tensor:
        """The entropy in nats, of shape batch_shape."""
        raise self._undefined("entropy")

    def kl_divergence(self, other: Distribution) -> Tensor:
        """The Kullback-Leibler divergence from this distribution to another. See
        `paddle.distribution.kl_divergence`."""
        raise self._undefined("kl_divergence")

    def prob(self, value: Tensor) -> Tensor:
        """The density (or probability) of a value."""
        return exp(self.log_prob(value))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density (or probability) of a value."""
        raise self._undefined("log_prob")

    def probs(self, value: Tensor) -> Tensor:
        """The density (or probability) of a value; an older name of `prob`."""
        raise self._undefined("probs")

    def _undefined(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__}: {name} is not defined for this distribution")

    def _extend_shape(self, sample_shape: ShapeLike) -> tuple[int, ...]:
        """The shape of a sample."""
        return sizes(self, sample_shape) + self._batch_shape + self._event_shape

    def _validate_args(self, *args: TensorLike) -> bool:
        """Whether the parameters are Tensors; a Tensor beside something else is refused."""
        tensors = [isinstance(a, Tensor) for a in args]
        if any(tensors) and not all(tensors):
            kinds = ", ".join(type(a).__name__ for a in args)
            raise ValueError(
                f"{type(self).__name__}: got parameters of types {kinds}; "
                "give Tensors for all of them or for none"
            )
        return any(tensors)

    def _to_tensor(self, *args: TensorLike) -> tuple[Tensor, ...]:
        """Numbers, lists and arrays as float32 Tensors of one shape; Tensors stay as they are."""
        made = [a if isinstance(a, Tensor) else to_tensor(_array(self, a)) for a in args]
        return tuple(alike(*made))

    def _check_values_dtype_in_probs(self, param: Tensor, value: Tensor) -> Tensor:
        """The value with the dtype of the parameter, if both are floating."""
        if not hasattr(value, "dtype"):
            raise AttributeError(f"{type(self).__name__}: value: got {type(value).__name__}; give a Tensor")
        if not isinstance(value, Tensor):
            raise ValueError(f"{type(self).__name__}: value: got {type(value).__name__}; give a Tensor")
        if value.dtype != param.dtype and is_floating_point(value):
            return value.astype(param.dtype)
        return value

    def _probs_to_logits(self, probs: Tensor, is_binary: bool = False) -> Tensor:
        """Logarithms of probabilities, or of odds."""
        if is_binary:
            return probs.log() - (-probs).log1p()
        return probs.log()

    def _logits_to_probs(self, logits: Tensor, is_binary: bool = False) -> Tensor:
        """Probabilities of logarithms of odds, or of unnormalised log-probabilities."""
        if is_binary:
            return sigmoid(logits)
        return softmax(logits, -1)

    def _broadcast_all(self, *args: float | Tensor) -> tuple[Tensor, ...]:
        """Numbers and Tensors as Tensors of one shape and of the dtype of the first Tensor (the default
        dtype without one)."""
        return tuple(alike(*as_tensors(*args)))


def _array(owner: object, value: TensorLike) -> np.ndarray:
    if not isinstance(value, (float, list, tuple, np.ndarray)):
        raise TypeError(
            f"{type(owner).__name__}: got a parameter of type {type(value).__name__}; "
            "use float, list, tuple, numpy.ndarray or Tensor"
        )
    return np.asarray(value, np.float32)


def as_tensors(*args: float | Tensor) -> list[Tensor]:
    """Numbers and Tensors as Tensors of the dtype of the first Tensor, or of the default
    dtype without one."""
    dtype = next((a.dtype for a in args if isinstance(a, Tensor)), None) or get_default_dtype()
    return [a if isinstance(a, Tensor) else to_tensor(a, dtype=dtype) for a in args]


def real_or_tensor(owner: object, **parameters: float | Tensor) -> None:
    """Refuses a parameter that is neither a real number nor a Tensor."""
    for name, value in parameters.items():
        if not isinstance(value, (numbers.Real, Tensor)):
            raise TypeError(
                f"{type(owner).__name__}: {name}: got {type(value).__name__}; give a number or a Tensor"
            )


def sizes(owner: object, shape: ShapeLike) -> tuple[int, ...]:
    """A sample shape (list, tuple or 1-D integer Tensor) as a tuple."""
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    if not isinstance(shape, (list, tuple)):
        raise TypeError(
            f"{type(owner).__name__}: shape: got {type(shape).__name__}; give a list or tuple of ints"
        )
    # Lengths may be Tensors of one number.
    shape = tuple(int(n) if isinstance(n, Tensor) else n for n in shape)
    if not all(isinstance(n, numbers.Integral) for n in shape):
        raise TypeError(f"{type(owner).__name__}: shape: got {list(shape)}; its elements must be ints")
    return shape


def common_shape(*tensors: Tensor) -> tuple[int, ...]:
    """The shape that tensors broadcast to, a tuple; -1 for a length that is unknown yet."""
    return tuple(alike(*tensors)[0].shape)


def alike(*tensors: Tensor) -> list[Tensor]:
    """Tensors, maybe of several dtypes, expanded to their common shape."""
    if len({tuple(t.shape) for t in tensors}) == 1:
        return list(tensors)
    shapes = [tuple(t.shape) for t in tensors]
    if any(n < 0 for shape in shapes for n in shape):
        # Lengths that are not known broadcast as those of a sum do; only its shape is used.
        total = sum(t.real() if t.is_complex() else t.astype("float64") for t in tensors)
        return [t.expand_as(total) for t in tensors]
    shape = broadcast_shapes(*shapes)
    return [t.expand(shape) for t in tensors]


def repeated(shape: Sequence[int], *tensors: Tensor) -> Any:
    """Tensors expanded to their common shape and repeated along new leading axes; lengths that are
    unknown yet stay so."""
    if shape:
        made = [t.expand([*shape, *t.shape]) for t in alike(*tensors)]
    else:
        made = alike(*tensors)
    if len(made) > 1:
        return made
    return made[0]


def sum_rightmost(value: Tensor, n: int) -> Tensor:
    """The sum over the last n axes."""
    if n > 0:
        return value.sum(list(range(-n, 0)))
    return value
