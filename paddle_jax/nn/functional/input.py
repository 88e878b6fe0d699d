"""From integer ids to vectors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.kernels.value_checks import add_range_check, after_checks, traced_value
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.lengths import to_int
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES
from paddle_jax._core.lazy.transfer import materialize, to_numpy
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tape.sparse_rows import record_lookup
from paddle_jax._core.tensors.held_values import assign_from, numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, host_value, read_raw
from paddle_jax.tensor.axes import lies_within, number
from paddle_jax.tensor.lowering import narrowed


def concrete(tensor: Tensor) -> np.ndarray | None:
    """The value of a Tensor as a NumPy array where looking at it is free (a computed value on the
    CPU), else None."""
    raw = read_raw(tensor)
    if type(raw) is LazyArray and raw.array is None:
        if getattr(raw.segment.device, "platform", "cpu") != "cpu":
            return None  # computing it now would cut the step of an accelerator into pieces
    value = after_checks(materialize(raw))
    if isinstance(value, np.ndarray):
        return value
    # Traced values, and arrays with parts in other processes, cannot be read here.
    if (
        not isinstance(value, jax.Array)
        or isinstance(value, ABSTRACT_TYPES)
        or not value.is_fully_addressable
    ):
        return None
    # Reading from an accelerator would wait for it.
    if next(iter(value.devices())).platform == "cpu":
        return to_numpy(value)
    return None


def check_ids(
    op_name: str,
    what: str,
    ids: Tensor,
    size: int,
    error: type[Exception] = ValueError,
    allowed: str | None = None,
) -> None:
    """Raises when an id lies outside 0..size-1 (and is not the allowed one). In a compiled function the check
    rides with the results; where it cannot, the op gives NaN."""

    def refusal(got: Any) -> Exception:
        return error(
            f"{op_name}: {what}: got {got}; allowed are 0..{size - 1}"
            + (f" and {allowed}" if allowed is not None else "")
        )

    value = traced_value(ids)
    if value is not None:
        if allowed is None or 0 <= allowed < size:
            # It passes the check in any case.
            usual = value
        else:
            # The allowed number is replaced by a valid one before the check.
            usual = jnp.where(value == allowed, 0, value)
        add_range_check(usual, 0, size, lambda least, most: refusal(most if most >= size else least))
        return
    if lies_within(ids, 0, size):
        return
    array = concrete(ids)
    if array is None or array.size == 0:
        return
    bad = (array < 0) | (array >= size)
    if allowed is not None:
        bad &= array != allowed
    if bad.any():
        raise refusal(array[bad].ravel()[0])


@known_as(pir="one_hot")
@op(method=False, register=False, nondiff=True)
def _one_hot(x: jax.Array, num_classes: int) -> jax.Array:
    return jax.nn.one_hot(x, num_classes, dtype=jnp.float32)


@known_as(pir="one_hot(x,num_classes:i32)", code="indexing:one_hot")
@composite(
    method=False,
    alias={"input": "x"},
    cases=[
        "idx(3,4), 3",
        "idx(3,4)",
        "const([0,3]), 3",
        "const([0,-1]), 3",
        "const([0,1],'int32'), 3",
        "const(1), 3",
        "idx(3,0), 3",
        "idx(3,0)",
        "idx(3,2,2), 5",
        "const([0,1]), 0",
        "const([0,1]), paddle.to_tensor(3)",
    ],
)
def one_hot(x: Tensor, num_classes: int = -1, name: str | None = None) -> Tensor:
    """Turns ids into vectors that are 1 at the id and 0 elsewhere.

    Args:
        x: int Tensor [...]. `input` is accepted as a name.
        num_classes: int, length of the vectors. Default: the largest id plus 1.
    Returns:
        float32 Tensor [..., num_classes].
    Raises:
        ValueError: an id is negative or not below num_classes.
    Example:
        >>> paddle.nn.functional.one_hot(paddle.to_tensor([1, 0]), 2).tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    if not jnp.issubdtype(numpy_dtype(x), jnp.integer):
        raise RuntimeError(f"one_hot: x: got {x.dtype}; ids must be integers")
    is_tensor = isinstance(num_classes, Tensor)
    if is_tensor:
        n = number("one_hot", num_classes, "num_classes")
    else:
        n = to_int(num_classes)
    # The number of classes is a shape, so the ids have to be looked at.
    if n == -1:
        if x.size == 0:
            raise ValueError("one_hot: num_classes: got -1 with an empty x; give the number of classes")
        n = int(host_value(x, "one_hot", "give num_classes").max()) + 1
    check_ids("one_hot", "x", x, n)
    return _one_hot(x, n)


