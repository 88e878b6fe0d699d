"""Translates exceptions of JAX into those that Paddle raises for the same mistake.

The message names the operation and its operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax

from paddle_jax._core.base.caller_info import ARRAYS, is_unrelated_error, origin, package_of
from paddle_jax._core.base.error_kinds import is_native, with_kind
from paddle_jax._core.base.errors import TRACING, ArgumentError, first_line
from paddle_jax._core.base.jax_messages import operand_names, public_name, sentence_for
from paddle_jax._core.base.out_of_memory import as_out_of_memory, is_out_of_memory, out_of_memory
from paddle_jax._core.base.uninitialized import Uninitialized

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel


class ErrorDetail:
    """How much of JAX's part of an exception is shown.

    Attributes:
        level: int, FLAGS_call_stack_level.
    """

    level = 1


class RuntimeErrors:
    """Exceptions that assertions and other host code raised inside compiled programs.

    Attributes:
        pending: list of those that have not been raised to the user yet.
    """

    pending: list[Exception] = []  # noqa: RUF012  one for the process


def describe_operands(values: Sequence[Any], names: Sequence[str] = ()) -> str:
    """Dtypes and shapes of operands for a message; with `names`, of the operands that have a name."""
    texts = [f"{v.dtype}{list(v.shape)}" if hasattr(v, "shape") else repr(v) for v in values]
    if names:
        return "got " + ", ".join(f"{name} {text}" for name, text in zip(names, texts, strict=False))
    return "operands are " + ", ".join(texts)


def translate(
    op_name: str, values: Sequence[Any], error: Exception, kernel: Kernel | None = None
) -> Exception:
    """The exception to raise for one that came up while an operation ran.

    Args:
        op_name: name of the operation.
        values: its operands.
        error: the exception of JAX, NumPy or Python.
        kernel: the Kernel that ran, if it is known.
    Returns:
        A new exception, or `error` where it has nothing to do with the operands.
    """
    if isinstance(error, jax.errors.JaxRuntimeError) and RuntimeErrors.pending:
        return run_error(error)
    if is_out_of_memory(error):
        return out_of_memory(public_name(op_name), error, values)
    uninitialized = _uninitialized_error(op_name, values, kernel)
    if uninitialized is not None:
        return uninitialized
    # What has nothing to do with the operands stays as it is.
    if isinstance(error, TRACING) or is_unrelated_error(error):
        return error
    return _argument_error(op_name, values, error, kernel)


def _uninitialized_error(op_name: str, values: Sequence[Any], kernel: Kernel | None) -> Exception | None:
    """The exception for the first operand that is a parameter without values; None where all have values."""
    for index, value in enumerate(values):
        if type(value) is Uninitialized:
            names = [] if kernel is None else operand_names(kernel)
            return value.error(public_name(op_name), names[index] if index < len(names) else "")
    return None


def _argument_error(
    op_name: str, values: Sequence[Any], error: Exception, kernel: Kernel | None
) -> Exception:
    """The exception for operands or attributes that JAX, NumPy or Python refused."""
    text_attribute = _text_in_place_of_number(kernel)
    if is_native(error) and ("not supported between" in str(error) or text_attribute is None):
        # Paddle compares with a text in Python too; its kernels refuse any other use of a text.
        sentence = sentence_for(first_line(error))
        return with_kind(op_name, TypeError(f"{op_name}: an argument is of a wrong type: {sentence}"))
    # Neither JAX nor NumPy raised it, so it has a message of its own.
    if package_of(origin(error)) not in ARRAYS and not is_native(error):
        return with_kind(op_name, error)
    if text_attribute is not None:
        return with_kind(op_name, ArgumentError(f"{public_name(op_name)}: {text_attribute}"))
    text = first_line(error)
    names = () if kernel is None else operand_names(kernel)
    message = f"{public_name(op_name)}: {sentence_for(text)}; {describe_operands(values, names)}"
    if isinstance(error, jax.errors.JaxRuntimeError):
        return RuntimeError(f"(External) {message}")
    # Paddle has no kernel for such dtypes.
    if isinstance(error, TypeError) and "dtype" in text and "shape" not in text:
        return RuntimeError(f"(NotFound) {message}")
    if isinstance(error, TypeError | ValueError | ZeroDivisionError | AssertionError):
        return with_kind(op_name, ValueError(message))
    return error


def _text_in_place_of_number(kernel: Kernel | None) -> str | None:
    """A sentence about the first attribute that is a text where its default is a number; else None."""
    if kernel is None or kernel.declaration is None:
        return None
    op, _, attributes = kernel.declaration
    if not attributes:
        return None
    for name, value in zip(op.attrs, attributes, strict=False):
        if isinstance(value, str) and isinstance(op.signature.parameters[name].default, int | float):
            return f"{name}: got {value!r}; it must be a number"
    return None


def pop_notes(error: BaseException) -> list[str]:
    """Removes JAX's note about its own frames from an exception; returns the other notes."""
    notes = [
        note for note in getattr(error, "__notes__", ()) if "JAX has removed its internal frames" not in note
    ]
    if hasattr(error, "__notes__"):
        error.__notes__ = notes
    return notes


def cause_for(translated: BaseException, error: BaseException) -> BaseException | None:
    """The cause to raise a translated exception from.

    From level 2 on that is JAX's exception; below, nothing of JAX is printed.
    """
    if ErrorDetail.level >= 2 and translated is not error:
        return error
    return None


def run_error(error: Exception, doing: str = "a compiled program") -> Exception:
    """The exception to raise for one that came up while a compiled program ran.

    Args:
        error: the exception of JAX.
        doing: the operation in words.
    Returns:
        The exception of the user's own code, where that was the reason.
    """
    if RuntimeErrors.pending:
        first = RuntimeErrors.pending[0]
        RuntimeErrors.pending.clear()
        return first
    translated = as_out_of_memory(error, doing)
    from_callback = "callback" in str(error).lower()  # raised by the user's code
    if translated is error and type(error) is jax.errors.JaxRuntimeError and not from_callback:
        return RuntimeError(
            f"(External) {doing}: the device failed: {first_line(error)}; "
            "FLAGS_deferred=off names the operation"
        )
    return translated
