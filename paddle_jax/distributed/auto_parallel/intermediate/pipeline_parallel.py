"""Models cut into the stages of a pipeline by the names of their layers: `pp_config` of `parallelize`."""

from __future__ import annotations

import enum
import re
from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.auto_parallel.layout import DistLayout, layout_of
from paddle_jax.distributed.auto_parallel.placement_type import Replicate
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh
from paddle_jax.distributed.auto_parallel.reshard import reshard_tensor
from paddle_jax.nn import Layer

STAGES = "pp"  # the mesh dimension of the stages


class SplitPoint(enum.Enum):
    """Where a layer that `pp_config` names ends or begins a stage.

    Args:
        value: int, the number of a member.
    Attributes:
        BEGINNING: the next stage begins with the layer.
        END: the next stage begins behind the layer.

    Example:
        >>> paddle.distributed.SplitPoint.END.name
        'END'
    """

    BEGINNING = 0
    END = 1


class Stages:
    """The stages that a model is cut into.

    Args:
        model: Layer.
        mesh: ProcessMesh with a dimension "pp".
        config: dict: "split_spec" says where the model is cut, "global_spec" names layers whose results all
            stages get.
    Raises:
        AssertionError: the mesh has no such dimension; there is no layer of a name; there are more or fewer
            cuts than the stages need.

    Attributes:
        mesh: ProcessMesh of all stages.
        of_layers: {id of a layer: its stage}.
    """

    def __init__(self, model: Layer, mesh: ProcessMesh, config: dict[Any, Any]) -> None:
        if STAGES not in mesh.dim_names:
            raise CheckError(
                f"parallelize: mesh: got dimensions {mesh.dim_names}; a pp_config needs one named {STAGES!r}"
            )
        self.mesh = mesh
        # The model itself takes its inputs on the first stage.
        self.of_layers: dict[int, int] = {id(model): 0}
        count = mesh.get_dim_size(STAGES)
        layers = dict(model.named_sublayers())
        cuts = _cuts(list(layers), config["split_spec"], count)
        if (len(cuts) + 1) % count:
            raise CheckError(
                f"parallelize: config: split_spec: got {len(cuts)} places to cut; {count} stages "
                f'(mesh dimension "pp") need {count - 1}, or parts that can be dealt out evenly'
            )
        for (name, layer), part in zip(layers.items(), _numbers(list(layers), cuts), strict=True):
            # with more parts than stages, part i goes to stage i modulo their number
            stage = self.of_layers.setdefault(id(layer), part % count)
            layer.pipeline_stage_index = stage
            layer.register_forward_pre_hook(self._before, with_kwargs=True)
            layer.register_forward_post_hook(self._behind, always_call=True)
            if cuts.get(name) is SplitPoint.END:
                layer.register_forward_post_hook(self._hand_on)
        self._lent: list[list[tuple[dict[Any, Any], str, Tensor]]] = []
        for name in _listed(config.get("global_spec")):
            _named(layers, name, "global_spec").register_forward_post_hook(self._share)

    def mesh_of(self, layer: Layer) -> ProcessMesh:
        """The mesh of the devices that a layer of the model lies on."""
        return self.mesh.get_mesh_with_dim(STAGES, self.of_layers[id(layer)])

    def _before(self, layer: Any, inputs: Any, named: Any) -> tuple[Any, Any]:
        """What a layer gets comes to its devices, and so does a weight that belongs to another stage."""
        mesh = self.mesh_of(layer)
        lent = []
        # A weight that layers of several stages use is on one of them.
        for name, parameter in layer._parameters.items():
            if parameter is not None and _is_elsewhere(parameter, mesh):
                lent.append((layer._parameters, name, parameter))
        self._lent.append(lent)
        for store, name, parameter in lent:
            store[name] = moved(parameter, mesh)
        return moved(tuple(inputs), mesh), moved(dict(named), mesh)

    def _behind(self, layer: Any, inputs: Any, outputs: Any) -> None:
        """Weights of other stages go back."""
        for store, name, parameter in self._lent.pop():
            store[name] = parameter

    def _hand_on(self, layer: Any, inputs: Any, outputs: Any) -> Any:
        """What the last layer of a stage gives goes to the next one."""
        # With several parts for each stage the last stage hands on to the first.
        stage = (self.of_layers[id(layer)] + 1) % self.mesh.get_dim_size(STAGES)
        return moved(outputs, self.mesh.get_mesh_with_dim(STAGES, stage))

    def _share(self, layer: Any, inputs: Any, outputs: Any) -> Any:
        """What a global layer gives lies whole on the devices of all stages."""
        return moved(outputs, self.mesh.get_mesh_with_dim(STAGES), whole=True)