@known_as(amp="lookup_table_v2", pir="embedding", code="sequences:lookup")
@op("x weight", method=False, register=False)
def _lookup(x: jax.Array, weight: jax.Array, padding_idx: int, by_frequency: bool = False) -> jax.Array:
    if by_frequency:
        weight = _frequency_scaled(x, weight)
    # Only an empty x fits here, and a gather refuses a table without rows.
    if weight.shape[0] == 0:
        return jnp.zeros((*x.shape, weight.shape[1]), weight.dtype)
    x = narrowed(x)
    places = lax.GatherDimensionNumbers(
        offset_dims=(x.ndim,), collapsed_slice_dims=(0,), start_index_map=(0,)
    )
    # A row that does not exist is NaN, so that a mistake shows.
    if jnp.issubdtype(weight.dtype, jnp.inexact):
        wrong = jnp.nan
    else:
        wrong = 0
    rows = lax.gather(
        weight, lax.expand_dims(x, (x.ndim,)), places, (1, weight.shape[1]), mode="fill", fill_value=wrong
    )
    # Ids of the padding get zeros in place of their row.
    padding = lax.broadcast_in_dim(x == padding_idx, rows.shape, tuple(range(x.ndim)))
    # The padding's row is zeros, and gets no gradient.
    return lax.select(padding, lax.full_like(rows, 0), rows)


def _frequency_scaled(x: jax.Array, weight: jax.Array) -> jax.Array:
    """weight with a gradient that is divided by how often each row occurs in x."""
    counts = jnp.maximum(jnp.bincount(x.ravel(), length=weight.shape[0]), 1).astype(weight.dtype)[:, None]
    share = weight / counts
    # The value stays; only the gradient is divided. The difference comes first: it is exactly 0.
    return jax.lax.stop_gradient(weight) + (share - jax.lax.stop_gradient(share))


# ~ where the real Paddle's gradient shows the used rows only
@known_as(pir="embedding(x,weight) padding_idx:i64?=-1 sparse:bool=False", code="sequences:embedding")
@composite(
    method=False,
    alias={"input": "x"},
    cases=[
        "const([0,2]), f(3,2)",
        "const([0,3]), f(3,2)",
        "const([0,-1]), f(3,2)",
        "const([0,2]), f(3,2), padding_idx=-1",
        "const([0,2,2,1]), f(3,2), padding_idx=2",
        "const([0,2]), f(3,2), padding_idx=3",
        "f(2), f(3,2)",
        "const([0,2],'int32'), f(3,2)",
        "const(1), f(3,2)",
        "idx(3,0,2), f(3,2)",
        "idx(3,2), f(3)",
        "idx(3,2,2), d(3,4)",
        "~const([0,2]), f(3,2), sparse=True",
        "const([0,2,2]), f(3,2), scale_grad_by_freq=True",
    ],
)
def embedding(
    x: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
    name: str | None = None,
) -> Tensor:
    """Looks up rows of a table.

    Args:
        x: int32 or int64 Tensor [...] of row numbers. `input` is accepted as a name.
        weight: Tensor [rows, width].
        padding_idx: int in -rows..rows-1: this row number gives zeros and gets no gradient.
        max_norm: rows in use that are longer are first shortened to this norm, in place.
        norm_type: which p-norm max_norm means.
        sparse: tell optimizers which rows were used; `Adam(lazy_mode=True)` leaves the others alone.
        scale_grad_by_freq: divide the gradient of a row by how often it occurs in x.
    Returns:
        Tensor [..., width].
    Raises:
        ValueError: a row number or padding_idx is out of range. In a branch or loop of a compiled function a
            bad row number gives NaN.
    Example:
        >>> paddle.nn.functional.embedding(paddle.to_tensor([1]), paddle.to_tensor([[1.0], [2.0]])).tolist()
        [[2.0]]
    """
    if numpy_dtype(x) not in (np.int32, np.int64):
        raise NotImplementedError(f"embedding: x: got {x.dtype}; row numbers must be int32 or int64")
    if weight.ndim != 2:
        raise ValueError(f"embedding: weight: got shape {list(weight.shape)}; it must have 2 axes")
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise ValueError(f"embedding: padding_idx: got {padding_idx}; it must be in {-rows}..{rows - 1}")
    # -1 is no row: nothing is padding.
    padding = -1 if padding_idx is None else padding_idx % rows
    check_ids("embedding", "x", x, rows, allowed=-1 if padding_idx is None else None)
    if max_norm is not None:
        _renorm(x, weight, float(max_norm), float(norm_type))
    if sparse and scale_grad_by_freq:
        raise AttributeError(
            "embedding: scale_grad_by_freq: got True with sparse=True; set one of them to False"
        )
    found = _lookup(x, weight, padding, bool(scale_grad_by_freq))
    if sparse:
        # The optimizer finds the rows that were used, in place of a full gradient.
        record_lookup(found, x, weight, padding)
    return found


@op("x weight", method=False, register=False, nondiff=True)
def _shortened(x: jax.Array, weight: jax.Array, max_norm: float, norm_type: float) -> jax.Array:
    norms = jnp.linalg.norm(weight, norm_type, axis=1, keepdims=True)
    used = jnp.zeros(weight.shape[0], bool).at[x.ravel()].set(True)[:, None]
    # The small number is torch's and Paddle's, against a norm of 0.
    return jnp.where(used & (norms > max_norm), weight * (max_norm / (norms + 1e-7)), weight)


def _renorm(x: Tensor, weight: Tensor, max_norm: float, norm_type: float) -> None:
    assign_from(weight, _shortened(x.detach(), weight.detach(), max_norm, norm_type))
