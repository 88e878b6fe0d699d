"""The Viterbi decoder of linear-chain conditional random fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.tensor import Tensor, host_value
from paddle_jax.nn import Layer

if TYPE_CHECKING:
    import jax

__all__ = ["ViterbiDecoder", "viterbi_decode"]


@op("potentials transitions lengths", nondiff=True, method=False, register=False)
def _decode(
    potentials: jax.Array, transitions: jax.Array, lengths: jax.Array, bounded: bool
) -> tuple[jax.Array, jax.Array]:
    """Scores [batch] and paths [batch, steps], zeros beyond the end of each."""
    steps = potentials.shape[1]
    last = lengths[:, None] - 1
    if bounded:
        # By Paddle's rule the last tag is the beginning and the one before it the end.
        stop = transitions[-2]
    else:
        stop = jnp.zeros_like(transitions[0])
    alpha = potentials[:, 0] + (transitions[-1] if bounded else 0.0)
    # Sequences of one step end at once.
    alpha = jnp.where(last == 0, alpha + stop, alpha)

    def forward(alpha: jax.Array, item: Any) -> tuple[Any, Any]:
        step, potential = item
        scores = alpha[:, :, None] + transitions
        new = scores.max(1) + potential + jnp.where(last == step, stop, 0.0)
        # Beyond its end the scores of a sequence stay.
        return jnp.where(step <= last, new, alpha), scores.argmax(1)

    alpha, back = lax.scan(forward, alpha, (jnp.arange(1, steps), jnp.moveaxis(potentials[:, 1:], 1, 0)))

    def backward(tag: jax.Array, item: Any) -> tuple[Any, Any]:
        step, came_from = item
        before = jnp.take_along_axis(came_from, tag[:, None], 1)[:, 0]
        inside = step <= last[:, 0]
        # Behind the end the best last tag waits; the path has zeros there.
        return jnp.where(inside, before, tag), jnp.where(inside, tag, 0)

    first, rest = lax.scan(backward, alpha.argmax(1), (jnp.arange(1, steps), back), reverse=True)
    # An empty sequence has no first tag either.
    paths = jnp.concatenate([jnp.where(last[:, 0] >= 0, first, 0)[None], rest]).T
    return alpha.max(1), paths.astype(jnp.int64)


@known_as(code="data_dependent:viterbi")
@composite(method=False, register=False)
def viterbi_decode(
    potentials: Tensor,
    transition_params: Tensor,
    lengths: Tensor,
    include_bos_eos_tag: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Finds the sequences of tags with the highest scores.

    A score is the sum of the potentials of the tags and of the transitions between neighbours.

    Args:
        potentials: float32 or float64 Tensor [batch, steps, tags].
        transition_params: Tensor [tags, tags] of the same dtype; entry [i, j] is for tag j after tag i.
        lengths: int64 Tensor [batch], the lengths of the sequences.
        include_bos_eos_tag: the last row of `transition_params` is for the beginning of a sequence, the last
            but one for its end. Default True.
    Returns:
        (scores [batch], int64 paths [batch, largest length]); paths are filled up with zeros.
    Raises:
        ValueError: shapes or dtypes do not fit, or an argument is no Tensor.
        IndexError: a length is larger than the number of steps.
        RuntimeError: all lengths are negative, or the dtypes differ.
    Example:
        >>> potentials = paddle.to_tensor([[[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]])
        >>> scores, paths = paddle.text.viterbi_decode(potentials, paddle.zeros([2, 2]),
        ...                                            paddle.to_tensor([3]), False)
        >>> scores.tolist(), paths.tolist()
        ([6.0], [[0, 1, 0]])
    """
    for argument, value in (
        ("potentials", potentials),
        ("transition_params", transition_params),
        ("lengths", lengths),
    ):
        if not isinstance(value, Tensor):
            raise ValueError(f"viterbi_decode: {argument}: got {type(value).__name__}; it must be a Tensor")
    shapes = [list(value.shape) for value in (potentials, transition_params, lengths)]
    fit = (
        [len(shape) for shape in shapes] == [3, 2, 1]
        and shapes[1] == [shapes[0][2]] * 2
        and shapes[2] == shapes[0][:1]
    )
    if not fit:
        raise ValueError(
            f"viterbi_decode: potentials, transition_params and lengths have shapes {shapes}; "
            "they must be [batch, steps, tags], [tags, tags] and [batch]"
        )
    if potentials.dtype != transition_params.dtype or potentials.dtype.np not in (np.float32, np.float64):
        kinds = f"{potentials.dtype} and {transition_params.dtype}"
        raise RuntimeError(
            f"viterbi_decode: potentials and transition_params are {kinds}; both must be float32 or float64"
        )
    # The result is as long as the longest sequence, so its shape depends on numbers.
    counts = host_value(lengths, "viterbi_decode", "run it outside the compiled function")
    if counts.size:
        longest = int(counts.max())
    else:
        longest = 0
    if longest < 0:
        raise RuntimeError(f"viterbi_decode: lengths: the largest is {longest}; it must not be negative")
    if longest > shapes[0][1]:
        raise IndexError(f"viterbi_decode: lengths: the largest is {longest}; there are {shapes[0][1]} steps")
    scores, paths = _decode(potentials, transition_params, lengths, bool(include_bos_eos_tag))
    return scores, paths[:, :longest]


class ViterbiDecoder(Layer):
    """Finds the sequences of tags with the highest scores. See `viterbi_decode`.

    Args:
        transitions: Tensor [tags, tags].
        include_bos_eos_tag: see `viterbi_decode`. Default True.
    Example:
        >>> decoder = paddle.text.ViterbiDecoder(paddle.zeros([2, 2]), include_bos_eos_tag=False)
        >>> decoder(paddle.to_tensor([[[1.0, 0.0], [0.0, 2.0]]]), paddle.to_tensor([2]))[1].tolist()
        [[0, 1]]
    """

    def __init__(
        self, transitions: Tensor, include_bos_eos_tag: bool = True, name: str | None = None
    ) -> None:
        super().__init__()
        self.transitions = transitions
        self.include_bos_eos_tag = include_bos_eos_tag
        self.name = name

    def forward(self, potentials: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Returns (scores [batch], paths [batch, largest length])."""
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag, self.name)
