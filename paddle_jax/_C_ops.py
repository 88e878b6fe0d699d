"""Operations with the positional arguments of Paddle's C++ functions: `_C_ops.matmul(x, y, False, True)`."""

from paddle_jax.utils.cpp_extension.registered import _run_custom_op as _run_custom_op


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from paddle_jax.framework.model_files import c_calls  # lazy: import time

    return c_calls.find(name)


def __dir__():
    """The names of the operations.

    Returns:
        list of str.
    Example:
        >>> "matmul" in dir(paddle._C_ops)
        True
    """
    from paddle_jax.framework.model_files import c_calls  # lazy: import time

    return c_calls.names()
