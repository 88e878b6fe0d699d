"""The text of the public function that a declaration gives: Paddle's signature, a fast path for plain
Tensors, aliases and `out=`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle_jax._core.ops.op import Op

_MISSING = inspect.Parameter.empty
_KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
_VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL


def source_of(function: Any) -> str:
    """The text of an operation's public function, which is compiled at its third call.

    Args:
        function: the function, or its Op.
    Example:
        >>> from paddle_jax._core.ops.generated_source import source_of
        >>> print(source_of(paddle.tanh).splitlines()[0])
        def tanh(x=_d_x, name=_d_name, *_more, out=None, **_kw):
    """
    op = getattr(function, "op", function)
    return source(op, op.out)[0]


def source(op: Op, out: bool | str) -> tuple[str, dict[str, Any]]:
    """(text of the public function, its defaults by the names that the text gives them).

    The function has Paddle's signature. It goes a short way for plain Tensors, and takes aliases and `out=`.
    """
    # a composite without aliases and `out=` is called as it is, so that Python checks the arguments
    is_plain = op.composite and not (op.alias or op.refuses or out)
    head, defaults = _signature(op, is_plain)
    if out:
        head.append("out=None")
    if not is_plain:
        head.append("**_kw")
    body = _body(op, out, is_plain)
    arguments = "{" + ", ".join(f"'{p.name}': {p.name}" for p in op.params) + "}"
    lines = [
        f"def {op.name}({', '.join(head)}):",
        "    try:",
        *["    " + line for line in body],
        "    except _CAUGHT as _e:",
        f"        _f = _told(_op, _e, {arguments})",
        "        if _f is _e: raise",
        "        raise _f from _f.__cause__ or _cause_for(_f, _e)",
    ]
    return "\n".join(lines), defaults


def _signature(op: Op, is_plain: bool) -> tuple[list[str], dict[str, Any]]:
    """(parameters as text, defaults by the names that the text gives them).

    Every parameter has a default, so that a missing one is refused with the words of the operation.
    `*_more` takes what is too much.
    """
    head: list[str] = []
    defaults: dict[str, Any] = {}
    has_star = False
    for parameter in op.params:
        name = parameter.name
        if parameter.kind is _KEYWORD_ONLY and not has_star:
            # `*_more` takes the arguments that are too many, for a message of ours.
            head.append("*" if is_plain else "*_more")
            has_star = True
        if parameter.kind is _VAR_POSITIONAL:
            has_star = True
            head.append("*" + name)
        elif is_plain and parameter.default is _MISSING:
            head.append(name)
        else:
            defaults["_d_" + name] = parameter.default
            head.append(f"{name}=_d_{name}")
    if not has_star and not is_plain:
        head.append("*_more")
    return head, defaults


def _body(op: Op, out: bool | str, is_plain: bool) -> list[str]:
    """The lines of the function below its signature."""
    lines: list[str] = []
    if not is_plain:
        if all(parameter.kind is not _VAR_POSITIONAL for parameter in op.params):
            lines.append("    if _more: raise _too_many(_op, _more)")
        values = "dict(" + ", ".join(f"{p.name}={p.name}" for p in op.params) + ")"
        target = "out" if out else "None"
        lines.append(f"    if _kw: return _aliased(_op, {values}, _kw, {target})")
    if op.composite:
        is_recorded = "_local.ctx.frame.recording" + (" and out is None" if out else "")
        lines.append(f"    if {is_recorded}: return _local.ctx.frame.composite(_op, {_arguments(op)})")
        result = _composite_call(op)
    else:
        result = f"_call(({_tuple(op.tensors)}), ({_tuple(op.attrs)}))"
    if out:
        lines.append(f"    if out is not None: return _into(out, {result})")
    if not op.composite:
        lines += _fast_path(op)
    lines.append(f"    return {result}")
    return lines


def without_types(signature: inspect.Signature) -> inspect.Signature:
    """The signature of an op body as users see it: its types are those of arrays, but users pass Tensors."""
    parameters = signature.parameters.values()
    if signature.return_annotation is inspect.Parameter.empty and all(
        p.annotation is inspect.Parameter.empty for p in parameters
    ):
        return signature
    untyped = [inspect.Parameter(p.name, p.kind, default=p.default) for p in parameters]
    return inspect.Signature(untyped)


def shown(op: Op, out: bool | str) -> list[inspect.Parameter]:
    """The parameters of the signature that users see."""
    parameters = list(op.params)
    if out is True:  # before a `name` that is keyword-only, else last
        last = parameters[-1]
        index = len(parameters)
        if last.name == "name" and last.kind is _KEYWORD_ONLY:
            index -= 1
        parameters.insert(index, inspect.Parameter("out", _KEYWORD_ONLY, default=None))
    return parameters


def _tuple(names: Iterable[str]) -> str:
    return "".join(name + ", " for name in names)


def _composite_call(op: Op) -> str:
    """The call of a composite's function."""
    parts = []
    for parameter in op.params:
        name = parameter.name
        if parameter.kind is _VAR_POSITIONAL:
            parts.append("*" + name)
        elif parameter.kind is _KEYWORD_ONLY:
            parts.append(f"{name}={name}")
        else:
            parts.append(name)
    return f"_fn({', '.join(parts)})"


