"""Words by which a training service finds out why a program ended (`paddle.framework.recall_error`)."""

from __future__ import annotations

import math
from typing import Any

AADIFF_ERROR = "PaddleRecall error(101): AAdiff"
LOSS_NAN_ERROR = "PaddleRecall error(102): LossNan"
SHARDING_PAD_NON_ZERO_ERROR = "PaddleRecall error(103): ShardingPadNonZero"
LOSS_INF_ERROR = "PaddleRecall error(104): LossInf"


def check_naninf(tensor: Any) -> str | None:
    """LOSS_NAN_ERROR or LOSS_INF_ERROR for a Tensor of one number, None if it is finite.

    Example:
        >>> paddle.framework.recall_error.check_naninf(paddle.to_tensor(1.0))
    """
    number = float(tensor)
    if math.isnan(number):
        return LOSS_NAN_ERROR
    if math.isinf(number):
        return LOSS_INF_ERROR
    return None
