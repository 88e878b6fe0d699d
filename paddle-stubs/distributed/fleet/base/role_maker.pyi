from paddle_jax.distributed.fleet.base.role_maker import *
from paddle_jax.distributed.fleet.base.role_maker import RoleMakerBase as RoleMakerBase
