from paddle_jax.base.dygraph.base import *
from paddle_jax.base.dygraph.base import _set_grad_enabled as _set_grad_enabled
from paddle_jax.base.dygraph.base import _switch_to_static_graph_ as _switch_to_static_graph_
from paddle_jax.base.dygraph.base import _switch_tracer_mode_guard_ as _switch_tracer_mode_guard_
from paddle_jax.base.dygraph.base import in_sot_simulation_mode as in_sot_simulation_mode
