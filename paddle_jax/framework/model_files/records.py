"""The texts by which ops declare their form in model files, parsed.

Ops declare them with `known_as` (`_core/kernels/op_record.py`). Files are written and read by the same text:

    name|name(operand,operand)->result,result attribute attribute

- The first name is written, each is read.
- Operands, where they are not ours one by one: `x` is our operand of that name, `x:out` the same in the dtype
  of the result; with another kind it is an attribute of ours that Paddle takes as a tensor of one number
  (`axis:i32`) or as a list (`axis:ints`). `_` is left out, `_:f32=2.0` a constant, `_:size` (`shape:size`)
  the shape of the result.
- Results, where they are not ours one by one: `out` is ours, `_` Paddle's only, and the name of an operand
  one of that type that is Paddle's only; `[]` is a list of all of ours.
- An attribute is `[parameter>]name:kind[=default]`, in Paddle's order, kinds as in `signatures.py`. One that
  the op does not have is only Paddle's, and needs its default; a dtype without one is that of the result. `?`
  after the kind: None stands there as the default (of a list: an empty one), and `axis>flatten:none` is a
  bool that tells whether `axis` is None.

What is ours and not in the text has to be left out or have its default, else the op is saved as one of ours.
"""

from __future__ import annotations

import ast
import dataclasses
import functools as ft
import importlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.kernels.op_record import READS

if TYPE_CHECKING:
    from paddle_jax._core.ops.op import Op

TENSORS = ("", "out")  # kinds of operands that are tensors of ours
_LOWERINGS = "paddle_jax.framework.model_files.custom_lowerings"


class NotInOnnx(Exception):  # noqa: N818  the message says what is missing
    """A case of an operation that has no form in ONNX here."""


@dataclasses.dataclass(frozen=True, slots=True)
class Lowering:
    """Functions for what the text of an op cannot say; `code="module:name"` in its record names them.

    The text does what is missing here.

    Attributes:
        write: `rule(w, attributes, out, *operands)`, see `writing.py`.
        read: `rule(attributes, *operands)`, see `reading_helpers.py`.
        onnx: `rule(g, op, *operands)`, see `onnx/rules.py`.
        decompose: `rule(attributes, *operands)` that gives the same result by functions that users call.
            These are recorded instead of the op. Where it gives None, the op itself is recorded.
        record_composite: `rule(add, *args, **kwargs)` of a composite whose results have lengths that depend
            on values. It gives what the composite returns, by `add`, see `decompositions.py`. Where it gives
            None, the composite is recorded as others are.
    """

    write: Callable[..., Any] | None = None
    read: Callable[..., Any] | None = None
    onnx: Callable[..., Any] | None = None
    decompose: Callable[..., Any] | None = None
    record_composite: Callable[..., Any] | None = None


NO_LOWERING = Lowering()


@ft.cache
def lowering_of(code: str) -> Lowering:
    """The Lowering that a record names."""
    if not code:
        return NO_LOWERING
    module, _, name = code.partition(":")
    return getattr(importlib.import_module(f"{_LOWERINGS}.{module}"), name)


@dataclasses.dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of one of Paddle's operations, or an operand that is an attribute of ours.

    Attributes:
        name: str, the name in Paddle's files.
        kind: str, see `signatures.py`; of operands also "", "out", "ints" and "size".
        default: the default in Paddle's files; None where a value has to be given.
        parameter: str, the parameter of our op that it is, if our op has one of this name.
        none_is_default: bool, whether the default stands for None.
    """

    name: str
    kind: str
    default: Any
    parameter: str
    none_is_default: bool

    def to_file(self, value: Any) -> Any:
        """The value for a file, from the value that our op has."""
        if self.kind == "none":
            return value is None
        # None has no form in a file: the default stands for it, or the attribute is left out.
        if value is None:
            if self.none_is_default:
                return self.default
            return None
        if self.kind == "dtype":
            return dtypes.convert(value).np.name
        # Paddle has lists where ours take one number as well.
        if self.kind.endswith("s") and not isinstance(value, tuple | list):
            return [value]
        return value

    def from_file(self, value: Any) -> Any:
        """The value for our op, from the value in a file."""
        if self.kind == "dtype" and value.startswith("Undefined"):
            return None
        if not self.none_is_default:
            return value
        # An empty list is Paddle's way to say None for a list.
        is_empty_list = self.kind.endswith("s") and isinstance(value, list) and not value
        if value == self.default or is_empty_list:
            return None
        return value


def parse_attribute(text: str) -> Attribute:
    """An attribute from its text `[parameter>]name:kind[=default]`."""
    head, _, rest = text.partition(":")
    parameter, renamed, name = head.rpartition(">")
    kind, has_default, default_text = rest.partition("=")
    none_is_default = kind.endswith("?")
    kind = kind.rstrip("?")
    default: Any = None
    if has_default:
        default = ast.literal_eval(default_text)
    elif none_is_default and kind.endswith("s"):
        default = []
    return Attribute(name, kind, default, parameter if renamed else name, none_is_default)


@dataclasses.dataclass(frozen=True, slots=True)
class PirRecord:
    """The parsed text of a record.

    Attributes:
        names: list of the names of Paddle's operation; the first is written.
        operands: list of Attributes; None where the operands are ours one by one.
        results: list of names; None where the results are ours one by one.
        attributes: list of Attributes.
    """

    names: list[str]
    operands: list[Attribute] | None
    results: list[str] | None
    attributes: list[Attribute]

    @property
    def is_only_name(self) -> bool:
        """Whether the text has nothing but names."""
        return not self.attributes and self.operands is None and self.results is None


_HEAD = re.compile(r"([\w.|]+)(?:\((.*)\))?(?:->(.*))?")


@ft.cache
def parse_record(text: str) -> PirRecord:
    """Parses the text of a record."""
    head, *attributes = text.split()
    match = _HEAD.fullmatch(head)
    if match is None:
        raise ValueError(f"the record {text!r}: the operation is given as name(operands)->results")
    names, operand_text, result_text = match.groups()
    operands = None
    if operand_text is not None:
        operands = [parse_attribute(one) for one in operand_text.split(",") if one]
    results = result_text.split(",") if result_text else None
    return PirRecord(names.split("|"), operands, results, [parse_attribute(one) for one in attributes])


def pir_record(op: Op) -> PirRecord:
    """How an op is written: its text, or, where that is only a name, the text of the op that users call."""
    record = parse_record(op.record.pir)
    # An op that is called inside a public one has its name alone.
    if record.is_only_name:
        return parse_record(READS[record.names[0]].record.pir)
    return record


def signature(name: str) -> list[tuple[str, str, Any]] | None:
    """[(attribute, kind, default)] that a record gives an operation of Paddle's files, or None."""
    op = READS.get(name)
    if op is None:
        return None
    return [
        (one.name, "bool" if one.kind == "none" else one.kind, one.default)
        for one in parse_record(op.record.pir).attributes
    ]


__all__ = [
    "NO_LOWERING",
    "TENSORS",
    "Attribute",
    "Lowering",
    "NotInOnnx",
    "PirRecord",
    "lowering_of",
    "parse_attribute",
    "parse_record",
    "pir_record",
    "signature",
]
