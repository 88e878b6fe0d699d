"""Process-wide defaults for the creation of parameters."""


class Defaults:
    """Initializers that `set_global_initializer` chose, or None."""

    weight = None
    bias = None
