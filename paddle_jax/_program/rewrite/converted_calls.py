"""Calls in converted code: user's functions are converted as they are called, everything else is
called as it is."""

from __future__ import annotations

import contextlib
import functools as ft
import inspect
import itertools
import math
import operator
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from paddle_jax._core.base.caller_info import is_ours, line_name
from paddle_jax._core.base.errors import TRACING, Unsupported
from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.signal_handlers import is_from_signal_handler
from paddle_jax._core.base.state import Observing, local
from paddle_jax._core.execution.module_protocol import ModuleBase
from paddle_jax._core.execution.python_state import cell_content
from paddle_jax._core.lazy import lengths
from paddle_jax._core.lazy.length_expressions import FUNCTIONS
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.control_flow import lookups
from paddle_jax._program.control_flow.cond import cond, truth
from paddle_jax._program.control_flow.growing_lists import call_with_open_list, is_open
from paddle_jax._program.control_flow.host_effects import show
from paddle_jax._program.control_flow.host_values import as_host_value, is_number, numeral
from paddle_jax._program.control_flow.region import is_traced
from paddle_jax._program.control_flow.statements import Range, Rows, and_, or_
from paddle_jax._program.rewrite.call_policy import Ignored, ObservedCall, is_plain, mark_converted
from paddle_jax._program.rewrite.source import rewrap
from paddle_jax.tensor.attribute import shape

# functions of NumPy that make arrays of given lengths
_ARRAYS = (
    np.arange,
    np.linspace,
    np.zeros,
    np.ones,
    np.full,
    np.empty,
    np.eye,
    np.identity,
    np.tri,
    np.array,
    np.asarray,
)
_CONTAINERS = (list, tuple, dict, set, frozenset)  # their methods compare with plain numbers
_FEW = 8  # numbers made of lengths that are sorted


def converted_call(
    function: Any, args: Any, kwargs: Any = None, scope: Any = None, options: Any = None
) -> Any:
    """Calls a function as converted code does."""
    kwargs = kwargs or {}
    # While a run is observed, the observer sees each call, and may answer it by a value of its own.
    observer = Observing.observer
    if observer is None or not observer.is_current_thread():
        return _converted_call(function, args, kwargs, scope)
    callee, positional, named = observer.prepare_call(function, args, kwargs)
    # The answer is complete, such as a cached value.
    if isinstance(callee, ObservedCall):
        return callee(*positional, **named)
    return observer.call_result(function, _converted_call(function, args, kwargs, scope))


def _converted_call(function: Any, args: Any, kwargs: Any, scope: Any) -> Any:
    # Recording for a file: numbers may be made of lengths that are not known.
    if local.ctx.frame.symbolic:
        answer = _call_with_unknown(function, args, kwargs)
        if answer is not NotImplemented:
            return answer
    if isinstance(function, types.BuiltinFunctionType | type):
        # The function that is passed runs converted; `filter(None, ...)` has none.
        if function is map or function is filter:
            return function(args[0] and ft.partial(_called, args[0]), *args[1:], **kwargs)
        # They look at the frame of their caller, which is this module now.
        if function is super or function is locals or function is globals:
            return _of_scope(function, scope, *args, **kwargs)
        # A class of another metaclass may define `==` or `hash`, which a look-up in the dict would call.
        if type(function) in (type, types.BuiltinFunctionType):  # others may compare in ways of their own
            function = _BUILTINS.get(function, function)
        return function(*args, **kwargs)
    # Functions of this package may call functions that the user passes in.
    if isinstance(function, types.FunctionType) and is_ours(function.__globals__):
        return _call_with_functions(function, args, kwargs)
    return converted_callable(function)(*args, **kwargs)


def _call_with_unknown(function: Any, args: Any, kwargs: Any) -> Any:
    """A call with numbers made of unknown lengths, or with a list of unknown length; NotImplemented for
    others."""
    if any(map(is_open, (*args, *kwargs.values()))):
        # `len` of a Tensor: its first length may be one of them.
        return call_with_open_list(function, args, kwargs)
    if lengths.has_lengths(args) or function is len or _has_lengths_inside(function):
        of_lengths = _LENGTH_FUNCTIONS.get(function) if _is_hashable(function) else None
        if of_lengths is not None and not kwargs:
            answer = of_lengths(*args)
            if answer is not NotImplemented:
                return answer
        lookup = _lookup(function)
        if lookup is not None:
            answer = lookup(function.__self__, *args)
            if answer is not NotImplemented:
                return answer
        # It asks for the plain number in the user's place, and is refused as the user's own code would be.
        if _takes_plain_numbers(function):
            with swapped_attributes(local.ctx.frame, for_user=True):
                return function(*args, **kwargs)
    return NotImplemented


