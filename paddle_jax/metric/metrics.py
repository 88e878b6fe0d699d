"""Metrics: accuracy, precision, recall, area under the curve."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.ops.op import op
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.axes import check_index

if TYPE_CHECKING:
    import jax


class Metric(abc.ABC):
    """The base class of metrics. A subclass defines `reset`, `update`, `accumulate` and `name`.

    `compute` may turn the outputs and labels of a batch into what `update` needs; it can run compiled,
    `update` runs on the host.

    Example:
        >>> class Mean(paddle.metric.Metric):
        ...     def reset(self):
        ...         self.total, self.count = 0.0, 0
        ...     def update(self, value):
        ...         self.total, self.count = self.total + float(value), self.count + 1
        ...     def accumulate(self):
        ...         return self.total / self.count
        ...     def name(self):
        ...         return "mean"
        >>> m = Mean(); m.reset(); m.update(1.0); m.update(2.0); m.accumulate()
        1.5
    """

    @abc.abstractmethod
    def reset(self) -> None:
        """Forgets all batches."""
        raise NotImplementedError(f"{type(self).__name__}: reset is not defined; a Metric must define it.")

    @abc.abstractmethod
    def update(self, *args: Any) -> None:
        """Takes in a batch."""
        raise NotImplementedError(f"{type(self).__name__}: update is not defined; a Metric must define it.")

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """Returns the metric over all batches."""
        raise NotImplementedError(
            f"{type(self).__name__}: accumulate is not defined; a Metric must define it."
        )

    @abc.abstractmethod
    def name(self) -> str | list[str]:
        """Returns the name, or a list of names."""
        raise NotImplementedError(f"{type(self).__name__}: name is not defined; a Metric must define it.")

    def compute(self, *args: Any) -> Any:
        """Prepares a batch for `update`; by default hands on what it is given."""
        return args


@op("pred label", nondiff=True, method=False, register=False)
def _hits(pred: jax.Array, label: jax.Array, maxk: int) -> jax.Array:
    best = lax.top_k(pred, min(maxk, pred.shape[-1]))[1]
    if label.ndim == 1 or (label.ndim == 2 and label.shape[-1] == 1):
        label = label.reshape(-1, 1)
    elif label.shape[-1] != 1:
        # One-hot rows.
        label = jnp.argmax(label, axis=-1, keepdims=True)
    return (best == label).astype(jnp.float32)


class Accuracy(Metric):
    """The fraction of samples whose label is among the k classes of highest score, for every k of `topk`.

    Args:
        topk: tuple or list of ints. Default (1,).
        name: str. Default None: 'acc'.
    Example:
        >>> m = paddle.metric.Accuracy()
        >>> scores, labels = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]]), paddle.to_tensor([[1], [1]])
        >>> correct = m.update(m.compute(scores, labels))
        >>> float(m.accumulate())
        0.5
    """

    def __init__(
        self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.topk = topk
        self.maxk: int = max(topk)
        base = name or "acc"
        if self.maxk == 1:
            self._name = [base]
        else:
            self._name = [f"{base}_top{k}" for k in topk]
        self.reset()

    def compute(self, pred: Tensor, label: Tensor, *args: Any) -> Tensor:
        """Tells for every sample at which of the best places its label is.

        Args:
            pred: Tensor [..., classes] of scores.
            label: Tensor [n] or [..., 1] of class numbers, or [..., classes] one-hot.
        Returns:
            float32 Tensor [..., max(topk)] of zeros and ones.
        """
        return _hits(pred, label, self.maxk)

    def update(self, correct: Any, *args: Any) -> Any:
        """Takes in a batch.

        Args:
            correct: Tensor or ndarray [..., max(topk)], what `compute` returned.
        Returns:
            The accuracy of this batch; a list when `topk` has several entries.
        """
        if isinstance(correct, Tensor):
            correct = correct.numpy()
        count = np.prod(np.array(correct.shape[:-1]), dtype=np.int64)
        accuracies = []
        for i, k in enumerate(self.topk):
            hits = correct[..., :k].sum(dtype=np.float64)
            self.total[i] += hits
            self.count[i] += count
            accuracies.append(hits / count)
        if len(self.topk) == 1:
            return accuracies[0]
        return accuracies

    def reset(self) -> None:
        """Forgets all batches."""
        self.total: list[float] = [0.0] * len(self.topk)
        self.count: list[int] = [0] * len(self.topk)

    def accumulate(self) -> Any:
        """Returns the accuracy over all batches, 0.0 before the first; a list when `topk` has
        several entries."""
        accuracies = [
            total / count if count > 0 else 0.0 for total, count in zip(self.total, self.count, strict=True)
        ]
        if len(self.topk) == 1:
            return accuracies[0]
        return accuracies

    def name(self) -> list[str]:
        """Returns the list of names, one per entry of `topk`."""
        return self._name


def _host(owner: str, argument: str, value: Any) -> np.ndarray:
    if isinstance(value, Tensor):
        return value.numpy()
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{owner}: {argument}: got {type(value).__name__}; pass an ndarray or a Tensor.")
    return value


def _binary(owner: str, preds: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """The predictions and the labels, one per sample."""
    preds = _host(owner, "preds", preds)
    labels = _host(owner, "labels", labels)
    if preds.size != labels.size or preds.size != preds.shape[0]:
        raise ValueError(
            f"{owner}: preds: shapes {preds.shape} and {labels.shape}; "
            "one prediction and one label per sample are needed."
        )
    return preds.reshape(-1), labels.reshape(-1)


class Precision(Metric):
    """The fraction of true ones among the samples that were predicted to be one, for two
    classes: tp / (tp + fp).

    Args:
        name: str. Default 'precision'.
    Example:
        >>> import numpy as np
        >>> m = paddle.metric.Precision()
        >>> m.update(np.array([0.9, 0.8, 0.2]), np.array([1, 0, 1]))
        >>> m.accumulate()
        0.5
    """

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Takes in a batch.

        Args:
            preds: ndarray or Tensor [n] or [n, 1], probability of class one.
            labels: ndarray or Tensor [n] or [n, 1], 0 or 1.
        Raises:
            ValueError: another type, or the lengths differ.
        """
        preds, labels = _binary("Precision", preds, labels)
        # One half is rounded up here, as in Paddle.
        preds = np.floor(preds + 0.5)
        positive = preds == 1
        self.tp += int((positive & (labels == preds)).sum())
        self.fp += int((positive & (labels != preds)).sum())

    def reset(self) -> None:
        """Forgets all batches."""
        self.tp: int = 0
        self.fp: int = 0

    def accumulate(self) -> float:
        """Returns the precision over all batches, 0.0 before the first positive prediction."""
        if self.tp + self.fp:
            return self.tp / (self.tp + self.fp)
        return 0.0

    def name(self) -> str:
        """Returns the name."""
        return self._name


