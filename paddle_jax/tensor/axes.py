"""Checks of axes, lengths and indices, and calls that spread a list over several arguments."""

from __future__ import annotations

import functools as ft
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.base.errors import ArgumentError, IntegerDivisionError
from paddle_jax._core.base.size import is_traced_length
from paddle_jax._core.base.state import local, state
from paddle_jax._core.kernels.value_checks import add_check, add_range_check, traced_value
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES
from paddle_jax._core.lazy.transfer import materialize, to_numpy
from paddle_jax._core.ops.argument_errors import CAUGHT, translate_call_error_of
from paddle_jax._core.ops.op import _inplace, freeze
from paddle_jax._core.tensors.held_values import held_value, holds_abstract, numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor, host_elements, read_raw
from paddle_jax.tensor.known_ranges import range_of_pending

if TYPE_CHECKING:
    from paddle_jax._core.base.size import TensorSize
    from paddle_jax._core.lazy.symbol import Symbol


def one_axis(op: str, axis: Any, ndim: Any, name: str = "axis", error: Any = ValueError) -> int:
    """The axis as a number in [0, ndim); a 0-D tensor has the axes -1 and 0 only where the
    caller says ndim 1."""
    axis = number(op, axis, name)
    if not -ndim <= axis < ndim:
        if ndim:
            allowed = f"{-ndim}..{ndim - 1}"
        else:
            allowed = "none, the tensor is 0-D"
        raise error(f"{op}: {name}={axis} is out of range for a tensor of {ndim} axes; use {allowed}")
    return axis % ndim


def many_axes(op: str, axes: Any, ndim: Any, name: str = "axis") -> tuple[Any, ...]:
    """Axes (a number or a sequence) as a tuple of different numbers in [0, ndim)."""
    found = tuple(one_axis(op, a, ndim, name) for a in ints(op, axes, name))
    if len(set(found)) != len(found):
        raise ValueError(f"{op}: {name}: got {list(found)}; each axis may be named once")
    return found


def number(op: str, value: Any, name: str) -> Any:
    """An integer argument: an int, a NumPy integer or a Tensor of one element."""
    if type(value) is int:
        return value
    value = freeze(value)
    # A Tensor of one element is frozen as nested tuples.
    while isinstance(value, tuple) and len(value) == 1:
        value = value[0]
    if not isinstance(value, int) and not is_traced_length(value):
        raise ArgumentError(f"{op}: {name}: got {value!r}; it must be an int")
    return value


def ints(op: str, values: Any, name: str) -> tuple[Any, ...]:
    """A list argument as a tuple of ints. An int counts as a list of one; Tensors may stand for the list
    or for its items."""
    # the usual case, without a look at each number
    if type(values) in (list, tuple) and set(map(type, values)) == {int}:
        return tuple(values)
    values = freeze(values)
    if isinstance(values, int):
        return (values if is_length(values) else int(values),)
    if is_traced_length(values):
        return (values,)
    if not isinstance(values, tuple):
        raise ArgumentError(
            f"{op}: {name}: got {values!r}; it must be an int, a list, a tuple or a Tensor of ints"
        )
    return tuple(number(op, v, name) for v in values)


def concrete(tensor: Tensor) -> np.ndarray | None:
    """The NumPy view of a tensor's value, or None while it is being traced."""
    if holds_abstract(tensor):
        return None
    return host_elements(tensor)


def unknown(tensor: Tensor) -> bool:
    """Whether the host cannot know the value of a Tensor, because a function is being compiled."""
    return local.ctx.frame.host_value(tensor) is None and isinstance(
        materialize(read_raw(tensor)), jax.core.Tracer
    )


def untracked(tensor: Tensor) -> bool:
    """Whether a result of this tensor needs neither a gradient nor a trace, so that NumPy may compute it."""
    return (tensor.stop_gradient or not state.grad) and not holds_abstract(tensor)


def bounds(index: Tensor) -> tuple[Any, ...] | None:
    """The least and the largest element; None of an empty tensor, under a trace, and of what a compiled
    function takes from outside. A value is looked at once."""
    raw = held_value(index)
    if type(raw) is LazyArray:
        known = getattr(raw, "bounds", None)
    elif isinstance(raw, jax.Array) and not local.ctx.frame.is_constant(raw):
        # What a trace or a Capture has may be another array at the next call.
        return None
    else:
        known = _known(raw)
    if known is None:
        values = concrete(index)
        if values is None or not values.size:
            return None
        known = (values.min().item(), values.max().item())  # Python's numbers compare faster
        # A pending value keeps its bounds; arrays take no attributes.
        if type(raw) is LazyArray:
            raw.bounds = known
        elif isinstance(raw, jax.Array):
            # bound: at the end of the process modules are empty
            _KNOWN[id(raw)] = weakref.ref(raw, ft.partial(_KNOWN.pop, id(raw))), known
    return known


