"""Parameters that were made under `paddle.LazyGuard` and have no values yet."""

import jax


class Unmade(jax.ShapeDtypeStruct):
    """What such a parameter holds. parameter: its name."""

    __slots__ = ("parameter",)

    def __init__(self, shape, dtype, parameter):
        super().__init__(shape, dtype)
        self.parameter = parameter

    def error(self, doing, operand="") -> RuntimeError:
        """The exception for a use of the values. doing: the operation. operand: its argument,
        where that is known."""
        what = f"{operand}: " if operand and operand != self.parameter else ""
        return RuntimeError(
            f"(PreconditionNotMet) {doing}: {what}the parameter {self.parameter} of shape "
            f"{list(self.shape)} is not initialized: it was made under paddle.LazyGuard; "
            "call its initialize(), or that of all of layer.parameters(), first"
        )


__all__ = ["Unmade"]
