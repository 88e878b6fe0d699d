"""The base of observers."""

from __future__ import annotations

import abc
from typing import Any

from paddle_jax.quantization.base_quanter import BaseQuanter


class BaseObserver(BaseQuanter, metaclass=abc.ABCMeta):
    """The base of layers that watch values and find scales for them; see `BaseQuanter`.

    Example:
        >>> BaseObserver = paddle.quantization.BaseObserver
        >>> class Largest(BaseObserver):
        ...     largest = 0.0
        ...     def forward(self, x):
        ...         self.largest = max(self.largest, float(x.abs().max()))
        ...         return x
        ...     def cal_thresholds(self): pass
        ...     def bit_length(self): return 8
        ...     def quant_axis(self): return -1
        ...     def scales(self): return self.largest / 127
        ...     def zero_points(self): return 0
        >>> observer = Largest()
        >>> y = observer(paddle.to_tensor([-2.54, 1.0]))
        >>> round(observer.scales(), 4)
        0.02
    """

    def __init__(self) -> None:
        super().__init__()

    @abc.abstractmethod
    def cal_thresholds(self) -> Any:
        """Computes the scales from what was watched."""
