"""Random tensors. Numbers differ from Paddle's for the same seed; distributions do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.fast_path import run_any
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op, scalar
from paddle_jax._core.tensors.random import default_generator, key_from
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap
from paddle_jax.tensor.axes import number, variadic
from paddle_jax.tensor.creation import as_numpy_dtype, finish, sizes

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.base.dtype import DType


ALIAS = {"size": "shape"}
_FLOAT64 = np.dtype(np.float64)
_INT64 = np.dtype(np.int64)
_SMALL_NUMBER = 1 << 62  # sure to fit into 64 bits


def _inexact(name: str, dtype: Any) -> DType:
    dtype = as_numpy_dtype(dtype)
    if not jnp.issubdtype(dtype, jnp.inexact):
        raise RuntimeError(f"{name}: dtype: got {dtype.name}; allowed are floating and complex dtypes")
    return dtypes.convert(dtype)


def _between(key: Any, shape: Sequence[int], dtype: np.dtype, low: jax.Array, high: jax.Array) -> jax.Array:
    """Uniform numbers from [low, high); both parts of a complex one are."""
    if jnp.issubdtype(dtype, jnp.complexfloating):
        # Real and imaginary part have the same bounds.
        parts = jax.random.uniform(key, (2, *shape), np.empty(0, dtype).real.dtype) * (high - low) + low
        return jax.lax.complex(parts[0], parts[1]).astype(dtype)
    return (jax.random.uniform(key, shape, dtype) * (high - low) + low).astype(dtype)


def lengths(name: str, shape: Any, listed: bool = False) -> tuple[Any, ...]:
    """A shape argument as a tuple of lengths. listed: whether it has to be a list, a tuple or a Tensor."""
    # the usual case, without a look at each length
    if type(shape) in (list, tuple) and set(map(type, shape)) == {int} and min(shape) >= 0:
        return tuple(shape)
    items = shape if isinstance(shape, list | tuple) else [shape]
    # True would count as the length 1.
    if any(isinstance(s, bool | list | tuple) for s in items) or (listed and isinstance(shape, int)):
        raise ArgumentError(f"{name}: shape: got {shape!r}; it must be a list, a tuple or a Tensor of ints")
    return sizes(name, shape, RuntimeError)


@known_as(code="creation:normal")
@op("", random=True, register=False, method=False)
def draw_normal(shape: Any, dtype: DTypeLike, *, key: jax.Array) -> jax.Array:
    """Standard normal numbers (complex: of variance 1)."""
    return jax.random.normal(key, shape, dtype.np)


@known_as(
    pir="uniform shape:ints dtype:dtype seed:i32=0 diag_num:i32=0 diag_step:i32=0 "
    "diag_val:f32=1.0 place:place",
    code="creation:uniform",
)
@op("low high", random=True, register=False, method=False)
def draw_uniform(
    low: jax.Array, high: jax.Array, shape: Any, dtype: DTypeLike, *, key: jax.Array
) -> jax.Array:
    """Numbers from [low, high)."""
    low = low.reshape(())
    high = high.reshape(())
    # Bounds are operands: another range needs no compilation.
    if jnp.issubdtype(dtype.np, jnp.complexfloating):
        return _between(key, shape, dtype.np, low, high)
    return jax.random.uniform(key, shape, dtype.np) * (high - low).astype(dtype.np) + low.astype(dtype.np)


@known_as(code="creation:integers")
@op("low high", random=True, register=False, method=False)
def draw_integers(
    low: jax.Array, high: jax.Array, shape: Any, dtype: DTypeLike, *, key: jax.Array
) -> jax.Array:
    """Integers from [low, high)."""
    return jax.random.randint(key, shape, low, high, jnp.int64).astype(dtype.np)


@known_as(code="creation:scaled_normal")
@op("mean std", random=True, register=False, method=False)
def draw_gaussian(
    mean: jax.Array, std: jax.Array, shape: Any, dtype: DTypeLike, *, key: jax.Array
) -> jax.Array:
    """Normal numbers around mean, which broadcast with std."""
    return (jax.random.normal(key, shape, dtype.np) * std + mean).astype(dtype.np)


def _operand(value: Tensor | float, dtype: Any = np.float64) -> Tensor:
    """A parameter of a distribution as a Tensor."""
    if isinstance(value, Tensor):
        return value
    # the usual case: numbers that are kept
    if type(value) is float and dtype is np.float64:
        return scalar(value, _FLOAT64)
    if type(value) is int and dtype is np.int64 and abs(value) < _SMALL_NUMBER:
        return scalar(value, _INT64)
    return wrap(np.asarray(value, dtype))


def _draw(draw: Callable[..., Tensor], operands: Sequence[Tensor], shape: Any, dtype: DType) -> Tensor:
    """The result of a drawing op. Of plain lengths its kernel is looked up directly, since putting the key
    together takes longer than recording.

    Args:
        draw: `draw_normal` and the like, whose attributes are shape and dtype.
        operands: its operands.
        shape: the lengths.
        dtype: that of the result.
    """
    if not (local.ctx.is_plain and all(type(length) is int for length in shape)):
        return draw(*operands, shape, dtype)
    op = draw.op
    key = ("draw", shape, dtype)
    kernel = op.fast.get(key)
    if kernel is None:
        kernel = op.remember(key, op.kernel((-2,) * len(operands), (shape, dtype)))
    return run_any(kernel, [*operands, *default_generator().draw_operands()])


def bound(op: str, name: str, value: Any, dtype: Any = np.float64) -> Tensor:
    """A parameter that has to be one number."""
    if isinstance(value, Tensor) and value.size != 1:
        raise AssertionError(
            f"{op}: {name}: got a tensor of shape {list(value.shape)}; it must have one element"
        )
    return _operand(value, dtype)


@composite(
    method=False,
    alias=ALIAS,
    cases=[
        "~[2, 3]",
        "~[]",
        "~[0, 2]",
        "~2, 3",
        "~[2], 'float64'",
        "~const([2, 3], 'int64')",
        "[-1]",
        "~[2], 'complex64'",
        "[2], 'int32'",
    ],
)
def rand(
    shape: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Random numbers, uniform on [0, 1).

    Args:
        shape: list or tuple of ints, or 1-D int Tensor; the lengths may also be given as separate arguments.
        dtype: floating or complex dtype. Default: the default floating dtype. Both parts of a complex
            number are drawn from [0, 1).
        out, device, requires_grad, pin_memory: as for `zeros`.
    Returns:
        Tensor of the given shape.
    Raises:
        RuntimeError: the dtype is neither floating nor complex.
    Example:
        >>> bool((paddle.rand([100]) < 1).all())
        True
    """
    operands = _operand(0.0), _operand(1.0)
    made = _draw(draw_uniform, operands, lengths("rand", shape), _inexact("rand", dtype))
    return finish(read_raw(made), out, device, requires_grad)