class Recall(Metric):
    """The fraction of the true ones that were predicted to be one, for two classes: tp / (tp + fn).

    Args:
        name: str. Default 'recall'.
    Example:
        >>> import numpy as np
        >>> m = paddle.metric.Recall()
        >>> m.update(np.array([0.9, 0.8, 0.2]), np.array([1, 0, 1]))
        >>> m.accumulate()
        0.5
    """

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Takes in a batch. Arguments as for `Precision.update`."""
        preds, labels = _binary("Recall", preds, labels)
        # one half is rounded down here, as in Paddle
        preds = np.rint(preds)
        positive = labels == 1
        self.tp += int((positive & (preds == labels)).sum())
        self.fn += int((positive & (preds != labels)).sum())

    def reset(self) -> None:
        """Forgets all batches."""
        self.tp: int = 0
        self.fn: int = 0

    def accumulate(self) -> float:
        """Returns the recall over all batches, 0.0 before the first true one."""
        if self.tp + self.fn:
            return self.tp / (self.tp + self.fn)
        return 0.0

    def name(self) -> str:
        """Returns the name."""
        return self._name


class Auc(Metric):
    """The area under the ROC curve, from a histogram of the scores of both classes.

    Args:
        curve: str, accepted; the curve is always 'ROC', as in Paddle. Default 'ROC'.
        num_thresholds: int, number of bins less one. Default 4095.
        name: str. Default 'auc'.
    Example:
        >>> import numpy as np
        >>> m = paddle.metric.Auc()
        >>> m.update(np.array([[0.3, 0.7], [0.6, 0.4], [0.9, 0.1]]), np.array([1, 0, 1]))
        >>> float(m.accumulate())
        0.5
    """

    def __init__(
        self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._curve = curve
        self._num_thresholds = num_thresholds
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Takes in a batch.

        Args:
            preds: ndarray or Tensor [n, 2], probabilities of class zero and one.
            labels: ndarray or Tensor [n] or [n, 1], 0 or 1.
        Raises:
            ValueError: another type, a NaN, or the lengths differ.
            AssertionError: a probability is outside of [0, 1].
        """
        labels = _host("Auc", "labels", labels).reshape(-1)
        preds = _host("Auc", "preds", preds)
        # Column 1 has the scores of the positive class.
        scores = preds[:, 1]
        if len(scores) != len(labels) or np.isnan(scores).any():
            raise ValueError(
                f"Auc: preds: {len(scores)} scores for {len(labels)} labels; "
                "equally many are needed, and no NaN."
            )
        bins = (scores * self._num_thresholds).astype(np.int64)
        if ((scores < 0) | (bins > self._num_thresholds)).any():
            raise AssertionError("Auc: preds: a score is outside of [0, 1]; pass probabilities.")
        size = self._num_thresholds + 1
        self._stat_pos += np.bincount(bins[labels != 0], minlength=size)
        self._stat_neg += np.bincount(bins[labels == 0], minlength=size)

    @staticmethod
    def trapezoid_area(x1: Any, x2: Any, y1: Any, y2: Any) -> Any:
        """Returns the area of a trapezoid of width |x1 - x2| and heights y1 and y2."""
        return abs(x1 - x2) * (y1 + y2) / 2.0

    def accumulate(self) -> float:
        """Returns the area over all batches; 0.0 while one class is missing."""
        # From the highest threshold down: how many of each class are called positive.
        positive = np.cumsum(self._stat_pos[::-1])
        negative = np.cumsum(self._stat_neg[::-1])
        if not positive[-1] or not negative[-1]:
            return 0.0
        heights = np.concatenate([[0], positive])
        area = self.trapezoid_area(
            negative, np.concatenate([[0], negative[:-1]]), heights[1:], heights[:-1]
        ).sum()
        return area / positive[-1] / negative[-1]

    def reset(self) -> None:
        """Forgets all batches."""
        self._stat_pos = np.zeros(self._num_thresholds + 1, np.int64)
        self._stat_neg = np.zeros(self._num_thresholds + 1, np.int64)

    def name(self) -> str:
        """Returns the name."""
        return self._name


