"""Messages along the edges of a graph."""

from paddle_jax.geometric.message_passing.send_recv import (
    send_u_recv as send_u_recv,
    send_ue_recv as send_ue_recv,
    send_uv as send_uv,
)
