"""Hooks by which model files decide how calls are recorded.

A recording for a model file asks here whether Paddle computes an operation by other public functions.
`framework/model_files/decompositions.py` registers the answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class ExportRules:
    """The registered rules.

    Attributes:
        decomposition: function `(kernel, attributes, tensors)` of a call of an op. It returns a function
            without arguments that computes the results by other functions, or None.
        composite_rule: function of the Record of a composite. It returns a function
            `(add, *args, **kwargs)` that records the composite as one operation, or None.
        gradient_rule: function of the name of an operation. It returns a function
            `(call, gradients of its results)` that gives gradients of its operands, or None.
        complex_gradient_rule: as `gradient_rule`, of an operation that takes or gives complex numbers.
        ones: function of a Tensor that gives ones of its shape and dtype.
    """

    decomposition: ClassVar[Callable[..., Callable[[], Any] | None]]
    composite_rule: ClassVar[Callable[..., Callable[..., Any] | None]]
    gradient_rule: ClassVar[Callable[[str], Callable[..., Any] | None]]
    complex_gradient_rule: ClassVar[Callable[[str], Callable[..., Any] | None]]
    ones: ClassVar[Callable[..., Any]]


def _no_rule(*call: Any) -> None:
    return None


# Without the rooms of model files each call is recorded as it is.
ExportRules.decomposition = staticmethod(_no_rule)
ExportRules.composite_rule = staticmethod(_no_rule)
ExportRules.gradient_rule = staticmethod(_no_rule)
ExportRules.complex_gradient_rule = staticmethod(_no_rule)

__all__ = ["ExportRules"]
