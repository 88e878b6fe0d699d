"""The kind of mistake in front of a message, as Paddle's C++ code puts it there:
`(InvalidArgument) add: ...`.

What an operation refuses has the kind that goes with the class of the exception. Paddle finds some mistakes
in Python, where messages have no kind: `error_tables` has the operations that do so, for each sort of
mistake, and the arguments, where an operation finds mistakes of one sort both ways.
"""

import re

from paddle_jax._core.base.caller_info import is_ours, origin
from paddle_jax._core.base.error_tables import COMPILED, PYTHON
from paddle_jax._core.base.errors import ArgumentError

_KINDS = (
    (NotImplementedError, "Unimplemented"),
    (IndexError, "OutOfRange"),
    (MemoryError, "ResourceExhausted"),
    (RuntimeError, "PreconditionNotMet"),
    (ValueError, "InvalidArgument"),
    (TypeError, "InvalidType"),
)
MISTAKES = tuple([cls for cls, _ in _KINDS])
_HAS_KIND = re.compile(r"^\([A-Z][A-Za-z]+\) ")
# "op: argument: what was got", as no exception of Python itself looks
_OURS = re.compile(r"(type promotion|Tensor index|[\w.]+(\(\))?): ")
_NEVER = re.compile(
    r"is missing|unexpected keyword|but got nothing|which are the same argument|: "
    r"(data_format|reduction): "
)
_SUBJECT = re.compile(r"(?:\(\w+\) )?[\w. ]+(?:\(\))?: (\w+)")  # the argument that a message is about
_OPERAND = re.compile(
    r"argument '(?P<a>\w+)' \(position \d+\) must be (?:Tensor|a list)|: (?P<b>\w+): "
    r"got .* must be a Tensor"
)


def with_kind(name, error):
    """Puts the kind in front of an exception's message, where the real Paddle has it for mistakes of this
    sort in the operation `name`; returns the exception. What a function within a function has put there is
    taken away again, if for the outer one there is none."""
    text = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    if isinstance(error, AssertionError) or _NEVER.search(text):
        return error
    kind, sort = _kind_and_sort(error, text)
    subject = _SUBJECT.match(text)
    of_subject = f"{name}:{subject[1]}" if subject else ""
    python = (
        of_subject in PYTHON.get(sort, ())
        or name in PYTHON.get(sort, ())
        and of_subject not in COMPILED.get(sort, ())
    )
    if kind is not None and not python and _OURS.match(text) and _is_ours(error):
        error.args = (f"({kind}) {text}", *error.args[1:])
        error.kind_by = name
    elif python and getattr(error, "kind_by", name) != name:
        error.args = (_HAS_KIND.sub("", text, count=1), *error.args[1:])
        del error.kind_by
    return error


def without_kind(error):
    """What an exception says, without the kind."""
    return _HAS_KIND.sub("", str(error), count=1)


def _kind_and_sort(error, text):
    if isinstance(error, ArgumentError):
        operand = _OPERAND.search(text)
        return (
            ("InvalidArgument", f"operand {operand['a'] or operand['b']}")
            if operand
            else ("InvalidType", "argument")
        )
    if isinstance(error, AttributeError):
        return None, ""
    return next(((kind, cls.__name__) for cls, kind in _KINDS if isinstance(error, cls)), (None, ""))


def is_native(error):
    """Whether Python itself raised a TypeError in a function of this package: an argument is of a wrong type,
    which nobody had looked at."""
    return type(error) is TypeError and not _OURS.match(_HAS_KIND.sub("", str(error))) and _is_ours(error)


def _is_ours(error):
    """Whether code of this package raised it, and not a function of the user's that it called."""
    module = origin(error)
    return not module or is_ours(module)
