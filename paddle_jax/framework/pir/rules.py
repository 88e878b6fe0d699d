"""How each PIR operation is run by ours: `rule(attributes, *operands)`.

An operand is a Tensor, an ndarray where the value is known on the host, a list of these, or None. A rule's parameter named `n_...` gets Python
numbers (a list, or what is left of a Tensor that is not known), one named `s_...` a single number, every other one Tensors.
"""

import functools as ft
import inspect

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.op import OPS
from paddle_jax._core.record import READS
from paddle_jax._core.tensor import Tensor, wrap
from paddle_jax.framework.pir.records import reader


class _Public:
    """The public functions of declared operations by name."""

    def __getattr__(self, name):
        return OPS[name].public


P = _Public()
RULES = {}


def tensor(value):
    """An operand as a Tensor; lists item by item."""
    if isinstance(value, list):
        return [tensor(one) for one in value]
    return wrap(jnp.asarray(value)) if isinstance(value, np.ndarray) else value


def numbers(value):
    """An operand as Python numbers where they are known."""
    if isinstance(value, list):
        return [single(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def single(value):
    """An operand of one element as a Python number where it is known."""
    return value.item() if isinstance(value, np.ndarray) else value.reshape([]) if isinstance(value, Tensor) else value


_FORMS = {"n_": numbers, "s_": single}


def define(rules):
    """Adds rules, with operands brought into the form their parameters ask for."""
    for names, function in rules.items():
        for name in names.split():
            RULES[name] = converting(function)


def converting(function):
    """A rule whose operands are brought into the form that the parameters of a function ask for."""
    code = function.__code__
    forms = [_FORMS.get(name[:2], tensor) for name in code.co_varnames[1 : code.co_argcount]]
    rest = code.co_flags & inspect.CO_VARARGS

    def rule(attrs, *operands):
        chosen = [*forms, *[tensor] * (len(operands) - len(forms))] if rest else forms
        return function(attrs, *[form(value) for form, value in zip(chosen, operands, strict=False)])

    rule.operands = None if rest else len(forms)
    return rule


def rule_of(name):
    """The rule that runs an operation: code, or what the record of an op says; None where there is neither."""
    return RULES.get(name) or _recorded(name, READS.get(name))


@ft.lru_cache(maxsize=512)
def _recorded(name, op):
    rule = op and reader(name)
    if rule is None:
        return None
    converted = converting(rule)
    converted.attributes = getattr(rule, "attributes", ())
    converted.operands = getattr(rule, "operands", converted.operands)
    return converted
