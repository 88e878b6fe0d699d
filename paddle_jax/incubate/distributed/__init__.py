"""Parts of models that are spread over devices (`paddle.incubate.distributed`)."""

from paddle_jax.incubate.distributed import fleet as fleet
from paddle_jax.incubate.distributed import models as models
