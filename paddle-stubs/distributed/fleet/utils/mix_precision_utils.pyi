from paddle_jax.distributed.fleet.utils.mix_precision_utils import *
