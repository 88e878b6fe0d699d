from paddle_jax.static.nn.control_flow import *
