"""Methods and properties of Tensor that are no function of `paddle.*`."""

from paddle_jax._core.tensor import Tensor
from paddle_jax.tensor import manipulation


def _alias(name, function):
    setattr(Tensor, name, function)


def astype(self, dtype):
    """A copy in another dtype. See `cast`.

    Example:
        >>> paddle.to_tensor([1.5]).astype("int32").tolist()
        [1]
    """
    return manipulation.cast(self, dtype)


Tensor.astype = astype
for _name, _function in {"swapaxes": manipulation.transpose, "swapdims": manipulation.transpose}.items():
    setattr(Tensor, _name, _function)
