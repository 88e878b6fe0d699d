from paddle_jax.base.dygraph.tracer import *
from paddle_jax.base.dygraph.tracer import Tracer as Tracer
