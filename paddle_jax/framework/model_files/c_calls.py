"""`paddle._C_ops`: operations of ours called with the positional arguments of
Paddle's C++ functions.

`c_signatures.txt` has one line per function: `name:results argument:kind=default...`. results: how many, l
for a list, with i when arguments are changed in place. Kinds: t a Tensor, o a Tensor or None, l and lo lists
of them, n a list of ints, s a number, d a dtype, a anything else. What a call computes is the rule that runs
the operation in model files, a line in `c_rules.py`, or the function of the same name.
"""

from __future__ import annotations

import ast
import functools as ft
import importlib.resources
import inspect
import keyword
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.ops.op import OPS, check_inplace, freeze
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._paths import Paths
from paddle_jax.framework.model_files import c_rules
from paddle_jax.framework.model_files.interpreter import WRITTEN, to_tensor
from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.framework.model_files.reading import rule_of

_TENSORS = ("t", "o", "l", "lo")


@ft.cache
def signatures() -> dict[str, Any]:
    """{name: (results, [(argument, kind, default)])}; a default of `inspect.Parameter.empty`: it
    has to be given."""
    found = {}
    for line in (
        importlib.resources.files("paddle_jax.framework.model_files")
        .joinpath("c_signatures.txt")
        .read_text()
        .splitlines()
    ):
        head, *arguments = line.split(" ")
        name, _, results = head.partition(":")
        found[name] = results, [_argument(text) for text in arguments]
    return found


def _argument(text: str) -> tuple[Any, ...]:
    name, _, rest = text.partition(":")
    kind, given, default = rest.partition("=")
    return name, kind, ast.literal_eval(default) if given else inspect.Parameter.empty


def names() -> list[Any]:
    """The names of the functions that are there."""
    return [name for name in signatures() if _rule(name) is not None]


@ft.cache
def find(name: str) -> Callable[..., Any]:
    """The function of a name.

    Raises:
        AttributeError: there is none, here or in Paddle.
    """
    rule = _rule(name)
    if rule is None:
        raise AttributeError(f"module 'paddle._C_ops' has no attribute {name!r}")
    return _function(name, *signatures()[name], rule)


def _rule(name: str) -> Callable[..., Any] | None:
    """What computes a function; that of `name_` is that of `name`."""
    # `relu_` computes as `relu`, and writes the result back.
    for one in (name, name.removesuffix("_")) if name in signatures() else ():
        rule = c_rules.RULES.get(one) or rule_of(one) or _by_name(one, signatures()[name][1])
        if rule is not None:
            return rule
    return None


def _by_name(name: str, arguments: Sequence[Any]) -> Any:
    """A rule that calls the public function of a name, if that takes the same arguments."""
    op = OPS.get(name)
    if op is not None:
        taken = {*inspect.signature(op.public).parameters, *op.alias}
    else:
        taken = ()
    # The place of the result is that of the program here.
    names = [one for one, _, _ in arguments if one != "place"]
    if op is None or not set(names) <= set(taken):
        return None
    # "Undefined" is the dtype of an argument that is left out.
    return lambda a, *_: op.public(
        **{one: None if getattr(a, one) == "Undefined" else getattr(a, one) for one in names}
    )


def _function(
    name: str, results: str, arguments: Sequence[Any], rule: Callable[..., Any]
) -> Callable[..., Any]:
    kinds = [kind for _, kind, _ in arguments]
    tensors = sum(kind in _TENSORS for kind in kinds)
    wanted = getattr(rule, "operands", None)  # how many operands the rule takes, None for all
    # how many lists and numbers are operands
    if wanted is None:
        numbers = len(kinds)
    else:
        # Tensors fill the operands first; what remains are sizes and numbers that the rule takes as
        # operands.
        numbers = max(0, wanted - tensors)
    apart = getattr(rule, "attributes", ())
    # Results that the C++ function writes into its arguments.
    if results.endswith("i"):
        written = c_rules.WRITTEN.get(name) or WRITTEN.get(name, {0: 0})
    else:
        written = {}

    def call(*args: Any, **kwargs: Any) -> Tensor:
        values = _bound(name, arguments, args, kwargs)
        # Before anything is computed: a leaf that wants a gradient must not change.
        for place in written.values():
            for target in as_list(values[place]):
                if target is not None:
                    check_inplace(name, target, leaf=name in c_rules.OPTIMIZERS)
        operands = []
        left = numbers
        for (one, kind, _), value in zip(arguments, values, strict=True):
            if kind in _TENSORS:
                operands.append(_operand(value))
            elif kind in "ns" and left and one not in apart:
                operands.append(_operand(value))
                left -= 1
        attrs = types.SimpleNamespace(
            **{one: _attribute(kind, value) for (one, kind, _), value in zip(arguments, values, strict=True)}
        )
        return _as_results(
            rule(attrs, *operands), results, {k: values[place] for k, place in written.items()}
        )

    call.__name__, call.__qualname__, call.__module__ = name, name, f"{Paths.root}.base.libpaddle.pir.ops"
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    # `lambda` and other keywords get an underscore, as Paddle has it.
    shown = [
        inspect.Parameter(one + "_" * keyword.iskeyword(one), kind, default=default)
        for one, _, default in _ordered(arguments)
    ]
    call.__signature__ = inspect.Signature(shown)
    call.__doc__ = (
        f"{name}({', '.join(one for one, _, _ in arguments)}) with the arguments of Paddle's C++ function."
    )
    return call


