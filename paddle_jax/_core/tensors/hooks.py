"""Hooks of Tensors: the one that keeps a gradient, and what takes a hook away."""

import warnings


class Retain:
    """A hook that stores the gradient on the tensor it belongs to."""

    __slots__ = ("_ref",)

    def __init__(self, ref):
        self._ref = ref

    def __call__(self, grad):
        tensor = self._ref()
        if tensor is not None:
            tensor._grad = grad


class TensorHookRemoveHelper:
    """Takes a hook away with `remove()`."""

    __slots__ = ("_hooks", "_key")

    def __init__(self, hooks, hook):
        self._hooks, self._key = hooks, object()
        hooks[self._key] = hook

    def remove(self):
        """Removes the hook; True when it was still there, else there is a warning."""
        there = self.discard()
        if not there:
            warnings.warn(
                "remove: the hook was removed before, or is none of this Tensor any more",
                RuntimeWarning,
                stacklevel=2,
            )
        return there

    def discard(self):
        """As `remove`, without a warning."""
        return self._hooks.pop(self._key, None) is not None


TensorHookRemoveHelper.__module__ = "paddle.base.dygraph.tensor_patch_methods"
