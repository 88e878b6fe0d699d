"""What the data sets of images share."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_jax._core.base.state import ImageSettings
from paddle_jax.dataset.common import _check_exists_and_download
from paddle_jax.framework.addresses import local_copy


def backend_of(name: str, backend: str | None) -> str:
    """The backend asked for, or that of `paddle.vision.set_image_backend`."""
    if backend is None:
        backend = ImageSettings.backend
    if backend not in ("pil", "cv2"):
        raise ValueError(f"{name}: backend: got {backend!r}; allowed are 'pil' and 'cv2'")
    return backend


def mode_of(name: str, mode: str, modes: Sequence[str]) -> str:
    """The mode in small letters."""
    if mode.lower() not in modes:
        raise AssertionError(f"{name}: mode: got {mode!r}; allowed are {', '.join(map(repr, modes))}")
    return mode.lower()


def file_of(name: str, what: str, path: str, url: str, md5: str, folder: str, download: bool) -> str:
    """The path that is given, or that of a file that is downloaded."""
    if path is None:
        if not download:
            raise AssertionError(f"{name}: {what}: got None with download=False; give the path of the file")
        return _check_exists_and_download(path, url, md5, folder, download)
    return local_copy(name, path)
