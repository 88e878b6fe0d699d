"""Which backend reads and writes files: Python's own module for WAV files, or the package soundfile."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from paddle_jax.audio.backends import backend, soundfile_backend, wave_backend

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

_BACKENDS = {"soundfile": soundfile_backend, "wave_backend": wave_backend}
# the modules whose `info`, `load` and `save` are those of the chosen backend; paddle_jax.audio adds itself
_FRONTS = [backend]

__all__ = ["get_current_backend", "list_available_backends", "set_backend"]


def list_available_backends() -> list[str]:
    """The names of the backends: "soundfile" is among them if that package is installed.

    Example:
        >>> paddle.audio.backends.list_available_backends()[-1]
        'wave_backend'
    """
    return [
        name for name in _BACKENDS if name != "soundfile" or importlib.util.find_spec("soundfile") is not None
    ]


def get_current_backend() -> str:
    """The name of the backend in use.

    Example:
        >>> paddle.audio.backends.get_current_backend()
        'wave_backend'
    """
    load = _FRONTS[-1].load
    # A program may have put a function of its own there.
    return next((name for name, module in _BACKENDS.items() if load is module.load), "wave_backend")


def set_backend(backend_name: str) -> None:
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
    for name in ("info", "load", "save"):
        # Users call them under both modules.
        for module in _FRONTS:
            setattr(module, name, getattr(_BACKENDS[backend_name], name))


def _load_file(path: str) -> tuple[Tensor, int]:
    """What `paddle.audio.load` returns: (sound, sample rate)."""
    return _FRONTS[-1].load(path)
