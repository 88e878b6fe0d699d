"""How each PIR operation is run by ours: `rule(attributes, *operands)`.

An operand is a Tensor, an ndarray where the value is known on the host, a list of these, or None. A rule's
parameter named `n_...` gets Python numbers (a list, or what is left of a Tensor that is not known), one named
`s_...` a single number, every other one Tensors.
"""

import functools as ft
import inspect

import numpy as np

from paddle_jax._core.kernels.op_record import READS
from paddle_jax._core.lazy.lazy_array import from_host
from paddle_jax._core.ops.op import OPS
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.framework.model_files.records import form, parsed


class _Public:
    """The public functions of declared operations by name."""

    def __getattr__(self, name):
        return OPS[name].public


P = _Public()


def tensor(value):
    """An operand as a Tensor; lists item by item."""
    if isinstance(value, list):
        return [tensor(one) for one in value]
    return wrap(from_host(value)) if isinstance(value, np.ndarray) else value


def numbers(value):
    """An operand as Python numbers where they are known."""
    if isinstance(value, list):
        return [single(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def single(value):
    """An operand of one element as a Python number where it is known."""
    return (
        value.item()
        if isinstance(value, np.ndarray)
        else value.reshape([])
        if isinstance(value, Tensor)
        else value
    )


_FORMS = {"n_": numbers, "s_": single}


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
    """The rule that runs an operation: what a record says, or a line of `theirs.py`; None where
    there is neither."""
    return _recorded(name, READS.get(name)) or _theirs().get(name)


@ft.cache
def _theirs():
    from paddle_jax.framework.model_files.paddle_only_ops import RULES

    return RULES


@ft.lru_cache(maxsize=512)
def _recorded(name, op):
    if op is None:
        return None
    code = op.record.read or form(op.record.code).read
    return converting(code) if code is not None else reader(op)


def reader(op):
    """A rule that runs an operation of Paddle's files as the text of a record says."""
    known = parsed(op.record.pir)
    twin = OPS.get(op.name)  # the public function checks what the op behind it does not
    public = twin if twin is not None and twin.home == op.home else op
    parameters, spread = list(public.signature.parameters), _spread(public)
    ours = [one for one in known.attributes if one.ours in public.attrs]
    flags = [one for one in ours if one.kind == "none"]
    settled = {one.ours for one in flags}  # a flag says whether they are None

    def value_of(one, value):
        return value if one.ours in settled else one.read(value)

    def rule(attrs, *operands):
        args, named = [tensor(value) for value in operands], {}
        if known.operands is not None:
            args, pairs = [], zip(known.operands, operands, strict=False)
            named = {
                one.ours: value_of(one, _OPERANDS.get(one.kind, single)(value))
                for one, value in pairs
                if one.ours in parameters
            }
        named |= {one.ours: value_of(one, _given(attrs, one)) for one in ours if one.kind != "none"}
        named |= {one.ours: None for one in flags if getattr(attrs, one.name)}
        if spread:
            args = [*(named.pop(one) for one in parameters[: parameters.index(spread)]), *named.pop(spread)]
        return _placed(known.results, public.public(*args, **named))

    rule.attributes = [one.name for one in ours]
    rule.operands = (
        len(known.operands)
        if known.operands is not None
        else None
        if public.composite
        else len(public.tensors)
    )
    return rule


def _given(attrs, one):
    """An attribute as it stands in a file; older ones may lack what has a default."""
    return getattr(attrs, one.name) if one.default is None else getattr(attrs, one.name, one.default)


_OPERANDS = {"": tensor, "out": tensor, "ints": numbers, "size": numbers}


def _spread(op):
    """The parameter that takes any number of Tensors, if there is one."""
    return next(
        (name for name, one in op.signature.parameters.items() if one.kind is one.VAR_POSITIONAL), None
    )


def _placed(results, found):
    """Our results at the places that the operation of Paddle gives them."""
    if results is None:
        return found
    if results == ["[]"]:
        return list(found)
    ours = iter(found if isinstance(found, tuple | list) else [found])
    return [next(ours) if one == "out" else None for one in results]
