"""Hooks of a layer: registering, removing and calling them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.state import Observing
from paddle_jax._core.execution.module_protocol import AttributeStore

if TYPE_CHECKING:
    from paddle_jax._annotations import Hook


class HookRemoveHelper:
    """Takes a hook away with `remove()`; calling it twice does no harm."""

    next_hook_id: int = 0

    def __init__(self, hooks: AttributeStore, flags: Sequence[AttributeStore] = ()) -> None:
        # Weak: a helper must not keep a layer alive.
        self._hooks_ref, self._flags_refs = weakref.ref(hooks), [weakref.ref(f) for f in flags]
        self._hook_id = HookRemoveHelper.next_hook_id
        HookRemoveHelper.next_hook_id += 1

    def remove(self) -> None:
        """Removes the hook."""
        for ref in (self._hooks_ref, *self._flags_refs):
            hooks = ref()
            # The layer may be gone.
            if hooks is not None:
                hooks.pop(self._hook_id, None)


class HookMixin:
    """What Layer has to do with hooks."""

    def _init_hooks(self) -> None:
        for name in (
            "_forward_pre_hooks",
            "_forward_post_hooks",
            "_forward_pre_hooks_with_kwargs_flag",
            "_forward_post_hooks_with_kwargs_flag",
            "_forward_post_hooks_always_called",
            "_state_dict_hooks",
        ):
            self.__dict__[name] = AttributeStore()

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemoveHelper:
        """Calls `hook(layer, args)` before each forward; what it returns replaces the arguments.

        Args:
            hook: function. With with_kwargs it is `hook(layer, args, kwargs)` and returns None or
                `(args, kwargs)`.
            prepend: put it before the hooks there are.
            with_kwargs: hand over keyword arguments.
        Returns:
            A helper whose `remove()` takes the hook away.
        Example:
            >>> layer = paddle.nn.ReLU()
            >>> h = layer.register_forward_pre_hook(lambda layer, args: (args[0] * 2,))
            >>> layer(paddle.ones([1])).tolist()
            [2.0]
        """
        helper = HookRemoveHelper(self._forward_pre_hooks, [self._forward_pre_hooks_with_kwargs_flag])
        _put(self._forward_pre_hooks, helper, hook, prepend)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs_flag[helper._hook_id] = True
        return helper

    def register_forward_post_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookRemoveHelper:
        """Calls `hook(layer, args, output)` after each forward; what it returns replaces the output.

        Args:
            hook: function. With with_kwargs it is `hook(layer, args, kwargs, output)`.
            prepend: put it before the hooks there are.
            with_kwargs: hand over keyword arguments.
            always_call: call it also when forward raises, with output None.
        Returns:
            A helper whose `remove()` takes the hook away.
        Example:
            >>> layer = paddle.nn.ReLU()
            >>> h = layer.register_forward_post_hook(lambda layer, args, out: out + 1)
            >>> layer(paddle.ones([1])).tolist()
            [2.0]
        """
        flags = [self._forward_post_hooks_with_kwargs_flag, self._forward_post_hooks_always_called]
        helper = HookRemoveHelper(self._forward_post_hooks, flags)
        _put(self._forward_post_hooks, helper, hook, prepend)
        for flag, wanted in zip(flags, (with_kwargs, always_call), strict=True):
            if wanted:
                flag[helper._hook_id] = True
        return helper

    register_forward_hook = register_forward_post_hook

    def register_state_dict_hook(self, hook: Hook) -> HookRemoveHelper:
        """Calls `hook(state_dict)` at the end of `state_dict()`; what it returns replaces the dict.

        Returns:
            A helper whose `remove()` takes the hook away.
        """
        helper = HookRemoveHelper(self._state_dict_hooks)
        self._state_dict_hooks[helper._hook_id] = hook
        return helper

    def _call_hooked(
        self, forward: Callable[..., Any], inputs: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        finished = set()
        try:
            inputs, kwargs = self._run_pre_hooks(inputs, kwargs)
            output = forward(*inputs, **kwargs)
            for key, hook in _running(self._forward_post_hooks):
                # Marked before it runs: a hook that fails does not run again below.
                finished.add(key)
                output = self._run_post_hook(key, hook, inputs, kwargs, output)
            return output
        except Exception:
            # Hooks with always_call=True run even when `forward` or another hook fails.
            for key in [k for k in self._forward_post_hooks_always_called if k not in finished]:
                self._run_post_hook(key, self._forward_post_hooks[key], inputs, kwargs, None)
            raise

    def _run_pre_hooks(
        self, inputs: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for key, hook in _running(self._forward_pre_hooks):
            if key in self._forward_pre_hooks_with_kwargs_flag:
                replacement = hook(self, inputs, kwargs)
                if replacement is not None and not (isinstance(replacement, tuple) and len(replacement) == 2):
                    raise RuntimeError(
                        f"forward pre-hook: replacement {type(replacement).__name__}; "
                        "it must return None or a tuple (args, kwargs)"
                    )
                if replacement is not None:
                    inputs, kwargs = replacement
            else:
                replacement = hook(self, inputs)
                # A hook may return the only argument itself instead of a tuple of it.
                if isinstance(replacement, tuple):
                    inputs = replacement
                elif replacement is not None:
                    inputs = (replacement,)
        return inputs, kwargs

    def _run_post_hook(
        self, key: int, hook: Hook, inputs: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> Any:
        with_kwargs = key in self._forward_post_hooks_with_kwargs_flag
        if with_kwargs:
            replacement = hook(self, inputs, kwargs, output)
        else:
            replacement = hook(self, inputs, output)
        if replacement is None:
            return output
        return replacement


def _running(hooks: AttributeStore) -> list[tuple[Any, Hook]]:
    """The (key, hook) to be called; in a run whose reads are observed, the observed hooks."""
    # A copy, as a hook may remove itself.
    return [(key, Observing.function(hook)) for key, hook in hooks.items()]


def _put(hooks: AttributeStore, helper: HookRemoveHelper, hook: Hook, prepend: bool) -> None:
    hooks[helper._hook_id] = hook
    if prepend:
        # Hooks run in the order of the store.
        hooks.move_to_end(helper._hook_id, last=False)
