"""Dtypes of Parameters that are divided among processes, and their loss scaling."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from paddle_jax._core.base import dtype as dtypes

if TYPE_CHECKING:
    from paddle_jax.amp import GradScaler


class Type(enum.Enum):
    """The dtypes of training, by their short names.

    Example:
        >>> from paddle_jax.distributed.fleet.meta_parallel.sharding.group_sharded_utils import Type
        >>> Type.fp32.value is paddle.float32
        True
    """

    fp16 = dtypes.convert("float16")
    bf16 = dtypes.convert("bfloat16")
    fp32 = dtypes.convert("float32")


def GroupShardedScaler(scaler: GradScaler) -> GradScaler:  # noqa: N802  Paddle's name
    """The GradScaler itself: divided optimizers ask the other processes for infinite gradients.

    Args:
        scaler: GradScaler.
    Example:
        >>> from paddle_jax.distributed.fleet.meta_parallel.sharding import group_sharded_utils
        >>> scaler = paddle.amp.GradScaler()
        >>> group_sharded_utils.GroupShardedScaler(scaler) is scaler
        True
    """
    return scaler
