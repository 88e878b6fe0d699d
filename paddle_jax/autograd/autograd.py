"""Jacobians and Hessians of results already computed, row by row when they are looked at."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.autograd.backward_mode import grad
from paddle_jax.tensor.creation import zeros, zeros_like
from paddle_jax.tensor.joining import concat, stack
from paddle_jax.tensor.manipulation import reshape
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


_ALL = slice(None)


def gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], directions: Sequence[Tensor] | None = None
) -> Any:
    """`grad` that can be differentiated further, with zeros where nothing depends."""
    found = grad(outputs, inputs, grad_outputs=directions, create_graph=True, allow_unused=True)
    # Zeros for what nothing depends on: a Jacobian has a place for it.
    return [_zeros(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def _zeros(x: Tensor) -> Tensor:
    made = zeros(x.shape, x.dtype)
    made.stop_gradient = x.stop_gradient
    return made


def pushed(outputs: Sequence[Tensor], inputs: Sequence[Tensor], directions: Sequence[Tensor]) -> Any:
    """The changes of outputs when the inputs change in the given directions: the backward product,
    differentiated by the direction it starts from."""
    # The backward product is linear in them, so their values do not matter.
    starts = [zeros_like(y) for y in outputs]
    for s in starts:
        s.stop_gradient = False
    return gradients(gradients(outputs, inputs, starts), starts, directions)


def live_gradients(output: Tensor, inputs: Sequence[Tensor]) -> Any:
    """Gradients of the sum of a Tensor, to be differentiated again even where they are constants."""
    found = gradients([output.sum()], inputs)
    for g in found:
        # The gradient of a linear function is a constant, and a second derivative of zeros has to come out
        # of it.
        g.stop_gradient = False
    return found


class LazyRows:
    """The derivatives of `ys`, one row per element, by all elements of `xs`. A row is computed when it is
    first looked at, and kept.

    Args:
        ys: Tensor, flattened; of [batch, ...] each batch element by itself when batched.
        xs: list of Tensors, flattened and put one after the other.
        batched: the first axis is one of independent samples.
        squeeze: (drop the axis of rows, drop the axis of columns).
    Attributes:
        _xs, _squeeze: as given.
        _batch: list, [the number of samples], or [] where nothing is batched.
        _ys: Tensor [*batch, elements].
        _known: dict of the rows that were computed.
        _numbers: Tensor [elements], the numbers of the rows; None before the first row.
        _rows_at: int, the axis of rows.
        _lengths: list of ints, the shape without squeezed axes.
    """

    def __init__(
        self, ys: Tensor, xs: Sequence[Tensor], batched: bool, squeeze: Any = (False, False)
    ) -> None:
        self._batch = list(ys.shape[: int(batched)])
        self._ys = reshape(ys, [*self._batch, -1])
        self._xs = xs
        self._squeeze = squeeze
        self._known = {}
        self._numbers: Tensor | None = None
        count = self._ys.shape[-1]
        # Columns: the elements of all `xs`, per sample.
        width = sum(int(x.size) for x in xs)
        # A batch of length 0 has no width to divide.
        if batched and self._batch[0]:
            width //= self._batch[0]
        self._rows_at = len(self._batch)  # the axis of rows
        self._lengths = list(self._batch)
        for dropped, length in zip(squeeze, (count, width), strict=True):
            if not dropped:
                self._lengths.append(length)

    @property
    def shape(self) -> list[int]:
        """The lengths of the axes."""
        return self._lengths

    def _row(self, i: int) -> Tensor:
        if i not in self._known:
            # A row is the gradient of one element: the direction is 1 there and 0 elsewhere, for all
            # samples at once.
            if self._numbers is None:
                self._numbers = arange(self._ys.shape[-1])
            one = (self._numbers == i).astype(self._ys.dtype).expand(self._ys.shape)
            flat = [reshape(g, [*self._batch, -1]) for g in gradients([self._ys], self._xs, [one])]
            # One input needs no copy.
            if len(flat) == 1:
                self._known[i] = flat[0]
            else:
                self._known[i] = concat(flat, -1)
        return self._known[i]

    def _of(self, rows: Sequence[int]) -> Tensor:
        """The Tensor of the given rows, without the axes to be dropped."""
        drop_rows, drop_columns = self._squeeze
        # No row to take the width from.
        if not rows:
            width = self.shape[-1:] * (not drop_columns)
            return zeros([*self._batch, 0, *width], self._ys.dtype)
        if drop_rows:
            made = self._row(rows[0])
        else:
            made = stack([self._row(i) for i in rows], self._rows_at)
        if drop_columns and drop_rows:
            return reshape(made, self._batch)
        if drop_columns:
            return reshape(made, [*self._batch, len(rows)])
        return made

    def _all(self) -> Tensor:
        return self._of(list(range(self._ys.shape[-1])))

    def __getitem__(self, indexes: Any) -> Tensor:
        if isinstance(indexes, tuple):
            items = list(indexes)
        else:
            items = [indexes]
        if any(isinstance(i, str | float) for i in items):
            raise TypeError(f"Jacobian: got the index {indexes!r}; use an integer or a slice for each axis")
        if any(i is Ellipsis for i in items):
            raise IndexError("Jacobian: got an index with `...`; use an integer or a slice for each axis")
        if not self.shape:
            raise IndexError(
                "Jacobian: it has no axis to index; every Tensor method works on it, such as numpy()"
            )
        at = self._rows_at
        count = self._ys.shape[-1]
        # Without an index for the rows all of them are needed.
        if self._squeeze[0] or len(items) <= at or not isinstance(items[at], int | slice):
            return self._all()[tuple(items)]
        # Only the rows that the index names are computed, which then are all rows of the result.
        if isinstance(items[at], slice):
            rows, items[at] = list(range(*items[at].indices(count))), _ALL
        elif -count <= items[at] < count:
            rows, items[at] = [items[at] % count], 0
        else:
            raise IndexError(f"Jacobian: row {items[at]} is out of range; use {-count}..{count - 1}")
        return self._of(rows)[tuple(items)]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._all().__array__(*args, **kwargs)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        # Python looks up dunder names of a class without asking; others (`__array_interface__`) must not
        # start a computation.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._all(), name)


def _operator(name: str) -> Callable[..., Any]:
    function = getattr(operator, name)

    def method(self, other: Any) -> Tensor:
        if isinstance(other, LazyRows):
            other = other._all()
        return function(self._all(), other)

    method.__name__ = method.__qualname__ = f"__{name}__"
    return method


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
):
    setattr(LazyRows, f"__{_name}__", _operator(_name))


class Jacobian(LazyRows):
    """What `paddle.autograd.jacobian` returns: like a Tensor, with rows computed when they are looked at.
    Index it, or call Tensor methods."""


class Hessian(LazyRows):
    """What `paddle.autograd.hessian` returns: like a Tensor, with rows computed when they are looked at."""


def _check_axes(name: str, t: Tensor, batched: bool) -> None:
    ndim = int(batched)
    if not ndim <= t.ndim <= ndim + 1:
        batch_axis = {True: 0, False: None}[bool(batched)]
        raise ValueError(
            f"{name}: got {t.ndim} axes; allowed are {ndim} and {ndim + 1} when batch_axis is {batch_axis}"
        )


def _lazy(kind: type, ys: Tensor, xs: Tensor, batched: bool) -> Hessian | Jacobian:
    ndim = int(batched)
    _check_axes("ys", ys, batched)
    _check_axes("xs", xs, batched)
    # The axes that the arguments lack are dropped from the result, as in Paddle.
    return kind(ys, [xs], batched, (ys.ndim == ndim, xs.ndim == ndim))


def _check_axis(batch_axis: int | None) -> None:
    if batch_axis not in (None, 0):
        raise ValueError(f"batch_axis: got {batch_axis}; allowed are None and 0")


def _nested(function: Callable[..., Any], values: Sequence[Tensor] | Tensor) -> Jacobian | tuple[Any, ...]:
    if isinstance(values, list | tuple):
        return tuple(function(v) for v in values)
    return function(values)


def jacobian(
    ys: Tensor | Sequence[Tensor], xs: Tensor | Sequence[Tensor], batch_axis: Any = None
) -> tuple[tuple[Jacobian, ...] | Jacobian, ...] | tuple[Jacobian, ...] | Jacobian:
    """The derivatives of each element of ys by each element of xs.

    Args:
        ys: Tensor [n] or [], or with batch_axis=0 [batch, n] or [batch]; or a tuple of such.
        xs: Tensor [m] or [], or [batch, m] or [batch], from which ys was computed; or a tuple of such.
        batch_axis: None, or 0: the first axis is one of independent samples.
    Returns:
        Jacobian [n, m] or [batch, n, m], without the axes that ys or xs do not have; a tuple for a tuple, ys
        outside, xs inside. It can be differentiated further.
    Raises:
        ValueError: batch_axis or a number of axes is not allowed.
    Example:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.jacobian(x * x, x)[:].tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    _check_axis(batch_axis)
    return _nested(lambda y: _nested(lambda x: _lazy(Jacobian, y, x, batch_axis == 0), xs), ys)


