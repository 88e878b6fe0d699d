from paddle_jax.incubate.optimizer import *
from paddle_jax.incubate.optimizer import LookAhead as LookAhead
from paddle_jax.incubate.optimizer import ModelAverage as ModelAverage
from paddle_jax.incubate.optimizer import functional as functional
