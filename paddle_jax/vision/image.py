"""Which library reads image files, and reading one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.state import ImageSettings
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.utils import try_import

if TYPE_CHECKING:
    import types


__all__ = ["set_image_backend", "get_image_backend", "image_load"]

_BACKENDS = ("pil", "cv2", "tensor")
_PILLOW = "pillow is not installed: pip install 'paddle_jax[vision]'"
_OPENCV = "opencv is not installed: pip install opencv-python-headless"


def _checked(op_name: str, backend: str) -> str:
    if backend not in _BACKENDS:
        raise ValueError(
            f"{op_name}: backend: got {backend!r}; allowed are {', '.join(map(repr, _BACKENDS))}"
        )
    return backend


def pillow(module: str = "PIL.Image") -> types.ModuleType:
    """A module of pillow; an ImportError says how to install it."""
    return try_import(module, _PILLOW)


def opencv() -> types.ModuleType:
    """The module cv2; an ImportError says how to install it."""
    return try_import("cv2", _OPENCV)


def set_image_backend(backend: str) -> None:
    """Sets what `image_load` and the datasets read image files with.

    Args:
        backend: "pil" (an Image of pillow), "cv2" (an array [H, W, C] with the colours blue, green, red) or
            "tensor" (a Tensor [C, H, W]).
    Raises:
        ValueError: another backend.
    Example:
        >>> paddle.vision.set_image_backend("cv2")
        >>> paddle.vision.get_image_backend()
        'cv2'
        >>> paddle.vision.set_image_backend("pil")
    """
    ImageSettings.backend = _checked("set_image_backend", backend)


def get_image_backend() -> str:
    """What image files are read with: "pil", "cv2" or "tensor". See `set_image_backend`.

    Returns:
        str.
    Example:
        >>> paddle.vision.get_image_backend()
        'pil'
    """
    return ImageSettings.backend


def image_load(path: str, backend: str | None = None) -> Any:
    """Reads an image file.

    Args:
        path: str, path of the file.
        backend: "pil", "cv2" or "tensor". Default: that of `set_image_backend`.
    Returns:
        An Image of pillow, a uint8 array [H, W, C] in the order blue, green, red, or a uint8 Tensor [C, H, W]
        in the order red, green, blue.
    Raises:
        ValueError: another backend.
        ImportError: pillow or opencv is not installed.
        FileNotFoundError: there is no such file.

    Differs from Paddle: backend "tensor" gives a Tensor, where Paddle 3.3.1 gives None.
    Example:
        >>> import os, tempfile
        >>> from PIL import Image
        >>> path = os.path.join(tempfile.mkdtemp(), "grey.png")
        >>> Image.new("L", (3, 2)).save(path)
        >>> paddle.vision.image_load(path).size
        (3, 2)
    """
    backend = _checked("image_load", backend or ImageSettings.backend)
    if backend == "cv2":
        return opencv().imread(path)
    image = pillow().open(path)
    if backend == "pil":
        return image
    import numpy as np

    return to_tensor(np.asarray(image.convert("RGB")).transpose(2, 0, 1).copy())
