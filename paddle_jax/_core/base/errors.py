"""The exception classes of this package.

A class with several bases stands for a mistake that Paddle reports by different classes: the function that
finds the mistake decides.
"""

from __future__ import annotations

from typing import Any

import jax

TRACING = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.UnexpectedTracerError,
    jax.errors.TracerBoolConversionError,
)


# what gives values to Python, and sizes to nothing
_READS = ("numpy", "__array__", "item", "tolist", "float", "complex", "str", "print", "bool", "host")


def first_line(error: BaseException) -> str:
    """The first line of the text of an exception; its class where it has no text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def restore_error(cls: type[BaseException], text: str) -> BaseException:
    """An exception with exactly this text.

    Exceptions are unpickled by it whose constructor takes something else than their text.
    """
    return cls.__new__(cls, text)


remade = restore_error  # pickles of older versions name it


class TracedValueError(jax.errors.TracerArrayConversionError):
    """Code asked for a value inside a compiled function, where only shapes and dtypes are known.

    Attributes:
        concerns_lengths: bool, whether the value gives the length of something.
    """

    def __init__(self, op_name: str, instead: str = "") -> None:
        self.concerns_lengths = op_name not in _READS
        instead = instead or "compute with tensors there, or return the tensor and look at it outside"
        TypeError.__init__(
            self,
            f"{op_name}: the result depends on the value of a tensor, which a function "
            f"being compiled does not know; {instead}",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_error, (type(self), str(self))


class ArgumentError(ValueError, TypeError, AttributeError):
    """The arguments of a call do not fit the signature.

    Paddle raises ValueError from C++ functions and TypeError from Python functions. It raises AttributeError
    from functions that first ask for the dtype of a thing that is no Tensor.
    """


def require_dict(where: str, state: Any) -> None:
    """Refuses a state that is no dict, such as the name of its file.

    Raises:
        ArgumentError: it is not.
    """
    if not (hasattr(state, "get") and hasattr(state, "items")):
        raise ArgumentError(
            f"{where}: state_dict: got {type(state).__name__}; pass the dict that state_dict() or "
            "paddle.load(path) returned"
        )


class MixedDtypesError(ValueError, RuntimeError):
    """An operation does not take operands of these different dtypes.

    Paddle raises ValueError or RuntimeError, depending on the operand that it checks first.
    """


class EnforceNotMet(Exception):
    """A kernel refuses a value, and Python has no class of its own for the mistake."""


class IntegerDivisionError(EnforceNotMet, ZeroDivisionError):
    """An integer is divided by zero."""


class CheckError(AssertionError, ValueError):
    """A check failed that Paddle does with `assert`: an AssertionError for users, a ValueError in meaning."""


class NotHereError(ValueError):
    """A value lies on the devices of other processes alone."""


class LostError(RuntimeError):
    """Another process has failed or ended; calls that need it raise this."""


class Unsupported(Exception):
    """Code cannot become part of a compiled program; it can still run operation by operation.

    The text says why, and what to do.

    Attributes:
        concerns_lengths: bool, whether the reason is that lengths depend on values.
    """

    def __init__(self, text: str, concerns_lengths: bool = False) -> None:
        super().__init__(text)
        self.concerns_lengths = concerns_lengths


def concerns_lengths(error: BaseException) -> bool:
    """Whether code cannot become part of a compiled program because lengths in it depend on values."""
    return getattr(error, "concerns_lengths", False)
