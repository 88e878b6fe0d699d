"""Files and buffers as arguments, under the path of `paddle.framework`."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from typing import Any

from paddle_jax._core.tensors.tensor import Parameter


def _is_file_path(path: Any) -> bool:
    return isinstance(path, str | os.PathLike)


def _is_memory_buffer(buffer: Any) -> bool:
    return isinstance(buffer, io.BytesIO)


@contextlib.contextmanager
def _open_file_buffer(path_or_buffer: Any, mode: Any) -> Iterator[Any]:
    if _is_file_path(path_or_buffer):
        with open(path_or_buffer, mode) as stream:  # noqa: PTH123  any path
            yield stream
        return
    if "r" in mode:
        path_or_buffer.seek(path_or_buffer.tell())  # raises AttributeError for what is no buffer
    yield path_or_buffer
    if "w" in mode:
        path_or_buffer.flush()


def is_parameter(var: Any) -> bool:
    """Whether a Variable or Tensor is a parameter.

    Example:
        >>> paddle.framework.io_utils.is_parameter(paddle.ones([1]))
        False
    """
    return isinstance(var, Parameter) or bool(getattr(var, "is_parameter", False))


def is_persistable(var: Any) -> bool:
    """Whether a Variable or Tensor is kept from run to run.

    Differs from Paddle: it takes Tensors and Parameters too.

    Example:
        >>> paddle.framework.io_utils.is_persistable(paddle.nn.Linear(1, 1).weight)
        True
    """
    return bool(var.persistable)


def is_belong_to_optimizer(var: Any) -> bool:
    """Whether a Variable is kept from run to run and is no parameter: the state of an optimizer, say."""
    return is_persistable(var) and not is_parameter(var)
