"""Weights that ShardingStage3 has cut, made whole for the time in which a layer uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.distributed.auto_parallel.reshard import reshard_tensor

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer


UNCUT = (
    "_uncut"  # the attribute of a Parameter that says how it lay before ShardingStage3 cut it, a DistLayout
)


def gather_weights(layer: Layer) -> Any:
    """Makes each layer gather its weights when it is called, where ShardingStage3 has cut them; their
    gradients are cut again.

    Without it XLA chooses: for small batches it may send results of the cut layers instead, which is less;
    but that grows with the batch, and so with the number of devices that share it. With it neither what a
    device receives nor what it needs meanwhile does.

    Args:
        layer: Layer whose optimizer has been given to `shard_optimizer` with ShardingStage3, or to
            `parallelize` with sharding_level 3.
    Returns:
        The layer.
    Raises:
        ValueError: no parameter of it is cut by ShardingStage3.
    Example:
        >>> import paddle_jax
        >>> dist = paddle_jax.distributed
        >>> mesh = dist.ProcessMesh([0], dim_names=["dp"])
        >>> net = dist.shard_layer(paddle_jax.nn.Linear(2, 2), mesh)
        >>> optimizer = dist.shard_optimizer(paddle_jax.optimizer.AdamW(parameters=net.parameters()),
        ...                                  dist.ShardingStage3("dp", mesh))
        >>> list(dist.gather_weights(net)(paddle_jax.ones([1, 2])).shape)
        [1, 2]
    """
    found = [
        part
        for _, part in layer.named_sublayers(include_self=True)
        if any(_cut(p) for p in part._parameters.values())
    ]
    if not found:
        raise ValueError(
            "gather_weights: layer: none of its parameters is cut by ShardingStage3; "
            "give the optimizer to shard_optimizer first"
        )
    for part in found:
        if any(_is_gathering(hook) for hook in part._forward_pre_hooks.values()):
            continue  # gathered since an earlier call
        hooks = _Hooks()
        part.register_forward_pre_hook(hooks.before)
        part.register_forward_post_hook(hooks.after, always_call=True)
    return layer


def _is_gathering(hook: Any) -> bool:
    """Whether a hook of a layer is one of `gather_weights`."""
    return isinstance(getattr(hook, "__self__", None), _Hooks)


def _cut(param: Any) -> bool:
    return param is not None and getattr(param, UNCUT, None) is not None


class _Hooks:
    """Exchanges the parameters of one layer. kept: for each call that goes on, {name: Parameter}."""

    def __init__(self) -> None:
        self.kept = []

    def before(self, layer: Any, inputs: Any) -> None:
        """Puts whole weights in place of cut ones."""
        cut = {name: param for name, param in layer._parameters.items() if _cut(param)}
        # A list, since a layer may be called within a call of itself.
        self.kept.append(cut)
        for name, param in cut.items():
            layer._parameters[name] = reshard_tensor(param, getattr(param, UNCUT))

    def after(self, layer: Any, inputs: Any, outputs: Any) -> None:
        """Puts the parameters back."""
        # nothing where a hook before this one has raised
        for name, param in (self.kept.pop() if self.kept else {}).items():
            layer._parameters[name] = param
