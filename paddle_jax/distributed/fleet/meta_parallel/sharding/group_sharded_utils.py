"""Dtypes of Parameters that are divided among processes."""

import enum

from paddle_jax._core.base import dtype as dtypes


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
