"""The classes of static programs that programs ask about with isinstance (`paddle.pir`)."""

__all__ = ["Value"]


class Value:
    """A value of a static program. Only programs make one; eager results are Tensors.

    Raises:
        TypeError: it is called.
    Example:
        >>> isinstance(paddle.ones([1]), paddle.pir.Value)
        False
    """

    def __init__(self):
        raise TypeError("Value: it is made by a static program only; use paddle.to_tensor for a Tensor")