@op("input label", nondiff=True, method=False, register=False)
def _top_k_accuracy(input: jax.Array, label: jax.Array, k: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    if label.ndim != 2 or input.ndim != 2 or label.shape[0] != input.shape[0]:
        shapes = f"{list(input.shape)} and {list(label.shape)}"
        raise ValueError(
            f"accuracy: label: input and label have shapes {shapes}; [n, classes] and [n, 1] are needed."
        )
    if not 1 <= k <= input.shape[1]:
        raise ValueError(f"accuracy: k: got {k} for {input.shape[1]} classes; use 1..{input.shape[1]}.")
    if not jnp.issubdtype(label.dtype, jnp.integer):
        raise ValueError(f"accuracy: label: got {label.dtype}; integers are needed.")
    correct = (lax.top_k(input, k)[1] == label).any(axis=1).sum(dtype=jnp.int32)
    total = jnp.int32(input.shape[0])
    # of no samples it is 0
    return correct.astype(jnp.float32) / jnp.maximum(total, 1).astype(jnp.float32), correct, total


def accuracy(
    input: Tensor,
    label: Tensor,
    k: int = 1,
    correct: Tensor | None = None,
    total: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the fraction of samples whose label is among the `k` classes of highest score.

    Args:
        input: float32 or float64 Tensor [n, classes] of scores.
        label: integer Tensor [n, 1] of class numbers.
        k: int, how many of the best classes count. Default 1.
        correct: int32 Tensor that is set to the number of hits. Default None.
        total: int32 Tensor that is set to the number of samples. Default None.
    Returns:
        float32 Tensor of shape [].
    Raises:
        ValueError: the shapes do not fit, a label is negative, or `k` is out of range.
    Example:
        >>> scores, labels = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]]), paddle.to_tensor([[1], [1]])
        >>> paddle.metric.accuracy(scores, labels).item()
        0.5
    """
    for argument, value in (("input", input), ("label", label)):
        if not isinstance(value, Tensor):
            raise ValueError(f"accuracy: {argument}: got {type(value).__name__}; pass a Tensor.")
    check_index("accuracy", label, 1 << 62, ValueError, 0, "label")
    found, hits, count = _top_k_accuracy(input, label, int(k))
    for target, value in ((correct, hits), (total, count)):
        if target is not None:
            assign_from(target, value)
    return found
