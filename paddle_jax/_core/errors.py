"""Turns what JAX raises inside an op into the exception class that Paddle raises, naming the op and the operands."""

import jax

TRACING = (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError, jax.errors.TracerIntegerConversionError,
           jax.errors.UnexpectedTracerError, jax.errors.TracerBoolConversionError)


class TracedValueError(jax.errors.TracerArrayConversionError):
    """A value was asked for inside a compiled function, where only shapes and dtypes are known."""

    def __init__(self, op_name, instead=""):
        instead = instead or "compute with tensors there, or return the tensor and look at it outside"
        TypeError.__init__(self, f"{op_name}: the result hangs on the value of a tensor, which a function being compiled does not know; {instead}")


class ArgumentError(ValueError, TypeError, AttributeError):
    """A call whose arguments do not fit the signature: Paddle raises ValueError from C++ functions, TypeError from Python ones, and AttributeError
    from those that ask a thing that is no Tensor for its dtype first."""


def describe(values) -> str:
    """Dtypes and shapes of the operands, for a message."""
    return ", ".join(f"{v.dtype}{list(v.shape)}" if hasattr(v, "shape") else repr(v) for v in values)


def _raised_by_us(error) -> bool:
    frame, last = error.__traceback__, None
    while frame is not None:
        last, frame = frame, frame.tb_next
    name = last.tb_frame.f_globals.get("__name__", "") if last is not None else ""
    return not name.startswith(("jax", "jaxlib", "numpy", "functools", "ml_dtypes"))


def translate(op_name: str, values, error: Exception) -> Exception:
    """The exception to raise for `error` that came up while `op_name` ran on `values`."""
    if isinstance(error, jax.errors.JaxRuntimeError) and Failed.errors:
        return told(error)
    if isinstance(error, TRACING) or _raised_by_us(error):
        return error
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    message = f"{op_name}: {text}; operands are {describe(values)}"
    if isinstance(error, jax.errors.JaxRuntimeError):
        return MemoryError(message) if "RESOURCE_EXHAUSTED" in str(error) else RuntimeError(message)
    if isinstance(error, TypeError) and "dtype" in text and "shape" not in text:
        return RuntimeError(message)
    if isinstance(error, TypeError | ValueError | ZeroDivisionError | AssertionError):
        return ValueError(message)
    return error


class CheckError(AssertionError, ValueError):
    """A check that Paddle does with `assert`: an AssertionError for its users, a ValueError in meaning."""


class Failed:
    """errors: what assertions and other exceptions in compiled programs said, and nobody has been told yet."""

    errors: list = []


def told(error: Exception) -> Exception:
    """The exception to raise for one that came up when a compiled program ran: the user's own, where it was one."""
    if not Failed.errors:
        return error
    found = Failed.errors[0]
    Failed.errors.clear()
    return found


class Unsupported(Exception):
    """Code that cannot become part of a compiled program; it can still run operation by operation. The text says why and what to do."""
