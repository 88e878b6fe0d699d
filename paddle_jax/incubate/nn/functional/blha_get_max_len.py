"""The largest lengths of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def blha_get_max_len(
    seq_lens_encoder: Tensor, seq_lens_decoder: Tensor, batch_size: Tensor
) -> tuple[Any, Any]:
    """The largest length in each of two lists.

    Args:
        seq_lens_encoder, seq_lens_decoder: int32 Tensors [batch] or [batch, 1].
        batch_size: Tensor [batch]; accepted.
    Returns:
        (Tensor [1], Tensor [1]).
    Example:
        >>> n = paddle.to_tensor([[3], [5]], dtype="int32")
        >>> [t.tolist() for t in paddle.incubate.nn.functional.blha_get_max_len(n, n * 0, paddle.ones([2]))]
        [[5], [0]]
    """
    return seq_lens_encoder.max().reshape([1]), seq_lens_decoder.max().reshape([1])
