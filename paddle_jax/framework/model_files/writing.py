"""How each of our operations is written in PIR: `rule(w, a, out, *operands)` adds operations to the Builder
`w` and gives the Value of the result, or a list of them.

a: the attributes; out: (dtype, shape) of each result; operands: Values, lists of Values, or
None where left out.
"""

from __future__ import annotations

import functools as ft
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.lengths import UndecidedError, has_lengths, is_length
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder import Value
from paddle_jax.framework.model_files.builder_helpers import cast
from paddle_jax.framework.model_files.extension_ops import PREFIX, encode, find, identity
from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.framework.model_files.records import TENSORS, lowering_of, pir_record

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax.framework.model_files.builder import Builder
    from paddle_jax.framework.model_files.records import Attribute, PirRecord


def write_row(
    op: Callable[..., Any], w: Builder, attrs: Any, out: Any, *operands: Any
) -> Value | list[Value]:
    """Writes an op as the text of its record says."""
    known = pir_record(op)
    if known.operands is None:
        # Lists of Tensors are one operand in PIR.
        given = [
            w.combine(value) if isinstance(value, list) else value
            for value in _as_floats(op, w, known, out, operands)
        ]
    else:
        tensors = _by_name(op, known, operands)
        given = [_operand(one, op, w, attrs, out, tensors) for one in known.operands]
    values = {one.name: _attribute(one, op, attrs, out) for one in known.attributes}
    _refuse_others(op, known, attrs)
    name = known.names[0]
    ours = iter(out)
    # None: the attribute is left out, and Paddle's default holds.
    values = {name: value for name, value in values.items() if value is not None}
    if known.results == ["[]"]:
        return w.list_op(name, given, out, **values)
    if known.results is None:
        return w.op(name, given, out if len(out) > 1 else out[0], **values)
    types_of = {
        one: value.type for one, value in zip(op.tensors, operands, strict=True) if isinstance(value, Value)
    }
    # A result of Paddle alone gets the type of the operand with its name.
    found = w.op(
        name, given, [next(ours) if one == "out" else types_of.get(one) for one in known.results], **values
    )
    return [value for value, one in zip(found, known.results, strict=True) if one == "out"]


# whole numbers stay what they are
_OF_WHOLE = {"cast", "one_hot", "full_like", "bernoulli"}


def _as_floats(
    op: Callable[..., Any], w: Builder, known: PirRecord, out: Sequence[Any], operands: Sequence[Value]
) -> Any:
    """The operands of a function: whole numbers as floats, of which Paddle's has floats as results."""
    if len(op.tensors) != 1 or not isinstance(operands[0], Value) or known.names[0] in _OF_WHOLE:
        return operands
    is_whole = operands[0].dtype.startswith(("int", "uint", "bool"))
    if is_whole and out[0][0].startswith("float"):
        return [cast(w, operands[0], out[0][0])]
    return operands


def _by_name(
    op: Callable[..., Any], known: PirRecord, operands: Sequence[Any]
) -> dict[Any, Any] | dict[Any | int, Any]:
    """{name in the text: operand of ours}; an op inside another one may call its operands otherwise,
    in the same order."""
    names = [one.name for one in known.operands if one.kind in TENSORS and one.name != "_"]
    # The operands have our names. An inner op may call them otherwise, in the same order.
    if {*names} <= {*op.tensors}:
        left = dict(zip(op.tensors, operands, strict=True))
    else:
        left = dict(zip(names, operands, strict=False)) | {k: v for k, v in enumerate(operands[len(names) :])}
    for name in {*left} - {*names}:
        if left[name] is not None:
            raise NotWritable(f"{op.name} with {name} has no form in PIR")
    return left


def _operand(
    one: Attribute,
    op: Callable[..., Any],
    w: Builder,
    attrs: Any,
    out: Sequence[Any],
    tensors: dict[str, Any],
) -> Any:
    if one.kind in TENSORS:
        value = tensors.get(one.name)
        if value is not None and one.kind == "out":
            if isinstance(value, list):
                value = [cast(w, v, out[0][0]) for v in value]
            else:
                value = cast(w, value, out[0][0])
        if isinstance(value, list):
            return w.combine(value)
        return value
    # The shape of the result, of which Paddle wants an operand.
    if one.kind == "size":
        given = getattr(attrs, one.name, None)  # as the user says it, with -1 for a length that stays
        return w.ints(given if isinstance(given, tuple) and has_lengths(given) else out[0][1])
    if one.parameter in op.attrs:
        value = one.to_file(getattr(attrs, one.parameter))
    else:
        value = one.default
    if one.kind == "ints":
        return w.ints(value)
    if is_length(value):
        # A number made of lengths is computed by the file.
        return w.number(value, {"i": "int", "f": "float"}[one.kind[0]] + one.kind[1:], (1,))
    if not isinstance(value, int | float):
        raise NotWritable(f"{op.name} with {one.name}={value!r} has no form in PIR")
    return w.full(value, {"i": "int", "f": "float"}[one.kind[0]] + one.kind[1:])


