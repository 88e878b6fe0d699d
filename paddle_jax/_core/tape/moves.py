"""Operations that move a value to another device; their gradients move back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES


class Move(Kernel):
    """The last operand on another device.

    Inside a JAX trace the value stays where it is, since a program runs on one device.

    Attributes:
        target: the device, or the index of the operand whose device it is.
    """

    __slots__ = ("target",)

    def __init__(self, target: Any) -> None:
        self.target: Any = target
        super().__init__("move", self._move, jit=False)

    def _move(self, *operands: Any) -> Any:
        value = operands[-1]
        target = self.target
        # A number names the operand whose device is meant.
        if isinstance(target, int):
            target = _device_of(operands[target])
        # Tracers and divided arrays stay where they are.
        if target is None or isinstance(value, ABSTRACT_TYPES):
            return value
        return jax.device_put(value, target)

    def grad(
        self, argnums: tuple[int, ...], has_cotangent: tuple[bool, ...] | None, operand_count: int
    ) -> Kernel:
        """The kernel that moves the cotangent, its last operand, to the device of the value."""
        kernel = self.grads.get(argnums)
        if kernel is None:
            kernel = self.grads[argnums] = Move(operand_count - 1)
        return kernel

    def gradient_mask(self, values: Sequence[Any]) -> int:
        """Only the value that is moved gets a gradient."""
        return 1 << len(values) - 1


def _device_of(value: Any) -> Any:
    """The one device of an array; None for tracers and what is sharded."""
    if isinstance(value, ABSTRACT_TYPES) or not isinstance(value, jax.Array):
        return None
    devices = value.devices()
    if len(devices) > 1:
        return None
    return next(iter(devices))
