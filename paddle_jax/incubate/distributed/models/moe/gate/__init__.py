"""Networks that choose experts for each token."""

from paddle_jax.incubate.distributed.models.moe.gate.base_gate import BaseGate as BaseGate
from paddle_jax.incubate.distributed.models.moe.gate.gshard_gate import GShardGate as GShardGate
from paddle_jax.incubate.distributed.models.moe.gate.naive_gate import NaiveGate as NaiveGate
from paddle_jax.incubate.distributed.models.moe.gate.switch_gate import SwitchGate as SwitchGate