def hessian(ys: Tensor, xs: Tensor | Sequence[Tensor], batch_axis: Any = None) -> Any:
    """The second derivatives of a scalar, or of one number per sample.

    Args:
        ys: Tensor of one element, or with batch_axis=0 [batch] or [batch, 1].
        xs: Tensor [m] or [], or [batch, m] or [batch]; or a tuple of such.
        batch_axis: None, or 0: the first axis is one of independent samples.
    Returns:
        Hessian [m, m] or [batch, m, m]; a tuple of tuples for a tuple.
    Raises:
        ValueError: ys has more than one element (per sample), or batch_axis or a number of
            axes is not allowed.
    Example:
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.hessian((x * x * x).sum(), x)[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    _check_axis(batch_axis)
    batched = batch_axis == 0
    if batched and (not 1 <= ys.ndim <= 2 or (ys.ndim == 2 and ys.shape[1] != 1)):
        raise ValueError(
            f"hessian: ys: got shape {list(ys.shape)}; with batch_axis=0 it must be [batch] or [batch, 1]"
        )
    if not batched and ys.size != 1:
        raise ValueError(f"hessian: ys: got {ys.size} elements; it must have one")
    several = list(xs) if isinstance(xs, list | tuple) else [xs]
    for x in several:
        _check_axes("xs", x, batched)
    # One backward pass for all arguments; the rows of the Hessian are derived from it.
    first = live_gradients(ys, several) if several else []
    if not isinstance(xs, list | tuple):
        return _lazy(Hessian, first[0], xs, batched)
    return tuple(tuple(_lazy(Hessian, g, x, batched) for x in several) for g in first)