def _is_elsewhere(tensor: Any, mesh: Any) -> Any:
    return tensor.is_dist() and tensor.process_mesh != mesh


def moved(value: Any, mesh: ProcessMesh, whole: bool = False) -> Any:
    """A nest of Tensors on the devices of a mesh; those on one device stay there."""
    if isinstance(value, Tensor):
        if not _is_elsewhere(value, mesh):
            return value
        # Stages have the names of dimensions in common, so a layout is carried over by name.
        names = value.process_mesh.dim_names
        own = dict(zip(names, layout_of(value).placements, strict=True))
        placements = [Replicate() if whole else own.get(name, Replicate()) for name in mesh.dim_names]
        return reshard_tensor(value, DistLayout(mesh, placements))
    if isinstance(value, tuple | list):
        return make_sequence(type(value), [moved(one, mesh, whole) for one in value])
    if isinstance(value, dict):
        return type(value)((name, moved(one, mesh, whole)) for name, one in value.items())
    return value


def _listed(names: Any) -> list[Any]:
    if names is None:
        return []
    if isinstance(names, str):
        return [names]
    return list(names)


def _named(layers: Any, name: Any, setting: Any) -> Any:
    if name not in layers:
        raise CheckError(
            f"parallelize: config: {setting}: there is no layer {name!r}; there are {', '.join(layers)}"
        )
    return layers[name]


def _cuts(names: list[str], split_spec: Any, count: int) -> dict[str, SplitPoint]:
    """{name of a layer: where the model is cut at it}."""
    if isinstance(split_spec, dict):
        for name, point in split_spec.items():
            _named(dict.fromkeys(names), name, "split_spec")
            if not isinstance(point, SplitPoint):
                raise CheckError(f"parallelize: config: split_spec: got {point!r}; it must be a SplitPoint")
        return dict(split_spec)
    matching = _matching(names, _listed(split_spec))
    if len(matching) < count:
        raise CheckError(
            f"parallelize: config: split_spec: {len(matching)} layers match {split_spec!r}; {count} stages "
            f"need {count} at least"
        )
    size, rest = divmod(len(matching), count)
    # The first stages get one layer more where they do not divide.
    ends = [(stage + 1) * size + min(stage + 1, rest) - 1 for stage in range(count - 1)]
    return {matching[end]: SplitPoint.END for end in ends}


def _matching(names: Any, prefixes: Any) -> list[Any]:
    """The layers that prefixes stand for: those numbered below one, or the layer of that name itself."""
    found = []
    for name in names:
        numbered = any(re.fullmatch(re.escape(prefix) + r"\.\d+", name) for prefix in prefixes)
        if numbered or name in prefixes:
            found.append(name)
    # A name such as `layers` means what is in it, not the container as one more layer.
    containers = {name.rpartition(".")[0] for name in found}
    return [name for name in found if name not in containers]


def _numbers(names: list[str], cuts: dict[str, SplitPoint]) -> list[int]:
    """The part of the model that each layer belongs to, in the order of the model."""
    part = 0
    numbers = []
    ended: list[str] = []  # layers behind which the next stage begins
    for name in names:
        # What is within the ending layer belongs to its stage too.
        if ended and not name.startswith(ended[-1] + "."):
            part += 1
            ended.pop()
        if cuts.get(name) is SplitPoint.BEGINNING:
            part += 1
        if cuts.get(name) is SplitPoint.END:
            ended.append(name)
        numbers.append(part)
    if ended:
        raise CheckError(
            f"parallelize: config: split_spec: there is no layer behind {ended[-1]!r}; the model can only be "
            "cut before its last layer"
        )
    return numbers
