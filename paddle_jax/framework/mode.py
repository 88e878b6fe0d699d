"""Which way programs run. Here it is always the dynamic one."""


def in_dynamic_mode() -> bool:
    """True: operations run when they are called.

    Example:
        >>> paddle.in_dynamic_mode()
        True
    """
    return True


def in_dynamic_or_pir_mode() -> bool:
    """True: operations run when they are called."""
    return True


def in_pir_mode() -> bool:
    """False: no static program is being built."""
    return False


def use_pir_api() -> bool:
    """True: what Paddle 3.3 says."""
    return True


def non_static_only(func):
    """Decorator of functions that a static program cannot use. They are what they are here.

    Args:
        func: callable.
    """
    return func


dygraph_only = non_static_only


def disable_static(place=None):
    """Makes sure operations run when they are called, which they do.

    Args:
        place: the device to use from now on. Default: the current one.
    """
    if place is not None:
        from paddle_jax._core.place import set_device

        set_device(place)


def disable_signal_handler():
    """Does nothing: paddle_jax installs no signal handlers."""
