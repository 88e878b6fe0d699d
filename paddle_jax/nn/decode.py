"""Decoding step by step: beam search."""

from __future__ import annotations

import collections
from typing import Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.rnn import map_nested
from paddle_jax.tensor.creation import full, to_tensor, zeros
from paddle_jax.tensor.joining import stack
from paddle_jax.tensor.search import where
from paddle_jax.tensor.sequences import arange

_FAR = 1e9  # stands for minus infinity in log probabilities


class Decoder:
    """What `dynamic_decode` runs: `initialize`, then `step` until all is finished, then `finalize`."""

    @property
    def tracks_own_finished(self) -> Any:
        """True when `step` itself keeps what is finished finished, as beam search does."""
        return False

    def initialize(self, inits: Any) -> Any:
        """Returns (initial inputs, initial states, finished)."""
        raise NotImplementedError(f"{type(self).__name__}.initialize is not defined; define it in the class")

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> Any:
        """Returns (outputs, next states, next inputs, finished)."""
        raise NotImplementedError(f"{type(self).__name__}.step is not defined; define it in the class")

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """Returns (outputs, final states) from the outputs of all steps, which are joined on axis 0."""
        return outputs, final_states


class BeamSearchDecoder(Decoder):
    """Beam search: keeps the beam_size most probable beginnings of each sequence.

    Args:
        cell: layer `(inputs, states) -> (outputs, states)`, e.g. an RNNCellBase.
        start_token: int, the first token.
        end_token: int, ends a sequence.
        beam_size: int.
        embedding_fn: makes inputs of tokens [B, beam]. Default: the tokens themselves.
        output_fn: makes scores of all tokens [..., V] of what the cell gives. Default: that itself.
    Attributes:
        cell, embedding_fn, output_fn: Layer or callable, as given.
        start_token, end_token, beam_size: int, as given.
    Example:
        >>> cell, embed, out = paddle.nn.GRUCell(4, 3), paddle.nn.Embedding(6, 4), paddle.nn.Linear(3, 6)
        >>> decoder = paddle.nn.BeamSearchDecoder(cell, 0, 1, beam_size=2, embedding_fn=embed, output_fn=out)
        >>> ids, states = paddle.nn.dynamic_decode(decoder, paddle.zeros([3, 3]), max_step_num=0); ids.shape
        paddle.Size([3, 1, 2])
    """

    OutputWrapper = collections.namedtuple("OutputWrapper", ("scores", "predicted_ids", "parent_ids"))
    StateWrapper = collections.namedtuple("StateWrapper", ("cell_states", "log_probs", "finished", "lengths"))

    def __init__(
        self,
        cell: Any,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Any = None,
        output_fn: Any = None,
    ) -> None:
        self.cell = cell
        self.embedding_fn = embedding_fn
        self.output_fn = output_fn
        self.start_token = start_token
        self.end_token = end_token
        self.beam_size = beam_size

    @property
    def tracks_own_finished(self) -> Any:
        """True: a finished beam only goes on with the end token, and beams change places."""
        return True

    @staticmethod
    def tile_beam_merge_with_batch(x: Any, beam_size: Any) -> Any:
        """Repeats each sample for its beams: [B, ...] -> [B * beam_size, ...]."""
        return x.repeat_interleave(beam_size, axis=0)

    def _merge(self, x: Any) -> Any:
        return x.reshape([-1, *x.shape[2:]])

    def _split(self, x: Any) -> Any:
        return x.reshape([-1, self.beam_size, *x.shape[1:]])

    def _follow(self, x: Any, parents: Any) -> Any:
        """Takes from x [B, beam, ...] the beams that `parents` [B, beam] name."""
        # Beams of one sample lie side by side in the merged batch.
        start = (arange(parents.shape[0], dtype="int64") * self.beam_size).unsqueeze(1)
        return self._split(self._merge(x).gather((parents + start).reshape([-1])))

    def initialize(self, initial_cell_states: Any) -> Any:
        """Returns (inputs, states, finished) for the first step; states are tiled for the beams."""
        states = map_nested(
            lambda s: self._split(self.tile_beam_merge_with_batch(s, self.beam_size)), initial_cell_states
        )
        one = states
        # The batch size is that of any leaf.
        while not isinstance(one, Tensor):
            one = next(iter(one.values() if isinstance(one, dict) else one))
        batch = one.shape[0]
        tokens = full([batch, self.beam_size], self.start_token, dtype="int64")
        # At first all beams are equal, so only the first may be continued.
        log_probs = to_tensor([[0.0, *[-_FAR] * (self.beam_size - 1)]] * batch, dtype="float32")
        finished = zeros([batch, self.beam_size], dtype="bool")
        if self.embedding_fn is None:
            inputs = tokens
        else:
            inputs = self.embedding_fn(tokens)
        return (
            inputs,
            self.StateWrapper(states, log_probs, finished, zeros([batch, self.beam_size], dtype="int64")),
            finished,
        )

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> Any:
        """Returns (OutputWrapper, StateWrapper, next inputs, finished)."""
        outputs, cell_states = self.cell(
            map_nested(self._merge, inputs), map_nested(self._merge, states.cell_states), **kwargs
        )
        if self.output_fn is None:
            logits = outputs
        else:
            logits = self.output_fn(outputs)
        # The cell saw all beams as one batch; the search compares the beams of each sample.
        found, following = self._search(self._split(logits), map_nested(self._split, cell_states), states)
        if self.embedding_fn is None:
            inputs = found.predicted_ids
        else:
            inputs = self.embedding_fn(found.predicted_ids)
        return found, following, inputs, following.finished

    def _search(self, logits: Any, cell_states: Any, states: Any) -> Any:
        size = logits.shape[-1]
        # A finished beam goes on with the end token alone, at no cost.
        only_end = where(
            arange(size) == self.end_token,
            zeros([size], dtype=logits.dtype),
            full([size], -_FAR, dtype=logits.dtype),
        )
        step = where(
            states.finished.unsqueeze(2),
            only_end.reshape([1, 1, size]).expand(logits.shape),
            F.log_softmax(logits),
        )
        # All continuations of all beams of a sample compete.
        total = (step + states.log_probs.unsqueeze(2)).reshape([-1, self.beam_size * size])
        scores, at = total.topk(self.beam_size)
        # The number of a continuation holds its beam and its token.
        parents = at // size
        tokens = at % size
        finished = self._follow(states.finished.astype("int64"), parents).astype("bool")
        # The length grows as long as the beam is open.
        lengths = self._follow(states.lengths, parents) + (~finished).astype("int64")
        following = self.StateWrapper(
            map_nested(lambda s: self._follow(s, parents), cell_states),
            scores,
            finished | (tokens == self.end_token),
            lengths,
        )
        return self.OutputWrapper(scores, tokens, parents), following

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Tensor, Any]:
        """Returns (predicted ids [T, B, beam], final states), the ids read back along the parents."""
        return F.gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states


