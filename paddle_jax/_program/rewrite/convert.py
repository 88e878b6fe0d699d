"""Source conversion: diastatic-malt rewrites the statements and calls of a function into calls of
`statements` and `calls`."""

import contextlib
import functools as ft
import types

from paddle_jax._core.base.errors import TRACING, Unsupported
from paddle_jax._core.base.signal_handlers import of_a_handler
from paddle_jax._program.rewrite.converted_calls import converted_forwards, is_plain, lifted, mark_converted
from paddle_jax.nn.layer.layers import Layer


def convert(function):
    """Makes a function whose control flow may depend on traced Tensors: `if`, `while`, `for`, `and`, `assert`
    and so on become compiled branches and loops.

    Args:
        function: function, method, lambda, Layer (its `forward`) or other callable. What it calls is
            converted on the way, if it is not Paddle's, JAX's, NumPy's or Python's own, and not marked with
            `paddle.jit.not_to_static`.
    Returns:
        A callable of the same arguments.
    Raises:
        Unsupported: the source is not there, or it has something that cannot be converted.
    """
    transpiler()
    if isinstance(function, types.FunctionType) and not is_plain(function):
        return transformed(function, strict=True)
    if (
        isinstance(function, types.MethodType)
        and isinstance(function.__func__, types.FunctionType)
        and not is_plain(function.__func__)
    ):
        return types.MethodType(transformed(function.__func__, strict=True), function.__self__)
    if isinstance(function, Layer):
        forward = type(function).forward
        if isinstance(forward, types.FunctionType) and not is_plain(forward):
            transformed(forward, strict=True)
    converted = lifted(function)
    return ft.partial(_of_a_library, function) if converted is function else converted


def _of_a_library(function, *args, **kwargs):
    """Calls a function that is not the user's: what is, in a Layer it belongs to, runs converted."""
    owner = getattr(function, "__self__", args[0] if args else None)
    with converted_forwards(owner) if isinstance(owner, Layer) else contextlib.nullcontext():
        return function(*args, **kwargs)


def transformed(function, strict=False):
    """The converted form of a plain function, sharing its closure, defaults and attributes. Where there is
    none, Unsupported is raised: with `strict` at once, else when the function turns out to need it."""
    try:
        return transpiler().converted(function)
    except Exception as error:
        if of_a_handler(error):
            raise
        code = function.__code__
        reason = " ".join(str(error).split()) or type(error).__name__
        refusal = Unsupported(
            f"{function.__qualname__} ({code.co_filename}:{code.co_firstlineno}) cannot be "
            f"converted: {reason}"
        )
        if strict:
            raise refusal from error

    @ft.wraps(function)
    def unconverted(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TRACING as error:
            raise refusal from error

    return mark_converted(unconverted)


@ft.cache
def transpiler():
    """malt's transpiler with our statements; made when it is first needed, which is rare."""
    from paddle_jax._program.rewrite.control_flow_rewriter import Transpiler

    return Transpiler()
