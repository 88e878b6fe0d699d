"""Keeping what backward needs in another form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.recording import configure_context, run_pending


class saved_tensors_hooks:
    """Context in which the tensors that backward will need pass through functions: to the disk, to host
    memory, to fewer bits.

    Inside, every operation runs at once and keeps its floating and complex operands; backward derives
    gradients from what comes back.

    Args:
        pack_hook: function of a Tensor, called when the operation runs; returns anything.
        unpack_hook: function of what pack_hook returned, called in backward; returns the Tensor.
    Raises:
        TypeError: in backward, when unpack_hook returns something else.
    Example:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), lambda a: paddle.to_tensor(a)):
        ...     y = x * x
        >>> y.sum().backward(); x.grad.tolist()
        [2.0, 4.0]
    """

    def __init__(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        self._hooks = (pack_hook, unpack_hook)
        self._before = []

    def __enter__(self) -> None:
        # They were recorded without hooks, and would be kept as they are.
        run_pending("a change of settings")
        frame = local.ctx.frame
        # A stack, as one object may be entered several times.
        self._before.append((frame, frame.packing))
        frame.packing = self._hooks
        configure_context(local.ctx)

    def __exit__(self, *args: Any) -> None:
        frame, frame.packing = self._before.pop()
        configure_context(local.ctx)
