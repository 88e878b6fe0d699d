"""What operations of training become in evaluation, declared beside the operations.

`nn.functional` registers a rule for each operation that differs, such as dropout and batch
normalisation. `Program.clone(for_test=True)` applies the rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from paddle_jax._core.kernels.kernel import Kernel


@dataclasses.dataclass(frozen=True, slots=True)
class Replacement:
    """The operation that stands in evaluation for one of training.

    Attributes:
        kernel: Kernel that is called; it gives the first result.
        operand_count: int, how many of the operands it takes, counted from the first one.
        passed_on: mapping from the position of another result to the position of the operand that
            replaces it.
    """

    kernel: Kernel
    operand_count: int
    passed_on: Mapping[int, int] = dataclasses.field(default_factory=dict)


# rule(layout of the operands, attributes by name)
EvaluationRule = Callable[[Any, dict[str, Any]], Replacement]
_RULES: dict[str, EvaluationRule] = {}


def register_evaluation(name: str, rule: EvaluationRule) -> None:
    """Declares what the operation of a name becomes in evaluation."""
    _RULES[name] = rule


def replacement_of(kernel: Kernel) -> Replacement | None:
    """What a kernel becomes in evaluation; None for one that stays as it is."""
    # Kernels of composites have no layout and attributes to rewrite.
    rule = _RULES.get(kernel.name)
    if rule is None or kernel.declaration is None:
        return None
    op, layout, values = kernel.declaration
    return rule(layout, dict(zip(op.attrs, values, strict=True)))


__all__ = ["EvaluationRule", "Replacement", "register_evaluation", "replacement_of"]
