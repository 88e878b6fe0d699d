"""Which backend reads and writes files. There is one."""

_NAME = "wave_backend"

__all__ = ["get_current_backend", "list_available_backends", "set_backend"]


def list_available_backends():
    """The names of the backends.

    Example:
        >>> paddle.audio.backends.list_available_backends()
        ['wave_backend']
    """
    return [_NAME]


def get_current_backend():
    """The name of the backend in use.

    Example:
        >>> paddle.audio.backends.get_current_backend()
        'wave_backend'
    """
    return _NAME


def set_backend(backend_name):
    """Chooses the backend.

    Args:
        backend_name: str, "wave_backend".
    Raises:
        NotImplementedError: there is no other.
    Example:
        >>> paddle.audio.backends.set_backend("wave_backend")
    """
    if backend_name not in list_available_backends():
        raise NotImplementedError(f"set_backend: backend_name: got {backend_name!r}; {_NAME!r} is what is available")