def _attribute(one: Attribute, op: Callable[..., Any], attrs: Any, out: Sequence[Any]) -> Any:
    if one.parameter in op.attrs:
        value = one.to_file(getattr(attrs, one.parameter))
    else:
        value = one.default
    if one.kind == "dtype" and value is None:
        # A dtype that is not given is that of the result.
        return out[0][0]
    if isinstance(value, tuple | list) and not one.kind.endswith("s"):
        raise NotWritable(f"{op.name} with {one.name}={value!r} has no form in PIR")
    return value


def _refuse_others(op: Callable[..., Any], known: PirRecord, attrs: Any) -> None:
    """Refuses attributes that the text does not have; one named dtype is in the result where an operand
    is cast to that."""
    listed = {one.parameter for one in [*(known.operands or ()), *known.attributes]}
    # The cast of an operand says the dtype.
    if any(one.kind == "out" for one in known.operands or ()):
        listed.add("dtype")
    for left in {*op.attrs} - listed:
        if getattr(attrs, left) != op.signature.parameters[left].default:
            raise NotWritable(f"{op.name} with {left}={getattr(attrs, left)!r} has no form in PIR")


def rule_of(op: Callable[..., Any]) -> Any:
    """The rule that writes an op: code, or what its record says; None where Paddle has no such operation."""
    record = op.record
    return (
        record.write or lowering_of(record.code).write or (ft.partial(write_row, op) if record.pir else None)
    )


def apply(w: Builder, op: Callable[..., Any], attrs: dict[str, Any], operands: Any, out: Any) -> list[Value]:
    """Adds one of our operations to the program: as operations of Paddle where there is a rule, else as one
    of our own, which only paddle_jax reads.

    Raises:
        NotWritable: its attributes cannot be written.
    """
    rule = rule_of(op)
    # Operations of a rule that refuses half-way are taken back.
    mark = len(w.ops)
    refusal = None
    if rule is not None:
        try:
            # A rule that takes the plain number of a length would write what is right for that one alone.
            with swapped_attributes(local.ctx.frame, for_user=True):
                found = rule(
                    w,
                    types.SimpleNamespace(**attrs),
                    out,
                    *(_promoted(w, op, operands) if op.promote else operands),
                )
            if isinstance(found, list):
                return found
            return [found]
        except (NotWritable, UndecidedError) as error:
            refusal = error
            w.undo(mark)
    name = PREFIX + identity(op)
    # Another op has this name, or ours is not declared: no reader would find it.
    if find(name) is not op:
        raise refusal or NotWritable(f"{op.name} has no form in a file")
    inputs = []
    for value in operands:
        if isinstance(value, list) and not all(isinstance(v, Value) for v in value):
            value = w.op(
                "stack", [w.combine([w.number(v, "int64") for v in value])], ("int64", [len(value)]), axis=0
            )
        inputs.append(w.combine(value) if isinstance(value, list) else value)
    text, numbers = encode(attrs)
    return w.extension_op(name, [*inputs, *map(w.length, numbers)], out, text)


def _promoted(w: Builder, op: Callable[..., Any], operands: Sequence[Value]) -> list[Any]:
    if isinstance(op.promote, tuple):
        names = op.promote
    else:
        names = op.tensors
    at = [i for i, name in enumerate(op.tensors) if name in names and operands[i] is not None]
    # Lists of operands count with their items.
    values = [v for i in at for v in as_list(operands[i])]
    if isinstance(op.promote, str) and min(v.ndim for v in values) == 0:
        common = dtypes.mixed_np(*map(_like, values), op.promote == "wide")
    else:
        common = ft.reduce(dtypes.promote_np, [dtypes.convert(v.dtype).np for v in values])
    done = list(operands)
    name = np.dtype(common).name
    for i in at:
        done[i] = [cast(w, v, name) for v in done[i]] if isinstance(done[i], list) else cast(w, done[i], name)
    return done


class _Like:
    def __init__(self, dtype: DTypeLike, ndim: Any) -> None:
        self.dtype, self.ndim, self.shape = dtype, ndim, (1,) * ndim


def _like(value: Value) -> _Like:
    return _Like(dtypes.convert(value.dtype).np, value.ndim)
