"""Moving, flipping, rolling and repeating elements; complex numbers as pairs; at least so many axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.errors import TracedValueError
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lazy_array import from_numpy
from paddle_jax._core.lazy.lengths import to_int
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.tensor.axes import check_index_dtype, concrete, ints, many_axes, one_axis
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import take_rows
from paddle_jax.tensor.inner import as_view
from paddle_jax.tensor.manipulation import permute_axes, reshape

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Axes


X_DIM = {"input": "x", "dim": "axis"}


@composite(
    cases=[
        "f(2,3,4), 0, 2",
        "f(2,3,4), [0, 1], [1, 2]",
        "f(2,3,4), [0, 1], [1]",
        "f(2,3,4), 5, 0",
        "f(2,3,4), [0, 0], [1, 2]",
        "f(2,3), 0.5, 1",
        "f(2,3), -1, 0",
        "f(2,3), (0,), (-1,)",
    ]
)
def moveaxis(x: Tensor, source: Any, destination: Any, name: str | None = None) -> Tensor:
    """Moves axes to new places; the others keep their order.

    Args:
        x: Tensor [...].
        source: int or list of ints.
        destination: int or list of as many ints.
    Returns:
        Tensor with the same elements and the axes in another order.
    Raises:
        AssertionError: an axis is out of range, or the lists differ in length.
        ValueError: an axis is named twice.
        TypeError: an axis is not an int.
    Example:
        >>> paddle.moveaxis(paddle.ones([2, 3, 4]), 0, 2).shape
        paddle.Size([3, 4, 2])
    """
    source = _moves("source", source, x.ndim)
    destination = _moves("destination", destination, x.ndim)
    if len(source) != len(destination):
        raise AssertionError(
            f"moveaxis: source has {len(source)} axes and destination {len(destination)}; give as many"
        )
    order = [a for a in range(x.ndim) if a not in source]
    # From the smallest place on, so that later ones count with those before.
    for to, at in sorted(zip(destination, source, strict=True)):
        order.insert(to, at)
    return permute_axes(x, tuple(order))


def _moves(name: str, axes: Sequence[int] | float, ndim: int) -> list[Any]:
    axes = [axes] if isinstance(axes, int) else list(axes)
    if not all(isinstance(a, int | np.integer) for a in axes):
        raise TypeError(f"moveaxis: {name}: got {axes}; it must hold ints")
    if any(not -ndim <= a < ndim for a in axes):
        raise AssertionError(f"moveaxis: {name}: got {axes}; use {-ndim}..{ndim - 1}")
    axes = [int(a) % ndim for a in axes]
    if len(set(axes)) != len(axes):
        raise ValueError(f"moveaxis: {name}: got {axes}; each axis may be named once")
    return axes


@known_as(pir="flip axis:i32s", code="shapes:flip")
@op(
    cases=[
        "f(2,3), 0",
        "f(2,3), [0, -1]",
        "f(2,3), 2",
        "f(2,3), []",
        "f(), []",
        "f(2,3), [0, 0]",
        "i(4), 0",
        "f(0,2), 1",
        "b(3), (0,)",
    ]
)
def flip(x: jax.Array, axis: Axes, name: str | None = None) -> jax.Array:
    """Reverses the order of the elements along axes.

    Args:
        x: Tensor [...].
        axis: int, list or tuple of ints.
    Returns:
        Tensor of the same shape and dtype.
    Raises:
        ValueError: an axis is out of range or named twice.
    Example:
        >>> paddle.flip(paddle.to_tensor([1, 2, 3]), 0).tolist()
        [3, 2, 1]
    """
    return lax.rev(x, many_axes("flip", axis, x.ndim))


@known_as(code="element_moves:rot90")
@op(
    cases=[
        "f(2,3)",
        "f(2,3), -1",
        "f(2,3), 2, [1, 0]",
        "f(2,3,4), 3, (0, 2)",
        "f(2,3), 1, [0]",
        "f(3), 1",
        "f(2,3), 1, [0, 2]",
        "f(2,3), 1, [0, 0]",
        "i(2,2), 4",
        "f(2,3), 1, [-1, 0]",
    ]
)
def rot90(x: jax.Array, k: int = 1, axes: Any = [0, 1], name: str | None = None) -> jax.Array:  # noqa: B006  Paddle's default, never changed
    """Turns the plane of two axes by 90 degrees, k times, from the first axis towards the second.

    Args:
        x: Tensor of at least 2 axes.
        k: int, negative to turn the other way.
        axes: two axes.
    Returns:
        Tensor with the same elements.
    Raises:
        ValueError: x has too few axes, or axes are not two different ones in range.
    Example:
        >>> paddle.rot90(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    if len(axes) != 2 or x.ndim < 2:
        raise ValueError(
            f"rot90: axes: got {list(axes)} for a tensor of {x.ndim} axes; "
            "give two axes of a tensor with at least two"
        )
    if any(not -x.ndim <= a < x.ndim for a in axes) or (axes[0] - axes[1]) % x.ndim == 0:
        raise ValueError(
            f"rot90: axes: got {list(axes)}; they must differ and lie in {-x.ndim}..{x.ndim - 1}"
        )
    return jnp.rot90(x, k, axes)


@known_as(pir="roll(x,shifts:ints) axis:i64s?")
@op(
    alias={"input": "x", "dims": "axis"},
    out="unlisted",
    cases=[
        "f(2,3), 1",
        "f(2,3), [1, 2]",
        "f(2,3), 1, dims=0",
        "f(2,3), [1, 2], [0, 1]",
        "f(2,3), [1, 2], 0",
        "f(2,3), 1, 2",
        "f(), 1",
        "f(0,2), 1, 0",
        "f(2,3), const(1, 'int64'), 0",
        "i(5), -7",
        "f(2,3), 1, (0, 1)",
        "f(3,4), [2, 1], [-1, 0]",
    ],
)
def roll(x: jax.Array, shifts: Any, axis: Axes = None, name: str | None = None) -> jax.Array:
    """Shifts elements along axes; what leaves at one end comes in at the other.

    Args:
        x: Tensor [...].
        shifts: int, list or Tensor of ints: how far.
        axis: as many axes. Default: roll the flattened tensor. `dims` is accepted as a name.
    Returns:
        Tensor of the same shape and dtype.
    Raises:
        ValueError: an axis is out of range, or there are not as many shifts as axes.
    Example:
        >>> paddle.roll(paddle.to_tensor([1, 2, 3]), 1).tolist()
        [3, 1, 2]
    """
    shifts = ints("roll", shifts, "shifts")
    if axis is None or axis == ():
        if len(shifts) != 1:
            raise ValueError(f"roll: got {len(shifts)} shifts without axes; give one, or as many axes")
        # Without axes the flattened tensor is rolled.
        return jnp.roll(x.reshape(-1), shifts).reshape(x.shape)
    axes = tuple(one_axis("roll", a, x.ndim) for a in ints("roll", axis, "axis"))
    if len(axes) != len(shifts):
        raise ValueError(f"roll: got {len(shifts)} shifts for {len(axes)} axes; give as many")
    return jnp.roll(x, shifts, axes)


@composite(
    alias={"input": "x", "dim": "axis", "sizes": "shape"},
    cases=[
        "f(6), 0, [2, -1]",
        "f(6), 0, (2, 2)",
        "f(6), 1, (2, 3)",
        "f(6), 0, const([2, 3], 'int64')",
        "f(6), 0, 6",
        "f(2,6), -1, (3, 2)",
    ],
)
def unflatten(x: Tensor, axis: int, shape: Any, name: str | None = None) -> Tensor:
    """Splits one axis into several.

    Args:
        x: Tensor [...].
        axis: int. `dim` is accepted as a name.
        shape: list, tuple or Tensor of the new lengths, one may be -1. `sizes` is accepted as a name.
    Returns:
        Tensor with the same elements.
    Raises:
        ValueError: the lengths do not multiply to that of the axis.
        AssertionError: the axis is out of range.
        TypeError: shape is not a list, tuple or Tensor.
    Example:
        >>> paddle.unflatten(paddle.ones([2, 6]), 1, [3, -1]).shape
        paddle.Size([2, 3, 2])
    """
    axis = one_axis("unflatten", axis, x.ndim, error=AssertionError)
    if not isinstance(shape, list | tuple | Tensor):
        raise TypeError(f"unflatten: shape: got {type(shape).__name__}; it must be a list, tuple or Tensor")
    return reshape(x, [*x.shape[:axis], *ints("unflatten", shape, "shape"), *x.shape[axis + 1 :]])


@composite(cases=["f(2,3)", "f()", "i(0,2)"])
def ravel(input: Tensor) -> Tensor:
    """The elements as a 1-D tensor.

    Args:
        input: Tensor [...].
    Returns:
        Tensor [input.size].
    Example:
        >>> paddle.ravel(paddle.ones([2, 3])).shape
        paddle.Size([6])
    """
    return reshape(input, [-1])


@known_as(
    pir="repeat_interleave repeats:i32 axis:i32 output_size:i64?=-1", code="selections:repeat_interleave"
)
@composite(
    alias=X_DIM,
    cases=[
        "f(3), 2",
        "f(2,2), 2",
        "f(2,2), 2, 0",
        "f(2,2), const([1, 2], 'int64'), 0",
        "f(2,2), const([1, 2], 'int32'), 1",
        "f(2,2), const([1, 2, 3], 'int64'), 1",
        "f(3), const([1, 0, 2], 'int64')",
        "f(2,2), [1, 2], 1",
        "f(2,2), 0, 1",
        "f(2,2), 2, 2",
        "f(), 2",
        "f(2), const([1, 3], 'int64'), 0, output_size=4",
        "f(2), const([1, 3], 'int64'), 0, output_size=5",
        "i(2,3), 3, -1",
    ],
)
def repeat_interleave(
    x: Tensor, repeats: int, axis: int | None = None, name: str | None = None, *, output_size: Any = None
) -> Tensor:
    """Repeats each element (or slice along an axis) some times in place.

    Args:
        x: Tensor [...].
        repeats: int > 0, or 1-D int Tensor with a number for each slice.
        axis: int. Default: the flattened tensor. `dim` is accepted as a name.
        output_size: the length of the result along the axis, needed only inside a trace when
            repeats is a Tensor.
    Returns:
        Tensor whose axis has the length of all repeats together; 1-D without an axis.
    Raises:
        ValueError: repeats is not positive, or a Tensor of another length than the axis.
        IndexError: the axis is out of range.
        TypeError: repeats is neither int nor Tensor.
    Example:
        >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), 2).tolist()
        [1, 1, 2, 2]
    """
    if axis is None:
        # Without an axis the flattened tensor is repeated.
        x = reshape(x, [-1])
        axis = 0
    axis = one_axis("repeat_interleave", axis, x.ndim, error=IndexError)
    length = x.shape[axis]
    if isinstance(repeats, Tensor):
        if list(repeats.shape) != [length]:
            raise ValueError(
                f"repeat_interleave: repeats: got shape {list(repeats.shape)}; axis {axis} needs [{length}]"
            )
        return take_rows(x, _repeated(repeats, length, output_size), axis)
    if not isinstance(repeats, int | np.integer):
        raise TypeError(
            f"repeat_interleave: repeats: got {type(repeats).__name__}; it must be an int or a Tensor"
        )
    if repeats <= 0:
        raise ValueError(f"repeat_interleave: repeats={repeats}; it must be > 0")
    return repeat_each(x, to_int(repeats), axis)


def _repeated(repeats: Tensor, length: int, total: int | None) -> Tensor:
    check_index_dtype("repeat_interleave", repeats, name="repeats")
    values = concrete(repeats)
    # In a compiled function the length must be given.
    if values is None:
        if total is None:
            raise TracedValueError("repeat_interleave", "give output_size, the sum of the repeats")
        return wrap(jnp.repeat(jnp.arange(length), repeats._value, total_repeat_length=total))
    if values.size and values.min() < 0:
        raise ValueError(f"repeat_interleave: repeats: got {values.min()}; the numbers are >= 0")
    if total is not None and total != values.sum():
        raise ValueError(f"repeat_interleave: output_size={total}, but the repeats add up to {values.sum()}")
    # Their sum is a shape, so the host computes it.
    return wrap(from_numpy(np.repeat(np.arange(length), values)))


@known_as(pir="repeat_interleave")
@op(register=False, method=False)
def repeat_each(x: jax.Array, repeats: Any, axis: Axes) -> jax.Array:
    """Each slice along the axis `repeats` times."""
    return jnp.repeat(x, repeats, axis)


def pairs_of(x: jax.Array) -> jax.Array:
    """Real and imaginary parts along a new last axis."""
    return jnp.stack([x.real, x.imag], -1)


@known_as(cast="float32", pir="as_complex")
@op(
    view=as_view(lambda base, value: pairs_of(value)),
    cases=["f(2,2)", "d(3,2)", "f(2,3)", "f(0,2)", "h(2,2)"],
)
def as_complex(x: jax.Array, name: str | None = None) -> jax.Array:
    """Reads the last axis, of length 2, as real and imaginary part.

    Args:
        x: floating Tensor [..., 2].
    Returns:
        complex64 or complex128 Tensor [...].
    Raises:
        ValueError: the last axis has another length.
    Example:
        >>> paddle.as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
        [(1+2j)]
    """
    if x.ndim == 0 or x.shape[-1] != 2:
        raise ValueError(f"as_complex: x: got shape {list(x.shape)}; the last axis must have length 2")
    if x.dtype not in (np.float32, np.float64):
        raise RuntimeError(f"as_complex: x: got dtype {x.dtype}; allowed are float32, float64")
    return lax.complex(x[..., 0], x[..., 1])


@known_as(pir="as_real")
@op(
    view=as_view(lambda base, value: lax.complex(value[..., 0], value[..., 1])),
    cases=["c(2)", "c128(2,3)", "c()", "f(2)"],
)
def as_real(x: jax.Array, name: str | None = None) -> jax.Array:
    """Real and imaginary part along a new last axis of length 2.

    Args:
        x: complex Tensor [...].
    Returns:
        Tensor [..., 2], float32 for complex64, float64 for complex128.
    Raises:
        RuntimeError: x is not complex.
    Example:
        >>> paddle.as_real(paddle.to_tensor([1 + 2j])).tolist()
        [[1.0, 2.0]]
    """
    if not jnp.iscomplexobj(x):
        raise RuntimeError(f"as_real: x: got dtype {x.dtype}; allowed are complex64, complex128")
    return pairs_of(x)


@composite(cases=["f(2,2)", "f(2,3)"])
def view_as_complex(input: Tensor) -> Tensor:
    """The same as `as_complex`.

    Args:
        input: floating Tensor [..., 2].
    Returns:
        complex Tensor [...].
    Example:
        >>> paddle.view_as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
        [(1+2j)]
    """
    return as_complex(input)


@composite(cases=["c(2)", "f(2)"])
def view_as_real(input: Tensor) -> Tensor:
    """The same as `as_real`.

    Args:
        input: complex Tensor [...].
    Returns:
        floating Tensor [..., 2].
    Example:
        >>> paddle.view_as_real(paddle.to_tensor([1 + 2j])).tolist()
        [[1.0, 2.0]]
    """
    return as_real(input)


def _at_least(inputs: Sequence[Any], grow: Callable[..., Any]) -> Tensor | list[Tensor]:
    # One list of Tensors gives a list.
    if (
        len(inputs) == 1
        and isinstance(inputs[0], list | tuple)
        and any(isinstance(t, Tensor) for t in inputs[0])
    ):
        inputs = inputs[0]
        return [grow(t) for t in inputs]
    # Numbers and arrays become Tensors.
    made = [grow(t if isinstance(t, Tensor) else to_tensor(t)) for t in inputs]
    if len(made) == 1:
        return made[0]
    return made


# ~: the real Paddle gives no gradient to a leaf that comes back as it is
@composite(cases=["f()", "f(2)", "~f(), f(2,3)", "3", "const(1, 'int64'), [2]", "~[f(), f(2)]"])
def atleast_1d(*inputs: Any, name: str | None = None) -> Tensor | list[Tensor]:
    """Makes 0-D tensors 1-D and leaves others alone.

    Args:
        inputs: Tensors, or numbers and lists that become Tensors.
    Returns:
        One Tensor for one input, a list for several.
    Example:
        >>> paddle.atleast_1d(paddle.to_tensor(3)).shape
        paddle.Size([1])
    """
    return _at_least(inputs, lambda t: reshape(t, [1]) if t.ndim == 0 else t)


@composite(cases=["f()", "f(2)", "f(2,3)", "f(2), 3", "[f(), f(2)]"])
def atleast_2d(*inputs: Any, name: str | None = None) -> Tensor | list[Tensor]:
    """Adds axes in front until there are 2. See `atleast_1d`.

    Returns:
        Tensor, or a list of Tensors for several arguments.
    Example:
        >>> paddle.atleast_2d(paddle.ones([3])).shape
        paddle.Size([1, 3])
    """
    return _at_least(inputs, lambda t: reshape(t, [1] * (2 - t.ndim) + list(t.shape)) if t.ndim < 2 else t)


@composite(cases=["f()", "f(2)", "f(2,3)", "f(2,3), f(2)", "[f(), f(2)]"])
def atleast_3d(*inputs: Any, name: str | None = None) -> Tensor | list[Tensor]:
    """Adds axes until there are 3: [n] becomes [1, n, 1], [m, n] becomes [m, n, 1]. See `atleast_1d`.

    Returns:
        Tensor, or a list of Tensors for several arguments.
    Example:
        >>> paddle.atleast_3d(paddle.ones([3])).shape
        paddle.Size([1, 3, 1])
    """
    # Where new axes go: Paddle's and NumPy's rule for three axes.
    shapes = {0: lambda s: [1, 1, 1], 1: lambda s: [1, *s, 1], 2: lambda s: [*s, 1]}
    return _at_least(inputs, lambda t: reshape(t, shapes[t.ndim](t.shape)) if t.ndim < 3 else t)
