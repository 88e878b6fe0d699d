"""Masks of sequences, beam search traces, shifts in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.size import index_range
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lengths import to_int
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.tensor import Tensor, host_value
from paddle_jax.tensor.axes import check_index, guarded, may_be_outside, number
from paddle_jax.tensor.matrices import diag_embed as diag_embed

if TYPE_CHECKING:
    import jax


@known_as(code="sequence_losses:mask")
@op(method=False, register=False, nondiff=True)
def _mask(x: jax.Array, maxlen: int, dtype: Any) -> jax.Array:
    return (index_range(maxlen) < x[..., None]).astype(dtypes.convert(dtype).np)


@known_as(code="selections:sequence_mask")
@composite(
    method=False,
    cases=[
        "const([1,3,2])",
        "const([1,3,2]), 4, 'float32'",
        "const([[1,3],[2,0]]), maxlen=paddle.to_tensor(2)",
        "f(2), 3",
        "const(2), 3",
        "const([1,3],'int32'), 5, dtype='bool'",
    ],
)
def sequence_mask(x: Tensor, maxlen: Any = None, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """1 for positions inside each sequence, 0 beyond its end.

    Args:
        x: Tensor [...]: lengths.
        maxlen: int or Tensor: length of the masks. Default: the largest length.
        dtype: dtype of the result.
    Returns:
        Tensor [..., maxlen].
    Raises:
        ValueError: maxlen has more than one element. RuntimeError: it is 0.
    Example:
        >>> paddle.nn.functional.sequence_mask(paddle.to_tensor([1, 3])).tolist()
        [[1, 0, 0], [1, 1, 1]]
    """
    if isinstance(maxlen, Tensor):
        if maxlen.size != 1:
            raise ValueError(
                f"sequence_mask: maxlen: got shape {list(maxlen.shape)}; it must have one element"
            )
        maxlen = number("sequence_mask", maxlen.reshape([]), "maxlen")
    elif maxlen == 0:
        raise RuntimeError(
            "sequence_mask: maxlen: got 0; it must be at least 1, or None for the largest length"
        )
    # The longest sequence decides a shape, so the host looks at it.
    if maxlen is None or maxlen < 0:
        maxlen = host_value(x, "sequence_mask", "give maxlen").max(initial=0)
    return _mask(x, to_int(maxlen), dtypes.convert(dtype))


@op("parents", method=False, register=False, nondiff=True)
def _links(parents: jax.Array) -> jax.Array:
    """The parents that `gather_tree` follows; those of the first step have no effect."""

    def back(beam: jax.Array, parent: jax.Array) -> tuple[jax.Array, jax.Array]:
        # Numbers outside are clipped here; the check reports them.
        taken = jnp.take_along_axis(parent, jnp.clip(beam, 0, parent.shape[1] - 1), 1)
        return taken, taken

    start = jnp.broadcast_to(jnp.arange(parents.shape[2], dtype=parents.dtype), parents.shape[1:])
    return lax.scan(back, start, parents[1:], reverse=True)[1]


def _check_parents(ids: Any, parents: Any) -> None:
    """Refuses parents that are no beams, if they are followed."""
    if not isinstance(ids, Tensor) or not isinstance(parents, Tensor) or ids.shape != parents.shape:
        return  # the op refuses these
    if parents.ndim != 3 or 0 in parents.shape or parents.shape[0] == 1:
        return
    if may_be_outside(parents, parents.shape[2]):
        # Parents are checked along the beams that are used.
        check_index("gather_tree", _links(parents), parents.shape[2], ValueError, low=0, name="parents")


@guarded(_check_parents)
@known_as(pir="gather_tree")
@op(
    "ids parents",
    method=False,
    nondiff=True,
    cases=[
        (
            "const([[[2,2],[6,1]],[[3,9],[6,1]],[[0,1],[9,0]]]), "
            "const([[[0,0],[1,1]],[[1,0],[1,0]],[[0,0],[0,1]]])"
        ),
        "const([[2,2]]), const([[0,0]])",
        "idx(9,4,1,3), idx(3,4,1,3)",
        "idx32(9,3,2,2), idx32(2,3,2,2)",
        "idx(9,4,1,3), idx(3,4,1,2)",
    ],
)
def gather_tree(ids: jax.Array, parents: jax.Array) -> jax.Array:
    """Follows beam search steps back from the last one, so that each beam holds its whole sequence.

    Args:
        ids: int Tensor [time, batch, beam]: the token chosen at each step.
        parents: int Tensor of the same shape: which beam it continued.
    Returns:
        Tensor [time, batch, beam].
    Raises:
        ValueError: the shapes are not equal or not 3-D, or a parent that is followed is out of range.
    Example:
        >>> ids, parents = paddle.to_tensor([[[1, 2]], [[3, 4]]]), paddle.to_tensor([[[0, 0]], [[1, 0]]])
        >>> paddle.nn.functional.gather_tree(ids, parents).tolist()
        [[[2, 1]], [[3, 4]]]
    """
    if ids.ndim != 3 or ids.shape != parents.shape:
        kind = "(InvalidArgument) " if ids.ndim == 3 else ""
        raise ValueError(
            f"{kind}gather_tree: ids, parents: got shapes {list(ids.shape)} and "
            f"{list(parents.shape)}; both must be [time, batch, beam]"
        )

    def back(beam: jax.Array, step: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        token, parent = step
        return jnp.take_along_axis(parent, beam, 1), jnp.take_along_axis(token, beam, 1)

    start = jnp.broadcast_to(jnp.arange(ids.shape[2], dtype=parents.dtype), ids.shape[1:])
    # From the last step back, each beam follows its parent.
    return lax.scan(back, start, (ids, parents), reverse=True)[1]


@known_as(pir="temporal_shift seg_num:i32 shift_ratio:f32 data_format:str='NCHW'")
@op(
    method=False,
    cases=[
        "f(4,4,1,2), 2",
        "f(4,4,0,2), 2",
        "f(4,0,2,2), 2",
        "f(0,4,2,2), 2",
        "f(4,8,1,2), 2, 0.3",
        "f(4,1,2,4), 2, 0.25, None, 'NHWC'",
        "f(3,4,1,2), 2",
        "f(4,4,1,2), 2, 0.7",
        "f(4,4,2), 2",
        "d(6,4,2,2), 3",
        "f(4,4,1,2), 2, data_format='X'",
    ],
)
def temporal_shift(
    x: jax.Array, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW"
) -> jax.Array:
    """Moves part of the channels one frame forward and part one frame back in time.

    Args:
        x: Tensor [N * T, C, H, W] or [N * T, H, W, C].
        seg_num: int T, frames of a sequence.
        shift_ratio: part of the channels that takes the values of the frame before, and as many of the frame
            after; below 0.5.
        data_format: "NCHW" or "NHWC".
    Returns:
        Tensor of the shape of x, with zeros beyond the ends.
    Raises:
        ValueError: an argument does not fit x.
    Example:
        >>> x = paddle.to_tensor([1.0, 2.0]).reshape([2, 1, 1, 1]).expand([2, 4, 1, 1])
        >>> paddle.nn.functional.temporal_shift(x, 2)[0].flatten().tolist()
        [0.0, 2.0, 1.0, 1.0]

    See: Lin et al., TSM: Temporal Shift Module, 2018.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"temporal_shift: data_format: got {data_format!r}; allowed are NCHW and NHWC")
    if x.ndim != 4 or seg_num <= 0 or x.shape[0] % seg_num:
        raise ValueError(
            f"temporal_shift: seg_num: got {seg_num} for shape {list(x.shape)}; "
            "x must have 4 axes, the first a multiple of seg_num"
        )
    if not 0 < shift_ratio < 0.5:
        raise ValueError(f"temporal_shift: shift_ratio: got {shift_ratio}; it must be between 0 and 0.5")
    axis = 1 if data_format == "NCHW" else 3
    one = int(x.shape[axis] * shift_ratio)
    # Both parts together, rounded once.
    two = int(x.shape[axis] * 2 * shift_ratio)
    frames = x.reshape(x.shape[0] // seg_num, seg_num, *x.shape[1:])
    # One part comes from the frame before, one from the frame behind (Lin and others, 2019).
    before, after, same = jnp.split(frames, [one, two], axis + 1)
    zero = [(0, 0)] * frames.ndim
    # Zeros where no frame is.
    before = jnp.pad(before, [*zero[:1], (1, 0), *zero[2:]])[:, :-1]
    after = jnp.pad(after, [*zero[:1], (0, 1), *zero[2:]])[:, 1:]
    return jnp.concatenate([before, after, same], axis + 1).reshape(x.shape)
