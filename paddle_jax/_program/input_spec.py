"""The description of an input: shape, dtype, name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.base.dtype import DType


def _length(size: Any) -> int:
    """A length that is given, -1 for one that is not known."""
    if size is None or size < 0:
        return -1
    return int(size)


class InputSpec:
    """Describes a Tensor that is not there yet.

    Args:
        shape: ints; None or -1 for a size that is not known.
        dtype: dtype. Default "float32".
        name: str. Default None.
        stop_gradient: bool. Default False.
    Raises:
        TypeError: the shape is no list or tuple.
        ValueError: a length in it is no int.
    Example:
        >>> paddle.static.InputSpec([None, 3], "float32", "x")
        InputSpec(shape=(-1, 3), dtype=paddle.float32, name=x, stop_gradient=False)
    """

    def __init__(
        self,
        shape: Sequence[int | None],
        dtype: DTypeLike = "float32",
        name: str | None = None,
        stop_gradient: bool = False,
    ) -> None:
        if not isinstance(shape, list | tuple):
            raise TypeError(
                f"InputSpec: shape: got {type(shape).__name__}; it must be a list or tuple of ints"
            )
        for axis, size in enumerate(shape):
            if size is not None and (isinstance(size, bool) or not isinstance(size, int | np.integer)):
                raise ValueError(
                    f"InputSpec: shape: got {size!r} for axis {axis}; "
                    "it must be an int, or None for a length that is not known"
                )
        self.shape: tuple[int, ...] = tuple(map(_length, shape))
        self.dtype: DType | None = None if dtype is None else dtypes.convert(dtype)
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> InputSpec:
        """The description of a Tensor.

        Raises:
            ValueError: it is none.
        """
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"InputSpec.from_tensor: tensor: got {type(tensor).__name__}; it must be a Tensor"
            )
        return cls(list(tensor.shape), tensor.dtype, name or tensor.name)

    @classmethod
    def from_numpy(cls, ndarray: np.ndarray, name: str | None = None) -> InputSpec:
        """The description of a NumPy array."""
        return cls(list(np.shape(ndarray)), ndarray.dtype, name)

    # Changes itself, as Paddle's does, though it has a hash: do so before it is used as a key.
    def batch(self, batch_size: int) -> InputSpec:
        """Puts an axis of this size in front; returns itself.

        Args:
            batch_size: int, -1 for a length that is not known; or a list or tuple of one.
        Raises:
            ValueError: the list has another length.
            TypeError: batch_size is no int.
        """
        if isinstance(batch_size, list | tuple):
            if len(batch_size) != 1:
                raise ValueError(
                    f"InputSpec.batch: batch_size: got {list(batch_size)}; it must have one item"
                )
            batch_size = batch_size[0]
        if isinstance(batch_size, bool) or not isinstance(batch_size, int | np.integer):
            raise TypeError(
                f"InputSpec.batch: batch_size: got {type(batch_size).__name__}; it must be an int"
            )
        self.shape = (int(batch_size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """Removes the first axis; returns itself."""
        if not self.shape:
            raise ValueError("InputSpec.unbatch: the shape is (); there is no axis to remove")
        self.shape = self.shape[1:]
        return self

    def _key(self) -> tuple[Any, ...]:
        return type(self), self.shape, self.dtype, self.name, self.stop_gradient

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, "
            f"stop_gradient={self.stop_gradient})"
        )


def add_mismatches(error: BaseException, place: str, rows: Iterable[tuple[str, Any, Any]]) -> None:
    """Adds notes to an exception, about arguments that an InputSpec excludes: they may be its reason.

    Args:
        error: the exception.
        place: what has the InputSpecs, for the text.
        rows: (name of the argument, its InputSpec, its value); other kinds of values are left out.
    """
    for name, spec, value in rows:
        if not isinstance(spec, InputSpec) or not isinstance(value, Tensor):
            continue
        shape = list(value.shape)
        # -1 allows any length.
        fits = len(shape) == len(spec.shape) and all(
            wanted in (-1, length) for wanted, length in zip(spec.shape, shape, strict=True)
        )
        if not fits or spec.dtype not in (None, value.dtype):
            wanted_dtype = spec.dtype or "any dtype"
            error.add_note(
                f"{place}: {name}: got {value.dtype} {shape}; its InputSpec allows {wanted_dtype} "
                f"{list(spec.shape)} (-1: any length)"
            )
