"""A batch in several small ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.tensors.tensor import Tensor

__all__ = []


class PipelineDatasetPreprocessor:
    """Data of a step that are made when they are needed.

    Args:
        function: called without arguments, gives what `train_batch` takes as data.
    Example:
        >>> preprocessor = paddle.distributed.fleet.meta_parallel.PipelineDatasetPreprocessor
        >>> preprocessor(lambda: [1, 2])()
        [1, 2]
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self) -> Any:
        return self.function()


class MicroBatches:
    """The micro-batches of a step, for one stage.

    A stage asks for inputs (the first one does), for labels (the last one), or for both.

    Attributes:
        data: [inputs, labels], or an iterator of (inputs, label) of micro-batches.
        count: how many micro-batches there are.
        size: rows of each.
    """

    def __init__(self, data: Any, count: int, size: int) -> None:
        if isinstance(data, PipelineDatasetPreprocessor):
            self.data = data()
        else:
            self.data: Any = data
        self.count = count
        self.size = size
        self._taken: dict[int, tuple[Any, ...]] = {}

    def inputs(self, micro_batch: int) -> Any:
        """The inputs of a micro-batch."""
        return self._select(0, micro_batch)

    def labels(self, micro_batch: int) -> Any:
        """The labels of a micro-batch."""
        return self._select(1, micro_batch)

    def _select(self, which: int, micro_batch: int) -> Tensor | None:
        if isinstance(self.data, list | tuple):
            if len(self.data) != 2:
                raise CheckError(
                    f"train_batch: data: got a list of {len(self.data)}; it must be [inputs, labels]"
                )
            return self._cut(self.data[which], micro_batch)
        # A stage in the middle passes None, and never gets here.
        if self.data is None:
            raise CheckError("train_batch: data: got None; the first and the last stage need the data")
        return self._drawn(micro_batch)[which]

    def _drawn(self, micro_batch: int) -> tuple[Any, ...]:
        """The pair of a micro-batch from an iterator; a stage that is first and last draws it once."""
        iterator: Iterator[Any] = self.data
        while micro_batch not in self._taken:
            try:
                # Micro-batches come in order, so earlier ones are drawn on the way.
                self._taken[len(self._taken)] = _checked(next(iterator))
            except StopIteration:
                raise CheckError(
                    f"train_batch: data: the iterator ended after {len(self._taken)} micro-batches; "
                    f"accumulate_steps is {self.count}"
                ) from None
        return self._taken[micro_batch]

    def _cut(self, whole: Tensor, micro_batch: int) -> Any:
        """The part of a micro-batch of a Tensor of all rows, of a list of micro-batches, or of a tuple or
        dict of such."""
        if whole is None:
            return None
        if isinstance(whole, tuple):
            return tuple(self._cut(one, micro_batch) for one in whole)
        if isinstance(whole, dict):
            return {name: self._cut(one, micro_batch) for name, one in whole.items()}
        if isinstance(whole, list):
            if len(whole) != self.count:
                raise CheckError(
                    f"train_batch: data: got a list of {len(whole)}; it must have one entry for each of the "
                    f"{self.count} micro-batches (accumulate_steps)"
                )
            return _detached(whole[micro_batch])
        if not isinstance(whole, Tensor):
            raise CheckError(f"train_batch: data: got {type(whole).__name__}; it must be a Tensor")
        if whole.shape[0] != self.size * self.count:
            raise CheckError(
                f"train_batch: data: got a batch of {whole.shape[0]}; pipeline_configs make it "
                f"{self.count} micro-batches (accumulate_steps) of {self.size} (micro_batch_size)"
            )
        return whole[micro_batch * self.size : (micro_batch + 1) * self.size].detach()


def _detached(value: Tensor) -> Tensor | None:
    """A Tensor, or a tuple, list or dict of such, without their history."""
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, tuple | list):
        return make_sequence(type(value), [_detached(one) for one in value])
    if isinstance(value, dict):
        return {name: _detached(one) for name, one in value.items()}
    if value is not None:
        raise CheckError(f"train_batch: data: got {type(value).__name__}; it must be a Tensor")
    return None


def _checked(pair: Sequence[Tensor]) -> Any:
    """The (inputs, labels) that an iterator gives."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise CheckError(
            f"train_batch: data: the iterator gives {type(pair).__name__}; it must give (inputs, labels)"
        )
    return _detached(pair[0]), _detached(pair[1])
