"""Recomputing in a model that is spread over processes."""

from __future__ import annotations

from typing import Any

from paddle_jax.distributed.fleet.recompute.recompute import recompute


def recompute_hybrid(ctx: dict[str, Any], function: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of a model with tensor parallelism; the backward pass computes it again.

    Args:
        ctx: dict with `mp_group`, the group of processes that share the layers. `offload` and `partition` say
            where Paddle keeps the operands on GPUs; they change nothing here.
        function: callable or Layer. It draws the same random numbers in both runs, and may return arguments
            as they are, such as a mask for the next block.
        args, kwargs: its arguments.
    Returns:
        What the function returns.
    Raises:
        AssertionError: ctx has no mp_group.
    Differs from Paddle: it works on CPUs as well.

    Example:
        >>> recompute_hybrid = paddle.distributed.fleet.recompute.recompute_hybrid
        >>> x = paddle.ones([1, 2]); x.stop_gradient = False
        >>> group = paddle.distributed.new_group([0])
        >>> recompute_hybrid({"mp_group": group}, lambda y: (y * y).sum(), x).backward(); x.grad.tolist()
        [[2.0, 2.0]]
    """
    if ctx.get("mp_group") is None:
        raise AssertionError("recompute_hybrid: ctx: got no mp_group; give the group of tensor parallelism")
    return recompute(function, *args, **({"use_reentrant": False} | kwargs))