_KNOWN = {}  # number of a jax array -> (weak reference to it, its least and largest element)


def _known(raw: Symbol | jax.Array) -> Any:
    reference, found = _KNOWN.get(id(raw), (None, None))
    # Numbers of objects are used again; the weak reference tells whether it is the same array.
    if reference is not None and reference() is raw:
        return found
    return None


def lies_within(index: Tensor, low: Any, high: Any) -> bool:
    """Whether all elements are sure to be in [low, high), by the operations that will compute them.

    False says nothing. A compiled function is called again with other numbers, so there it is always False.
    """
    if local.ctx.frame.checks is not None:
        return False
    found = range_of_pending(held_value(index))
    return found is not None and found[0] >= low and found[1] < high


def check_index(
    op: str,
    index: Tensor,
    size: TensorSize | int,
    error: Any = IndexError,
    low: Any = None,
    name: str = "index",
) -> None:
    """Refuses indices outside [low, size) (low defaults to -size), which JAX would clamp without a word. In a
    compiled function the check rides with the results; in a branch or loop of it nothing can be checked."""
    if low is None:
        low = -size
    _check_tensor(op, index, name)
    if lies_within(index, low, size):
        return
    if local.ctx.frame.checks is None and (known := bounds(index)) is not None:
        # the usual case, outside of compiled functions
        if known[0] >= low and known[1] < size:
            return

    def refusal(least: Any, most: Any) -> BaseException:
        # One of them is enough to find the mistake.
        wrong = least
        if most >= size:
            wrong = most
        return error(f"{op}: {name}: got {wrong}; the axis has length {size}, use {low}..{size - 1}")

    value = traced_value(index)
    if value is not None:
        add_range_check(value, low, size, refusal)
    elif (found := bounds(index)) is not None and not (found[0] >= low and found[1] < size):
        raise refusal(*found)


def may_be_outside(index: Tensor, size: Any) -> bool:
    """Whether an element is outside [0, size), or may be in a compiled function, so that a closer check is
    worth its operations."""
    if traced_value(index) is not None:
        return True
    if lies_within(index, 0, size):
        return False
    found = bounds(index)
    return found is not None and not (found[0] >= 0 and found[1] < size)


def _check_tensor(op: str, value: Tensor, name: str) -> None:
    if not isinstance(value, Tensor):
        raise ArgumentError(f"{op}: {name}: got {type(value).__name__}; it must be a Tensor")


def check_index_dtype(
    op: str,
    index: Tensor,
    allowed: Sequence[str] = ("int32", "int64"),
    name: str = "index",
    error: Any = ValueError,
) -> None:
    """Refuses an index tensor of a dtype that is no index."""
    _check_tensor(op, index, name)
    dtype = _dtype_name(numpy_dtype(index))
    if dtype not in allowed:
        raise error(f"{op}: {name}: got dtype {dtype}; allowed are {', '.join(allowed)}")


@ft.cache
def _dtype_name(dtype: np.dtype) -> str:
    """The name of a dtype, which NumPy puts together at each access."""
    return dtype.name


def check_floating(op: str, x: jax.Array, name: str = "x") -> None:
    """Refuses integers and truth values, as Paddle's kernels do that exist for floating numbers only: the
    result would not be one."""
    if x.dtype.kind in "iub":
        raise RuntimeError(
            f"(NotFound) {op}: {name}: got {x.dtype}; it must be floating; cast it with astype"
        )


def variadic(public: Callable[..., Any], at: Any = 1) -> Callable[..., Any]:
    """Lets a call spread the list argument at position `at`: x.reshape(2, 3) for x.reshape([2, 3]).

    The result's `variadic_at` tells the stubs."""

    def collect_arguments(*args: Any, **kwargs: Any) -> Tensor:
        if (
            len(args) > at + 1
            and isinstance(args[at + 1], int | np.integer | Tensor)
            and not isinstance(args[at], list | tuple)
        ):
            args = (*args[:at], args[at:])
        return public(*args, **kwargs)

    collect_arguments.variadic_at = at
    return instead(public, collect_arguments, "reshapes")


