"""Changes of static programs by name: `new_pass`, `PassManager`."""

from paddle_jax.distributed.passes.pass_base import PassContext, PassManager, new_pass

__all__ = ["PassContext", "PassManager", "new_pass"]
