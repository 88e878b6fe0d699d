"""What watches Tensors and says which magnitude the largest integer stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.nn import Conv2DTranspose, Linear

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer


class BaseQuantizer:
    """The base: `sample_data` looks at Tensors, `cal_thresholds` fills the list `thresholds`, one for each.

    Args:
        quant_bits: int, number of bits, 1..16.
    Raises:
        AssertionError: quant_bits is not such a number.
    """

    def __init__(self, quant_bits: int = 8) -> None:
        if not isinstance(quant_bits, int) or quant_bits not in range(1, 17):
            raise AssertionError(
                f"{type(self).__name__}: quant_bits: got {quant_bits!r}; it must be an int in 1..16"
            )
        self.quant_bits = quant_bits
        self.abs_max_vals: list[Any] = []
        self.thresholds: list[Any] = []

    def sample_data(self, layer: Layer, tensors: Sequence[Tensor]) -> None:
        """Looks at a tuple of Tensors, the inputs, outputs or weights of a layer."""
        new = [self._largest(layer, _magnitudes(tensor)) for tensor in tensors]
        # At first there is nothing to compare with.
        old = self.abs_max_vals or new
        self.abs_max_vals = [np.maximum(a, b).tolist() for a, b in zip(old, new, strict=True)]

    def cal_thresholds(self) -> None:
        """Works the thresholds out."""
        self.thresholds = self.abs_max_vals

    def _largest(self, layer: Layer, magnitudes: np.ndarray) -> Any:
        return magnitudes.max()


class AbsmaxQuantizer(BaseQuantizer):
    """The largest magnitude of a whole Tensor.

    Args:
        quant_bits: int, number of bits, 1..16.
    Example:
        >>> watching = paddle.quantization.AbsmaxQuantizer()
        >>> watching.sample_data(None, (paddle.to_tensor([1.0, -3.0]),))
        >>> watching.cal_thresholds(); watching.thresholds
        [3.0]
    """


class PerChannelAbsmaxQuantizer(BaseQuantizer):
    """The largest magnitude of each output channel of a weight.

    Args:
        quant_bits: int, number of bits, 1..16.
    Example:
        >>> watching = paddle.quantization.PerChannelAbsmaxQuantizer()
        >>> watching.sample_data(paddle.nn.Linear(1, 2), (paddle.to_tensor([[1.0, -3.0]]),))
        >>> watching.cal_thresholds(); watching.thresholds
        [[1.0, 3.0]]
    """

    def _largest(self, layer: Layer, magnitudes: np.ndarray) -> np.ndarray:
        # These have the output channels on axis 1 of the weight.
        if isinstance(layer, Linear | Conv2DTranspose):
            channel = 1
        else:
            channel = 0
        return magnitudes.max(axis=tuple(axis for axis in range(magnitudes.ndim) if axis != channel))


class _Histograms(BaseQuantizer):
    """Counts magnitudes in bins of equal width, whose range grows with what comes."""

    hists: list[None]

    def __init__(self, quant_bits: Any = 8, bins: Any = 1024, upsample_bins: Any = 64) -> None:
        super().__init__(quant_bits)
        self.bins = bins
        self.upsample_bins = upsample_bins
        self.hists = []

    def sample_data(self, layer: Layer, tensors: Sequence[Tensor]) -> None:
        """Counts the magnitudes of a tuple of Tensors."""
        if not self.hists:
            self.abs_max_vals, self.hists = [0.0] * len(tensors), [None] * len(tensors)
        for i, tensor in enumerate(tensors):
            self._count(i, _magnitudes(tensor))

    def _count(self, i: int, magnitudes: np.ndarray) -> None:
        top = float(magnitudes.max())
        before = self.hists[i]
        # Zeros say nothing about a range.
        if top == 0.0:
            return
        if before is not None:
            top, before = self._stretched(self.abs_max_vals[i], before, top)
        hist = np.histogram(magnitudes, self.bins, (0.0, top))[0].astype(np.float32)
        self.abs_max_vals[i], self.hists[i] = top, hist if before is None else hist + before

    def _stretched(self, old: float, hist: np.ndarray, top: float) -> tuple[Any, Any]:
        """A range that holds `top`, and the counts so far in its bins: fine bins are put together again."""
        if top <= old:
            return old, hist
        fine = old / (self.bins * self.upsample_bins)
        merged = int(np.ceil(top / (self.bins * fine)))
        counts = np.zeros(self.bins * merged)
        # Each bin becomes fine ones with the same count.
        counts[: self.bins * self.upsample_bins] = np.repeat(hist, self.upsample_bins)
        wide = counts.reshape(self.bins, merged).sum(1) / self.upsample_bins
        return self.bins * fine * merged, wide.astype(np.float32)

    def cal_thresholds(self) -> None:
        """Works the thresholds out."""
        self.thresholds += [
            top if hist is None else self._threshold(top, hist)
            for top, hist in zip(self.abs_max_vals, self.hists, strict=True)
        ]


class HistQuantizer(_Histograms):
    """The magnitude that a part of all values lies below.

    Args:
        quant_bits: int, number of bits, 1..16.
        bins: int, number of bins that magnitudes are counted in.
        upsample_bins: int, into how many a bin is divided before bins become wider.
        hist_percent: float, the part, below 1.
    Example:
        >>> watching = paddle.quantization.HistQuantizer(hist_percent=0.5)
        >>> watching.sample_data(None, (paddle.arange(1025.0),))
        >>> watching.cal_thresholds(); watching.thresholds
        [511.5]
    """

    def __init__(
        self, quant_bits: int = 8, bins: int = 1024, upsample_bins: int = 64, hist_percent: float = 0.99999
    ) -> None:
        super().__init__(quant_bits, bins, upsample_bins)
        self.hist_percent = hist_percent

    def _threshold(self, top: float, hist: np.ndarray) -> float:
        below = np.cumsum(hist / np.sum(hist, dtype=np.float64))
        return float((np.argmax(below >= self.hist_percent) - 0.5) * (top / len(hist)))


class KLQuantizer(_Histograms):
    """The magnitude at which cutting off loses least information, by the divergence of Kullback and Leibler.

    Args:
        quant_bits: int, number of bits, 1..16.
        bins: int, number of bins that magnitudes are counted in.
        upsample_bins: int, into how many a bin is divided before bins become wider.
    Example:
        >>> watching = paddle.quantization.KLQuantizer()
        >>> watching.sample_data(None, (paddle.arange(1024.0),))
        >>> watching.cal_thresholds(); 1000 < watching.thresholds[0] < 1023
        True
    See: Migacz, 8-bit inference with TensorRT, 2017.
    """

    def _threshold(self, top: float, hist: np.ndarray) -> float:
        # how many positive integers there are
        levels = 2 ** (self.quant_bits - 1) - 1
        # At least half of the bins are kept.
        first = (len(hist) - 1) // 2
        candidates = [cut for cut in range(first, len(hist)) if cut and hist[cut - 1]]
        if candidates:
            losses = [_divergence(hist, cut, levels) for cut in candidates]
            best = candidates[int(np.argmin(losses))]
        else:
            best = max(np.flatnonzero(hist[: first + 1]), default=0)
        return float((best + 0.5) * (top / len(hist)))


def _divergence(hist: np.ndarray, cut: int, levels: int) -> Any:
    """What is lost where `cut` bins are shown by a number of levels and the rest by the last one."""
    kept = hist[:cut].astype(np.float64)
    shown = kept.copy()
    # What is cut off shows as the largest number that is kept.
    shown[-1] += hist[cut:].sum(dtype=np.float64)
    # The last level takes the bins that do not divide.
    edges = np.append(np.arange(levels) * (cut // levels), cut)
    sums = np.diff(np.append(0.0, np.cumsum(kept))[edges])
    counts = np.diff(np.append(0, np.cumsum(shown != 0))[edges])
    # A level stands for the same count in each of its bins that are not empty.
    even = np.divide(sums, counts, out=np.zeros(levels), where=counts != 0)
    model = np.where(shown != 0, np.repeat(even, np.diff(edges)), 0.0)
    p = shown[shown != 0]
    q = model[shown != 0]
    total = hist.sum(dtype=np.float64)
    return np.sum(p * (np.log(model.sum() * p) - np.log(total * q))) / total


def _magnitudes(tensor: Tensor) -> np.ndarray:
    return np.abs(tensor.detach().numpy())


SUPPORT_ACT_QUANTIZERS = [AbsmaxQuantizer, HistQuantizer, KLQuantizer]
SUPPORT_WT_QUANTIZERS = [AbsmaxQuantizer, PerChannelAbsmaxQuantizer]
