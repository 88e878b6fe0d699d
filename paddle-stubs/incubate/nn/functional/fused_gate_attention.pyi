from paddle_jax.incubate.nn.functional.fused_gate_attention import *
