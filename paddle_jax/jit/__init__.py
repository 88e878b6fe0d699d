"""Paddle's decorators for static programs, for programs that run as they are: operations run when called, and are compiled together as they recur."""

__all__ = ["enable_to_static", "ignore_module", "not_to_static", "to_static"]


def to_static(function=None, input_spec=None, build_strategy=None, backend="CINN", **kwargs):
    """Returns the function or Layer itself: its results are the same either way, and what recurs is compiled unasked (see `paddle_jax.explain`).

    Args:
        function: callable or Layer. Default None: returns a decorator.
        input_spec: descriptions of the arguments; not needed.
        build_strategy: Paddle's; without effect.
        backend: "CINN" or None; XLA compiles either way.
        kwargs: `full_graph`; without effect.
    Example:
        >>> @paddle.jit.to_static
        ... def double(x):
        ...     return x * 2
        >>> double(paddle.ones([2])).tolist()
        [2.0, 2.0]
    """
    return (lambda one: one) if function is None else function


def not_to_static(func=None):
    """Returns the function itself, which runs as it is.

    Args:
        func: callable. Default None: returns a decorator.
    """
    return (lambda one: one) if func is None else func


def enable_to_static(enable_to_static_bool):
    """Says whether `to_static` may build static programs. None are built, so both answers are respected.

    Args:
        enable_to_static_bool: bool.
    """


def ignore_module(modules):
    """Names modules whose functions are run as they are. All are.

    Args:
        modules: list of modules.
    """
