"""What declarations say of model files (`known_as` in `_core/record.py`), read in both directions."""

import ast
import dataclasses
import functools as ft

from paddle_jax._core import dtype as dtypes
from paddle_jax._core.op import OPS
from paddle_jax._core.record import READS


@dataclasses.dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an operation of Paddle's files."""

    name: str  # Paddle's
    kind: str  # see signatures.py
    default: object  # None: it has to be given
    ours: str  # the parameter of our op that it is, if that has one of this name
    empty: bool  # whether an empty list stands for None

    def written(self, value):
        """Our value as it stands in a file."""
        if self.kind == "dtype" and isinstance(value, dtypes.DType):
            return value.np.name
        if self.kind.endswith("s") and not isinstance(value, tuple | list):
            return [] if value is None and self.empty else value if value is None else [value]
        return value

    def read(self, value):
        """The value in a file as our op takes it."""
        return None if self.empty and not value else value


def attribute(text) -> Attribute:
    """An attribute of its text `[ours>]name:kind[=default]`."""
    head, _, rest = text.partition(":")
    ours, renamed, name = head.rpartition(">")
    kind, given, default = rest.partition("=")
    return Attribute(name, kind.rstrip("?"), ast.literal_eval(default) if given else None, ours if renamed else name, kind.endswith("?"))


@ft.cache
def parsed(text):
    """(name, [Attribute]) of the operation in a record."""
    name, *attrs = text.split()
    return name, [attribute(one) for one in attrs]


def signature(name):
    """[(attribute, kind, default)] that a record gives an operation of Paddle's files, or None."""
    op = READS.get(name)
    return None if op is None else [(one.name, one.kind, one.default) for one in parsed(op.record.pir)[1]]


def reader(name):
    """A rule that runs an operation of Paddle's files by what a record says, or None."""
    op = READS.get(name)
    if op is None:
        return None
    if op.record.read is not None:
        return op.record.read
    twin = OPS.get(op.name)  # the public function checks what the op behind it does not
    public = twin if twin is not None and twin.home == op.home else op
    pairs = [one for one in parsed(op.record.pir)[1] if one.ours in public.attrs]

    def rule(attrs, *operands):
        return public.public(*operands, **{one.ours: one.read(getattr(attrs, one.name)) for one in pairs})

    rule.attributes = [one.name for one in pairs]
    rule.operands = None if public.composite else len(public.tensors)
    return rule


__all__ = ["Attribute", "attribute", "parsed", "reader", "signature"]
