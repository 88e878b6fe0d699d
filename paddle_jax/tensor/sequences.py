"""Sequences of numbers: arange, linspace, logspace."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.size import are_known, is_symbolic
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.tensor import Tensor, host_value
from paddle_jax.tensor.axes import number
from paddle_jax.tensor.creation import as_numpy_dtype, finish

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.lazy.lengths import Length


def _bound(op: str, name: str, value: Any) -> Any:
    """A bound as a Python or NumPy number."""
    if isinstance(value, Tensor):
        if value.size != 1:
            raise ValueError(
                f"{op}: {name}: got a tensor of shape {list(value.shape)}; it must have one element"
            )
        return host_value(value, op).reshape(())[()]
    if not isinstance(value, bool | int | float | np.number) and not is_symbolic(value):
        raise TypeError(
            f"{op}: {name}: got {type(value).__name__}; it must be a number or a Tensor of one element"
        )
    return value


def _sequence_dtype(bounds: Sequence[Any], dtype: Any) -> np.dtype:
    if dtype is not None:
        return dtypes.convert(dtype).np
    if all(is_symbolic(b) or np.asarray(b).dtype.kind in "biu" for b in bounds):
        # By NumPy's kinds: bools count as whole numbers too.
        return np.dtype(np.int64)
    return dtypes.default().np


@composite(
    method=False,
    cases=[
        "5",
        "5.0",
        "1, 5, 2",
        "1, 5, 0.5",
        "0, 1, 0.1",
        "5, 0, -2",
        "5, 0",
        "0, 5, 0",
        "const(5, 'int64')",
        "const(5.0, 'float32')",
        "0, const(5, 'int32')",
        "5, dtype='float64'",
        "5, dtype='int32'",
        "2.5, dtype='int32'",
        "0.5, 3",
        "const([5, 6], 'int64')",
        "'a'",
        "5, dtype='float16'",
    ],
)
def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    dtype: DTypeLike | None = None,
    *,
    out: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    name: str | None = None,
) -> Tensor:
    """Numbers from start up to, not including, end in steps.

    Args:
        start: number or Tensor of one element. With one argument it is the end and the start is 0.
        end: number or Tensor of one element.
        step: number or Tensor of one element, not 0; negative steps count down.
        dtype: Default: int64 when all are integers, otherwise the default floating dtype.
        out, device, requires_grad, pin_memory: as for `zeros`.
    Returns:
        1-D Tensor of length ceil((end - start) / step), or of length 0.
    Raises:
        ValueError: step is 0.
    Example:
        >>> paddle.arange(1, 6, 2).tolist()
        [1, 3, 5]
    """
    if end is None:
        start, end = 0, start
    if local.ctx.frame.symbolic and _unknown(start, end, step):
        return _unknown_sequence(start, end, step, dtype)
    bounds = [_bound("arange", n, v) for n, v in (("start", start), ("end", end), ("step", step))]
    dtype = _sequence_dtype(bounds, dtype)
    if not are_known(*bounds):
        return finish(jnp.arange(*bounds, dtype=dtype), out, device, requires_grad)
    start, end, step = (
        bounds
        if dtype.kind not in "iu" or any(isinstance(b, float | np.floating) for b in bounds)
        else [int(b) for b in bounds]
    )
    # Paddle cuts fractions off before it counts.
    if dtype.kind in "iu":
        start = int(start)
        end = int(end)
        step = int(step)
    # Before anything is divided by it.
    if step == 0:
        raise ValueError("arange: step: got 0; it must not be 0")
    whole = all(isinstance(b, int) for b in (start, end, step))
    # A range of whole numbers counts without rounding.
    if whole:
        count = len(builtins.range(start, end, step))
    else:
        count = max(0, int(np.ceil((end - start) / step)))
    return finish(_steps(start, step, count, dtype), out, device, requires_grad)


def _unknown(*numbers: Any) -> bool:
    """Whether a number is not known: a Length, or a Variable, while a model file is recorded."""
    return local.ctx.frame.has_unknown(numbers)


def _unknown_sequence(start: int, end: Length | Tensor, step: int, dtype: Any) -> Tensor:
    bounds = [
        local.ctx.frame.numbers_of(b.reshape([])) if isinstance(b, Tensor) else b for b in (start, end, step)
    ]
    whole = all(isinstance(b, int) for b in bounds)
    kind = as_numpy_dtype(dtype, dtypes.int64 if whole else None)
    return unknown_arange(*bounds, kind.name)


@known_as(code="creation:arange")
@op("", register=False, method=False)
def unknown_arange(start: Any, end: Any, step: Any, dtype: DTypeLike) -> jax.Array:
    """`arange` while a model file is recorded, where a bound is not known."""
    return jnp.arange(start, end, step, dtype)


@known_as(code="creation:linspace")
@op("", register=False, method=False)
def unknown_linspace(start: Any, stop: Any, num: Any, dtype: DTypeLike) -> jax.Array:
    """`linspace` while a model file is recorded, where a number is not known."""
    return jnp.linspace(start, stop, num, dtype=dtype)


def _steps(start: float, step: float, count: int, dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "i":
        work = dtype
    elif dtype.kind in "ub":
        work = np.dtype(np.int64)
    else:
        # Rounded once, at the end: sums in float32 would drift away.
        work = np.dtype(np.float64)
    return (np.arange(count).astype(work) * np.asarray(step, work) + np.asarray(start, work)).astype(dtype)


@composite(
    method=False,
    cases=[
        "0, 5, 1",
        "5",
        "0, 5.0",
        "0, 1, 0.25",
        "5, 0, -1",
        "0, 5, dtype='int64'",
        "1e-3, 1e-2, 1e-3",
        "0, 0.3, 0.1",
    ],
)
def range(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    dtype: DTypeLike | None = None,
    *,
    out: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    name: str | None = None,
) -> Tensor:
    """Numbers from start to end, which is included. Arguments as for `arange`; the default dtype is floating.

    Args:
        start, end, step, dtype, out, device, requires_grad: as for `arange`.
    Returns:
        1-D Tensor.
    Raises:
        ValueError: step is 0. TypeError: an argument is no number.
    Example:
        >>> paddle.range(0, 2).tolist()
        [0.0, 1.0, 2.0]
    """
    if end is None:
        start, end = 0, start
    start, end, step = (_bound("range", n, v) for n, v in (("start", start), ("end", end), ("step", step)))
    if step == 0:
        raise ValueError("range: step: got 0; it must not be 0")
    dtype = as_numpy_dtype(dtype)
    # Paddle counts in the dtype of the result
    low, high, by = (np.asarray(v).astype(dtype) for v in (start, end, step))
    count = max(0, int(np.floor((high - low) / by)) + 1)
    return finish(_steps(start, step, count, dtype), out, device, requires_grad)


@composite(
    method=False,
    alias={"end": "stop", "steps": "num"},
    cases=[
        "0, 10, 5",
        "0, 10, const(5, 'int64')",
        "const(0, 'int64'), const(10, 'int64'), 5",
        "0, 10, 5, dtype='int32'",
        "0.0, 10.0, 5, dtype='float64'",
        "0, 10, 1",
        "0, 10, 0",
        "0, 10, -1",
        "const([0, 1], 'int64'), 10, 3",
        "1, -1, 7",
        "0, 1, 11",
        "start=0, end=1, steps=3",
    ],
)
def linspace(
    start: Any,
    stop: Any,
    num: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`num` equally spaced numbers from start to stop, both included.

    Args:
        start: number or Tensor of one element.
        stop: number or Tensor of one element. `end` is accepted as a name.
        num: how many, int or Tensor of one int. `steps` is accepted as a name.
        dtype: Default: the default floating dtype. Integer dtypes cut fractions off.
        out, device, requires_grad: as for `zeros`.
    Returns:
        Tensor [num].
    Raises:
        ValueError: num is negative.
    Example:
        >>> paddle.linspace(0, 1, 3).tolist()
        [0.0, 0.5, 1.0]
    """
    if local.ctx.frame.symbolic and _unknown(start, stop, num):
        bounds = [
            local.ctx.frame.numbers_of(b.reshape([])) if isinstance(b, Tensor) else b
            for b in (start, stop, num)
        ]
        return unknown_linspace(*bounds, as_numpy_dtype(dtype).name)
    num = number("linspace", int(num) if isinstance(num, float) else num, "num")
    if num < 0:
        raise ValueError(f"linspace: num={num}; it must be >= 0")
    start = _bound("linspace", "start", start)
    stop = _bound("linspace", "stop", stop)
    return finish(_spaced(start, stop, num, as_numpy_dtype(dtype)), out, device, requires_grad)


