"""The classes of static programs that programs ask about with isinstance (`paddle.pir`)."""

from paddle_jax._core.tensors.held_values import holds_symbol
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.program import Program

Block = Program  # a Program is the block of its operations

__all__ = ["Block", "Value"]


class _Kind(type):
    """Makes the Variables of static programs count as Values."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and holds_symbol(instance)


class Value(metaclass=_Kind):
    """A value of a static program. Only programs make one; eager results are Tensors.

    Raises:
        TypeError: it is called.
    Example:
        >>> isinstance(paddle.ones([1]), paddle.pir.Value)
        False
    """

    def __init__(self):
        raise TypeError("Value: it is made by a static program only; use paddle.to_tensor for a Tensor")