def _arguments(op: Op) -> str:
    """The arguments of a composite as a tuple and a dict."""
    positional = []
    named = []
    for parameter in op.params:
        name = parameter.name
        if parameter.kind is _KEYWORD_ONLY:
            named.append(f"'{name}': {name}")
        elif parameter.kind is _VAR_POSITIONAL:
            positional.append("*" + name)
        else:
            positional.append(name)
    return f"({_tuple(positional)}), {{{', '.join(named)}}}"


def _fast_path(op: Op) -> list[str]:
    """Lines that serve a call on plain Tensors with attribute values seen before.

    They call no further Python function.
    """
    if op.lists or op.random or not op.tensors:
        return []
    optional = [name for name in op.tensors if name in op.optional]
    tests = []
    for name in op.tensors:
        is_tensor = f"isinstance({name}, _Tensor)"
        tests.append(f"({name} is None or {is_tensor})" if name in optional else is_tensor)
    lines = [f"    if {' and '.join([*tests, '_local.ctx.is_plain'])}:"]
    key_parts = [f"{name} is None" for name in optional]
    key_parts += [f"type({name}), {name}" for name in op.attrs]
    key = f"({_tuple(key_parts)})"
    if op.attrs:
        # an attribute may be a list, which has no hash
        lines.append(f"        try: _k = _fast.get({key})")
        lines.append("        except TypeError: _k = None")
        lines.append(f"        if _k is None: _k = _fast.get(_with_ints({key}))")
    else:
        lines.append(f"        _k = _fast.get({key})")
    lines.append("        if _k is not None:")
    lines += _run_lines(op, optional)
    operands = f"({_tuple(op.tensors)}), ({_tuple(op.attrs)})"
    lines.append(f"        return _first(_op, {operands}, lambda: {key})")
    return lines


def _run_lines(op: Op, optional: list[str]) -> list[str]:
    """Lines that run the kernel `_k`. optional: names of the operands that may be None."""
    names = _tuple(op.tensors)
    short_call = None
    # Calls with up to three operands need no tuple.
    if len(op.tensors) <= 3:
        short_call = f"_run{len(op.tensors)}(_k, {', '.join(op.tensors)})"
    if not optional:
        return [f"            return {short_call or f'_run(_k, ({names}))'}"]
    lines = []
    if short_call is not None:
        all_given = " and ".join(f"{name} is not None" for name in optional)
        lines.append(f"            if {all_given}: return {short_call}")
    lines.append(f"            return _run(_k, [_t for _t in ({names}) if _t is not None])")
    return lines
