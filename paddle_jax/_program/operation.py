"""One operation of a Program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.symbol import Symbol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Operation:
    """One recorded call of a kernel.

    Attributes:
        kernel: Kernel that is called.
        inputs: list of the Symbols of the operands.
        outputs: list of the Symbols of the results.
        stops: tuple, for each operand whether gradients end there.
        many: tuple or list where the kernel returns several results, else None.
        scope: str, the prefix of `name_scope`.
        device: str, that of `device_guard`, such as "gpu:0"; empty outside of one.
        host: bool, whether it needs values on the host, because the shape of its result depends on them.
        where: str, the user's line.
    """

    __slots__ = ("device", "host", "inputs", "kernel", "many", "outputs", "scope", "stops", "where")

    def __init__(
        self,
        kernel: Kernel,
        inputs: list[Symbol],
        stops: tuple[bool, ...],
        many: type | None = None,
        scope: str = "",
        host: bool = False,
    ) -> None:
        self.kernel: Kernel = kernel
        self.inputs: list[Symbol] = inputs
        self.stops: tuple[bool, ...] = stops
        self.many: type | None = many
        self.scope: str = scope
        self.device: str = ""
        self.host: bool = host
        self.outputs: list[Symbol] = []
        self.where: str = user_line()

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.kernel.name

    type = name

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of a declared op by name; empty for derived kernels."""
        # Kernels of composites, branches and gradients come from no declaration.
        if self.kernel.declaration is None:
            return {}
        op, _, values = self.kernel.declaration
        return dict(zip(op.attrs, values, strict=True))

    def results_of(self, out: Any) -> Sequence[Any]:
        """What the kernel gave as a sequence: one with a single result gives it alone."""
        if self.many:
            return out
        return (out,)

    def __repr__(self) -> str:
        inputs = ", ".join(map(type_text, self.inputs))
        outputs = ", ".join(map(type_text, self.outputs))
        return f"Operation({self.name}: {inputs} -> {outputs})"


def type_text(symbol: Symbol) -> str:
    """The dtype and shape of a Symbol, such as `float32[2,3]`."""
    return f"{dtypes.of(symbol)._key}[{','.join(map(str, symbol.shape))}]"


__all__ = ["Operation", "type_text"]
