"""Making layers without filling their parameters."""

from paddle_jax._core.runtime.param_defaults import Defaults


class LazyGuard:
    """Inside the block, parameters are made without values; `parameter.initialize()` fills them.

    Example:
        >>> with paddle.LazyGuard():
        ...     layer = paddle.nn.Linear(2, 3, bias_attr=False)
        >>> layer.weight
        Parameter containing:
        Tensor(Not initialized)
        >>> for parameter in layer.parameters():
        ...     parameter.initialize()
        >>> layer(paddle.ones([1, 2])).shape
        paddle.Size([1, 3])
    """

    def __enter__(self):
        Defaults.lazy += 1
        return self

    def __exit__(self, *error):
        Defaults.lazy -= 1


__all__ = ["LazyGuard"]
