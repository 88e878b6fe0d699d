"""Reading image files into Tensors."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from os import PathLike

    from paddle_jax._core.tensors.tensor import Tensor

_MODES = {"unchanged": None, "gray": "L", "rgb": "RGB"}


def read_file(filename: str | PathLike[str], name: str | None = None) -> Tensor:
    """The bytes of a file.

    Args:
        filename: str, path of the file.
    Returns:
        uint8 Tensor [bytes].
    Raises:
        RuntimeError: the file cannot be read.
    Example:
        >>> with open("some.bin", "wb") as file:
        ...     _ = file.write(b"abc")
        >>> paddle.vision.ops.read_file("some.bin").tolist()
        [97, 98, 99]
    """
    try:
        return to_tensor(np.frombuffer(Path(filename).read_bytes(), np.uint8))
    except OSError as error:
        # Paddle's class of error for files.
        raise RuntimeError(f"(PreconditionNotMet) read_file: filename: {error}") from error


def decode_jpeg(x: Tensor, mode: str = "unchanged", name: str | None = None) -> Tensor:
    """The pixels of a JPEG file. It needs the package pillow.

    Args:
        x: uint8 Tensor [bytes], the file's content.
        mode: "unchanged" (as many channels as the file has), "gray" or "rgb". Default "unchanged".
    Returns:
        uint8 Tensor [channels, H, W].
    Raises:
        ValueError: another mode.
        ModuleNotFoundError: pillow is not installed.

    Differs from Paddle: works on every device; Paddle needs a GPU.
    Example:
        >>> import os, tempfile
        >>> from PIL import Image
        >>> path = os.path.join(tempfile.mkdtemp(), "grey.jpg")
        >>> Image.new("L", (3, 2)).save(path)
        >>> paddle.vision.ops.decode_jpeg(paddle.vision.ops.read_file(path)).shape
        paddle.Size([1, 2, 3])
    """
    if mode not in _MODES:
        raise ValueError(f"decode_jpeg: mode: got {mode!r}; allowed are {', '.join(map(repr, _MODES))}")
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "decode_jpeg: pillow is not installed: pip install 'paddle_jax[vision]'"
        ) from None
    image = Image.open(io.BytesIO(host_value(x, "decode_jpeg").tobytes()))
    pixels = np.asarray(image if _MODES[mode] is None else image.convert(_MODES[mode]))
    # Grey images have no axis of channels in pillow.
    return to_tensor(pixels[None] if pixels.ndim == 2 else np.ascontiguousarray(pixels.transpose(2, 0, 1)))


__all__ = ["decode_jpeg", "read_file"]
