"""Values of parameters that were made under `paddle.LazyGuard` and are not initialized yet."""

from __future__ import annotations

from typing import Any

import jax


class Uninitialized(jax.ShapeDtypeStruct):
    """Stands for the value of a parameter that is not initialized.

    Attributes:
        parameter: str, the name of the parameter.
        sharding: how the values will lie on several devices; None for one device.
    """

    __slots__ = ("parameter",)

    def __init__(self, shape: Any, dtype: Any, parameter: str, sharding: Any = None) -> None:
        super().__init__(shape, dtype, sharding=sharding)
        self.parameter = parameter

    def in_layout(self, sharding: Any) -> Uninitialized:
        """The same in another layout."""
        return Uninitialized(self.shape, self.dtype, self.parameter, sharding)

    def error(self, doing: str, operand: str = "") -> RuntimeError:
        """The exception for a use of the values.

        Args:
            doing: the operation.
            operand: its argument, where that is known.
        """
        if operand and operand != self.parameter:
            prefix = f"{operand}: "
        else:
            prefix = ""
        return RuntimeError(
            f"(PreconditionNotMet) {doing}: {prefix}the parameter {self.parameter} of shape "
            f"{list(self.shape)} is not initialized: it was made under paddle.LazyGuard; "
            "call its initialize(), or that of all of layer.parameters(), first"
        )


__all__ = ["Uninitialized"]
