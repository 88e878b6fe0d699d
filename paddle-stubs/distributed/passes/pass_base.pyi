from paddle_jax.distributed.passes.pass_base import *
from paddle_jax.distributed.passes.pass_base import PassContext as PassContext
from paddle_jax.distributed.passes.pass_base import PassManager as PassManager
from paddle_jax.distributed.passes.pass_base import new_pass as new_pass