@np.errstate(over="ignore", invalid="ignore")  # as in compiled code, which does not warn
def _spaced(start: Any, stop: Any, num: int, dtype: np.dtype) -> np.ndarray:
    """Counts up from start in the first half and down from stop in the second, so that
    both ends are exact."""
    work = np.dtype(np.float64)
    # Paddle cuts the fractions of bounds off for integers.
    if dtype.kind in "iub":
        start = int(start)
        stop = int(stop)
    at = np.arange(num)
    # One point alone has no distance.
    step = (np.asarray(stop, work) - np.asarray(start, work)) / max(num - 1, 1)
    return np.where(at < (num + 1) // 2, start + step * at, stop - step * (num - 1 - at)).astype(dtype)


@composite(
    method=False,
    cases=[
        "0, 10, 5",
        "0, 3, 4, 2.0",
        "0, 3, 4, const(2, 'int64'), dtype='int32'",
        "const(0.0, 'float32'), const(3.0, 'float32'), 4, dtype='float64'",
        "0, 1, 1",
        "0, 1, 0",
        "0, 1, -1",
    ],
)
def logspace(
    start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """`num` numbers from base**start to base**stop whose logarithms are equally spaced.

    Args:
        start, stop, num, dtype: as for `linspace`.
        base: number or Tensor of one element.
    Returns:
        Tensor [num].
    Raises:
        ValueError: num is below 1. TypeError: an argument is no number.
    Example:
        >>> paddle.logspace(0, 2, 3).tolist()
        [1.0, 10.0, 100.0]
    """
    if local.ctx.frame.symbolic and _unknown(start, stop, num) and not isinstance(base, Tensor):
        exponents = linspace(start, stop, num, "float64")
        return (exponents * math.log(base)).exp().astype(dtypes.convert(as_numpy_dtype(dtype)))
    num = number("logspace", int(num) if isinstance(num, float) else num, "num")
    if num < 1:
        raise ValueError(f"logspace: num={num}; it must be >= 1")
    start, stop, base = (
        _bound("logspace", n, v) for n, v in (("start", start), ("stop", stop), ("base", base))
    )
    # Powers are taken in float64 too and rounded once.
    exponents = _spaced(float(start), float(stop), num, np.dtype(np.float64))
    return finish(np.power(float(base), exponents).astype(as_numpy_dtype(dtype)))
