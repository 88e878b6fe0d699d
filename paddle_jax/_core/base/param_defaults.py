"""Process-wide defaults for the creation of parameters."""

from typing import Any


class ParameterDefaults:
    """Defaults that `set_global_initializer` and `LazyGuard` set.

    Attributes:
        weight: initializer of weights, or None.
        bias: initializer of biases, or None.
        lazy: int, number of `LazyGuard` blocks that are open.
    """

    weight: Any = None
    bias: Any = None
    lazy = 0
