"""Making layers without filling their parameters."""

from __future__ import annotations

from typing import Any, Self

from paddle_jax._core.base.param_defaults import ParameterDefaults


class LazyInitHelper:
    """Tells whether parameters are made without values, and switches it. `lazy_init_helper()` gives it."""

    @property
    def state(self) -> bool:
        """Whether parameters are made without values."""
        return ParameterDefaults.lazy > 0

    def enable(self) -> None:
        """Makes parameters without values from now on."""
        # A guard that is open already stays open.
        ParameterDefaults.lazy = max(ParameterDefaults.lazy, 1)

    def disable(self) -> None:
        """Makes parameters with values again."""
        ParameterDefaults.lazy = 0


_lazy_init_helper = LazyInitHelper()


def lazy_init_helper() -> LazyInitHelper:
    """The helper, of which there is one.

    Example:
        >>> with paddle.LazyGuard():
        ...     paddle.nn.initializer.lazy_init.lazy_init_helper().state
        True
    """
    return _lazy_init_helper


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

    def __enter__(self) -> Self:
        ParameterDefaults.lazy += 1
        return self

    def __exit__(self, *error: Any) -> None:
        ParameterDefaults.lazy = max(ParameterDefaults.lazy - 1, 0)


__all__ = ["LazyGuard"]