def guarded(check: Callable[..., Any]) -> Callable[..., Any]:
    """Lets `check(*args, **kwargs)` look at the arguments of each call of an op before it runs: for what
    Paddle's kernels refuse by value."""

    def guard(public: Callable[..., Any]) -> Callable[..., Any]:
        def checked_call(*args: Any, **kwargs: Any) -> Tensor:
            try:
                check(*args, **kwargs)
            except CAUGHT as error:
                found = translate_call_error_of(public.op, error, args, kwargs)
                # An error that needs no translation keeps its traceback.
                if found is error:
                    raise
                raise found from found.__cause__
            return public(*args, **kwargs)

        return instead(public, checked_call, True)

    return guard


def instead(public: Callable[..., Any], wrapper: Callable[..., Any], inplace: Any) -> Callable[..., Any]:
    """Puts a wrapper of a declared function everywhere in its place; returns it. inplace: what its
    declaration says of the in-place twin."""
    made = public.op
    ft.update_wrapper(wrapper, public)
    # `inspect.signature` would follow it past the wrapper.
    del wrapper.__wrapped__
    wrapper.__signature__ = getattr(public, "__signature__", made.signature)
    made.public = wrapper
    # Methods were made from the function before it was wrapped.
    if Tensor.__dict__.get(made.name) is public:
        setattr(Tensor, made.name, wrapper)
    if hasattr(public, "inplace"):
        wrapper.inplace = _inplace(made, wrapper, inplace)
        if hasattr(Tensor, made.name + "_"):
            setattr(Tensor, made.name + "_", wrapper.inplace)
    return wrapper


def at_hand(tensor: Tensor) -> np.ndarray | None:
    """The NumPy view of a value that need not be computed or fetched from a device first;
    None of any other."""
    if type(held_value(tensor)) is LazyArray:
        # It may be computed already, or be made of numbers of the program.
        raw = held_value(tensor).array
    else:
        raw = held_value(tensor)
    # Numbers of the host, which are no array yet.
    if type(raw) is tuple:
        return np.array(raw)
    if type(raw) is np.ndarray:
        return raw
    if isinstance(raw, ABSTRACT_TYPES) or not isinstance(raw, jax.Array):
        return None
    # A copy from an accelerator is not free.
    if all(device.platform == "cpu" for device in raw.devices()):
        return to_numpy(raw)
    return None


def _is_whole(value: Any) -> bool:
    if isinstance(value, Tensor):
        dtype = numpy_dtype(value)
    else:
        dtype = getattr(value, "dtype", None)
    if dtype is None:
        return isinstance(value, int)
    return getattr(dtype, "kind", "") in ("i", "u")


_BY_ZERO = (
    "{}: y: got 0, by which integers cannot be divided; replace zeros, or divide floating-point numbers"
)


def check_divisor(op: str, x: Any, y: Any) -> None:
    """Refuses to divide integers by zero, which XLA gives -1 or -2 for. In a branch or loop of a compiled
    function nothing can be checked."""
    # the usual case: a number that is not zero
    if type(y) is int and y:
        return
    if not (_is_whole(x) and _is_whole(y)):
        return
    value = traced_value(y) if isinstance(y, Tensor) else None
    if value is not None:
        # Nothing is divided then.
        empty = 0 in (plain_shape(x) if isinstance(x, Tensor) else np.shape(x))
        if value.size and not empty:
            add_check((value == 0).any(), (), lambda: IntegerDivisionError(_BY_ZERO.format(op)))
        return
    if isinstance(y, Tensor):
        found = bounds(y)
        # Cheap questions first: only a range around zero needs all elements.
        if found is None or found[0] > 0 or found[1] < 0 or np.all(host_elements(y)):
            return
    elif np.all(y):
        return
    try:
        shape = np.broadcast_shapes(
            *[plain_shape(v) if isinstance(v, Tensor) else np.shape(v) for v in (x, y)]
        )
    except ValueError:  # the op says so itself
        return
    if 0 not in shape:
        raise IntegerDivisionError(_BY_ZERO.format(op))


def variadic_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a call spread the list that comes after the tensor: x.repeat(2, 1) for x.repeat([2, 1])."""

    def collect_arguments(*args: Any, **kwargs: Any) -> Tensor:
        if len(args) > 2:
            return function(args[0], args[1:], **kwargs)
        return function(*args, **kwargs)

    ft.update_wrapper(collect_arguments, function)
    collect_arguments.variadic_at = 1
    return collect_arguments