def _ordered(arguments: Sequence[Any]) -> list[Any]:
    """Arguments of which none without a default follows one with a default, as Python wants it."""
    # A default in front of an argument without one is no default.
    last = max(
        (k for k, (_, _, default) in enumerate(arguments) if default is inspect.Parameter.empty), default=-1
    )
    return [
        (name, kind, inspect.Parameter.empty if k < last else default)
        for k, (name, kind, default) in enumerate(arguments)
    ]


def _bound(name: str, arguments: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The values of all arguments."""
    if len(args) > len(arguments):
        raise ArgumentError(f"{name}() takes {len(arguments)} arguments, but {len(args)} are given")
    values = list(args)
    for one, kind, default in arguments[len(args) :]:
        # Optional Tensors are None where C++ has no default for them.
        if kind in ("o", "lo") and default is inspect.Parameter.empty:
            default = None
        values.append(kwargs.pop(one, default))
    if kwargs:
        raise ArgumentError(
            f"{name}() has no argument {next(iter(kwargs))!r}; "
            f"it has {', '.join(one for one, _, _ in arguments)}"
        )
    for position, ((one, kind, _), value) in enumerate(zip(arguments, values, strict=True)):
        if value is inspect.Parameter.empty:
            raise ArgumentError(f"{name}(): argument '{one}' (position {position}) is missing")
        # l and lo: lists.
        if "l" in kind:
            fits = _is_list(value)
        else:
            fits = isinstance(value, Tensor)
        if kind in _TENSORS and not (fits or (value is None and "o" in kind)):
            what = "list of Tensors" if "l" in kind else "Tensor"
            raise ArgumentError(
                f"(InvalidArgument) {name}(): argument '{one}' (position {position}) must be "
                f"{what}, but got {type(value).__name__}"
            )
    return values


def is_tensor_argument(kind: str) -> bool:
    """Whether an argument of a kind is a Tensor or a list of Tensors."""
    return kind in _TENSORS


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(v, Tensor) for v in value)


def _operand(value: Sequence[Any] | Tensor) -> Any:
    """A value in the form that rules take."""
    if isinstance(value, list | tuple):
        if any(isinstance(v, Tensor) for v in value):
            return [_operand(v) for v in value]
        # Sizes as model files have them: an array of int64.
        return np.array(value, np.int64)
    if value is None or isinstance(value, Tensor):
        return value
    return np.asarray(value)


def _attribute(kind: str, value: Any) -> Any:
    """A value in the form that attributes have in model files."""
    if kind == "d":
        if value is None or value == "undefined":
            return "Undefined"
        return dtypes.convert(value)._key
    if kind in _TENSORS:
        return value
    if kind in "ns":
        # Numbers may be Tensors or arrays of one element.
        value = freeze(value)
        if kind == "n" and not isinstance(value, tuple):
            return [value]
        if isinstance(value, tuple):
            return list(value)
        return value
    if isinstance(value, tuple):
        return list(value)
    return value


def _as_results(found: Any, results: str, written: dict[str, Any]) -> Any:
    """The results of a rule as the C++ function gives them."""
    # A rule may give fewer results than the C++ function, whose others are for gradients.
    if results[0] != "l":
        count = int(results.rstrip("i"))
        found = [*as_list(found), *[None] * count][:count]
    given = [one if one is None or isinstance(one, Tensor | list) else to_tensor(one) for one in found]
    # A Tensor that is changed in place gets the new value, and stays the object that it is.
    for k, target in written.items():
        if isinstance(target, list):
            given[k] = [one._adopt(new) for one, new in zip(target, given[k], strict=True)]
        elif target is not None and given[k] is not target:
            given[k] = target._adopt(given[k])
    if results[0] == "1":
        return given[0]
    if results[0] == "l":
        return given
    return tuple(given)
