"""Tensor functions with PyTorch's signatures and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.ops.op import _into
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.axes import ints, number, one_axis
from paddle_jax.tensor.gathering import take_along_axis
from paddle_jax.tensor.joining import pieces
from paddle_jax.tensor.manipulation import cast
from paddle_jax.tensor.math import maximum, minimum
from paddle_jax.tensor.reduction import amax, amin
from paddle_jax.tensor.search import argmax, argmin, argsort
from paddle_jax.tensor.solve import slogdet as stacked_slogdet
from paddle_jax.tensor.stat import median as paddle_median
from paddle_jax.tensor.stat import nanmedian as paddle_nanmedian
from paddle_jax.tensor.uniqueness import unique as paddle_unique


class MinMaxRetType(NamedTuple):
    """What `max` and `min` along an axis return."""

    values: Tensor
    indices: Tensor


class MedianRetType(NamedTuple):
    """What `median` and `nanmedian` along an axis return."""

    values: Tensor
    indices: Tensor


class SortRetType(NamedTuple):
    """What `sort` returns."""

    values: Tensor
    indices: Tensor


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Tensor
    logabsdet: Tensor


def _filled(name: str, out: Sequence[Tensor] | Tensor | None, result: Any) -> Any:
    """The result, put into `out` if given: a Tensor for one, a pair of Tensors for a pair."""
    if out is None:
        return result
    if isinstance(result, Tensor):
        if not isinstance(out, Tensor):
            raise TypeError(f"{name}: out: got {type(out).__name__}; it must be a Tensor here")
        return _into(out, result)
    if not isinstance(out, list | tuple) or len(out) != 2 or not all(isinstance(o, Tensor) for o in out):
        raise TypeError(f"{name}: out: got {type(out).__name__}; it must be a pair of Tensors here")
    return _into(out, result)


def _take_along(x: Tensor, indices: Tensor, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """(values, indices) of the elements that indices along an axis, kept with length 1, point at."""
    if not x.ndim:
        return x.clone(), indices.reshape([])
    values = take_along_axis(x, indices, dim)
    if keepdim:
        return (values, indices)
    return (values.squeeze(dim), indices.squeeze(dim))


# max, min ---------------------------------------------------------------------------------------------------

_FORMS = "allowed are (input), (input, other) with a Tensor, and (input, dim, keepdim=False) with an int"


def _form(
    name: str, input: Sequence[float] | Tensor, args: Sequence[Tensor | int | None], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments after the input by name, which tell one of three forms from the others."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}: input: got {type(input).__name__}; it must be a Tensor")
    if args and isinstance(args[0], Tensor):
        first = "other"
    else:
        first = "dim"
    given = dict(zip((first, "keepdim"), args, strict=False))
    if len(args) > 2 or set(given) & set(kwargs):
        raise TypeError(f"{name}: got too many arguments; {_FORMS}")
    given |= kwargs
    if "other" in given:
        good = len(given) == 1 and isinstance(given["other"], Tensor)
    else:
        dim = given.get("dim", 0)
        good = not given or (
            "dim" in given
            and set(given) <= {"dim", "keepdim"}
            and isinstance(dim, int)
            and not isinstance(dim, bool)
        )
    if not good:
        raise TypeError(
            f"{name}: got {', '.join(f'{k}={type(v).__name__}' for k, v in given.items())}; {_FORMS}"
        )
    return given


def _extreme(
    name: str,
    over_all: Callable[..., Any],
    of_two: Callable[..., Any],
    where: Callable[..., Any],
    input: Sequence[float] | Tensor,
    args: Sequence[Tensor | int | None],
    out: Sequence[Tensor] | Tensor | None,
    kwargs: dict[str, Any],
) -> Any:
    given = _form(name, input, args, kwargs)
    if not given:
        return _filled(name, out, over_all(input))
    if "other" in given:
        return _filled(name, out, of_two(input, given["other"]))
    return _filled(
        name,
        out,
        MinMaxRetType(
            *_take_along(input, where(input, given["dim"], True), given["dim"], given.get("keepdim", False))
        ),
    )


def max(input: Tensor, *args: Any, out: Tensor | None = None, **kwargs: Any) -> Any:
    """The maximum of all elements, of two tensors elementwise, or along an axis.

    Called as max(input), max(input, other) or max(input, dim, keepdim=False).

    Args:
        input: Tensor [...], real.
        other: Tensor that broadcasts with it.
        dim: int.
        keepdim: keep the axis with length 1.
        out: Tensor that receives the result; with dim a pair of them.
    Returns:
        Tensor; with dim (values, indices) of the first maxima along the axis. The gradient of all elements is
        shared by equal maxima.
    Raises:
        TypeError: the arguments fit none of the forms.
        ValueError: dim is out of range, or there are no elements.
    Example:
        >>> paddle.compat.max(paddle.to_tensor([[1, 3], [4, 2]]), 1).indices.tolist()
        [1, 0]
    """
    return _extreme("max", amax, maximum, argmax, input, args, out, kwargs)


def min(input: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
    """The minimum of all elements, of two tensors elementwise, or along an axis.

    Args:
        input: Tensor [...], real.
        out: Tensor, or tuple of two with dim, that receives the results.
        *args, **kwargs: dim, keepdim; or other, a second Tensor. They go by position or by name.
    Returns:
        Tensor; with dim (values, indices) of the first minima along the axis. The gradient of all
        elements is shared by equal minima.
    Example:
        >>> paddle.compat.min(paddle.to_tensor([[1, 3], [4, 2]]), 1).values.tolist()
        [1, 2]
    """
    return _extreme("min", amin, minimum, argmin, input, args, out, kwargs)


# order ------------------------------------------------------------------------------------------------------


def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Any:
    """The median; the smaller of the two middle values of an even number.

    Args:
        input: Tensor [...], real.
        dim: int, or None for all elements.
        keepdim: keep the axes with length 1.
        out: Tensor that receives the result; with dim a pair of them.
    Returns:
        Tensor of input's dtype; with dim (values, indices).
    Raises:
        ValueError: dim is no int in range.
    Example:
        >>> paddle.compat.median(paddle.to_tensor([3.0, 1.0, 2.0, 4.0])).item()
        2.0
    """
    found = paddle_median(input, dim, keepdim, "min")
    if dim is not None:
        found = MedianRetType(*found)
    return _filled("median", out, found)


def nanmedian(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """`median` of what is not NaN. Arguments as there.

    Args:
        input, dim, keepdim, out: as for `median`.
    Returns:
        As `median`: Tensor, or with dim (values, indices).
    Raises:
        ValueError: dim is a list.
    Example:
        >>> paddle.compat.nanmedian(paddle.to_tensor([3.0, float("nan"), 1.0])).item()
        1.0
    """
    if isinstance(dim, list | tuple):
        raise ValueError(f"nanmedian: dim: got {dim}; it must be an int or None")
    found = paddle_nanmedian(input, dim, keepdim, "min")
    if dim is not None:
        found = MedianRetType(*found)
    return _filled("nanmedian", out, found)


def sort(
    input: Tensor, dim: Any = -1, descending: bool = False, stable: bool = False, out: Any = None
) -> Any:
    """Sorts along an axis.

    Args:
        input: Tensor [...], real.
        dim: int.
        descending: the largest first.
        stable: equal elements keep their order; they always do.
        out: pair of Tensors that receive the result.
    Returns:
        (values, indices): indices tell where in input each value stood.
    Raises:
        ValueError: dim is out of range.
        TypeError: dim is no int.
    Example:
        >>> values, indices = paddle.compat.sort(paddle.to_tensor([2, 3, 1])); indices.tolist()
        [2, 0, 1]
    """
    dim = number("sort", dim, "dim")
    # Always stable; PyTorch allows any order where `stable` is not asked for.
    indices = argsort(input, dim, descending, True)
    return _filled("sort", out, SortRetType(*_take_along(input, indices, dim, True)))


def unique(
    input: Tensor,
    sorted: Any = True,
    return_inverse: Any = False,
    return_counts: Any = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements, or distinct slices along an axis, in ascending order.

    Args:
        input: Tensor [...].
        sorted: accepted; the result is always sorted.
        return_inverse: also, for each element of input, its index among the distinct ones.
        return_counts: also how often each occurs.
        dim: int, or None for the flattened tensor.
    Returns:
        Tensor, or a tuple with the further results.
    Raises:
        ValueError: dim is out of range.
    Example:
        >>> paddle.compat.unique(paddle.to_tensor([3, 1, 3]), return_counts=True)[1].tolist()
        [1, 2]
    """
    return paddle_unique(input, return_inverse=return_inverse, return_counts=return_counts, axis=dim)


