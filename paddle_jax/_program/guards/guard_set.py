"""The guards of a compiled form: the conditions under which a call may run it again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from paddle_jax._core.tensors.tensor import Tensor


class Reason(NamedTuple):
    """Why a compiled form cannot run.

    Attributes:
        guard: kind of the guard that does not hold, as `paddle_jax.explain().guard_failures` counts them.
        text: a sentence about what has changed.
    """

    guard: str
    text: str

    def __str__(self) -> str:
        return self.text


class GuardFailure(Exception):
    """A guard of a compiled form does not hold.

    Attributes:
        reason: the Reason.
    """

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.text)
        self.reason = reason


class StateGuard(Protocol):
    """A condition on the state of Python, for which no operand is needed."""

    def check(self) -> Reason | None:
        """None while the guard holds, else the Reason."""


class OperandGuard(Protocol):
    """A condition on the Tensors of a call."""

    def check(self, tensors: list[Tensor]) -> Reason | None:
        """None while the guard holds for these operands, else the Reason."""


class GuardSet:
    """All guards of a compiled form, each kind in the order of its checks: the cheapest first.

    A guard may rest on those before it: the state of Python is compared before operands are looked up in it.

    Attributes:
        state_guards: tuple of StateGuards.
        operand_guards: tuple of OperandGuards.
    """

    def __init__(self, state_guards: Iterable[StateGuard], operand_guards: Iterable[OperandGuard]) -> None:
        self.state_guards = tuple(state_guards)
        self.operand_guards = tuple(operand_guards)

    def check_state(self) -> Reason | None:
        """The Reason of the first StateGuard that does not hold, or None."""
        for guard in self.state_guards:
            reason = guard.check()
            if reason is not None:
                return reason
        return None

    def check_operands(self, tensors: list[Tensor]) -> Reason | None:
        """The Reason of the first OperandGuard that does not hold for the operands, or None."""
        for guard in self.operand_guards:
            reason = guard.check(tensors)
            if reason is not None:
                return reason
        return None
