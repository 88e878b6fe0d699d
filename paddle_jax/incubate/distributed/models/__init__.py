"""Models whose parts are experts (`paddle.incubate.distributed.models`)."""

from paddle_jax.incubate.distributed.models import moe as moe
