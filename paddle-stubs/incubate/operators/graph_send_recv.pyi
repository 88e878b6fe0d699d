from paddle_jax.incubate.operators.graph_send_recv import *
