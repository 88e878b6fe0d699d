"""Which way programs run. Here it is always the dynamic one."""


def in_dynamic_mode() -> bool:
    """True: operations run when they are called.

    Example:
        >>> paddle.in_dynamic_mode()
        True
    """
    return True


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