def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: Any = False,
    return_length: bool = False,
    **kwargs: Any,
) -> Any:
    """Runs a decoder until all sequences are finished.

    Args:
        decoder: Decoder, e.g. BeamSearchDecoder.
        inits: what its `initialize` takes.
        max_step_num: int, the number of the last step (from 0). Default: no limit.
        output_time_major: bool, outputs are [T, B, ...] instead of [B, T, ...].
        impute_finished: bool, keep the states of what is finished.
        is_test: accepted for compatibility.
        return_length: bool, also return the lengths.
        kwargs: handed to `step`.
    Returns:
        (outputs, final states), with return_length also int64 lengths.
    Raises:
        ValueError: everything is finished before the first step.
    Example:
        >>> cell, embed, out = paddle.nn.GRUCell(4, 3), paddle.nn.Embedding(6, 4), paddle.nn.Linear(3, 6)
        >>> decoder = paddle.nn.BeamSearchDecoder(cell, 0, 1, beam_size=2, embedding_fn=embed, output_fn=out)
        >>> paddle.nn.dynamic_decode(decoder, paddle.zeros([3, 3]), max_step_num=0,
        ...                          return_length=True)[2].shape
        paddle.Size([3, 2])
    """
    inputs, states, finished = decoder.initialize(inits)
    lengths = zeros(finished.shape, dtype="int64")
    steps = []
    time = 0
    # The host asks after each step, so decoding may stop early.
    while not bool(finished.all()) and (max_step_num is None or time <= max_step_num):
        outputs, following, inputs, ended = decoder.step(
            to_tensor([time], dtype="int64"), inputs, states, **kwargs
        )
        # Samples that had not ended before this step grow by it.
        lengths = lengths + (~finished).astype("int64")
        # A decoder that reorders its beams reports the finished ones; else what is finished stays so.
        if not decoder.tracks_own_finished:
            ended = ended | finished
            # Finished samples keep their states.
            if impute_finished:
                following = map_nested(
                    lambda new, old, done=finished: _keep(done, old, new), following, states
                )
        states = following
        finished = ended
        time = time + 1
        # Beam search counts in its states, as beams change their order.
        lengths = getattr(states, "lengths", lengths)
        steps.append(outputs)
    if not steps:
        raise ValueError(
            "dynamic_decode: decoder: everything is finished before the first step; there are no outputs"
        )
    outputs, states = decoder.finalize(
        map_nested(lambda *items: stack(items, axis=0), *steps), states, lengths
    )
    # The steps were stacked along the first axis.
    if not output_time_major:
        outputs = map_nested(lambda x: x.transpose([1, 0, *range(2, x.ndim)]), outputs)
    if return_length:
        return (outputs, states, lengths)
    return (outputs, states)


def _keep(done: Any, old: Any, new: Any) -> Any:
    return where(done.reshape([*done.shape, *[1] * (new.ndim - done.ndim)]).expand(new.shape), old, new)


__all__ = ["BeamSearchDecoder", "dynamic_decode"]
