"""Matrices of a pattern: eye, diagonals, triangles, grids, blocks, products of sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.lazy.lengths import has_lengths, to_int
from paddle_jax._core.ops.op import check_equal_dtypes, composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.tensor.axes import number, one_axis
from paddle_jax.tensor.creation import as_numpy_dtype, finish, to_tensor
from paddle_jax.tensor.gathering import take_rows
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import DTypeLike


def _size(op: str, name: str, value: Tensor | float) -> int:
    if isinstance(value, Tensor):
        value = number(op, value, name)
    if not isinstance(value, int | np.integer) or value < 0:
        raise TypeError(f"{op}: {name}: got {value!r}; it must be an int >= 0")
    return to_int(value)


@composite(
    method=False,
    alias={"n": "num_rows", "m": "num_columns"},
    cases=[
        "3",
        "2, 3",
        "2, 3, 'int32'",
        "n=2, m=3",
        "-1",
        "0",
        "const(2, 'int64')",
        "2.5",
        "3, dtype='complex64'",
    ],
)
def eye(
    num_rows: Any,
    num_columns: Any = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix with ones on the main diagonal and zeros elsewhere.

    Args:
        num_rows: int. `n` is accepted as a name.
        num_columns: int. Default: as many as rows. `m` is accepted as a name.
        dtype: Default: the default floating dtype.
        out, device, requires_grad, pin_memory: as for `zeros`.
    Returns:
        Tensor [num_rows, num_columns].
    Raises:
        TypeError: a size is negative or no int.
    Example:
        >>> paddle.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    frame = local.ctx.frame
    if frame.symbolic:
        num_rows, num_columns = [
            frame.numbers_of(size.reshape([])) if isinstance(size, Tensor) else size
            for size in (num_rows, num_columns)
        ]
    if frame.symbolic and has_lengths((num_rows, num_columns)):
        # Sizes that are known at run time only: rows and columns are compared.
        rows = arange(num_rows).reshape([-1, 1])
        columns = arange(num_rows if num_columns is None else num_columns)
        return (rows == columns).astype(as_numpy_dtype(dtype).name)
    rows = _size("eye", "num_rows", num_rows)
    if num_columns is None:
        columns = rows
    else:
        columns = _size("eye", "num_columns", num_columns)
    return finish(
        # NumPy needs no compilation for a new size.
        persistent_from_numpy(np.eye(rows, columns, dtype=as_numpy_dtype(dtype))),
        out,
        device,
        requires_grad,
    )


@known_as(pir="diag offset:i32 padding_value:f32")
@op(
    cases=[
        "f(3)",
        "f(3), 1",
        "f(3), -1, 7",
        "f(2,3)",
        "f(2,3), 1",
        "f(2,3), -1",
        "f(2,3), 5",
        "f(2,3,4)",
        "f()",
        "i(2), 0, 3",
        "f(0)",
    ]
)
def diag(x: jax.Array, offset: int = 0, padding_value: int = 0, name: str | None = None) -> jax.Array:
    """A square matrix with a vector on a diagonal, or the diagonal of a matrix.

    Args:
        x: Tensor [n] or [n, m].
        offset: 0 for the main diagonal, positive above, negative below.
        padding_value: number beside the diagonal.
    Returns:
        Tensor [n + |offset|, n + |offset|], or the 1-D diagonal.
    Raises:
        ValueError: x has more than 2 axes.
    Example:
        >>> paddle.diag(paddle.to_tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    if x.ndim > 2:
        raise ValueError(f"diag: x: got a tensor of {x.ndim} axes; it has 1 or 2")
    if x.ndim == 2:
        # An offset outside of the matrix has an empty diagonal.
        inside = -x.shape[0] < offset < x.shape[1]
        if inside:
            return jnp.diagonal(x, offset)
        return jnp.zeros((0,), x.dtype)
    x = x.reshape(-1)
    made = jnp.diag(x, offset)
    # Paddle fills the places off the diagonal.
    if padding_value:
        return jnp.where(jnp.eye(*made.shape, offset, dtype=bool), made, jnp.asarray(padding_value, x.dtype))
    return made


@known_as(code="element_moves:diagflat")
@op(cases=["f(2,2)", "f(2), 1", "f()", "i(3), -1", "f(0)"])
def diagflat(x: jax.Array, offset: int = 0, name: str | None = None) -> jax.Array:
    """A square matrix with all elements of x on a diagonal.

    Args:
        x: Tensor [...].
        offset: 0 for the main diagonal, positive above, negative below.
    Returns:
        Tensor [n, n], where n is the number of elements plus the absolute offset.
    Example:
        >>> paddle.diagflat(paddle.to_tensor([[1], [2]])).tolist()
        [[1, 0], [0, 2]]
    """
    return jnp.diag(x.reshape(-1), offset)


@known_as(pir="diag_embed offset:i32 dim1:i32 dim2:i32")
@composite(
    cases=[
        "f(2,2)",
        "f(2,3), 1, 0, 2",
        "f(2,2), 0, 1, 1",
        "f(2,2), 0, 1, 5",
        "[1, 2]",
        "f(2,3), -1",
        "i(3)",
        "f(2,3), 0, -3, 0",
    ]
)
def diag_embed(input: Tensor, offset: Any = 0, dim1: Any = -2, dim2: Any = -1) -> Tensor:
    """Square matrices with the vectors along the last axis on a diagonal.

    Args:
        input: Tensor [..., n], or what `to_tensor` takes.
        offset: 0 for the main diagonal, positive above, negative below.
        dim1, dim2: the axes of the matrices in the result.
    Returns:
        Tensor of one axis more.
    Raises:
        IndexError: an axis is out of range.
        ValueError: the axes are the same.
    Example:
        >>> paddle.diag_embed(paddle.ones([3, 2])).shape
        paddle.Size([3, 2, 2])
    """
    if not isinstance(input, Tensor):
        input = to_tensor(input)
    first = one_axis("diag_embed", dim1, input.ndim + 1, "dim1", IndexError)
    second = one_axis("diag_embed", dim2, input.ndim + 1, "dim2", IndexError)
    if first == second:
        raise ValueError(f"diag_embed: dim1={dim1} and dim2={dim2} are the same; give two axes")
    return embed_diagonal(input, offset, first, second)


@known_as(pir="diag_embed offset:i32 first>dim1:i32 second>dim2:i32")
@op("x", register=False, method=False)
def embed_diagonal(x: jax.Array, offset: int, first: Any, second: Any) -> jax.Array:
    """Matrices with the last axis of x on a diagonal, their axes at `first` and `second`."""
    size = x.shape[-1] + abs(offset)
    # Places on the diagonal, shifted down or to the right.
    at = np.arange(x.shape[-1])
    made = (
        jnp.zeros((*x.shape[:-1], size, size), x.dtype)
        .at[..., at + max(-offset, 0), at + max(offset, 0)]
        .set(x)
    )
    return jnp.moveaxis(made, (-2, -1), (first, second))


def _check_matrix(op: str, x: jax.Array) -> None:
    if x.ndim < 2:
        raise ValueError(f"{op}: x: got a tensor of {x.ndim} axes; it needs at least 2")


@known_as(pir="tril diagonal:i32", onnx="Trilu(x, diagonal, upper=0)")
@op(
    inplace=True,
    out=True,
    alias={"input": "x"},
    cases=["f(3,3), 1", "f(3,4), -1", "f(2,3,3)", "f(3)", "b(3,3)", "i(2,4), diagonal=2", "c(2,2)", "f(0,2)"],
)
def tril(x: jax.Array, diagonal: int = 0, name: str | None = None) -> jax.Array:
    """The lower triangles of matrices; what lies above becomes 0.

    Args:
        x: Tensor [..., n, m].
        diagonal: the last diagonal that stays: 0 the main one, positive above it, negative below.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        ValueError: x has fewer than 2 axes.
    Example:
        >>> paddle.tril(paddle.ones([2, 2])).tolist()
        [[1.0, 0.0], [1.0, 1.0]]
    """
    _check_matrix("tril", x)
    return jnp.tril(x, number("tril", diagonal, "diagonal"))


@known_as(pir="triu diagonal:i32", onnx="Trilu(x, diagonal, upper=1)")
@op(
    inplace=True,
    out=True,
    alias={"input": "x"},
    cases=["f(3,3), 1", "f(3,4), -1", "f(2,3,3)", "f(3)", "b(3,3)", "i(2,4), diagonal=2", "c(2,2)", "f(0,2)"],
)
def triu(x: jax.Array, diagonal: int = 0, name: str | None = None) -> jax.Array:
    """The upper triangles of matrices; what lies below becomes 0. Arguments as for `tril`.

    Args:
        x: Tensor [..., n, m].
        diagonal: the first diagonal that stays: 0 the main one, positive above it, negative below.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape and dtype of x.
    Example:
        >>> paddle.triu(paddle.ones([2, 2])).tolist()
        [[1.0, 1.0], [0.0, 1.0]]
    """
    _check_matrix("triu", x)
    return jnp.triu(x, number("triu", diagonal, "diagonal"))


def _triangle(
    op: str, find: Callable[..., Any], row: float, col: int | None, offset: Any, dtype: str
) -> Tensor:
    row = _size(op, "row", row)
    col = row if col is None else _size(op, "col", col)
    if isinstance(offset, Tensor | np.generic):
        # A Tensor of one element counts as a number.
        offset = offset.item()
    if not isinstance(offset, int):
        raise TypeError(f"{op}: offset: got {offset!r}; it must be an int")
    dtype = dtypes.convert(dtype).np
    if dtype.name not in ("int32", "int64"):
        raise RuntimeError(f"{op}: dtype: got {dtype.name}; allowed are int32, int64")
    return finish(persistent_from_numpy(np.stack(find(row, offset, col)).astype(dtype)))


@composite(
    method=False,
    cases=[
        "3, 3",
        "3, 3, -1",
        "3, 2, dtype='int32'",
        "-3, 2",
        "3.0, 2",
        "3, None",
        "3, 4, 1",
        "2, 2, 0.5",
        "3, 3, np.int64(-1)",
        "3, 4, const(1)",
    ],
)
def tril_indices(row: int, col: int | None, offset: Any = 0, dtype: DTypeLike = "int64") -> Tensor:
    """The row and column numbers of the lower triangle of a matrix.

    Args:
        row: int, number of rows.
        col: int, number of columns; None for as many.
        offset: the last diagonal that belongs to it.
        dtype: int32 or int64.
    Returns:
        Tensor [2, n].
    Raises:
        TypeError: a size is negative or no int.
    Example:
        >>> paddle.tril_indices(2, 2).tolist()
        [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle("tril_indices", np.tril_indices, row, col, offset, dtype)


@composite(method=False, cases=["3", "3, 2, 1", "3, 4, -1", "3, 3, dtype='int32'", "-1"])
def triu_indices(row: Any, col: Any = None, offset: Any = 0, dtype: DTypeLike = "int64") -> Tensor:
    """The row and column numbers of the upper triangle of a matrix.

    Args:
        row: int, number of rows.
        col: int, number of columns; None for as many.
        offset: the last diagonal that belongs to it.
        dtype: int32 or int64.
    Returns:
        Tensor [2, n].
    Example:
        >>> paddle.triu_indices(2, 2).tolist()
        [[0, 0, 1], [0, 1, 1]]
    """
    return _triangle("triu_indices", np.triu_indices, row, col, offset, dtype)


@known_as(pir="meshgrid", code="shapes:grid")
@op("*x", register=False, method=False)
def grid(x: Sequence[jax.Array], indexing: str = "ij") -> Any:
    """Coordinate grids of 1-D arrays."""
    return list(jnp.meshgrid(*[v.reshape(-1) for v in x], indexing=indexing))


@known_as(pir="meshgrid(args)->[]", code="shapes:meshgrid")
@composite(
    method=False,
    cases=[
        "f(2), f(3)",
        "[f(2), f(3)]",
        "f(2), f(3), indexing='xy'",
        "f(2), i(3)",
        "f(2,2), f(3)",
        "f(), f(3)",
        "f(2), f(3), f(4)",
        "f(2)",
    ],
)
def meshgrid(*args: Any, indexing: str | None = None, name: str | None = None) -> list[Tensor]:
    """Coordinate grids of vectors.

    Args:
        args: 1-D Tensors (or a list of them) of one dtype.
        indexing: "ij" (default): the first vector runs along the first axis; "xy": along the second.
    Returns:
        List of Tensors of shape [n1, n2, ...].
    Raises:
        ValueError: a tensor has more than one axis, or the dtypes differ.
    Example:
        >>> rows, columns = paddle.meshgrid(paddle.arange(2), paddle.arange(3)); rows.tolist()
        [[0, 0, 0], [1, 1, 1]]
    """
    if len(args) == 1 and isinstance(args[0], list | tuple):
        x = list(args[0])
    else:
        x = list(args)
    if not x or not all(isinstance(t, Tensor) for t in x):
        raise ValueError(f"meshgrid: got {[type(t).__name__ for t in x]}; give one Tensor or more")
    if any(t.ndim > 1 for t in x) or len({numpy_dtype(t) for t in x}) > 1:
        got = [f"{numpy_dtype(t).name}{list(t.shape)}" for t in x]
        raise ValueError(f"meshgrid: got {', '.join(got)}; use 1-D tensors of one dtype")
    if indexing not in (None, "ij", "xy"):
        raise ValueError(f"meshgrid: indexing: got {indexing!r}; allowed are 'ij', 'xy'")
    return grid(x, indexing or "ij")


@known_as(code="element_moves:block_diagonal")
@op(
    "*inputs",
    cases=[
        "[f(2), f(2,2), f()]",
        "[f(2,1), f(1,3)]",
        "[const([1, 2], 'int64'), f(1)]",
        "[f(1,1,1)]",
        "[i(2,2)]",
    ],
)
def block_diag(inputs: Sequence[jax.Array], name: str | None = None) -> jax.Array:
    """A matrix with matrices along its diagonal and zeros elsewhere.

    Args:
        inputs: list of Tensors of at most 2 axes and one dtype; 0-D and 1-D ones count as one row.
    Returns:
        Tensor [sum of rows, sum of columns].
    Raises:
        ValueError: a tensor has more axes, or the dtypes differ.
    Example:
        >>> paddle.block_diag([paddle.ones([1, 2]), paddle.ones([1])]).tolist()
        [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if any(t.ndim > 2 for t in inputs) or len({t.dtype for t in inputs}) > 1:
        got = [f"{t.dtype.name}{list(t.shape)}" for t in inputs]
        if any(t.ndim > 2 for t in inputs):
            kind = ""
        else:
            kind = "(InvalidArgument) "
        raise ValueError(f"{kind}block_diag: got {', '.join(got)}; use at most 2 axes and one dtype")
    blocks = [jnp.atleast_2d(t) for t in inputs]
    width = sum(b.shape[1] for b in blocks)
    before = 0
    rows = []
    for b in blocks:
        # Zeros on both sides of each block.
        rows.append(jnp.pad(b, ((0, 0), (before, width - before - b.shape[1]))))
        before += b.shape[1]
    return jnp.concatenate(rows)


@known_as(code="element_moves:products")
@op("*x", method=False, cases=["[i(2), i(3)]", "[f(2)]", "[i(1,2)]", "[f(2), f(2), f(2)]"])
def cartesian_prod(x: Sequence[jax.Array], name: str | None = None) -> jax.Array:
    """All tuples with one element of each vector.

    Args:
        x: list of 1-D Tensors.
    Returns:
        Tensor [n1 * n2 * ..., k]; for one vector the vector.
    Raises:
        ValueError: a tensor is not 1-D.
    Example:
        >>> paddle.cartesian_prod([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])]).tolist()
        [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    if any(t.ndim != 1 for t in x):
        raise ValueError(
            f"cartesian_prod: x: got shapes {[list(t.shape) for t in x]}; the tensors must be 1-D"
        )
    if len(x) == 1:
        return x[0]
    # The first input varies slowest, as in itertools.
    return jnp.stack([g.reshape(-1) for g in jnp.meshgrid(*x, indexing="ij")], 1)


@composite(cases=["i(3)", "i(3), 3", "f(3), 2, True", "i(3), 0", "i(3), 4", "i(3), -1", "i(1,3)", "f(4), 1"])
def combinations(x: Tensor, r: int = 2, with_replacement: bool = False, name: str | None = None) -> Tensor:
    """All choices of r elements of a vector, in order.

    Args:
        x: Tensor [n].
        r: int >= 0.
        with_replacement: an element may be chosen again.
    Returns:
        Tensor [number of choices, r]; for r = 0 an empty vector.
    Raises:
        ValueError: r is negative.
        TypeError: x is not 1-D.
    Example:
        >>> paddle.combinations(paddle.to_tensor([1, 2, 3])).tolist()
        [[1, 2], [1, 3], [2, 3]]
    """
    if x.ndim != 1:
        raise TypeError(f"combinations: x: got shape {list(x.shape)}; it must be 1-D")
    if not isinstance(r, int) or r < 0:
        raise ValueError(f"combinations: r: got {r!r}; it must be an int >= 0")
    # Paddle's result for nothing chosen is an empty vector.
    if r == 0:
        return wrap(jnp.zeros((0,), numpy_dtype(x)))
    if with_replacement:
        choose = itertools.combinations_with_replacement
    else:
        choose = itertools.combinations
    # Positions by Python: their number depends on lengths alone.
    at = np.array(list(choose(range(x.shape[0]), r)), np.int64).reshape(-1, r)
    return take_rows(x, wrap(at), 0)


@known_as(amp="matmul_v2", code="algebra:contract")
@op("x y", register=False, method=False)
def contract(x: jax.Array, y: jax.Array, axes: Any) -> jax.Array:
    """The sum of products over pairs of axes."""
    return jnp.tensordot(x, y, axes)


@composite(
    alias={},
    cases=[
        "f(2,3), f(3,2), 1",
        "f(2,3), f(2,3), [[0], [0]]",
        "f(2,3), f(2,3)",
        "f(2,3), f(2,3), 0",
        "f(2,3), f(2,3), [0, 1]",
        "f(2,3), f(2,3), const([0], 'int64')",
        "f(2,3), f(2,3), const([[0], [0]], 'int64')",
        "f(2,3), f(4,2,3), 1",
        "f(2,3), f(2,3), [0]",
        "f(2,3), f(2,3), ((0,),)",
        "f(1,3), f(2,3), [[0], [0]]",
        "f(2,3), f(3,2), [[0, 1], [1, 0]]",
    ],
)
def tensordot(x: Sequence[Tensor], y: Sequence[Tensor], axes: int = 2, name: str | None = None) -> Tensor:
    """Sums products over axes of x and y.

    Args:
        x, y: Tensors.
        axes: int: the last ones of x with the first ones of y. A list of ints: these axes of both. A pair of
            lists: these of x with those of y (the shorter list is completed by the longer). A
            Tensor of these.
    Returns:
        Tensor with the other axes of x, then those of y.
    Raises:
        AssertionError: the lengths of paired axes differ.
    Example:
        >>> paddle.tensordot(paddle.ones([2, 3]), paddle.ones([3, 4]), 1).shape
        paddle.Size([2, 4])
    """
    check_equal_dtypes("tensordot", x, y)
    # The axes that are summed over.
    left, right = _pairs(axes, x.ndim)
    for i, j in zip(left, right, strict=True):
        if x.shape[i] != y.shape[j] and 1 not in (x.shape[i], y.shape[j]):
            raise AssertionError(
                f"tensordot: axis {i} of x has length {x.shape[i]}, axis {j} of y has "
                f"{y.shape[j]}; they must be equal"
            )
    return contract(*_matched(x, y, left, right), (tuple(left), tuple(right)))


def _matched(x: Tensor, y: Tensor, left: Sequence[int], right: Sequence[int]) -> tuple[Any, Any]:
    """Sums the axis that is paired with one of length 1, which amounts to broadcasting that one."""
    for i, j in zip(left, right, strict=True):
        if x.shape[i] != y.shape[j]:
            # A length of 1 stands for all: the other side is summed.
            x, y = (x, y.sum(j, keepdim=True)) if x.shape[i] == 1 else (x.sum(i, keepdim=True), y)
    return x, y


def _pairs(axes: Any, ndim: int) -> tuple[Any, ...]:
    if isinstance(axes, Tensor):
        axes = np.asarray(axes).tolist()
    if isinstance(axes, int | np.integer):
        if axes < 0:
            raise AssertionError(f"tensordot: axes={axes}; it must be >= 0")
        # The last axes of x with the first of y.
        return list(range(ndim - axes, ndim)), list(range(axes))
    if any(isinstance(a, list | tuple | Tensor) for a in axes):
        left = list(np.asarray(axes[0]).tolist())
        # One list is for both operands.
        if len(axes) == 1:
            right = list(left)
        else:
            right = list(np.asarray(axes[1]).tolist())
    else:
        left = right = list(axes)
    # The shorter list is completed from the longer one, as in Paddle.
    longer = left if len(left) > len(right) else right
    return left + longer[len(left) :], right + longer[len(right) :]
