"""Masks of attention that are kept as what they mean, and made as numbers when they are needed
(`paddle.incubate.nn.attn_bias`)."""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.joining import concat
from paddle_jax.tensor.manipulation import cast

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


def _starts(lengths: Sequence[int]) -> list[int]:
    """Where sequences start that lie one after the other, and their total."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(int).tolist()


# 0 where a key is seen, -infinity elsewhere.
def _hidden_above(rows: int, columns: int, diagonal: int = 0) -> np.ndarray:
    """Zeros on and below a diagonal, minus infinity above it."""
    return np.where(np.arange(columns) <= np.arange(rows)[:, None] + diagonal, 0.0, -math.inf)


def _expanded_mask(matrix: np.ndarray, shape: Sequence[int], dtype: str) -> Tensor:
    """A matrix as a Tensor of a shape whose last axes are its own."""
    made = cast(to_tensor(matrix.astype("float32")), dtype)
    if len(shape) > 2:
        return made.expand(list(shape))
    return made


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise AssertionError(text)


class AttentionBias(abc.ABC):
    """A mask for attention. Subclasses say what it is made of."""

    @abc.abstractmethod
    def materialize(self, shape: Any, dtype: DTypeLike = "float32") -> Any:
        """Returns the numbers to add to attention scores of a shape [..., queries, keys]."""


class LowerTriangularMask(AttentionBias):
    """Query i sees keys 0 to i.

    Example:
        >>> from paddle_jax.incubate.nn.attn_bias import LowerTriangularMask
        >>> LowerTriangularMask().materialize([2, 2]).tolist()
        [[0.0, -inf], [0.0, 0.0]]
    """

    def materialize(self, shape: Any, dtype: DTypeLike = "float32") -> Tensor:
        """Returns the numbers to add to attention scores of a shape [..., queries, keys]."""
        return _expanded_mask(_hidden_above(shape[-2], shape[-1]), shape, dtype)

    def add_bias(self, bias: Tensor) -> LowerTriangularMaskWithTensorBias:
        """Returns a mask that adds numbers to the scores besides."""
        return LowerTriangularMaskWithTensorBias(bias)


class LowerTriangularMaskWithTensorBias(LowerTriangularMask):
    """Query i sees keys 0 to i; numbers are added to the scores.

    Args:
        bias: Tensor that broadcasts with the scores.
    Example:
        >>> from paddle_jax.incubate.nn.attn_bias import LowerTriangularMaskWithTensorBias
        >>> LowerTriangularMaskWithTensorBias(paddle.ones([2, 2])).materialize([2, 2]).tolist()
        [[1.0, -inf], [1.0, 1.0]]
    """

    def __init__(self, bias: Tensor) -> None:
        self._bias = bias

    def materialize(self, shape: Any, dtype: DTypeLike = "float32") -> Tensor:
        """Returns the numbers to add to attention scores of a shape [..., queries, keys]."""
        return super().materialize(shape, dtype) + cast(self._bias, dtype)


@dataclasses.dataclass
class SeqLenInfo:
    """Lengths of sequences that lie one after the other.

    Args:
        seqstart: int32 Tensor [sequences + 1]: where each starts, and the total.
        max_seqlen: the largest length.
        seqstart_py: seqstart as a list.
    Example:
        >>> from paddle_jax.incubate.nn.attn_bias import SeqLenInfo
        >>> list(SeqLenInfo.from_seqlens([2, 1]).intervals())
        [(0, 2), (2, 3)]
    """

    seqstart: Tensor
    max_seqlen: int
    seqstart_py: list[Any]

    def intervals(self) -> Iterator[Any]:
        """Yields (start, end) of each sequence."""
        yield from zip(self.seqstart_py, self.seqstart_py[1:], strict=False)

    @classmethod
    def from_seqlens(cls, seqlens: Any) -> SeqLenInfo:
        """Makes one from a list of lengths."""
        starts = _starts(seqlens)
        return cls(to_tensor(np.array(starts, np.int32)), max(seqlens, default=-1), starts)

    def split(self, x: Tensor, batch_sizes: Any = None) -> list[Any]:
        """Cuts a Tensor [1, total, ...] into those of the sequences; batch_sizes[i] neighbours of one length
        become one Tensor."""
        _require(
            x.shape[0] == 1 and x.shape[1] == self.seqstart_py[-1],
            f"split: x: got shape {list(x.shape)}; it must be [1, {self.seqstart_py[-1]}, ...]",
        )
        parts = []
        at = 0
        for size in [1] * (len(self.seqstart_py) - 1) if batch_sizes is None else batch_sizes:
            # Sequences lie one after the other in a single row.
            part = x[:, self.seqstart_py[at] : self.seqstart_py[at + size]]
            parts.append(part.reshape([size, -1, *part.shape[2:]]))
            at += size
        return parts


@dataclasses.dataclass
class PaddedSeqLenInfo(SeqLenInfo):
    """Lengths of sequences that each have the same room.

    Args:
        seqstart, max_seqlen, seqstart_py: as for `SeqLenInfo`.
        seqlen: int32 Tensor [sequences]: the lengths.
        seqlen_py: seqlen as a list.
    Example:
        >>> from paddle_jax.incubate.nn.attn_bias import PaddedSeqLenInfo
        >>> list(PaddedSeqLenInfo.from_seqlens_padded([3, 2], 4).intervals())
        [(0, 3), (4, 6)]
    """

    seqlen: Tensor
    seqlen_py: list[Any]

    def intervals(self) -> Iterator[Any]:
        """Yields (start, end) of each sequence."""
        for start, length in zip(self.seqstart_py, self.seqlen_py, strict=False):
            yield start, start + length

    @classmethod
    def from_seqlens(cls, seqlens: Any) -> Any:
        """Is not allowed: the room has to be said."""
        raise NotImplementedError(
            "PaddedSeqLenInfo.from_seqlens: the room of each sequence is not known; use from_seqlens_padded"
        )

    @classmethod
    def from_seqlens_padded(cls, seqlens: Any, padding: Any) -> PaddedSeqLenInfo:
        """Makes one from a list of lengths and the room for each."""
        _require(
            all(length <= padding for length in seqlens),
            f"from_seqlens_padded: seqlens: got {list(seqlens)}; all must be at most {padding}",
        )
        # One start more, which is the end of the last sequence.
        starts = list(range(0, len(seqlens) * padding + 1, padding))
        return cls(
            to_tensor(np.array(starts, np.int32)),
            max(seqlens),
            starts,
            to_tensor(np.array(seqlens, np.int32)),
            seqlens,
        )

    def split(self, x: Tensor, batch_sizes: Any = None) -> Any:
        """Is not allowed: between sequences there is room that belongs to none."""
        raise NotImplementedError(
            "PaddedSeqLenInfo.split: sequences with room between them are not cut; use intervals"
        )


def _blocks(
    shape: Sequence[int],
    queries: SeqLenInfo,
    keys: PaddedSeqLenInfo | SeqLenInfo,
    diagonals: Sequence[int] | None,
) -> np.ndarray:
    """Minus infinity but for one block for each pair of sequences, in which diagonals[i] (None: nothing
    hidden) says what is seen."""
    matrix = np.full((shape[-2], shape[-1]), -math.inf)
    for i, ((a, b), (c, d)) in enumerate(zip(queries.intervals(), keys.intervals(), strict=True)):
        matrix[a:b, c:d] = 0.0 if diagonals is None else _hidden_above(b - a, d - c, diagonals[i])
    return matrix


@dataclasses.dataclass
class BlockDiagonalMask(AttentionBias):
    """Several sequences, one after the other; each sees itself only.

    Args:
        q_seqinfo, k_seqinfo: SeqLenInfo of queries and of keys.
        _batch_sizes: how many neighbours of one length were one Tensor.
    Example:
        >>> from paddle_jax.incubate.nn.attn_bias import BlockDiagonalMask
        >>> BlockDiagonalMask.from_seqlens([1, 2]).materialize([3, 3]).tolist()
        [[0.0, -inf, -inf], [-inf, 0.0, 0.0], [-inf, 0.0, 0.0]]
    """

    q_seqinfo: SeqLenInfo
    k_seqinfo: SeqLenInfo
    _batch_sizes: list[Any] | None = None

    def _diagonals(self) -> None:
        return None

    def materialize(self, shape: Any, dtype: DTypeLike = "float32") -> Tensor:
        """Returns the numbers to add to attention scores of a shape [..., queries, keys]."""
        totals = [self.q_seqinfo.seqstart_py[-1], self.k_seqinfo.seqstart_py[-1]]
        _require(
            list(shape[-2:]) == totals,
            f"materialize: shape: got {list(shape)}; its last axes must be {totals}",
        )
        return _expanded_mask(_blocks(shape, self.q_seqinfo, self.k_seqinfo, self._diagonals()), shape, dtype)

    @classmethod
    def from_seqlens(cls, q_seqlen: Any, kv_seqlen: Any = None) -> BlockDiagonalMask:
        """Makes a mask from lists of lengths, of queries and of keys (default: the same)."""
        _require(
            kv_seqlen is None or len(q_seqlen) == len(kv_seqlen),
            f"from_seqlens: got {len(q_seqlen)} lengths and another number for keys",
        )
        queries = SeqLenInfo.from_seqlens(q_seqlen)
        # Self-attention: both sides share the object, which `split` asks for.
        same = kv_seqlen is None or list(q_seqlen) == list(kv_seqlen)
        return cls(queries, queries if same else SeqLenInfo.from_seqlens(kv_seqlen))

    @classmethod
    def from_tensor_list(cls, tensors: Sequence[Tensor]) -> tuple[BlockDiagonalMask, Any]:
        """Joins Tensors [batch, length, ...] to [1, total, ...]; returns (mask, Tensor)."""
        sizes = [tensor.shape[0] for tensor in tensors]
        mask = cls.from_seqlens([tensor.shape[1] for tensor in tensors for _ in range(tensor.shape[0])])
        # `split` gives a Tensor for each of those that were joined.
        mask._batch_sizes = sizes
        return mask, concat([tensor.reshape([1, -1, *tensor.shape[2:]]) for tensor in tensors], 1)

    @classmethod
    def from_tensor_lists_qkv(
        cls, tensors_q: Sequence[Tensor], tensors_k: Sequence[Tensor], tensors_v: Any = None
    ) -> tuple[BlockDiagonalMask | Tensor | None, ...]:
        """Joins lists of Tensors [batch, length, ...]; returns (mask, queries, keys, values or None)."""
        _require(
            len(tensors_q) == len(tensors_k) and (tensors_v is None or len(tensors_v) == len(tensors_q)),
            "from_tensor_lists_qkv: the lists have different lengths; they must have one",
        )
        lengths = [
            [t.shape[1] for t in tensors for _ in range(t.shape[0])] for tensors in (tensors_q, tensors_k)
        ]
        mask = cls.from_seqlens(*lengths)
        mask._batch_sizes = [tensor.shape[0] for tensor in tensors_q]
        joined = [
            None if ts is None else concat([t.reshape([1, -1, *t.shape[2:]]) for t in ts], 1)
            for ts in (tensors_q, tensors_k, tensors_v)
        ]
        return mask, *joined

    def split_queries(self, tensor: Tensor) -> list[Any]:
        """Cuts a Tensor [1, total, ...] into those of the sequences of queries."""
        return self.q_seqinfo.split(tensor, self._batch_sizes)

    def split_kv(self, tensor: Tensor) -> list[Any]:
        """Cuts a Tensor [1, total, ...] into those of the sequences of keys."""
        return self.k_seqinfo.split(tensor, self._batch_sizes)

    def split(self, tensor: Tensor) -> list[Any]:
        """Cuts a Tensor [1, total, ...] into those of the sequences; those of queries and keys
        must be the same."""
        _require(
            self.q_seqinfo is self.k_seqinfo,
            "split: queries and keys have different lengths; use split_queries or split_kv",
        )
        return self.q_seqinfo.split(tensor, self._batch_sizes)

    def make_causal(self) -> BlockDiagonalCausalMask:
        """Returns a mask where in each sequence query i sees keys 0 to i."""
        return BlockDiagonalCausalMask(self.q_seqinfo, self.k_seqinfo, self._batch_sizes)


@dataclasses.dataclass
class BlockDiagonalCausalMask(BlockDiagonalMask):
    """Several sequences, one after the other; in each query i sees keys 0 to i.

    Example:
        >>> from paddle_jax.incubate.nn.attn_bias import BlockDiagonalCausalMask
        >>> BlockDiagonalCausalMask.from_seqlens([1, 2]).materialize([3, 3]).tolist()
        [[0.0, -inf, -inf], [-inf, 0.0, -inf], [-inf, 0.0, 0.0]]
    """

    def _diagonals(self) -> list[int]:
        return [0] * (len(self.q_seqinfo.seqstart_py) - 1)


@dataclasses.dataclass
class BlockDiagonalCausalWithOffsetPaddedKeysMask(AttentionBias):
    """Several sequences with room between their keys; in each query i sees keys 0 to i + offset.

    Args:
        q_seqinfo: SeqLenInfo of queries.
        k_seqinfo: PaddedSeqLenInfo of keys.
        causal_diagonal: int Tensor [sequences]: the offsets. Default: 0.
    Example:
        >>> from paddle_jax.incubate.nn.attn_bias import BlockDiagonalCausalWithOffsetPaddedKeysMask
        >>> mask = BlockDiagonalCausalWithOffsetPaddedKeysMask.from_seqlens([1, 1], 2, [1, 2])
        >>> mask.materialize([2, 4]).tolist()
        [[0.0, -inf, -inf, -inf], [-inf, -inf, 0.0, -inf]]
    """

    q_seqinfo: SeqLenInfo
    k_seqinfo: PaddedSeqLenInfo
    causal_diagonal: Tensor | None = None

    def materialize(self, shape: Any, dtype: DTypeLike = "float32") -> Tensor:
        """Returns the numbers to add to attention scores of a shape [..., queries, keys]."""
        totals = [self.q_seqinfo.seqstart_py[-1], self.k_seqinfo.seqstart_py[-1]]
        _require(
            list(shape[-2:]) == totals,
            f"materialize: shape: got {list(shape)}; its last axes must be {totals}",
        )
        if self.causal_diagonal is None:
            offsets = [0] * (len(self.q_seqinfo.seqstart_py) - 1)
        else:
            offsets = [int(v.item()) for v in self.causal_diagonal]
        return _expanded_mask(_blocks(shape, self.q_seqinfo, self.k_seqinfo, offsets), shape, dtype)

    @classmethod
    def from_seqlens(
        cls, q_seqlen: Any, kv_padding: Any, kv_seqlen: Any, causal_diagonal: Tensor | None = None
    ) -> BlockDiagonalCausalWithOffsetPaddedKeysMask:
        """Makes a mask from the lengths of queries, the room for the keys of each sequence,
        and their lengths."""
        _require(
            len(q_seqlen) == len(kv_seqlen),
            f"from_seqlens: got {len(q_seqlen)} and {len(kv_seqlen)} lengths; they must be equally many",
        )
        return cls(
            SeqLenInfo.from_seqlens(q_seqlen),
            PaddedSeqLenInfo.from_seqlens_padded(kv_seqlen, kv_padding),
            causal_diagonal,
        )
