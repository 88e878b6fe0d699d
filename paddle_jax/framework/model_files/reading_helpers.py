"""Operands of the rules that run PIR operations: `rule(attributes, *operands)`.

An operand is a Tensor, an ndarray where the value is known on the host, a list of these, or None. A parameter
of a rule that is named `n_...` gets Python numbers: a list, or the Tensor where its value is not known. One
named `s_...` gets a single number. Every other parameter gets Tensors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_jax._core.lazy.lazy_array import from_numpy
from paddle_jax._core.ops.op import OPS
from paddle_jax._core.tensors.tensor import Tensor, wrap


class _Public:
    """The public functions of declared operations by name."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return OPS[name].public


P = _Public()


def as_tensor(value: Any) -> Any:
    """An operand as a Tensor; lists item by item."""
    if isinstance(value, list):
        return [as_tensor(one) for one in value]
    if isinstance(value, np.ndarray):
        return wrap(from_numpy(value))
    return value


def as_numbers(value: Any) -> list[int]:
    """An operand as Python numbers where they are known."""
    if isinstance(value, list):
        return [as_number(one) for one in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value


def as_number(value: Any) -> Any:
    """An operand of one element as a Python number where it is known."""
    if isinstance(value, np.ndarray):
        return value.item()
    if isinstance(value, Tensor):
        return value.reshape([])
    return value


_FORMS = {"n_": as_numbers, "s_": as_number}


def with_operand_forms(function: Callable[..., Any]) -> Callable[..., Any]:
    """A rule whose operands are brought into the form that the parameters of a function ask for."""
    code = function.__code__
    # The first parameter is `attributes`.
    forms = [_FORMS.get(name[:2], as_tensor) for name in code.co_varnames[1 : code.co_argcount]]
    rest = code.co_flags & inspect.CO_VARARGS

    def rule(attrs: Any, *operands: Any) -> Any:
        if rest:
            chosen = [*forms, *[as_tensor] * (len(operands) - len(forms))]
        else:
            chosen = forms
        return function(attrs, *[form(value) for form, value in zip(chosen, operands, strict=False)])

    rule.operands = None if rest else len(forms)
    return rule


__all__ = ["P", "as_number", "as_numbers", "as_tensor", "with_operand_forms"]
