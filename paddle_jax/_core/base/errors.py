"""Turns what JAX raises inside an op into the exception class that Paddle raises, naming the op
and the operands."""

import jax

from paddle_jax._core.base.caller_info import ARRAYS, foreign, origin, package_of
from paddle_jax._core.base.error_kinds import is_native, with_kind
from paddle_jax._core.base.jax_messages import operand_names, public_name, sentence
from paddle_jax._core.base.out_of_memory import exhausted, out_of_memory, told_as_memory
from paddle_jax._core.base.uninitialized import Unmade

TRACING = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.UnexpectedTracerError,
    jax.errors.TracerBoolConversionError,
)


def first_line(error: Exception) -> str:
    """The first line of what an exception says; its class where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def remade(cls, text):
    """An exception with this very text; how those are unpickled whose constructor makes a text
    of something else."""
    return cls.__new__(cls, text)


class TracedValueError(jax.errors.TracerArrayConversionError):
    """A value was asked for inside a compiled function, where only shapes and dtypes are known."""

    def __init__(self, op_name, instead=""):
        instead = instead or "compute with tensors there, or return the tensor and look at it outside"
        TypeError.__init__(
            self,
            f"{op_name}: the result depends on the value of a tensor, which a function "
            f"being compiled does not know; {instead}",
        )

    def __reduce__(self):
        return remade, (type(self), str(self))


class ArgumentError(ValueError, TypeError, AttributeError):
    """A call whose arguments do not fit the signature: Paddle raises ValueError from C++ functions, TypeError
    from Python ones, and AttributeError from those that ask a thing that is no Tensor for its dtype first."""


class MixedDtypesError(ValueError, RuntimeError):
    """Operands of dtypes that an operation does not bring together. Paddle raises ValueError or RuntimeError,
    whichever operand it looks at first."""


def describe(values, names=()) -> str:
    """Dtypes and shapes of the operands, for a message; with names those that have one, after it."""
    texts = [f"{v.dtype}{list(v.shape)}" if hasattr(v, "shape") else repr(v) for v in values]
    if names:
        return "got " + ", ".join(f"{name} {text}" for name, text in zip(names, texts, strict=False))
    return "operands are " + ", ".join(texts)


def translate(op_name: str, values, error: Exception, kernel=None) -> Exception:
    """The exception to raise for `error` that came up while `op_name` ran on `values`; the same one if it has
    nothing to do with that. kernel: what ran, if it is known."""
    if isinstance(error, jax.errors.JaxRuntimeError) and Failed.errors:
        return run_error(error)
    if exhausted(error):
        return out_of_memory(public_name(op_name), error, values)
    unmade = next((i for i, value in enumerate(values) if type(value) is Unmade), None)
    if unmade is not None:
        names = [] if kernel is None else operand_names(kernel)
        return values[unmade].error(public_name(op_name), names[unmade] if unmade < len(names) else "")
    if isinstance(error, TRACING) or foreign(error):
        return error
    # a comparison with a text is Python's in Paddle as well; any other use of one is refused by its kernels
    if is_native(error) and ("not supported between" in str(error) or _no_number(kernel) is None):
        return with_kind(
            op_name, TypeError(f"{op_name}: an argument is of a wrong type: {sentence(first_line(error))}")
        )
    if package_of(origin(error)) not in ARRAYS and not is_native(error):
        return with_kind(op_name, error)
    if (text := _no_number(kernel)) is not None:
        return with_kind(op_name, ArgumentError(f"{public_name(op_name)}: {text}"))
    text = first_line(error)
    message = (
        f"{public_name(op_name)}: {sentence(text)}; "
        f"{describe(values, () if kernel is None else operand_names(kernel))}"
    )
    if isinstance(error, jax.errors.JaxRuntimeError):
        return RuntimeError(f"(External) {message}")
    if isinstance(error, TypeError) and "dtype" in text and "shape" not in text:
        return RuntimeError(f"(NotFound) {message}")
    if isinstance(error, TypeError | ValueError | ZeroDivisionError | AssertionError):
        return with_kind(op_name, ValueError(message))
    return error


def _no_number(kernel):
    """What is said of an attribute that is a text where its default is a number; None where there is none."""
    op, _, attributes = (None, None, ()) if kernel is None or kernel.made_of is None else kernel.made_of
    for name, value in zip(op.attrs if attributes else (), attributes, strict=False):
        if isinstance(value, str) and isinstance(op.signature.parameters[name].default, int | float):
            return f"{name}: got {value!r}; it must be a number"
    return None


def without_jax_note(error):
    """Takes JAX's word about its own frames from an exception of ours; returns what else
    is noted below it."""
    notes = [
        note for note in getattr(error, "__notes__", ()) if "JAX has removed its internal frames" not in note
    ]
    if hasattr(error, "__notes__"):
        error.__notes__ = notes
    return notes


class EnforceNotMet(Exception):
    """What Paddle raises where a kernel refuses a value for which Python has no class of its own."""


class IntegerDivisionError(EnforceNotMet, ZeroDivisionError):
    """An integer divided by zero."""


class CheckError(AssertionError, ValueError):
    """A check that Paddle does with `assert`: an AssertionError for its users, a ValueError in meaning."""


class Stack:
    """level: FLAGS_call_stack_level."""

    level = 1


def behind(found, error):
    """What an exception `found` for JAX's `error` is raised from: at level 2 that, else nothing of JAX is
    printed with it."""
    return error if Stack.level >= 2 and found is not error else None


class Failed:
    """errors: what assertions and other exceptions in compiled programs said, and nobody
    has been told yet."""

    errors: list = []


def run_error(error: Exception, doing="a compiled program") -> Exception:
    """The exception to raise for one that came up when a compiled program ran: the user's own, where it was
    one. doing: what was done, in words."""
    if not Failed.errors:
        known = told_as_memory(error, doing)
        # those are the user's own
        if (
            known is error
            and type(error) is jax.errors.JaxRuntimeError
            and "callback" not in str(error).lower()
        ):
            return RuntimeError(
                f"(External) {doing}: the device failed: {first_line(error)}; "
                "FLAGS_deferred=off names the operation"
            )
        return known
    found = Failed.errors[0]
    Failed.errors.clear()
    return found


class Unsupported(Exception):
    """Code that cannot become part of a compiled program; it can still run operation by operation. The text
    says why and what to do."""
