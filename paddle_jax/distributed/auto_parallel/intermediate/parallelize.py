"""`parallelize`: a model for one device made parallel by a plan, without a change of its code."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax.distributed.auto_parallel import optimizers
from paddle_jax.distributed.auto_parallel.intermediate.pipeline_parallel import Stages
from paddle_jax.distributed.auto_parallel.layers import replicate_unsharded
from paddle_jax.distributed.auto_parallel.plans import MODEL, PlanBase
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh, get_mesh, set_mesh
from paddle_jax.distributed.auto_parallel.spatial_plans import SEQUENCE

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer
    from paddle_jax.optimizer.optimizer import Optimizer


_STAGES = {1: optimizers.ShardingStage1, 2: optimizers.ShardingStage2, 3: optimizers.ShardingStage3}


def parallelize(
    model: Layer, optimizer: Optimizer | None = None, mesh: Any = None, config: dict[str, Any] | None = None
) -> Any:
    """Puts a model and its optimizer on the devices of a mesh, as a plan says.

    Args:
        model: Layer. Its parameters are replaced.
        optimizer: Optimizer of the model; it gets the new parameters.
        mesh: ProcessMesh with dimensions named "dp" and "mp", as far as the config uses them. Default:
            that of `set_mesh`.
        config: dict. "mp_config": {"parallelize_plan": {name: plan or list of plans}}, where a name is that
            of a layer or parameter, or a regular expression for some. "cp_config": the same for
            ContextParallel plans, over a mesh dimension "sep". "pp_config": the stages of a pipeline, over
            a mesh dimension "pp": "split_spec" is the prefix of numbered layers that are dealt out evenly
            (or a list of such), or a dict from names of layers to SplitPoint; "global_spec" names layers
            whose results all stages get. "dp_config": {"sharding_level": 0 to 3}: whether optimizer
            states (1), gradients (2) and parameters (3) are cut along "dp". Default: nothing is done.
    Returns:
        (model, optimizer).
    Raises:
        AssertionError: there is no mesh; a plan, a level or a place to cut is something else; the cuts
            make up another number of stages.
    Example:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([[0]], dim_names=["dp", "mp"])
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 4), paddle.nn.Linear(4, 2))
        >>> plan = {"0": dist.ColWiseParallel(), "1": dist.RowWiseParallel()}
        >>> net, _ = dist.parallelize(net, None, mesh, {"mp_config": {"parallelize_plan": plan}})
        >>> net[0].weight.placements, net[1].weight.placements
        ([Replicate(), Shard(dim=1)], [Replicate(), Shard(dim=0)])
    """
    if config is None:
        return model, optimizer
    unknown = sorted(set(config) - {"mp_config", "cp_config", "dp_config", "pp_config"})
    if unknown:
        warnings.warn(
            f"parallelize: config: there is no {', '.join(unknown)}; there are mp_config, "
            "cp_config, pp_config and dp_config",
            stacklevel=2,
        )
    if mesh is None:
        mesh = get_mesh()
    if not isinstance(mesh, ProcessMesh):
        raise CheckError(
            f"parallelize: mesh: got {type(mesh).__name__}; pass a ProcessMesh, or call set_mesh first"
        )
    parts = [(config.get("mp_config"), MODEL), (config.get("cp_config"), SEQUENCE)]
    data_config = config.get("dp_config")
    pipeline = config.get("pp_config") or {}
    cut = pipeline.get("split_spec") is not None
    if data_config is None and not cut and all(part is None for part, _ in parts):
        return model, optimizer
    mesh_of: Callable[..., Any] = lambda layer: mesh  # noqa: E731  the mesh that a layer of the model lies on
    if cut:
        mesh_of = Stages(model, mesh, pipeline).mesh_of
    # Sharded parameters are new objects: the optimizer gets them by their names.
    before = {key: param for key, param in model.named_parameters()}
    for part, dim in parts:
        if part is not None:
            _apply(model, mesh, part.get("parallelize_plan") or {}, dim, mesh_of)
    # What no plan names is copied to all devices.
    replicate_unsharded(model, mesh_of)
    if optimizer is not None:
        exchange(optimizer, before, dict(model.named_parameters()))
    return model, _leveled(optimizer, mesh, data_config or {})


def _leveled(optimizer: Any, mesh: Any, config: Any) -> Any:
    level = config.get("sharding_level", 0)
    dim = config.get("sharding_mesh_dim", "dp")
    if level not in (0, None, *_STAGES):
        raise CheckError(f"parallelize: config: got sharding_level {level!r}; allowed are 0 to 3")
    if level and optimizer is not None:
        return optimizers.shard_optimizer(optimizer, _STAGES[level](dim, mesh))
    return optimizer


def parallelize_model(model: Any, mesh: Any = None, config: Any = None) -> Any:
    """`parallelize` for a model whose optimizer is made later. Arguments as there.

    Returns:
        The model.
    """
    if mesh is not None:
        set_mesh(mesh)
    return parallelize(model, None, mesh, config)[0]


def parallelize_optimizer(optimizer: Any, mesh: Any = None, config: Any = None) -> Any:
    """The optimizer of a model that `parallelize_model` has put on a mesh. Arguments as of `parallelize`; of
    the config "dp_config" is used.

    Returns:
        The optimizer.
    Raises:
        AssertionError: a Parameter is on no mesh.
    """
    if config is None:
        return optimizer
    if mesh is not None:
        set_mesh(mesh)
    if any(not param.is_dist() for group in optimizer._groups for param in group.params):
        raise CheckError(
            "parallelize_optimizer: optimizer: a parameter is on no mesh; call "
            "parallelize_model first, and make the optimizer with the parameters of its model"
        )
    return _leveled(optimizer, get_mesh() if mesh is None else mesh, config.get("dp_config") or {})


def _apply(model: Any, mesh: Any, plans: Any, dim: Any, mesh_of: Any) -> None:
    if plans and dim not in mesh.dim_names:
        raise CheckError(
            f"parallelize: mesh: got dimensions {mesh.dim_names}; a parallelize_plan needs one named {dim!r}"
        )
    for key, given in plans.items():
        todo = given if isinstance(given, list | tuple) else [given]
        if any(not isinstance(plan, PlanBase) for plan in todo):
            raise CheckError(
                f"parallelize: config: got {given!r} for {key!r}; "
                "it must be a plan such as ColWiseParallel(), or a list of plans"
            )
        found = list(_meant(model, key))
        if not found:
            warnings.warn(
                f"parallelize: no layer or parameter is named {key!r}; it is left out", stacklevel=3
            )
        for layer, names in found:
            for plan in todo:
                plan.apply(layer, mesh_of(layer), names)


def _meant(model: Any, key: Any) -> Iterator[Any]:
    """(layer, names of parameters) that a name stands for."""
    # The last part may be the name of a parameter; before it is that of the layer.
    start, _, last = key.rpartition(".")
    for name, layer in model.named_sublayers(include_self=True):
        # Names are regular expressions, as one plan may be meant for many layers.
        if re.fullmatch(key, name):
            yield layer, []
        elif last in layer._parameters and re.fullmatch(start, name):
            yield layer, [last]


def exchange(optimizer: Any, before: Any, after: Any) -> None:
    """Gives an optimizer the new parameters in place of the old ones."""
    new = {id(old): after[key] for key, old in before.items()}
    for group in optimizer._groups:
        # Stacks hold the states of the old parameters.
        if group.stacks:
            raise CheckError(
                "parallelize: optimizer: it has made steps already; call parallelize before the first one"
            )
        group.params[:] = [new.get(id(p), p) for p in group.params]
    # A list of dicts describes groups, which are done above.
    if optimizer._parameter_list and not isinstance(optimizer._parameter_list[0], dict):
        optimizer._parameter_list[:] = [new.get(id(p), p) for p in optimizer._parameter_list]
