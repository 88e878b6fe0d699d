"""Joining tensors and taking them apart: concat, stack, split and their relatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lengths import extreme, has_lengths
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.axes import instead, ints, one_axis
from paddle_jax.tensor.index_parsing import Joining
from paddle_jax.tensor.indexing import link_rows
from paddle_jax.tensor.manipulation import reshape
from paddle_jax.tensor.reorder import atleast_1d, atleast_2d, atleast_3d

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Axes


JOIN = {"tensors": "x", "dim": "axis"}


def _same_dtype(name: str, x: Sequence[jax.Array]) -> None:
    if any(t.dtype != x[0].dtype for t in x):
        raise ValueError(
            f"{name}: x: got dtypes {[t.dtype.name for t in x]}; they must be equal; cast with astype"
        )


def _nonempty(name: str, x: Sequence[Tensor | jax.Array] | jax.Array) -> None:
    if not isinstance(x, list):
        raise ArgumentError(
            f"{name}(): argument 'x' (position 0) must be a list or tuple of Tensors, but got Tensor"
        )
    if not x:
        raise ValueError(f"{name}(): argument 'x' (position 0) must be list of Tensors, but got empty list")


@known_as(pir="concat(x:out,axis:i32)", onnx="Concat(*x, axis=axis)")
@op(
    "*x",
    alias=JOIN,
    out=True,
    cases=[
        "[f(2,3), f(2,3)]",
        "[f(2,3), f(2,1)], -1",
        "[f(2,3), f(1,3)], axis=0",
        "[f(2,3)]",
        "[f(2,3), f(2,3)], const(1, 'int64')",
        "[f(2,3), f(2,4)]",
        "[f(2,3), f(3)]",
        "[f(2,3), f(2,3)], 2",
        "[]",
        "[f(), f()]",
        "(i(2), i(3))",
        "[f(0,2), f(1,2)]",
        "[f(2), d(2)]",
        "[f(2), i(2)]",
        "f(2,3)",
        "[b(2), b(2)]",
    ],
)
def concat(x: Sequence[jax.Array], axis: Axes = 0, name: str | None = None) -> jax.Array:
    """Joins tensors along an axis they have.

    Args:
        x: list or tuple of Tensors of one dtype, equal in shape but for `axis`. `tensors` is
            accepted as a name.
        axis: int or Tensor of one int. `dim` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor.
    Raises:
        ValueError: shapes or dtypes do not fit, or the axis is out of range.
    Example:
        >>> paddle.concat([paddle.ones([2]), paddle.zeros([1])]).tolist()
        [1.0, 1.0, 0.0]
    """
    _nonempty("concat", x)
    _same_dtype("concat", x)
    return jnp.concatenate(x, one_axis("concat", axis, x[0].ndim))


@known_as(pir="stack(x:out) axis:i32", code="shapes:stack")
@op(
    "*x",
    alias=JOIN,
    out=True,
    cases=[
        "[f(2,3), f(2,3)]",
        "[f(2,3), f(2,3)], -1",
        "[f(2,3), f(2,3)], axis=1",
        "[f(), f()]",
        "[f(2,3)], 2",
        "[f(2), f(3)]",
        "[f(2), f(2)], 2",
        "[f(2), f(2)], -3",
        "[]",
        "[i(0), i(0)]",
        "[f(2), i(2)]",
        "[f(2), d(2)]",
    ],
)
def stack(x: Sequence[jax.Array], axis: Axes = 0, name: str | None = None) -> jax.Array:
    """Joins tensors of one shape along a new axis.

    Args:
        x: list or tuple of Tensors of one shape and dtype. `tensors` is accepted as a name.
        axis: where the new axis comes. `dim` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor with one axis more.
    Raises:
        ValueError: shapes or dtypes differ, or the axis is out of range.
    Example:
        >>> paddle.stack([paddle.ones([2]), paddle.zeros([2])]).tolist()
        [[1.0, 1.0], [0.0, 0.0]]
    """
    _nonempty("stack", x)
    _same_dtype("stack", x)
    return jnp.stack(x, one_axis("stack", axis, x[0].ndim + 1))


Joining.stack = stack


@known_as(code="shapes:split_at")
@op(register=False, method=False)
def split_at(x: jax.Array, bounds: Any, axis: Axes) -> Any:
    """The pieces of x between `bounds` along `axis`, as a list."""
    return jnp.split(x, bounds, axis)


def _sections(name: str, sections: Sequence[int], length: int) -> list[Any]:
    """Section lengths with a -1 filled in."""
    unknown = [i for i, s in enumerate(sections) if s == -1]
    # -1 takes what is left.
    total = sum(s for s in sections if s != -1)
    if (
        len(unknown) > 1
        or total > length
        or (not unknown and total != length)
        or any(s < -1 for s in sections)
    ):
        raise ValueError(
            f"{name}: num_or_sections: got {list(sections)} for an axis of length {length}; "
            "they must add up to it, one may be -1"
        )
    return [length - total if s == -1 else s for s in sections]


def _bounds(sections: Sequence[int]) -> tuple[Any, ...]:
    at = 0
    bounds = []
    for s in sections[:-1]:
        at += s
        bounds.append(at)
    return tuple(bounds)


@known_as(pir="split(x,num_or_sections:ints,axis:i32)->[]", code="shapes:split")
@composite(
    refuses={
        "tensor split_size_or_sections dim": "paddle.compat.split takes torch's names, and a "
        "number there is the "
        "length of each part, not the count of parts"
    },
    cases=[
        "f(6), 2",
        "f(6), [1, -1]",
        "f(6), [1, 2, 3]",
        "f(2,6), 3, -1",
        "f(6), [1, 2, const(3, 'int64')]",
        "f(6), 4",
        "f(6), [1, 2]",
        "f(6), [1, -1, -1]",
        "f(6), 0",
        "f(6), 2, 1",
        "f(0), 2",
        "f(), 1",
        "f(6), 'a'",
        "f(2,6), 2, axis=const(1, 'int64')",
        "f(3), [3]",
        "f(6), [6, 0]",
    ],
)
def split(x: Tensor, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> list[Tensor]:
    """Splits along an axis into equal parts, or into parts of given lengths.

    Args:
        x: Tensor [...].
        num_or_sections: int, the number of equal parts, or a list of lengths, one of which may be -1.
        axis: int or Tensor of one int.
    Returns:
        List of Tensors.
    Raises:
        ValueError: the parts do not fit the length of the axis.
    Example:
        >>> [p.tolist() for p in paddle.split(paddle.arange(4), [1, -1])]
        [[0], [1, 2, 3]]
    """
    axis = one_axis("split", axis, x.ndim)
    length = x.shape[axis]
    if isinstance(num_or_sections, list | tuple):
        sections = _sections("split", ints("split", num_or_sections, "num_or_sections"), length)
    elif isinstance(num_or_sections, int):
        if num_or_sections <= 0 or length % num_or_sections:
            raise ValueError(
                f"split: num_or_sections={num_or_sections} does not divide the length {length} "
                f"of axis {axis}; use a divisor or a list"
            )
        sections = [length // num_or_sections] * num_or_sections
    else:
        raise TypeError(
            f"split: num_or_sections: got {type(num_or_sections).__name__}; "
            "it must be an int, a list or a tuple"
        )
    return split_at(x, _bounds(sections), axis)


@composite(
    alias={"input": "x", "dim": "axis"},
    cases=[
        "f(6), 2",
        "f(2,6), 3, -1",
        "f(7), 3",
        "f(6), 8",
        "f(6), 0",
        "f(6), chunks=1",
        "f(6), 2, 1",
        "f(0), 3",
        "f(2,0), 3, 1",
    ],
)
def chunk(x: Tensor, chunks: Any, axis: Any = 0, name: str | None = None) -> list[Tensor]:
    """Splits into `chunks` equal parts along an axis. See `split`.

    Args:
        x: Tensor [...].
        chunks: int that divides the length of the axis.
        axis: int or Tensor of one int.
    Returns:
        list of Tensors.
    Raises:
        ValueError: chunks does not divide the length of the axis.
    Example:
        >>> [p.tolist() for p in paddle.chunk(paddle.arange(4), 2)]
        [[0, 1], [2, 3]]
    """
    length = x.shape[one_axis("chunk", axis, x.ndim, error=IndexError)]
    # An axis of length 0 has any number of empty parts.
    if not 0 < chunks <= (length or chunks):
        raise ValueError(f"chunk: chunks={chunks} for an axis of length {length}; use 1..{length}")
    return split(x, chunks, axis)


def _with_views(public: Callable[..., Any]) -> Callable[..., Any]:
    def viewed(*args: Any, **kwargs: Any) -> list[Tensor]:
        rows = public(*args, **kwargs)
        # The argument may come by name.
        x = args[0] if args else kwargs["input"]
        if len(args) > 1:
            axis = args[1]
        else:
            axis = kwargs.get("axis", kwargs.get("dim", 0))
        link_rows(rows, x, one_axis("unbind", axis, x.ndim))
        return rows

    return instead(public, viewed, False)


@known_as(pir="unbind->[] axis:i32", code="shapes:unbind")
@op(
    alias={"dim": "axis"},
    tensors="input",
    cases=["f(2,3)", "f(2,3), 1", "f(2,3), -1", "f(2,3), 2", "f()", "f(0,3)", "f(3,0)"],
)
def unbind(input: jax.Array, axis: Axes = 0) -> list[jax.Array]:
    """Takes the slices along an axis, which vanishes. They are views, as `x[i]` is one.

    Args:
        input: Tensor [...].
        axis: int. `dim` is accepted as a name.
    Returns:
        List of Tensors, one per index of the axis.
    Raises:
        ValueError: the axis is out of range.
    Example:
        >>> [t.tolist() for t in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    axis = one_axis("unbind", axis, input.ndim)
    if input.shape[axis]:
        # Slices of length 1, whose axis is dropped.
        return [jnp.squeeze(p, axis) for p in jnp.split(input, input.shape[axis], axis)]
    return []


unbind = _with_views(unbind)


@known_as(pir="unstack axis:i32 num:i32", code="shapes:unstack")
@op(cases=["f(2,3)", "f(2,3), 1", "f(2,3), -1, 3", "f(2,3), 2", "f(2,3), 0, 3"])
def unstack(x: jax.Array, axis: Axes = 0, num: Any = None) -> list[jax.Array]:
    """Takes the slices along an axis, which vanishes: the reverse of `stack`.

    Args:
        x: Tensor [...].
        axis: int.
        num: the length of the axis, for a check.
    Returns:
        List of Tensors.
    Raises:
        ValueError: the axis is out of range or its length is not num.
    Example:
        >>> len(paddle.unstack(paddle.ones([2, 3]), axis=1))
        3
    """
    axis = one_axis("unstack", axis, x.ndim)
    if num is not None and num != x.shape[axis]:
        raise ValueError(
            f"unstack: num={num}, but axis {axis} has length {x.shape[axis]}; give that or leave it out"
        )
    # `jnp.split` refuses to make no parts.
    if x.shape[axis]:
        return [jnp.squeeze(p, axis) for p in jnp.split(x, x.shape[axis], axis)]
    return []


def _grown(name: str, x: Sequence[Tensor] | Tensor, grow: Callable[..., Any]) -> list[Any]:
    """The tensors of a list argument (a Tensor counts as the list of its slices) with enough axes."""
    # A Tensor counts as the list of its rows.
    items = unbind(x) if isinstance(x, Tensor) else list(x)
    _nonempty(name, items)
    return [grow(t) for t in items]


@composite(
    cases=[
        "[f(2), f(3)]",
        "[f(2,3), f(2,1)]",
        "[f(), f()]",
        "f(2,3)",
        "[]",
        "[f(2), i(2)]",
        "[f(2,3), f(3,3)]",
    ]
)
def hstack(x: Any, name: str | None = None) -> Tensor:
    """Joins tensors side by side: along the second axis, 1-D ones along the first.

    Args:
        x: list or tuple of Tensors.
    Returns:
        Tensor.
    Raises:
        ValueError: shapes or dtypes do not fit.
    Example:
        >>> paddle.hstack([paddle.ones([1]), paddle.zeros([2])]).tolist()
        [1.0, 0.0, 0.0]
    """
    items = _grown("hstack", x, atleast_1d)
    # Vectors are joined along the only axis they have.
    return concat(items, 0 if items[0].ndim == 1 else 1)


@composite(cases=["[f(2), f(2)]", "[f(2,3), f(1,3)]", "[f(), f()]", "f(2,3)", "[f(2), f(3)]"])
def vstack(x: Any, name: str | None = None) -> Tensor:
    """Joins tensors on top of each other: along the first axis, 1-D ones as rows. See `hstack`.

    Args:
        x: list or tuple of Tensors of one dtype.
    Returns:
        Tensor.
    Example:
        >>> paddle.vstack([paddle.ones([2]), paddle.zeros([2])]).shape
        paddle.Size([2, 2])
    """
    return concat(_grown("vstack", x, atleast_2d), 0)


@composite(cases=["[f(2), f(2)]", "[f(2), f(1,2)]"])
def row_stack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """The same as `vstack`.

    Args:
        x: list or tuple of Tensors of one dtype.
    Returns:
        Tensor.
    Example:
        >>> paddle.row_stack([paddle.ones([2]), paddle.zeros([2])]).shape
        paddle.Size([2, 2])
    """
    return concat(_grown("row_stack", x, atleast_2d), 0)


@composite(cases=["[f(2), f(2)]", "[f(2,2), f(2,2)]", "[f(2,3,1), f(2,3,2)]", "[f()]"])
def dstack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Joins tensors along the third axis. See `hstack`.

    Args:
        x: list or tuple of Tensors of one dtype.
    Returns:
        Tensor.
    Example:
        >>> paddle.dstack([paddle.ones([2]), paddle.zeros([2])]).shape
        paddle.Size([1, 2, 2])
    """
    return concat(_grown("dstack", x, atleast_3d), 2)


@composite(cases=["[f(2), f(2,2)]", "[f(), f()]", "[f(2), f(2)]", "[f(2), f(3)]"])
def column_stack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Joins tensors along the second axis, 1-D ones as columns. See `hstack`.

    Args:
        x: list or tuple of Tensors of one dtype.
    Returns:
        Tensor.
    Example:
        >>> paddle.column_stack([paddle.ones([2]), paddle.zeros([2])]).tolist()
        [[1.0, 0.0], [1.0, 0.0]]
    """
    # Vectors become columns.
    return concat(_grown("column_stack", x, lambda t: reshape(t, [-1, 1]) if t.ndim < 2 else t), 1)


@composite(
    alias={
        "input": "x",
        "dim": "axis",
        "sections": "num_or_indices",
        "indices": "num_or_indices",
        "indices_or_sections": "num_or_indices",
    },
    cases=[
        "f(7), 3",
        "f(7), [1, 3]",
        "f(7), (2, 20)",
        "f(7), [-2]",
        "f(7), [5, 2]",
        "f(7), 0",
        "f(7), 3, 1",
        "f(), 3",
        "f(7), const(3, 'int64')",
        "f(7), indices=[1, 3]",
        "f(2,7), 2, -1",
        "f(7), indices_or_sections=3, dim=0",
    ],
)
def tensor_split(x: Tensor, num_or_indices: Any, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """Splits along an axis into parts of nearly equal length, or before given indices.

    Args:
        x: Tensor [...].
        num_or_indices: int, the number of parts (the first ones are longer by one where it does not divide),
            or a list of ints, where to cut. `sections`, `indices` and `indices_or_sections` are
            accepted as names.
        axis: int. `dim` is accepted as a name.
    Returns:
        List of Tensors.
    Raises:
        ValueError: the number is not positive, or the axis is out of range.
    Example:
        >>> [p.tolist() for p in paddle.tensor_split(paddle.arange(5), 2)]
        [[0, 1, 2], [3, 4]]
    """
    axis = one_axis("tensor_split", axis, x.ndim)
    length = x.shape[axis]
    if isinstance(num_or_indices, list | tuple):
        cuts = list(ints("tensor_split", num_or_indices, "num_or_indices"))
    elif isinstance(num_or_indices, int):
        if num_or_indices <= 0:
            raise ValueError(f"tensor_split: num_or_indices={num_or_indices}; it must be > 0")
        # The first parts are one longer, where the length does not divide.
        part, longer = divmod(length, num_or_indices)
        # Lengths of a static program cannot be compared now.
        smaller = min if not has_lengths(length) else lambda *two: extreme("min", two)
        cuts = [i * part + smaller(i, longer) for i in range(1, num_or_indices)]
    else:
        raise ValueError(
            f"tensor_split: num_or_indices: got {type(num_or_indices).__name__}; "
            "it must be an int, a list or a tuple"
        )
    if local.ctx.frame.symbolic and has_lengths((cuts, length)):
        # A slice with lengths of a static program.
        return [x[(*[np.s_[:]] * axis, np.s_[a:b])] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
    return pieces(
        x,
        tuple(np.s_[a:b].indices(length)[:2] for a, b in zip([0, *cuts], [*cuts, length], strict=True)),
        axis,
    )


@known_as(code="shapes:pieces")
@op(register=False, method=False)
def pieces(x: jax.Array, bounds: Any, axis: Axes) -> Any:
    """The parts of an axis between pairs of bounds."""
    # A part that would end before it begins is empty.
    return [lax.slice_in_dim(x, low, max(low, high), axis=axis) for low, high in bounds]


def _split_on(
    name: str, x: Tensor, num_or_indices: Sequence[int] | int, axis: int, least: int
) -> list[Tensor]:
    if x.ndim < least:
        raise ValueError(f"{name}: x: got a tensor of {x.ndim} axes; it needs at least {least}")
    return tensor_split(x, num_or_indices, axis)


@composite(cases=["f(4), 2", "f(2,4), [1, 2]", "f(), 2", "f(2,5), 2"])
def hsplit(x: Tensor, num_or_indices: Any, name: str | None = None) -> list[Tensor]:
    """Splits along the second axis, 1-D tensors along the first. See `tensor_split`.

    Args:
        x: Tensor [...].
        num_or_indices: int, how many parts; or list of the positions to cut at.
    Returns:
        list of Tensors.
    Example:
        >>> len(paddle.hsplit(paddle.ones([2, 4]), 2))
        2
    """
    return _split_on("hsplit", x, num_or_indices, 0 if x.ndim == 1 else 1, 1)


@composite(cases=["f(4), 2", "f(4,2), 2", "f(5,2), [1, 2]"])
def vsplit(x: Tensor, num_or_indices: Any, name: str | None = None) -> list[Tensor]:
    """Splits along the first axis. See `tensor_split`.

    Args:
        x: Tensor [...].
        num_or_indices: int, how many parts; or list of the positions to cut at.
    Returns:
        list of Tensors.
    Example:
        >>> len(paddle.vsplit(paddle.ones([4, 2]), 2))
        2
    """
    return _split_on("vsplit", x, num_or_indices, 0, 2)


@composite(cases=["f(4,2), 2", "f(1,2,4), 2", "f(1,2,4), [1]"])
def dsplit(x: Tensor, num_or_indices: Any, name: str | None = None) -> list[Tensor]:
    """Splits along the third axis. See `tensor_split`.

    Args:
        x: Tensor [...].
        num_or_indices: int, how many parts; or list of the positions to cut at.
    Returns:
        list of Tensors.
    Example:
        >>> len(paddle.dsplit(paddle.ones([1, 2, 4]), 2))
        2
    """
    return _split_on("dsplit", x, num_or_indices, 2, 3)


def split_with_sizes(self, split_sizes: Any, dim: Any = 0) -> list[Tensor]:
    """Splits into parts of the given lengths. See `split`.

    Example:
        >>> [p.tolist() for p in paddle.arange(3).split_with_sizes([1, 2])]
        [[0], [1, 2]]
    """
    return split(self, split_sizes, dim)


Tensor.split_with_sizes = split_with_sizes
