"""Which backend reads and writes files: Python's own module for WAV files, or the package soundfile."""

import importlib.util

from paddle_jax.audio.backends import backend, soundfile_backend, wave_backend

_BACKENDS = {"soundfile": soundfile_backend, "wave_backend": wave_backend}

__all__ = ["get_current_backend", "list_available_backends", "set_backend"]


def list_available_backends():
    """The names of the backends: "soundfile" is among them if that package is installed.

    Example:
        >>> paddle.audio.backends.list_available_backends()[-1]
        'wave_backend'
    """
    return [
        name for name in _BACKENDS if name != "soundfile" or importlib.util.find_spec("soundfile") is not None
    ]


def get_current_backend():
    """The name of the backend in use.

    Example:
        >>> paddle.audio.backends.get_current_backend()
        'wave_backend'
    """
    from paddle_jax import audio

    return next((name for name, module in _BACKENDS.items() if audio.load is module.load), "wave_backend")


def set_backend(backend_name):
    """Chooses what `paddle.audio.load`, `save` and `info` are.

    Args:
        backend_name: str, one of `list_available_backends()`.
    Raises:
        NotImplementedError: there is no such backend.
    Example:
        >>> paddle.audio.backends.set_backend("wave_backend")
    """
    if backend_name not in list_available_backends():
        available = (
            ", ".join(map(repr, list_available_backends()))
            + " ('soundfile': pip install 'paddle_jax[audio]')"
        )
        raise NotImplementedError(
            f"set_backend: backend_name: got {backend_name!r}; available are {available}"
        )
    from paddle_jax import audio

    for name in ("info", "load", "save"):
        for module in (backend, audio):
            setattr(module, name, getattr(_BACKENDS[backend_name], name))
