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
    """

    decomposition: ClassVar[Callable[..., Callable[[], Any] | None]]
    composite_rule: ClassVar[Callable[..., Callable[..., Any] | None]]


def _no_rule(*call: Any) -> None:
    return None


ExportRules.decomposition = staticmethod(_no_rule)
ExportRules.composite_rule = staticmethod(_no_rule)

__all__ = ["ExportRules"]
