"""What is said where Python, NumPy or JAX stumbled over an argument that nobody had looked at: the operation,
its arguments, what they must be."""

from __future__ import annotations

import opcode
import re
from typing import Any

from paddle_jax._core.base.caller_info import ARRAYS, BELOW, OURS, package_of
from paddle_jax._core.base.error_kinds import ARGUMENT_ERRORS, with_kind
from paddle_jax._core.base.errors import TRACING, ArgumentError, TracedValueError
from paddle_jax._core.base.jax_messages import JAX_WORDS, public_name
from paddle_jax._core.tensors.tensor import Tensor

CAUGHT = (*ARGUMENT_ERRORS, AttributeError, LookupError, ArithmeticError)
_RAISES = {opcode.opmap[name] for name in ("RAISE_VARARGS", "RERAISE") if name in opcode.opmap}
# What NumPy and JAX say of axes that are not there.
_AXES = re.compile(
    r"index out of range|values to unpack|0-d|invalid index to scalar|too many "
    r"indices|shorter than|longer than|zero-dimensional"
)
# Characters of an argument in a message.
_LONGEST = 60


class MisfitError(ValueError, TypeError, IndexError):
    """Arguments that do not go together, or with the operation. Paddle raises ValueError, TypeError or
    IndexError, whichever it meets first.

    inner: whether it is about the arguments of an operation that is a part of the one that was called.
    """

    inner = False


def translate_call_error(op: Any, error: BaseException, given: dict[str, Any]) -> BaseException:
    """The exception to raise for one that came up in a call of an operation. given: its arguments by name."""
    # Errors of a trace pass: the code that traces handles them.
    if isinstance(error, TRACING) and not isinstance(error, TracedValueError):
        return error
    if isinstance(error, AttributeError) and error.name is not None:
        thing = error.obj
    else:
        thing = getattr(error, "thing", None)
    if thing is not None or isinstance(error, AttributeError) and error.name is not None:
        if isinstance(thing, Tensor) or not (hasattr(error, "thing") or _native(error)):
            name = None
        else:
            name = _name_of(thing, given)
        if name is not None:
            return _no_tensor(op, name, thing)
    if _native(error):
        return _misfit(op, error, given)
    if isinstance(error, MisfitError) and error.inner:
        return _misfit(op, error.__cause__, given)
    if isinstance(error, ARGUMENT_ERRORS):
        with_kind(op.name, error)
    if error.args and isinstance(error.args[0], str):
        # The user wrote None, not the name of its type.
        error.args = (error.args[0].replace("NoneType", "None"), *error.args[1:])
    return error


def translate_call_error_of(
    op: Any, error: BaseException, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> BaseException:
    """As `translate_call_error`, of a call with these arguments."""
    try:
        return translate_call_error(op, error, op.signature.bind_partial(*args, **kwargs).arguments)
    except TypeError:
        # Arguments that do not fit the signature have no names.
        return translate_call_error(op, error, {})


def _no_tensor(op: Any, name: str, thing: Any) -> ArgumentError:
    found = ArgumentError(
        f"{public_name(op.name)}: {name}: got {describe_argument(thing)}; it must be a Tensor; "
        "make one with paddle.to_tensor"
    )
    found.thing = thing  # pyright: ignore[reportAttributeAccessIssue]  `translate_call_error` looks for it
    return found


def _misfit(op: Any, error: BaseException | None, given: dict[str, Any]) -> MisfitError:
    if _AXES.search(str(error)):
        wrong = "an argument has too few axes, or too short ones"
    else:
        wrong = "these do not go together"
    named = ", ".join(f"{name} {describe_argument(value)}" for name, value in given.items() if name != "name")
    found = MisfitError(
        f"{public_name(op.name)}: got {named}; {wrong}; its documentation says which shapes "
        "and dtypes are allowed"
    )
    found.__cause__, found.inner = error, op.name.startswith("_")
    return found


def _name_of(thing: Any, given: dict[str, Any]) -> str | None:
    """The name of the argument that a thing is, or that holds it."""
    for name, value in given.items():
        if value is thing:
            return name
        if (
            isinstance(value, list | tuple)
            and (at := next((i for i, item in enumerate(value) if item is thing), None)) is not None
        ):
            return f"{name}[{at}]"
    return None


def describe_argument(value: Any) -> str:
    """An argument in a few words."""
    if isinstance(value, Tensor):
        return f"{value._raw.dtype}{list(value._raw.shape)}"
    if isinstance(value, list | tuple) and any(isinstance(item, Tensor) for item in value):
        return "[" + ", ".join(map(describe_argument, value))[:_LONGEST] + "]"
    if value is None or isinstance(value, bool | int | float | complex):
        return repr(value)
    shape = getattr(value, "shape", None)
    dtype = getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{type(value).__name__} {dtype}{list(shape)}"
    text = repr(value)
    if len(text) < _LONGEST and type(value).__repr__ is not object.__repr__:
        return f"{type(value).__name__} ({text})"
    return type(value).__name__


def _native(error: BaseException) -> bool:
    """Whether Python or a library below raised an exception in code of this package, rather than the
    package by itself."""
    frame = error.__traceback__
    # Errors of the runtime, such as no memory, are no mistakes of the call.
    refused = isinstance(error, MemoryError | RuntimeError) and not str(error).startswith("INVALID_ARGUMENT")
    if refused or frame is None:
        return False
    while frame.tb_next is not None:
        if package_of(frame.tb_frame.f_globals) not in BELOW:
            return False  # a function of the user's
        frame = frame.tb_next
    package = package_of(frame.tb_frame.f_globals)
    if package not in OURS:
        return package in ARRAYS
    # A `raise` of ours has its own message; any other instruction failed by accident.
    return frame.tb_frame.f_code.co_code[frame.tb_lasti] not in _RAISES or bool(JAX_WORDS.search(str(error)))


def too_many(operation: Any, more: tuple[Any, ...]) -> ArgumentError:
    """What a call with more arguments than the signature has raises: TypeError, and ValueError as well,
    which Paddle's functions in C++ raise."""
    most = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in operation.params)
    return ArgumentError(
        f"{operation.name}(): got {most + len(more)} positional arguments; at most {most} are "
        "allowed; leave out the last ones"
    )


__all__ = [
    "CAUGHT",
    "MisfitError",
    "describe_argument",
    "too_many",
    "translate_call_error",
    "translate_call_error_of",
]
