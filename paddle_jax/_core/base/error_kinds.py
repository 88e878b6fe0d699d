"""The kind of an error in front of its message, as in `(InvalidArgument) add: ...`.

Paddle's C++ code puts it there; the class of the exception decides. Paddle finds some mistakes in Python,
where messages have no kind. `error_tables` lists the operations that do so for each sort of mistake, and the
arguments where an operation finds mistakes of one sort in both languages.
"""

from __future__ import annotations

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
ARGUMENT_ERRORS = tuple([cls for cls, _ in _KINDS])
_HAS_KIND = re.compile(r"^\([A-Z][A-Za-z]+\) ")
# the begin of messages of this package, "op: argument: ..."; exceptions of Python do not begin like this
_OWN_MESSAGE = re.compile(r"(type promotion|Tensor index|[\w.]+(\(\))?): ")
_WITHOUT_KIND = re.compile(
    r"is missing|unexpected keyword|but got nothing|which are the same argument|: "
    r"(data_format|reduction): "
)
_SUBJECT = re.compile(r"(?:\(\w+\) )?[\w. ]+(?:\(\))?: (\w+)")  # the argument that a message is about
_OPERAND = re.compile(
    r"argument '(?P<a>\w+)' \(position \d+\) must be (?:Tensor|a list)|: (?P<b>\w+): "
    r"got .* must be a Tensor"
)


def with_kind(name: str, error: Exception) -> Exception:
    """Puts the kind in front of an exception's message, where Paddle has it for this mistake.

    A function within a function may have put a kind there; it is taken away if the outer one has none.

    Args:
        name: the operation.
        error: the exception, which is changed.
    Returns:
        The exception.
    """
    if error.args and isinstance(error.args[0], str):
        text = error.args[0]
    else:
        text = ""
    if isinstance(error, AssertionError) or _WITHOUT_KIND.search(text):
        return error
    kind, sort = _kind_and_sort(error, text)
    if _is_found_in_python(name, sort, text):
        if getattr(error, "kind_by", name) != name:
            error.args = (_HAS_KIND.sub("", text, count=1), *error.args[1:])
            del error.kind_by  # pyright: ignore[reportAttributeAccessIssue]
    elif kind is not None and _OWN_MESSAGE.match(text) and _is_raised_here(error):
        error.args = (f"({kind}) {text}", *error.args[1:])
        error.kind_by = name  # pyright: ignore[reportAttributeAccessIssue]
    return error


def _is_found_in_python(name: str, sort: str, text: str) -> bool:
    """Whether Paddle finds a sort of mistake in Python, for the argument that a message is about."""
    subject = _SUBJECT.match(text)
    argument = f"{name}:{subject[1]}" if subject else ""
    in_python = PYTHON.get(sort, ())
    return argument in in_python or (name in in_python and argument not in COMPILED.get(sort, ()))


def without_kind(error: BaseException) -> str:
    """The message of an exception without the kind."""
    return _HAS_KIND.sub("", str(error), count=1)


def _kind_and_sort(error: Exception, text: str) -> tuple[str | None, str]:
    """The kind of an exception, and the name of the sort of mistake in `error_tables`."""
    if isinstance(error, ArgumentError):
        operand = _OPERAND.search(text)
        if operand:
            return "InvalidArgument", f"operand {operand['a'] or operand['b']}"
        return "InvalidType", "argument"
    if isinstance(error, AttributeError):
        return None, ""
    for cls, kind in _KINDS:
        if isinstance(error, cls):
            return kind, cls.__name__
    return None, ""


def is_native(error: BaseException) -> bool:
    """Whether Python raised a TypeError in a function of this package.

    An argument is then of a wrong type that the function did not check.
    """
    return (
        type(error) is TypeError
        and not _OWN_MESSAGE.match(_HAS_KIND.sub("", str(error)))
        and _is_raised_here(error)
    )


def _is_raised_here(error: BaseException) -> bool:
    """Whether code of this package raised an exception, and not a function of the user's that it called."""
    module = origin(error)
    return not module or is_ours(module)
