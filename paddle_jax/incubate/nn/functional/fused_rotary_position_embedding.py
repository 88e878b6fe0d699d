"""Rotary position embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.nn.functional.precision import widened
from paddle_jax.tensor.gathering import gather
from paddle_jax.tensor.joining import concat, stack
from paddle_jax.tensor.manipulation import cast, reshape, transpose
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def rotated(x: Tensor, neighbours: bool) -> Tensor:
    """Pairs (a, b) as (-b, a): pairs of neighbours, or of the two halves of the last axis."""
    if neighbours:
        return reshape(stack([-x[..., 1::2], x[..., 0::2]], -1), x.shape)
    half = x.shape[-1] // 2
    return concat([-x[..., half:], x[..., :half]], -1)


def angles(positions: Tensor, width: Any, base: Any, neighbours: bool) -> Tensor:
    """float32 [..., width]: the angle of each number at the given positions."""
    # In float32: positions above 256 are not exact in half precision.
    rates = base ** (arange(0, width, 2, dtype="float32") * (-1.0 / width))
    half = cast(positions, "float32").unsqueeze(-1) * rates
    if neighbours:
        return reshape(stack([half, half], -1), [*half.shape[:-1], width])
    return concat([half, half], -1)


def _table(name: str, table: Tensor, length: int, width: int, position_ids: Tensor | None) -> Tensor:
    """A table of sines or cosines as [1 or batch, length, 1, width]."""
    if table.ndim not in (2, 4) or table.ndim == 4 and (table.shape[0] != 1 or table.shape[2] != 1):
        raise ValueError(
            f"fused_rotary_position_embedding: {name}: got shape {list(table.shape)}; "
            "it must be [length, width] or [1, length, 1, width]"
        )
    table = reshape(table, [table.shape[-3] if table.ndim == 4 else table.shape[0], table.shape[-1]])
    if table.shape[1] != width or position_ids is None and table.shape[0] < length:
        raise ValueError(
            f"fused_rotary_position_embedding: {name}: got length {table.shape[0]} and width "
            f"{table.shape[1]}; at least length {length} and width {width} are needed"
        )
    if position_ids is None:
        return table[:length].unsqueeze(0).unsqueeze(2)
    rows = gather(table, reshape(position_ids, [-1]))
    return reshape(rows, [*position_ids.shape, 1, width])


def fused_rotary_position_embedding(
    q: Tensor,
    k: Sequence[Tensor] | None = None,
    v: Sequence[Tensor] | None = None,
    sin: Tensor | None = None,
    cos: Tensor | None = None,
    position_ids: Tensor | None = None,
    use_neox_rotary_style: bool = True,
    time_major: bool = False,
    rotary_emb_base: Any = 10000.0,
) -> tuple[Any | None, ...]:
    """Rotates pairs of numbers of each head by angles that grow with the position: x * cos +
    rotated(x) * sin.

    Differs from Paddle: works on the CPU; position_ids are also used without tables.

    Args:
        q: Tensor [batch, length, heads, width], width even; with time_major [length, batch, heads, width].
        k, v: Tensors of that form, also with fewer heads, or None.
        sin, cos: Tensors [length, width] or [1, length, 1, width]: both or none. Default: of the angles
            position * rotary_emb_base ** (-2 i / width) for pair i.
        position_ids: int Tensor [batch, length]: the rows of sin and cos to use. Default: 0, 1, 2, ...
        use_neox_rotary_style: True pairs neighbours (0, 1), (2, 3), ...; False pairs the halves (0, width /
            2), (1, width / 2 + 1), ...
        time_major: whether length is the first axis.
        rotary_emb_base: base of the angles.
    Returns:
        (q, k, v) rotated; None for what was not given.
    Raises:
        ValueError: shapes do not fit, or only one of sin and cos is given.
    Example:
        >>> x = paddle.to_tensor([1.0, 0.0]).reshape([1, 1, 1, 2]); ids = paddle.to_tensor([[0]])
        >>> q, k, v = paddle.incubate.nn.functional.fused_rotary_position_embedding(x, position_ids=ids)
        >>> q.flatten().tolist(), k
        ([1.0, 0.0], None)

    See: Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021, section 3.2.2.
    """
    for what, x in (("q", q), ("k", k), ("v", v)):
        if x is not None and (x.ndim != 4 or x.shape[3] % 2 or x.shape[3] != q.shape[3]):
            raise ValueError(
                f"fused_rotary_position_embedding: {what}: got shape {list(x.shape)}; "
                "it must have 4 axes, the last even and as in q"
            )
    if (sin is None) != (cos is None):
        raise ValueError("fused_rotary_position_embedding: sin, cos: got only one of them; give both or none")
    length = q.shape[0 if time_major else 1]
    width = q.shape[3]
    if sin is None:
        if position_ids is None:
            # One row for all sequences of the batch.
            places = arange(length).unsqueeze(0)
        else:
            places = position_ids
        angle = angles(places, width, rotary_emb_base, use_neox_rotary_style).unsqueeze(2)
        sin, cos = angle.sin(), angle.cos()
    else:
        sin, cos = (
            _table(name, table, length, width, position_ids) for name, table in (("sin", sin), ("cos", cos))
        )
    # The tables follow the axes of q, where the sequence comes first.
    if time_major:
        sin, cos = transpose(sin, [1, 0, 2, 3]), transpose(cos, [1, 0, 2, 3])

    def turned(x: Tensor) -> Tensor:
        wide = widened(x)
        return cast(
            (wide * cast(cos, wide.dtype) + rotated(wide, use_neox_rotary_style) * cast(sin, wide.dtype)),
            x.dtype,
        )

    return tuple(None if x is None else turned(x) for x in (q, k, v))
