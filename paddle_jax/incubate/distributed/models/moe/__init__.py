"""Mixtures of experts: each token goes through a few of many networks
(`paddle.incubate.distributed.models.moe`)."""

from paddle_jax.incubate.distributed.models.moe.gate import BaseGate as BaseGate
from paddle_jax.incubate.distributed.models.moe.gate import GShardGate as GShardGate
from paddle_jax.incubate.distributed.models.moe.gate import NaiveGate as NaiveGate
from paddle_jax.incubate.distributed.models.moe.gate import SwitchGate as SwitchGate
from paddle_jax.incubate.distributed.models.moe.grad_clip import ClipGradByGlobalNorm as ClipGradByGlobalNorm
from paddle_jax.incubate.distributed.models.moe.grad_clip import (
    ClipGradForMOEByGlobalNorm as ClipGradForMOEByGlobalNorm,
)
from paddle_jax.incubate.distributed.models.moe.moe_layer import MoELayer as MoELayer