def _lookup(function: Any) -> Any:
    """The function that stands for a method of a list, tuple or dict, or None."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, dict) and function.__name__ == "get":
        return lookups.get
    if isinstance(owner, list | tuple) and function.__name__ == "count":
        return lookups.count
    return None


def _has_lengths_inside(function: Any) -> bool:
    """Whether a function is a method of a list or tuple of Lengths."""
    owner = getattr(function, "__self__", None)
    # A list that grows in a loop refuses to be walked through.
    if not isinstance(owner, list | tuple) or is_open(owner):
        return False
    return lengths.has_lengths(owner)


def _takes_plain_numbers(function: Any) -> bool:
    """Whether a function of Python or NumPy may ask for plain numbers; those that make arrays may: these are
    compared between recordings."""
    if function in (set, frozenset) or isinstance(getattr(function, "__self__", None), _CONTAINERS):
        return True
    module = getattr(function, "__module__", None) or ""
    return module == "math" or module.partition(".")[0] == "numpy" and function not in _ARRAYS


def _call_with_functions(function: Any, args: Any, kwargs: Any) -> Any:
    """Calls one of our functions; functions and Layers of the user among its arguments run converted (those
    given to `recompute`, say)."""
    with contextlib.ExitStack() as stack:
        # Layers: all `forward`s below them run converted for the time of the call.
        for arg in (*args, *kwargs.values()):
            if isinstance(arg, ModuleBase):
                stack.enter_context(converted_forwards(arg))
        args = [converted_callable(a) if isinstance(a, types.FunctionType) else a for a in args]
        kwargs = {
            k: converted_callable(a) if isinstance(a, types.FunctionType) else a for k, a in kwargs.items()
        }
        return converted_callable(function)(*args, **kwargs)


def _called(function: Any, *args: Any, **kwargs: Any) -> Any:
    return converted_call(function, args, kwargs)


def converted_callable(function: Any) -> Any:
    """A callable that runs what the user wrote as converted code; the callable itself where there is
    nothing to convert."""
    if isinstance(function, ft.partial):
        return ft.partial(converted_callable(function.func), *function.args, **function.keywords)
    if isinstance(function, types.MethodType):
        return _converted_method(function)
    if isinstance(function, types.FunctionType):
        # A decorator of a library may have wrapped a function of the user.
        if is_plain(function):
            return _rewired(function)
        return converted_function(function)
    if isinstance(function, ModuleBase):
        return ft.partial(_call_layer, function)
    # A callable object that is marked with `not_to_static`.
    if getattr(function, Ignored.mark, False):
        return function
    # A StaticFunction, or a wrapper of `functools.wraps`: the function below it is converted.
    inner = getattr(function, "dygraph_function", None) or getattr(function, "__wrapped__", None)
    # The `__wrapped__` of a class is not what a call runs.
    if inner is not None and not isinstance(function, type):
        return converted_callable(inner)
    # An object with `__call__` of the user's class. Looked up without calling `__getattr__`.
    call = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(call, types.FunctionType) and not is_plain(call):
        return types.MethodType(converted_function(call), function)
    return function


def _converted_method(method: types.MethodType) -> Any:
    """As `converted_callable` for a method that is bound to an object."""
    # Methods of Tensors that ask for values have a traced form.
    if isinstance(method.__self__, Tensor):
        return _tensor_method(method)
    function = converted_callable(method.__func__)
    if function is method.__func__:
        return method
    return types.MethodType(function, method.__self__)


def converted_function(function: Any, strict: bool = False) -> Any:
    """The converted form of a plain function, sharing its closure, defaults and attributes. Where there is
    none, Unsupported is raised: with `strict` at once, else when the function turns out to need it."""
    try:
        return transpiler().converted(function)
    except Exception as error:
        # Ctrl-C or a deadline: not about this function.
        if is_from_signal_handler(error):
            raise
        # One line: malt's messages have several, with the whole code.
        code = function.__code__
        reason = " ".join(str(error).split()) or type(error).__name__
        refusal = Unsupported(
            f"{function.__qualname__} ({line_name(code.co_filename, code.co_firstlineno)}) cannot be "
            f"converted: {reason}"
        )
        if strict:
            raise refusal from error

    # It may never need to be converted: the refusal is raised when it asks for a value.
    @ft.wraps(function)
    def unconverted(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TRACING as error:
            raise refusal from error

    return mark_converted(unconverted)


@ft.cache
def transpiler() -> Any:
    """malt's transpiler with our statements; made when it is first needed, which is rare."""
    # lazy: import time, importing malt takes 0.1 s
    from paddle_jax._program.rewrite.control_flow_rewriter import Transpiler

    return Transpiler(converted_call)


