"""Reading parts of a large file without loading it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


class MmapStorage:
    """The first `nbytes` bytes of a file, mapped into memory; slices of it become Tensors. Used for weights
    in the safetensors format.

    Args:
        filename: str, an existing file.
        nbytes: int, at most the size of the file.
    Raises:
        RuntimeError: the file cannot be opened, or is smaller than nbytes.
    Example:
        >>> import numpy as np, tempfile
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     _ = file.write(np.arange(4, dtype="float32").tobytes()), file.flush()
        ...     paddle.MmapStorage(file.name, 16).get_slice("float32", 4, 6).tolist()
        [1.0, 2.0]
    """

    def __init__(self, filename: str, nbytes: int) -> None:
        try:
            data = np.memmap(filename, np.uint8, "r")
        except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
            raise RuntimeError(f"MmapStorage: filename: {filename} cannot be opened: {error}") from error
        if data.size < nbytes:
            raise RuntimeError(f"MmapStorage: nbytes: got {nbytes}; {filename} has {data.size} bytes")
        self._bytes = data[:nbytes]

    def get_slice(self, dtype: DTypeLike = "uint8", start: Any = 0, stop: Any = -1, step: Any = 1) -> Tensor:
        """`stop - start` elements as a 1-d Tensor (a copy).

        Args:
            dtype: what the bytes are read as.
            start: the byte where the first element begins.
            stop: start + the number of elements; -1: all that is left.
            step: 1.
        Raises:
            ValueError: the elements reach beyond the mapped bytes, stop < start, or step is not 1.
        """
        wanted = dtypes.convert("uint8" if dtype is None else dtype).np
        # In elements of the dtype; the start is in bytes.
        left = (self._bytes.size - start) // wanted.itemsize
        count = left if stop == -1 else stop - start
        if step != 1 or not (0 <= start <= self._bytes.size and 0 <= count <= left):
            raise ValueError(
                f"MmapStorage.get_slice: got {start}:{stop}:{step} of {wanted}; "
                f"{left} elements follow byte {start}, and step must be 1"
            )
        # A copy of this part alone; the rest of the file is not read.
        return to_tensor(
            np.frombuffer(self._bytes[start : start + count * wanted.itemsize].tobytes(), wanted)
        )
