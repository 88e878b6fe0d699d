"""What declarations say of model files (`known_as` in `_core/kernels/op_record.py`), read in both directions.

    name|name(operand,operand)->result,result attribute attribute

- The first name is written, each is read.
- Operands, where they are not ours one by one: `x` is our operand of that name, `x:out` the same in the dtype
  of the result; with another kind it is an attribute of ours that Paddle takes as a tensor of one number
  (`axis:i32`) or as a list (`axis:ints`). `_` is left out, `_:f32=2.0` a constant, `_:size` (`shape:size`)
  the shape of the result.
- Results, where they are not ours one by one: `out` is ours, `_` Paddle's only, and the name of an operand
  one of that type that is Paddle's only; `[]` is a list of all of ours.
- An attribute is `[ours>]name:kind[=default]`, in Paddle's order, kinds as in `signatures.py`. One that the
  op does not have is only Paddle's, and needs its default; a dtype without one is that of the result. `?`
  after the kind: None stands there as the default (of a list: an empty one), and `axis>flatten:none` is a
  bool that tells whether `axis` is None.

What is ours and not in the text has to be left out or have its default, else the op is saved as one of ours.
"""

import ast
import dataclasses
import functools as ft
import importlib
import re
from collections.abc import Callable

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.kernels.op_record import READS

TENSORS = ("", "out")  # kinds of operands that are tensors of ours


class Unsupported(Exception):
    """A case of an operation that has no form in ONNX here."""


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """What a record's texts cannot say of an operation, `code="module:name"` in it. What is missing is
    done by the texts."""

    write: Callable | None = None  # rule(w, attributes, out, *operands), see writing.py
    read: Callable | None = None  # rule(attributes, *operands), see reading.py
    onnx: Callable | None = None  # rule(g, op, *operands), see onnx/rules.py
    # rule(attributes, *operands): the same result by functions that users call, which are recorded instead of
    # it; None: it is recorded as it is, with these attributes
    parts: Callable | None = None
    # whole(add, *args, **kwargs) of a composite whose results have lengths that depend on values: what it
    # returns, by `add`, see composed.py; None: it is recorded as others are
    whole: Callable | None = None


NOTHING = Form()


@ft.cache
def form(code) -> Form:
    """The Form that a record names."""
    module, _, name = code.partition(":")
    return (
        getattr(importlib.import_module(f"paddle_jax.framework.model_files.custom_lowerings.{module}"), name)
        if code
        else NOTHING
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an operation of Paddle's files, or an operand that is an attribute of ours."""

    name: str  # Paddle's
    kind: str  # see signatures.py; of operands also "", "out", "ints" and "size"
    default: object  # None: it has to be given
    ours: str  # the parameter of our op that it is, if that has one of this name
    empty: bool  # whether the default stands for None

    def written(self, value):
        """Our value as it stands in a file."""
        if self.kind == "none":
            return value is None
        if value is None:
            return self.default if self.empty else None
        if self.kind == "dtype":
            return dtypes.convert(value).np.name
        if self.kind.endswith("s") and not isinstance(value, tuple | list):
            return [value]
        return value

    def read(self, value):
        """The value in a file as our op takes it."""
        if self.kind == "dtype" and value.startswith("Undefined"):
            return None
        if self.empty and (
            value == self.default or (self.kind.endswith("s") and isinstance(value, list) and not value)
        ):
            return None
        return value


def attribute(text) -> Attribute:
    """An attribute of its text `[ours>]name:kind[=default]`."""
    head, _, rest = text.partition(":")
    ours, renamed, name = head.rpartition(">")
    kind, given, default = rest.partition("=")
    empty, kind = kind.endswith("?"), kind.rstrip("?")
    value = ast.literal_eval(default) if given else [] if empty and kind.endswith("s") else None
    return Attribute(name, kind, value, ours if renamed else name, empty)


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """The text of a record."""

    names: list  # of Paddle's operation; the first is written
    operands: list | None  # Attributes; None: as ours
    results: list | None  # names; None: as ours
    attributes: list  # of Attribute

    @property
    def bare(self):
        """Whether there is nothing but the name."""
        return not self.attributes and self.operands is None and self.results is None


_HEAD = re.compile(r"([\w.|]+)(?:\((.*)\))?(?:->(.*))?")


@ft.cache
def parsed(text) -> Row:
    """The text of a record, taken apart."""
    head, *attributes = text.split()
    match = _HEAD.fullmatch(head)
    if match is None:
        raise ValueError(f"the record {text!r}: the operation is given as name(operands)->results")
    names, operands, results = match.groups()
    operands = None if operands is None else [attribute(one) for one in operands.split(",") if one]
    return Row(
        names.split("|"), operands, results and results.split(","), [attribute(one) for one in attributes]
    )


def row(op) -> Row:
    """What an op is written as: its own text, or, where that is only a name, what the op that users
    call says of it."""
    found = parsed(op.record.pir)
    return parsed(READS[found.names[0]].record.pir) if found.bare else found


def signature(name):
    """[(attribute, kind, default)] that a record gives an operation of Paddle's files, or None."""
    op = READS.get(name)
    if op is None:
        return None
    return [
        (one.name, "bool" if one.kind == "none" else one.kind, one.default)
        for one in parsed(op.record.pir).attributes
    ]


__all__ = [
    "NOTHING",
    "TENSORS",
    "Attribute",
    "Form",
    "Row",
    "Unsupported",
    "attribute",
    "form",
    "parsed",
    "row",
    "signature",
]