rand = variadic(rand, 0)


@composite(
    method=False,
    alias=ALIAS,
    cases=["~[2, 3]", "~[]", "~[0, 2]", "~2, 3", "~[2], 'float64'", "~[2], 'complex64'", "[-1]"],
)
def randn(
    shape: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Random numbers of the standard normal distribution. Arguments as for `rand`; complex
    dtypes are allowed.

    Args:
        shape: list or tuple of ints, or 1-D int Tensor.
        dtype: floating or complex. Default: the default floating dtype.
        out: Tensor that receives the result.
        device: where it is put, e.g. "cpu". Default: the current device.
        requires_grad: True makes it a leaf that gets gradients.
        pin_memory: accepted; XLA manages transfers.
    Returns:
        Tensor of the given shape.
    Example:
        >>> paddle.randn([2, 3]).shape
        paddle.Size([2, 3])
    """
    return finish(read_raw(standard_normal(shape, dtype)), out, device, requires_grad)


randn = variadic(randn, 0)


@composite(method=False, cases=["~[2, 3]", "2, 3", "~[2], 'float64'", "~[2], 'complex64'"])
def standard_normal(
    shape: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers of the standard normal distribution. See `randn`.

    Args:
        shape: list or tuple of ints, or 1-D int Tensor.
        dtype: floating or complex. Default: the default floating dtype.
        out: Tensor that receives the result.
        device: where it is put, e.g. "cpu". Default: the current device.
        requires_grad: True makes it a leaf that gets gradients.
    Returns:
        Tensor of the given shape.
    Raises:
        RuntimeError: the dtype is neither floating nor complex.
    Example:
        >>> paddle.standard_normal([2]).shape
        paddle.Size([2])
    """
    dtype = as_numpy_dtype(dtype)
    if not jnp.issubdtype(dtype, jnp.inexact):
        raise RuntimeError(
            f"standard_normal: dtype: got {dtype.name}; allowed are floating and complex dtypes"
        )
    return finish(
        read_raw(_draw(draw_normal, (), lengths("standard_normal", shape), dtypes.convert(dtype))),
        out,
        device,
        requires_grad,
    )


@composite(
    method=False,
    cases=[
        "~[2, 3]",
        "~[2, 3], 'float64'",
        "~[2], min=0, max=5",
        "~[2], 'float32', 2, 1",
        "~[]",
        "[-2]",
        "[2], 'bool'",
        "~[2], 'complex128', 2, 3, 7",
        "[2], 'complex64', 1j",
    ],
)
def uniform(
    shape: Any,
    dtype: DTypeLike | None = None,
    min: Any = 0,
    max: Any = 1.0,
    seed: Any = 0,
    name: str | None = None,
    *,
    out: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers, uniform on [min, max).

    Args:
        shape: list or tuple of ints, or 1-D int Tensor.
        dtype: floating or complex dtype. Default: the default floating dtype. Both parts of a complex
            number are drawn from [min, max).
        min, max: numbers or Tensors of one element.
        seed: a number other than 0 gives the same numbers at each call.
        out, device, requires_grad: as for `zeros`.
    Returns:
        Tensor of the given shape.
    Raises:
        RuntimeError: the dtype is neither floating nor complex.
    Example:
        >>> bool((paddle.uniform([100], min=2.0, max=3.0) >= 2).all())
        True
    """
    dtype = _inexact("uniform", dtype)
    shape = lengths("uniform", shape)
    low = bound("uniform", "min", min)
    high = bound("uniform", "max", max)
    # A seed of its own leaves the generator alone.
    if seed:
        made = _seeded_uniform(seed, shape, dtype.np, low._value, high._value)
    else:
        made = read_raw(_draw(draw_uniform, (low, high), shape, dtype))
    return finish(made, out, device, requires_grad)


def gaussian(
    shape: Any,
    mean: float = 0.0,
    std: float = 1.0,
    seed: Any = 0,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers of a normal distribution, under the name that code bases import.

    Args:
        shape: list or tuple of ints, or 1-D int Tensor.
        mean: number. Default 0.
        std: number. Default 1.
        seed: a number other than 0 gives the same numbers at each call.
        dtype: floating or complex dtype. Default: the default dtype.
        out: Tensor that receives the result.
    Returns:
        Tensor.
    Raises:
        RuntimeError: the dtype is not floating or complex.
    Example:
        >>> from paddle_jax.tensor.random import gaussian
        >>> gaussian([2, 3], std=0.1).shape
        paddle.Size([2, 3])
    """
    if dtype is None:
        found = dtypes.default()
    else:
        found = dtypes.convert(dtype)
    if not jnp.issubdtype(found.np, jnp.inexact):
        raise RuntimeError(f"gaussian: dtype: got {found.np.name}; it must be floating or complex")
    sizes_of = lengths("gaussian", shape)
    if seed:
        # The same numbers for the same seed, at each call.
        key = key_from(np.array([0, seed & 0xFFFFFFFF], np.uint32), np.uint32(0))
        made = (wrap(jax.random.normal(key, sizes_of, found.np)) * std + mean).astype(found)
    else:
        operands = _operand(mean, found.np), _operand(std, np.float64)
        made = _draw(draw_gaussian, operands, sizes_of, found)
    return finish(read_raw(made), out, device, requires_grad)


def _seeded_uniform(
    seed: int, shape: Sequence[int], dtype: np.dtype, low: jax.Array, high: jax.Array
) -> jax.Array:
    key = key_from(np.array([0, seed & 0xFFFFFFFF], np.uint32), np.uint32(0))
    return _between(key, shape, dtype, low, high)


@composite(
    method=False,
    cases=[
        "~5",
        "~0, 5, [3]",
        "~0, 5, [3], 'int32'",
        "5, 0, [3]",
        "0",
        "-5",
        "~low=2, high=3, shape=[0]",
        "~-5, 5, (2, 2), 'float32'",
    ],
)
# Paddle's default, never changed
def randint(
    low: int = 0,
    high: int | None = None,
    shape: Any = [1],  # noqa: B006
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Random integers from [low, high).

    Args:
        low: int; the upper bound when high is None, then the lower is 0.
        high: int.
        shape: list or tuple of ints, or 1-D int Tensor.
        dtype: int32 or int64. Default: int64.
    Returns:
        Tensor of the given shape.
    Raises:
        ValueError: the range is empty.
    Example:
        >>> bool((paddle.randint(0, 3, [100]) < 3).all())
        True
    """
    low, high = _range("randint", low, high)
    operands = _operand(low, np.int64), _operand(high, np.int64)
    return _draw(draw_integers, operands, lengths("randint", shape, True), dtypes.convert(dtype or "int64"))


def _range(name: str, low: int, high: int | None) -> Any:
    low = number(name, low, "low")
    if high is None:
        # torch's form: low alone is the upper bound.
        if low <= 0:
            raise ValueError(f"{name}: low={low} without high; it must be > 0")
        return 0, low
    high = number(name, high, "high")
    if low >= high:
        kind = "(InvalidArgument) " if name == "randint" else ""
        raise ValueError(f"{kind}{name}: low={low}, high={high}; low must be below high")
    return low, high


@known_as(code="creation:permutation")
@op("", random=True, register=False, method=False)
def draw_permutation(n: Any, dtype: DTypeLike, *, key: jax.Array) -> jax.Array:
    """The numbers 0..n-1 in random order."""
    return jax.random.permutation(key, n).astype(dtype.np)


@composite(method=False, cases=["~5", "~0", "-1", "~5, 'int32'", "~5, 'float32'", "~const(4, 'int64')"])
def randperm(
    n: int,
    dtype: DTypeLike = "int64",
    name: str | None = None,
    *,
    out: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The numbers 0 to n - 1 in random order.

    Args:
        n: int >= 0.
        dtype: int32, int64, float32 or float64.
        out: Tensor that receives the result.
        device: where it is put, e.g. "cpu". Default: the current device.
        requires_grad: True makes it a leaf that gets gradients.
        pin_memory: accepted; XLA manages transfers.
    Returns:
        Tensor [n].
    Raises:
        RuntimeError: n is negative.
    Example:
        >>> sorted(paddle.randperm(4).tolist())
        [0, 1, 2, 3]
    """
    n = number("randperm", n, "n")
    if n < 0:
        raise RuntimeError(f"randperm: n={n}; it must be >= 0")
    return finish(read_raw(draw_permutation(n, dtypes.convert(dtype))), out, device, requires_grad)


@composite(
    method=False,
    alias=ALIAS,
    cases=[
        "~0.0, 1.0, [2]",
        "~f(3), 1.0",
        "~0.0, pos(3)",
        "~f(3), pos(3)",
        "f(2,3), pos(3)",
        "~d(2), 1.0",
        "f(3), f(2)",
    ],
)
def normal(
    mean: Any = 0.0, std: Any = 1.0, shape: Any = None, name: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Random numbers of a normal distribution.

    Args:
        mean: number or floating Tensor: the mean of each number.
        std: number or floating Tensor of the shape of mean: the standard deviation.
        shape: needed when both are numbers. `size` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of mean or std if these are Tensors, otherwise of `shape` and the
        default floating dtype.
    Raises:
        ValueError: no shape is given for two numbers, or the shapes of mean and std differ.
    Example:
        >>> paddle.normal(0.0, 1.0, [3]).shape
        paddle.Size([3])
    """
    tensors = [t for t in (mean, std) if isinstance(t, Tensor)]
    if not tensors and shape is None:
        raise ArgumentError("normal: shape: got None with numbers for mean and std; give a shape")
    if tensors:
        dtype = tensors[0].dtype
    elif isinstance(mean, complex):
        dtype = dtypes.default_complex()
    else:
        dtype = dtypes.default()
    if len(tensors) == 2 and mean.shape != std.shape:
        raise ValueError(
            f"normal: mean has shape {list(mean.shape)} and std {list(std.shape)}; they must be equal"
        )
    if tensors:
        shape = tuple(tensors[0].shape)
    else:
        shape = lengths("normal", shape, True)
    if not jnp.issubdtype(dtype.np, jnp.inexact):
        raise RuntimeError(f"normal: mean: got dtype {dtype.np.name}; it must be floating")
    made = _draw(draw_gaussian, (_operand(mean, dtype.np), _operand(std, np.float64)), shape, dtype)
    if out is None:
        return made
    return out._adopt(made)
