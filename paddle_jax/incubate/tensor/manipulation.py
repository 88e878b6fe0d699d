"""Copies of Tensors in the memory of the host, and back: what large models put aside for a while."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax._core.tensors.tensor import Parameter

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []


class _Task:
    """A copy that is complete: the runtime orders transfers and the operations that use them."""

    def is_completed(self) -> bool:
        return True

    def _wait(self) -> None:
        return None

    cpu_wait = _wait
    cuda_wait = _wait
    synchronize = _wait


class _Load:
    """Copies values into another Tensor."""

    def offload(self, dst: Tensor, src: Tensor) -> _Task:
        """Makes `dst` a copy of `src` in the memory of the host."""
        assign_from(dst, src.detach().cpu())
        return _Task()

    def reload(self, dst: Tensor, src: Tensor) -> _Task:
        """Makes `dst` a copy of `src` on the current device."""
        assign_from(dst, src.detach().to(places.current()))
        return _Task()


def create_async_load() -> _Load:
    """Gives what `async_offload` and `async_reload` copy with."""
    return _Load()


def async_offload(src_tensor: Any, async_load: _Load) -> tuple[Parameter | Any, Any]:
    """Copies a Tensor into the memory of the host.

    Args:
        src_tensor: Tensor or Parameter.
        async_load: what `create_async_load` gives.
    Returns:
        (Tensor, task): a copy of the same kind, and an object with `is_completed()` and `cpu_wait()`.
    """
    return _copied(src_tensor, async_load.offload)


def async_reload(src_tensor: Tensor, async_load: _Load) -> tuple[Parameter | Any, Any]:
    """Copies a Tensor to the current device; arguments and result are those of `async_offload`."""
    return _copied(src_tensor, async_load.reload)


def _copied(source: Tensor, move: Callable[..., Any]) -> tuple[Parameter | Any, Any]:
    if isinstance(source, Parameter):
        # A Parameter stays one, with its attributes.
        new = copy.deepcopy(source)
    else:
        new = source.detach().clone()
    return new, move(new, source)
