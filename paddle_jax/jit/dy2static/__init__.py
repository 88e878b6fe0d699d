"""Data-dependent control flow in code that is being compiled.

`convert` rewrites functions; `cond`, `switch` and `while_loop` are what it rewrites to, over Tensors that
hold tracers, whatever trace they are in: under `to_static`, `paddle.func`, `jax.jit`, or a static Program
that is run. Each call of theirs is one kernel through the dispatch point, whose operands are the Tensors from
outside that the functions read. Over plain arrays, `Loop` of `_program/control_flow/checkpointed_while.py`
is the loop with gradients in reverse (`plain` and `reversible`); the branch is `jax.lax.cond` or `switch`.
"""

from paddle_jax._core.base.errors import Unsupported
from paddle_jax._program.control_flow.cond import cond, switch
from paddle_jax._program.rewrite.call_policy import ignore
from paddle_jax._program.rewrite.convert import convert
from paddle_jax._program.control_flow.while_loop import while_loop

__all__ = ["Unsupported", "cond", "convert", "ignore", "switch", "while_loop"]
