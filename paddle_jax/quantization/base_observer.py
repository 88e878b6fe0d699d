"""The base of observers."""

from __future__ import annotations

import abc
from typing import Any

from paddle_jax.quantization.base_quanter import BaseQuanter


class BaseObserver(BaseQuanter, metaclass=abc.ABCMeta):
    """The base of layers that watch values and find scales for them; see `BaseQuanter`."""

    def __init__(self) -> None:
        super().__init__()

    @abc.abstractmethod
    def cal_thresholds(self) -> Any:
        """Computes the scales from what was watched."""
