"""Gradient hooks of Tensors."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

from paddle_jax._core.tensors.tensor import Tensor


class RetainGradHook:
    """A hook that stores the gradient in the Tensor that it belongs to."""

    __slots__ = ("_tensor_ref",)

    def __init__(self, tensor: Tensor) -> None:
        self._tensor_ref = weakref.ref(tensor)

    def __call__(self, grad: Tensor) -> None:
        tensor = self._tensor_ref()
        if tensor is not None:
            tensor._grad = grad


class TensorHookRemoveHelper:
    """Takes a hook away with `remove()`."""

    __slots__ = ("_hooks", "_key")

    def __init__(self, hooks: dict[Any, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        self._hooks = hooks
        self._key = object()
        hooks[self._key] = hook

    def remove(self) -> bool:
        """Removes the hook; True when it was still there, else there is a warning."""
        removed = self.discard()
        if not removed:
            warnings.warn(
                "remove: the hook was removed before, or is none of this Tensor any more",
                RuntimeWarning,
                stacklevel=2,
            )
        return removed

    def discard(self) -> bool:
        """As `remove`, without a warning."""
        return self._hooks.pop(self._key, None) is not None


TensorHookRemoveHelper.__module__ = "paddle.base.dygraph.tensor_patch_methods"
