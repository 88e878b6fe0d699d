from paddle_jax.incubate.nn.functional.moe_gate_dispatch import *
from paddle_jax.incubate.nn.functional.moe_gate_dispatch import moe_gate_dispatch as moe_gate_dispatch
