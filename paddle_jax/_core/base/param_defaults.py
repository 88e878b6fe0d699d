"""Process-wide defaults for the creation of parameters."""


class Defaults:
    """Initializers that `set_global_initializer` chose, or None; and how many `LazyGuard` blocks are open."""

    weight = None
    bias = None
    lazy = 0
