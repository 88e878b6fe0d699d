from paddle_jax.geometric.message_passing.send_recv import *
from paddle_jax.geometric.message_passing.send_recv import send_u_recv as send_u_recv
from paddle_jax.geometric.message_passing.send_recv import send_ue_recv as send_ue_recv
from paddle_jax.geometric.message_passing.send_recv import send_uv as send_uv