# the rest ---------------------------------------------------------------------------------------------------


def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """Splits along an axis into parts of a length, of which the last may be shorter, or of given lengths.

    Args:
        tensor: Tensor [...].
        split_size_or_sections: int, the length of the parts, or list of lengths that add up to the
            length of the axis.
        dim: int.
    Returns:
        Tuple of Tensors.
    Raises:
        AssertionError: the length is not positive.
        ValueError: a length is negative, they do not add up, or dim is out of range.
        TypeError: split_size_or_sections is something else.
    Example:
        >>> [p.tolist() for p in paddle.compat.split(paddle.arange(5), 2)]
        [[0, 1], [2, 3], [4]]
    """
    axis = one_axis("split", dim, tensor.ndim, "dim", CheckError)
    size = tensor.shape[axis]
    given = split_size_or_sections
    if isinstance(given, list | tuple):
        lengths = ints("split", given, "split_size_or_sections")
        if any(n < 0 for n in lengths) or sum(lengths) != size:
            raise ValueError(
                f"split: split_size_or_sections: got {list(lengths)}; "
                f"the lengths must be >= 0 and add up to {size}"
            )
    elif isinstance(given, int):
        if given <= 0:
            raise AssertionError(f"split: split_size_or_sections: got {given}; it must be > 0")
        # What is left over makes a last, shorter part.
        lengths = [given] * (size // given) + [size % given] * (size % given > 0)
    else:
        raise TypeError(
            f"split: split_size_or_sections: got {type(given).__name__}; it must be an int, a list or a tuple"
        )
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    return tuple(pieces(tensor, tuple((end - n, end) for end, n in zip(ends, lengths, strict=True)), axis))


def equal(input: Sequence[Tensor], other: Sequence[Tensor]) -> bool:
    """Whether two tensors have the same shape and the same elements.

    Args:
        input, other: Tensors; different dtypes are compared by value.
    Returns:
        bool.
    Raises:
        AttributeError: an argument is no Tensor.
    Example:
        >>> paddle.compat.equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1.0, 2.0]))
        True
    """
    for name, value in (("input", input), ("other", other)):
        if not isinstance(value, Tensor):
            raise AttributeError(f"equal: {name}: got {type(value).__name__}; it must be a Tensor")
    if list(input.shape) != list(other.shape):
        return False
    # PyTorch compares numbers, whatever their dtypes are.
    common = jnp.promote_types(numpy_dtype(input), numpy_dtype(other))
    return bool(cast(input, common).equal(cast(other, common)).all())


def slogdet(x: Tensor, out: Any = None) -> Any:
    """The sign and the logarithm of the absolute value of determinants.

    Args:
        x: Tensor [..., n, n], floating or complex.
        out: pair of Tensors that receive the result.
    Returns:
        (sign, logabsdet).
    Raises:
        ValueError: the matrices are not square.
    Example:
        >>> paddle.compat.slogdet(paddle.to_tensor([[2.0, 0.0], [0.0, -4.0]])).sign.item()
        -1.0
    """
    both = stacked_slogdet(x)
    logarithm = both[1]
    if both.is_complex():
        # The logarithm of an absolute value is real, also where both parts share a complex Tensor.
        logarithm = logarithm.real()
    return _filled("slogdet", out, SlogdetResult(both[0], logarithm))


def seed() -> int:
    """Seeds the generator with a random number that the operating system draws, and returns it.

    Returns:
        int.
    Example:
        >>> isinstance(paddle.compat.seed(), int)
        True
    """
    return default_generator().seed()
