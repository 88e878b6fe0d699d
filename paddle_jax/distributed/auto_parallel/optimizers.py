"""Optimizers whose states lie on several devices (ZeRO: Rajbhandari et al., 2020,
https://arxiv.org/abs/1910.02054)."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.lazy_array import constant
from paddle_jax._core.tensors.held_values import plain_shape
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.distributed.auto_parallel.api import shard_tensor
from paddle_jax.distributed.auto_parallel.layout import DistLayout, layout_of
from paddle_jax.distributed.auto_parallel.placement_type import Replicate, Shard
from paddle_jax.distributed.auto_parallel.process_mesh import get_mesh
from paddle_jax.distributed.auto_parallel.reshard import move, reshard_tensor
from paddle_jax.distributed.auto_parallel.weights import UNCUT
from paddle_jax.optimizer.optimizer import Optimizer


class _Stage:
    """Cuts optimizer states along a dimension of the mesh: the first axis that is not cut yet
    and divides evenly."""

    cuts_gradients = cuts_parameters = False

    def __init__(self, sharding_mesh_dim: Any, mesh: Any = None) -> None:
        self._sharding_mesh_dim = sharding_mesh_dim
        self._mesh = mesh

    def layout(self, param: Any) -> DistLayout:
        """How the states of a parameter lie, a DistLayout."""
        own = layout_of(param)
        mesh = self._mesh or get_mesh() or (own and own.mesh)
        # A stage of a pipeline keeps its states on its own devices.
        if own is not None and mesh is not None and _is_within(own.mesh, mesh):
            mesh = own.mesh
        if mesh is None or (own is not None and own.mesh != mesh):
            raise ValueError(
                f"{type(self).__name__}: mesh: {param.name} lies on {own and own.mesh}; "
                "its states can only lie there as well; shard the parameters first, "
                "or call set_mesh"
            )
        own = own or DistLayout(mesh, [Replicate()] * mesh.ndim)
        name = self._sharding_mesh_dim
        if isinstance(name, str) and name not in mesh.dim_names:
            raise ValueError(
                f"{type(self).__name__}: sharding_mesh_dim: got {name!r}; the mesh has {mesh.dim_names}"
            )
        if isinstance(name, str):
            at = mesh.dim_names.index(name)
        else:
            at = name
        placements = list(own.placements)
        taken = {p.get_dim() for p in own.placements if p.is_shard()}
        free = [i for i, n in enumerate(param.shape) if i not in taken and n % mesh.shape[at] == 0]
        # A parameter without an axis that divides keeps whole states.
        if not placements[at].is_shard() and free:
            placements[at] = Shard(free[0])
        return DistLayout(mesh, placements)

    def __call__(self, key: Any, param: Any, tensor: Any) -> Any:
        """A state of a parameter, cut. `key` is its name; those that are not shaped as the
        parameter stay copies."""
        # A state of another shape is a single number, such as a power of beta: copies of it.
        if list(tensor.shape) != list(param.shape):
            return shard_tensor(tensor, self.layout(param).mesh, [])
        if tensor.is_dist():
            return reshard_tensor(tensor, self.layout(param))
        return shard_tensor(tensor, *_parts(self.layout(param)))

    def shard_master_weight(self, param: Any, master_weight: Any) -> Any:
        """The float32 weight of a parameter of low precision, cut."""
        return self("master_weight", param, master_weight)


def _is_within(inner: Any, outer: Any) -> bool:
    """Whether a mesh is a piece of another one, such as the devices of a stage of a pipeline."""
    return set(inner.process_ids) <= set(outer.process_ids) and set(inner.dim_names) <= set(outer.dim_names)


class ShardingStage1(_Stage):
    """For `shard_optimizer`: each device along a dimension of the mesh keeps a part of the
    optimizer's states.

    Args:
        sharding_mesh_dim: str or int, the dimension.
        mesh: ProcessMesh. Default: that of `set_mesh`, or of the parameters.
    Example:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], dim_names=["dp"])
        >>> layer = dist.shard_layer(paddle.nn.Linear(2, 2), mesh)
        >>> optimizer = dist.shard_optimizer(paddle.optimizer.AdamW(parameters=layer.parameters()),
        ...                                  dist.ShardingStage1("dp", mesh))
        >>> layer(dist.shard_tensor(paddle.ones([2, 2]), mesh, [dist.Shard(0)])).sum().backward()
        >>> optimizer.step()
    """


class ShardingStage2(_Stage):
    """As ShardingStage1; gradients are cut in the same way as soon as they are there.

    Args:
        sharding_mesh_dim: str or int, the dimension.
        mesh: ProcessMesh. Default: that of `set_mesh`, or of the parameters.
    Example:
        >>> stage = paddle.distributed.ShardingStage2("dp")
    """

    cuts_gradients = True


class ShardingStage3(_Stage):
    """As ShardingStage2; the parameters are cut as well, and are gathered where they are used.

    Args:
        sharding_mesh_dim: str or int, the dimension.
        mesh: ProcessMesh. Default: that of `set_mesh`, or of the parameters.
    Example:
        >>> stage = paddle.distributed.ShardingStage3("dp")
    """

    cuts_gradients = cuts_parameters = True


def shard_optimizer(
    optimizer: Optimizer, shard_fn: Any = None, gradient_accumulation_steps: int = 1
) -> Optimizer:
    """Says how the states of an optimizer lie on the devices of a mesh.

    Differs from Paddle: the result is the same optimizer, not another one round it.

    Args:
        optimizer: Optimizer whose parameters are sharded.
        shard_fn: ShardingStage1, 2 or 3; or a function (name of the state, parameter, Tensor) that gives the
            Tensor as it shall lie. Default: states lie as their parameters do.
        gradient_accumulation_steps: int, after how many backward passes `step` is called; gradients
            add up in any case.
    Returns:
        The optimizer.
    Raises:
        AssertionError: `optimizer` is no Optimizer.
        ValueError: the mesh or its dimension does not fit the parameters.
    Example:
        >>> dist = paddle.distributed
        >>> layer = dist.shard_layer(paddle.nn.Linear(2, 2), dist.ProcessMesh([0]))
        >>> optimizer = dist.shard_optimizer(paddle.optimizer.SGD(0.1, parameters=layer.parameters()))
    """
    if not isinstance(optimizer, Optimizer):
        raise CheckError(
            f"shard_optimizer: optimizer: got {type(optimizer).__name__}; it must be an Optimizer"
        )
    if shard_fn is None:
        return optimizer
    # States that exist already get the new layout, and keep their values.
    if any(group.stacks for group in optimizer._groups):
        state = optimizer.state_dict()
    else:
        state = None
    if isinstance(shard_fn, _Stage):
        for param in optimizer._all_params():
            prepare(shard_fn, param)
        optimizer._shard_fn = lambda slot, param: shard_fn.layout(param).sharding(plain_shape(param))
    else:
        optimizer._shard_fn = lambda slot, param: _requested_sharding(shard_fn, slot, param)
    if state is not None:
        # The next step builds the stacks again, in the new layout.
        for group in optimizer._groups:
            group.ids = []
            group.places = {}
            group.stacks = []
            group.calls = []
        optimizer.set_state_dict(state)
    return optimizer


def _parts(layout: Any) -> tuple[Any, list[Any]]:
    return layout.mesh, list(layout.placements)


def prepare(stage: Any, param: Any) -> None:
    """Puts a Parameter and its gradients where a stage wants them, in place."""
    layout = stage.layout(param)
    copies = DistLayout(layout.mesh, [Replicate()] * layout.mesh.ndim)
    if stage.cuts_parameters:
        # `gather_weights` brings the parameter back into this layout.
        setattr(param, UNCUT, layout_of(param) or copies)
        move(param, layout)
    elif not param.is_dist():
        move(param, copies)
    if stage.cuts_gradients and not param.stop_gradient:
        param.register_hook(lambda grad: reshard_tensor(grad, layout))


def _requested_sharding(shard_fn: Any, slot: Any, param: Any) -> Any:
    """The layout that the user's function gives a state, tried on zeros that take no memory before it
    puts them somewhere."""
    given = wrap(constant(0, aval_of(tuple(plain_shape(param)), np.dtype("float32"))))
    made = shard_fn(slot, param, given)
    layout = layout_of(made if made is not None else given) or layout_of(param)
    return layout.sharding(plain_shape(param))


def shard_scaler(scaler: Any) -> Any:
    """Makes a GradScaler fit for gradients on several devices. It is so already: whether one of them is
    infinite is asked of all of them.

    Args:
        scaler: GradScaler.
    Returns:
        The same.
    Example:
        >>> scaler = paddle.amp.GradScaler(init_loss_scaling=4.0)
        >>> paddle.distributed.shard_scaler(scaler) is scaler
        True
    """
    return scaler