def _rewired(function: Any) -> Any:
    """A library's wrapper round a function of the user (`paddle.no_grad()`, say), with that
    function converted."""
    inner = getattr(function, "__wrapped__", None)
    if (
        # Nothing wrapped, marked as it is, or no closure in which the inner function could be replaced.
        not isinstance(inner, types.FunctionType)
        or getattr(function, Ignored.mark, False)
        or function.__closure__ is None
    ):
        return function
    # `__wrapped__` may be there for the signature alone: the closure shows which function runs.
    if any(cell_content(cell) is inner for cell in function.__closure__):
        new = converted_callable(inner)
    else:
        new = inner
    if new is inner:
        return function
    return rewrap(function, inner, new)


def _call_layer(layer: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls a Layer, with its hooks."""
    with converted_forwards(layer):
        return layer(*args, **kwargs)


@contextlib.contextmanager
def converted_forwards(layer: Any) -> Iterator[Any]:
    """Inside the block the `forward`s that the user wrote, of a Layer and those below it, run converted."""
    if Observing.observer is not None and Observing.observer.is_current_thread():
        yield  # Layers ask the observer for their `forward`
        return
    converted_parts = []
    try:
        for part in layer.sublayers(include_self=True):
            forward = part.forward
            # A `forward` in the instance was put there by the user, or by an outer block of this kind.
            if "forward" not in part.__dict__ and isinstance(forward, types.MethodType):
                new = converted_callable(forward)
                if new is not forward:
                    converted_parts.append(part)
                    part.__dict__["forward"] = new
        yield
    finally:
        for part in converted_parts:
            part.__dict__.pop("forward", None)


def _tensor_method(method: types.MethodType) -> Any:
    """`t.item()` of a traced Tensor is the Tensor without axes, and without gradient as a number is. Where
    all has to be compiled, `t.numpy()` is a copy without gradient."""
    tensor: Any = method.__self__
    # As a number has no axes and no gradient.
    if method.__name__ == "item" and is_traced(tensor):
        return lambda *args: (
            numeral(tensor.detach().reshape([])) if not args and tensor.size == 1 else method(*args)
        )
    # Where the function may run eagerly, the copy to the host is left to eager mode.
    if method.__name__ == "numpy" and is_traced(tensor) and local.ctx.frame.is_compiled_whole():
        return lambda *args, **kwargs: as_host_value(tensor.detach().clone())
    return method


# builtins ---------------------------------------------------------------------------------------------------


def _range(*args: Any) -> Any:
    local.ctx.frame.check_range(args)
    # A loop over a Range is a compiled loop, which needs no list of numbers.
    if any(map(is_traced, args)):
        return Range(*args)
    return range(*args)


def _print(*args: Any, **kwargs: Any) -> None:
    if local.ctx.frame.prints_later(any(map(is_traced, args))):
        return show(*args, **kwargs)
    return print(*args, **kwargs)


def _reversed(over: Any) -> Any:
    if isinstance(over, Range):
        return over.__reversed__()
    return Rows.of(reversed, over)


def _extreme(kind: Any, better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """`max` and `min` of traced numbers."""

    def pick(*args: Any, **kwargs: Any) -> Any:
        # `max(iterable)` and `max(a, b, c)`.
        if len(args) == 1 and isinstance(args[0], list | tuple | Tensor):
            values = list(args[0])
        else:
            values = args
        # Keywords (`key`, `default`), few values or no Tensor among them: Python's own function decides or
        # refuses.
        if (
            kwargs
            or len(values) < 2
            or not any(map(is_traced, values))
            or not all(isinstance(v, Tensor) or is_number(v) for v in values)
        ):
            return kind(*args, **kwargs)
        # From left to right, so that of equal values the first one stays, as Python has it.
        return ft.reduce(lambda best, v: cond(better(v, best), lambda: v, lambda: best), values)

    return pick


def _quantor(kind: Any, joined: Callable[..., Any]) -> Callable[[Any], Any]:
    """`any` and `all` of traced truth values."""

    def ask(values: Any) -> Any:
        values = list(values)
        # Without Tensors Python's own function stops at the first answer.
        if not any(map(is_traced, values)):
            return kind(values)
        answer = ft.reduce(lambda a, b: joined(lambda: a, lambda: b), values)
        # An answer about lengths that are not known yet is a number of the file.
        if lengths.is_length(answer):
            return lengths.to_bool(answer)
        if is_traced(answer):
            return truth(answer)
        return bool(answer)

    return ask


def _number(kind: Any) -> Callable[..., Any]:
    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and is_traced(args[0]) and not kwargs:
            tensor = args[0].detach()
            if tensor.size != 1:
                raise TypeError(
                    f"{kind.__name__}: got a tensor of shape {list(tensor.shape)}; "
                    "only one element can be converted"
                )
            # Any number that is not 0 is true, NaN as well: `truth` compares.
            if kind is bool:
                return numeral(truth(tensor))
            if kind is float and tensor.is_floating_point():
                return numeral(tensor.reshape([]))
            # Python's int has 64 bits in a program, its float the precision of Paddle's default dtype.
            return numeral(tensor.reshape([]).astype({int: "int64", float: "float32"}[kind]))
        if args and isinstance(args[0], str):
            # The text may be that of a length, of one recording alone.
            lengths.check_text(args[0])
        return kind(*args, **kwargs)

    return convert


def _is_hashable(function: Any) -> bool:
    # Others may define `__hash__` or `==` in ways of their own.
    return isinstance(function, types.BuiltinFunctionType | type) or type(function).__module__ == "numpy"


def _length_number(convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """`int`, `float` or `bool` of a number made of unknown lengths."""
    return lambda *args: convert(args[0]) if len(args) == 1 and lengths.is_length(args[0]) else NotImplemented


def _length_extreme(name: str) -> Callable[..., Any]:
    """`max` or `min` of numbers of which some are made of unknown lengths."""

    def pick(*args: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], list | tuple):
            values = list(args[0])
        else:
            values = list(args)
        # An empty list is refused by Python's function.
        if len(values) < 1 or not all(map(is_number, values)):
            return NotImplemented
        return lengths.extreme(name, values)

    return pick


def _length_function(name: str) -> Callable[..., Any]:
    """A function of `math` of a number made of unknown lengths."""

    def call(*args: Any) -> Any:
        if len(args) != 1:
            return NotImplemented
        return lengths.function(name, args[0])

    return call


def _of_two(function: Any) -> Callable[..., Any]:
    """A function of two numbers of which one is made of unknown lengths."""
    return lambda *args: function(*map(lengths.to_float, args)) if len(args) == 2 else NotImplemented


def _logarithm(*args: Any) -> Any:
    """`math.log`, also to a base."""
    logarithms = [lengths.function("log", one) if lengths.is_length(one) else math.log(one) for one in args]
    if len(logarithms) == 2:  # a number and a base
        return logarithms[0] / logarithms[1]
    return logarithms[0]


def _mean(values: Any) -> Any:
    """`np.mean` of a list of numbers."""
    return lengths.to_numpy_float(sum(values) / len(values))


def _divisor(*values: Any) -> Any:
    """`math.gcd`, by a loop in the file."""
    return ft.reduce(converted_function(_euclid), values, 0)


def _euclid(a: Any, b: Any) -> Any:
    a = abs(a)
    b = abs(b)
    while b > 0:
        rest = a % max(b, 1)  # the numbers of a recording may be any
        a = b
        b = rest
    return a


def _sorted(values: Any) -> Any:
    """`sorted` of a few numbers."""
    if not isinstance(values, list | tuple) or len(values) > _FEW or not all(map(is_number, values)):
        return NotImplemented
    numbers = list(values)
    # each comparison becomes a part of the program, so the steps must not depend on values
    # Bubble sort: its steps do not depend on the values.
    for last in range(len(numbers) - 1, 0, -1):
        for index in range(last):
            pair = numbers[index : index + 2]
            numbers[index : index + 2] = lengths.extreme("min", pair), lengths.extreme("max", pair)
    return numbers


def _length_of(value: Any) -> Any:
    """`len` of a Tensor."""
    if isinstance(value, Tensor) and value.ndim and lengths.is_length(value.shape[0]):
        return value.shape[0]
    return NotImplemented


def _row_count(value: Any) -> Any:
    """`len`, also of a Tensor whose length is not known while a static program is recorded."""
    is_recorded = local.ctx.frame.in_dynamic_code and isinstance(value, Tensor)
    if is_recorded and value.ndim and value.shape[0] == -1:
        return shape(value)[0]
    return len(value)


def _itself(*args: Any) -> Any:
    """The number itself, for constructors of NumPy's whole numbers."""
    if len(args) == 1 and isinstance(args[0], lengths.Length):
        return args[0]
    return NotImplemented


def _over_list(function: Any) -> Callable[..., Any]:
    """`np.prod` or `np.sum` of a list of numbers."""
    return lambda *args: (
        function(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else NotImplemented
    )


_LENGTH_FUNCTIONS = {
    int: _length_number(lengths.to_int),
    float: _length_number(lengths.to_float),
    bool: _length_number(lengths.to_bool),
    max: _length_extreme("max"),
    min: _length_extreme("min"),
    len: _length_of,
    np.int64: _itself,
    np.int32: _itself,
    np.prod: _over_list(math.prod),
    np.sum: _over_list(sum),
    np.max: _length_extreme("max"),
    np.min: _length_extreme("min"),
    sorted: _sorted,
    math.gcd: _divisor,
    np.round: lambda x: lengths.to_numpy_float(round(x)),
    np.sign: lambda x: lengths.as_int(x > 0) - lengths.as_int(x < 0),
    np.clip: lambda x, low, high: lengths.extreme("min", (lengths.extreme("max", (x, low)), high)),
    np.mean: _over_list(_mean),
    np.float32: _length_number(lengths.to_float),
    math.fabs: lambda x: abs(lengths.to_float(x)),
    math.pow: lambda x, y: lengths.to_float(x) ** y,
    np.float64: _length_number(lengths.to_numpy_float),
    **{
        getattr(math, name): _length_function(name)
        for name in ("sqrt", "exp", "log2", "log10", "atan", *FUNCTIONS)
    },
    math.log: _logarithm,
    math.isqrt: lambda x: lengths.function("floor", lengths.function("sqrt", x)),
    math.hypot: _of_two(lambda x, y: lengths.function("sqrt", x * x + y * y)),
    math.exp2: lambda x: 2.0 ** lengths.to_float(x),
    math.radians: lambda x: x * (math.pi / 180),
    math.degrees: lambda x: x * (180 / math.pi),
    math.fmod: _of_two(lambda x, y: x - lengths.to_float(lengths.to_int(x / y)) * y),
}


def _of_scope(function: Any, scope: Any, *args: Any) -> Any:
    """What `super()`, `locals()` or `globals()` give in a converted function."""
    # With arguments they do not look at a frame.
    if args:
        return function(*args)
    frames = list(_frames(scope))
    if function is not super:
        if function is locals:
            return frames[0].f_locals
        return frames[0].f_globals
    # The frame of the function itself, not of a block that malt made a function of: it has `__class__`, and
    # its first argument is `self`.
    frames = list(itertools.dropwhile(lambda frame: "__class__" not in frame.f_locals, frames))
    callers = [frame for frame in frames if frame.f_code.co_argcount]
    if not callers:
        raise RuntimeError("super(): no arguments")
    caller = callers[-1]  # the outermost frame of the function, which has its arguments
    return super(caller.f_locals["__class__"], caller.f_locals[caller.f_code.co_varnames[0]])


def _frames(scope: Any) -> Iterator[types.FrameType]:
    """The frames of a converted function, the innermost first."""
    frame = sys._getframe()
    while frame is not None:
        # A Scope is one object per call of a converted function: recursion has several.
        if frame.f_locals.get(scope.name) is scope:
            yield frame
        frame = frame.f_back


_BUILTINS = {
    len: _row_count,
    range: _range,
    print: _print,
    int: _number(int),
    float: _number(float),
    bool: _number(bool),
    reversed: _reversed,
    max: _extreme(max, operator.gt),
    min: _extreme(min, operator.lt),
    any: _quantor(any, or_),
    all: _quantor(all, and_),
    enumerate: ft.partial(Rows.of, enumerate),
    zip: ft.partial(Rows.of, zip),
}
