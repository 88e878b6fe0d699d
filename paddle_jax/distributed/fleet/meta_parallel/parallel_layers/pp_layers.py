"""Models as a list of layers, cut into stages. Each process makes the layers of its own stage; one that
drives several devices alone makes all of them, each on the devices of its stage."""

from __future__ import annotations

import contextlib
import functools as ft
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.tensors.random import get_rng_state, seed, set_rng_state
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed import schedules
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.base.topology import CommunicateTopology
from paddle_jax.distributed.fleet.layers.mpu.random import get_rng_state_tracker
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.layer_desc import (
    LayerDesc,
    LocalSharedLayerDesc,
    SharedLayerDesc,
)
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.segments import SegmentLayers
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.shared_weights import shared_weights
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.forward_backward_overlap_utils import ScheduleChunk
from paddle_jax.distributed.fleet.recompute.recompute import recompute
from paddle_jax.distributed.parallel import get_rank, get_world_size
from paddle_jax.distributed.schedules import Pipeline
from paddle_jax.framework.addresses import check_local
from paddle_jax.framework.io import load, save
from paddle_jax.nn import Layer, LayerDict

if TYPE_CHECKING:
    from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.shared_weights import SharedWeights

__all__ = []

_SEED = 1234  # Paddle's: layer i begins with this number plus i, whatever the number of stages


class PipelineLayerChunk(Layer):
    """One of several parts of the model that a stage has. `PipelineLayer.forward` runs it.

    Attributes:
        run_function: its layers and functions, in order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.run_function: list[Any] = []

    def append(self, sublayer: Any) -> None:
        """Adds a Layer or a function; a Layer is named by its place in the chunk."""
        if isinstance(sublayer, Layer):
            # Functions count too, so that the name is the place in the chunk.
            self.add_sublayer(str(len(self.run_function)), sublayer)
        self.run_function.append(sublayer)

    def get_run_function(self) -> list[Any]:
        """Its layers and functions, in order."""
        return self.run_function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Always refused.

        Raises:
            PermissionError: in every case; `net(x, chunk_id=)` of the PipelineLayer runs a chunk.
        """
        raise PermissionError(
            "PipelineLayerChunk: its forward cannot be called; call the PipelineLayer with chunk_id"
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(self.run_function)


class PipelineLayer(Layer):
    """A model as a list of layers that run one after the other, each on what the one before gives.

    A process makes the layers of its own stage. Layer i is made with the random seed 1234 + i, so a model
    begins with the same weights for any number of stages. Its Parameters are named by the place in the list
    (`3.weight`), with several chunks by the first place of the chunk and the place in it (`4.0.weight`),
    shared ones by their key (`shared_layers.key.weight`).

    Args:
        layers: list of Layers, functions, LayerDescs and SharedLayerDescs.
        num_stages: int. Default None: that of the topology.
        topology: CommunicateTopology. One of the two must be given.
        loss_fn: `f(output, label)`, what `train_batch` makes small, or a list of such. Default None.
        seg_method: where the list is cut: "uniform", "layer:Name" (each part has as many layers whose class
            name contains it), or a list of bounds.
        recompute_interval: int: so many layers at a time are computed again in the backward pass.
            Default 0: none are.
        recompute_ctx: dict, which recomputing needs; its entries concern GPUs and are accepted.
        num_virtual_pipeline_stages: int: so many parts a stage. Default None: 1. More than 1 need "layer:".
        use_cudagraph: accepted.
        use_dualpipev: bool: two parts a stage, which run through the stages as a V, for DualPipeVParallel.
    Attributes:
        _recompute_interval, recompute_ctx: as given.
        _num_virtual_pipeline_stages: int, the chunks of each stage; 1 with use_dualpipev.
        _stage_chunks: int, the chunks of each stage; 2 with use_dualpipev.
        _topo: CommunicateTopology.
        _num_stages: int, the stages.
        _grid: the grid of devices where one process has all stages, or None.
        _total_stages_with_virtual_stages: int, the chunks of all stages.
        global_rank, _stage_id: int, which process and which stage this is.
        _layers_desc: list of the descriptions of all layers.
        _num_layers: int, how many there are.
        segment_parts: list of ints, the bounds of the chunks.
        shared_layers: LayerDict of the shared layers, by key.
        local_shared_layers: LayerDict of the first layers of LocalSharedLayerDescs, by key.
        run_function: list of the layers and functions of this stage, or of the chunk chosen last.
        _borrowed: dict of shared layers at their other positions.
        _model_chunks: list of PipelineLayerChunks, empty with one chunk.
        shared_comm: dict of what keeps shared weights equal, by key.
        _loss_fn: list of loss functions.
    Raises:
        ValueError: neither num_stages nor topology, or stages that the processes do not divide into.
        AssertionError: stages, segments or arguments that do not go together.
    Example:
        >>> from paddle_jax.distributed.fleet.meta_parallel import LayerDesc, PipelineLayer
        >>> net = PipelineLayer([LayerDesc(paddle.nn.Linear, 2, 3), paddle.nn.ReLU()], num_stages=1)
        >>> net(paddle.ones([4, 2])).shape
        paddle.Size([4, 3])
    """

    def __init__(
        self,
        layers: list[Any],
        num_stages: int | None = None,
        topology: CommunicateTopology | None = None,
        loss_fn: Callable[..., Any] | list[Any] | None = None,
        seg_method: str | list[int] = "uniform",
        recompute_interval: int = 0,
        recompute_ctx: dict[Any, Any] | None = None,
        num_virtual_pipeline_stages: int | None = None,
        use_cudagraph: bool = False,
        use_dualpipev: bool = False,
    ) -> None:
        super().__init__()
        if recompute_interval > 0 and recompute_ctx is None:
            raise CheckError(
                "PipelineLayer: recompute_ctx: got None; it must be a dict where recompute_interval is not 0"
            )
        self._num_virtual_pipeline_stages = _chunks(num_virtual_pipeline_stages, seg_method)
        if use_dualpipev and self._num_virtual_pipeline_stages > 1:
            raise CheckError(
                f"PipelineLayer: num_virtual_pipeline_stages: got {num_virtual_pipeline_stages} with "
                "use_dualpipev, which gives each stage two parts; leave it out"
            )
        self._use_dualpipev = use_dualpipev
        self._stage_chunks: int = 2 if use_dualpipev else self._num_virtual_pipeline_stages
        self._topo = _topology(num_stages, topology)
        self._num_stages = self._topo.get_dim("pipe")
        # The DeviceGrid of a process that has the layers of all stages; None where it has those of one.
        self._grid = Current.grid if self._num_stages > 1 else None
        self._total_stages_with_virtual_stages = self._num_stages * self._stage_chunks
        self.global_rank: int = get_rank()
        # The place of this process along the axis of the stages.
        self._stage_id = self._topo.get_coord(self.global_rank).pipe
        self._layers_desc = list(layers)
        self._num_layers = len(self._layers_desc)
        if isinstance(loss_fn, list):
            self._loss_fn = loss_fn
        else:
            self._loss_fn = [loss_fn]
        self._recompute_interval = recompute_interval
        self.recompute_ctx = recompute_ctx
        self.segment_parts: list[int] = self._segments(seg_method)
        self.shared_layers: LayerDict = LayerDict()
        self.local_shared_layers: LayerDict = LayerDict()
        self.run_function: list[Any] = []
        # {place in the list: shared Layer that lies on the devices of another stage}
        self._borrowed = {}
        self._model_chunks = []
        self._make_layers()
        # Where one process has all stages, a shared Layer exists once.
        self.shared_comm = {}
        if self._grid is None:
            self.shared_comm: dict[str, SharedWeights] = shared_weights(
                self._layers_desc, self.get_stage_from_index, self._topo, self.global_rank, self.shared_layers
            )
        self._synchronize_shared_weights()

    def _segments(self, seg_method: str | list[int]) -> list[int]:
        """The bounds of the parts of the list."""
        stages = self._num_stages
        if self._use_dualpipev:
            # Bounds are given for all parts, as for so many stages.
            return SegmentLayers(self._layers_desc, 2 * stages, seg_method).do_segment()
        chunks = None if self._stage_chunks == 1 else self._stage_chunks
        return SegmentLayers(self._layers_desc, stages, seg_method, chunks).do_segment()

    def sizes(self, micro_batches: int) -> Pipeline:
        """The sizes of the pipeline for so many micro-batches."""
        return Pipeline(self._num_stages, micro_batches, self._stage_chunks, self._use_dualpipev)

    def stage_of(self, part: int) -> int:
        """The stage that has a part of the list."""
        return schedules.stage_and_chunk(self.sizes(1), part)[0]

    def _own_parts(self) -> list[int]:
        """The numbers of the parts of the list that this process has."""
        parts = range(self._total_stages_with_virtual_stages)
        return [part for part in parts if self._grid is not None or self.stage_of(part) == self._stage_id]

    def _bounds(self) -> list[tuple[int, int]]:
        """(begin, end) of each part of the list that this process has."""
        return [(self.segment_parts[part], self.segment_parts[part + 1]) for part in self._own_parts()]

    def _make_layers(self) -> None:
        """Makes the layers of this stage; random numbers outside go on as if it had drawn none."""
        tracker = get_rng_state_tracker()
        numbers = get_rng_state()
        tracked = tracker.get_states_tracker()
        try:
            for part, (begin, end) in zip(self._own_parts(), self._bounds(), strict=True):
                with self._on_stage(self.stage_of(part)):
                    self._make_part(begin, end)
        finally:
            set_rng_state(numbers)
            tracker.set_states_tracker(tracked)

    @contextlib.contextmanager
    def _on_stage(self, stage: int) -> Iterator[None]:
        """Layers that are made inside lie on the devices of a stage, where this process has several."""
        if self._grid is None:
            yield
            return
        with self._grid.making(stage):
            yield
        # Layers of this stage are the only ones that lie on no mesh yet.
        self._grid.replicate([*self.parameters(), *self.buffers()], stage)

    def _make_part(self, begin: int, end: int) -> None:
        chunk = None
        if self._stage_chunks > 1:
            chunk = PipelineLayerChunk()
            self._model_chunks.append(chunk)
            self.add_sublayer(str(begin), chunk)
        for index in range(begin, end):
            # A layer has the same values in whatever stage it is made.
            seed(_SEED + index)
            self._make_layer(index, chunk)

    def _make_layer(self, index: int, chunk: Any) -> None:
        """Makes layer `index` of the list and adds it to a chunk, or to the list of this stage."""
        described = self._layers_desc[index]
        if isinstance(described, LocalSharedLayerDesc):
            function = self._locally_shared(described, index)
        elif isinstance(described, SharedLayerDesc):
            if self._use_dualpipev:
                raise CheckError(
                    "PipelineLayer: layers: got a SharedLayerDesc with use_dualpipev; "
                    "use a LocalSharedLayerDesc"
                )
            function = self._shared(described, index)
            # A function round the Layer would hide its Parameters from the chunk.
            if chunk is not None and not isinstance(function, Layer):
                chunk.add_sublayer(described.layer_name, self.shared_layers[described.layer_name])
        else:
            if isinstance(described, LayerDesc):
                function = described.build_layer()
            else:
                function = described
            # A chunk names its layers itself.
            if chunk is None and isinstance(function, Layer):
                self.add_sublayer(str(index), function)
        (self.run_function if chunk is None else chunk).append(function)

    def _shared(self, described: SharedLayerDesc, index: int) -> Any:
        """What runs at a place of a shared Layer."""
        key = described.layer_name
        is_first = key not in self.shared_layers
        if is_first:
            # The first place makes the Layer, later ones use it.
            self.shared_layers[key] = described.build_layer()
        layer = self.shared_layers[key]
        function = layer
        if described.forward_func is not None:
            function = ft.partial(described.forward_func, layer)
        if self._grid is None or is_first:
            return function
        # Its Parameters lie on the stage that made it; this one borrows them for each call.
        self._borrowed[index] = layer
        return ft.partial(_call_lent, self._grid, layer, self._grid.stage, function)

    def _locally_shared(self, described: LocalSharedLayerDesc, index: int) -> Any:
        """What runs at a place of a Layer that has the Parameters of an earlier one of this stage."""
        key = described.layer_name
        same = [place for place, one in enumerate(self._layers_desc) if _is_local(one, key)]
        stages = {self.get_stage_from_index(place) for place in same}
        if not self._use_dualpipev or len(stages) > 1:
            raise CheckError(
                f"PipelineLayer: layers: LocalSharedLayerDesc {key!r} is on the stages {sorted(stages)}; "
                "it needs use_dualpipev, and all its places on one stage"
            )
        if key not in self.local_shared_layers:
            layer = self.local_shared_layers[key] = described.build_layer()
        else:
            # The first place says which Parameters the others take as arguments.
            names = self._layers_desc[same[0]].shared_weight_attr
            first = self.local_shared_layers[key]
            layer = described.build_layer(**{name: getattr(first, name) for name in names})
        if described.forward_func is None:
            return layer
        return ft.partial(described.forward_func, layer)

    def forward(self, input: Any, chunk_id: int | None = None) -> Any:
        """What the last layer of this stage, or of one of its chunks, gives.

        Args:
            input: Tensor, or a tuple or dict of such.
            chunk_id: int, which chunk; needed where there are several.
        Raises:
            AssertionError: there is no such chunk.
        """
        if self._grid is None:
            return self._run(self._functions(chunk_id), input)
        parts = range(self._total_stages_with_virtual_stages)
        if chunk_id is not None:
            # Called for its checks of chunk_id.
            self._functions(chunk_id)
            # A chunk is one part of every stage.
            parts = parts[chunk_id * self._num_stages : (chunk_id + 1) * self._num_stages]
        for part in parts:
            input = self.run_part(part, self._grid.batch(input, self.stage_of(part)))
        return input

    def run_part(self, part: int, input: Any) -> Any:
        """What a part of the model gives, where this process has all of them.

        Args:
            part: int, its number.
            input: what it gets, on the devices of its stage.
        """
        if self._model_chunks:
            functions = self._model_chunks[part].get_run_function()
        else:
            begin, end = self.segment_parts[part : part + 2]
            functions = self.run_function[begin:end]
        # Attention may be cut over devices, which depend on the stage.
        with self._grid.attention(self.stage_of(part)):
            return self._run(functions, input)

    @contextlib.contextmanager
    def weights_at(self, part: int) -> Iterator[None]:
        """Inside, the weights that a part shares with others are on its devices."""
        begin, end = self.segment_parts[part : part + 2]
        with contextlib.ExitStack() as stack:
            for index in range(begin, end):
                if index in self._borrowed:
                    stack.enter_context(self._grid.lent(self._borrowed[index], self.stage_of(part)))
            yield

    def _run(self, functions: Sequence[Callable[..., Any] | Layer], input: Any) -> Tensor:
        """What some functions give one after the other; some at a time are computed again in the backward
        pass, if the settings say so."""
        step = self._recompute_interval
        if step <= 0:
            return _passed(functions, input)
        for start in range(0, len(functions), step):
            some = functions[start : start + step]
            if _worth_recomputing(some, input):
                input = recompute(ft.partial(_passed, some), input, use_reentrant=False)
            else:
                input = _passed(some, input)
        return input

    def _functions(self, chunk_id: Any) -> list[Callable[..., Any] | Layer]:
        if chunk_id is None:
            # One stage with several chunks has the whole model.
            if self._model_chunks and self._num_stages == 1:
                return [one for chunk in self._model_chunks for one in chunk.get_run_function()]
            if self._model_chunks and not self.run_function:
                raise CheckError(
                    f"PipelineLayer: chunk_id: got None; the stage has {len(self._model_chunks)} chunks, "
                    "say which"
                )
            return self.run_function
        if not isinstance(chunk_id, int) or self._stage_chunks == 1:
            raise CheckError(
                f"PipelineLayer: chunk_id: got {chunk_id!r}; it must be an int, and there must be several "
                "chunks (num_virtual_pipeline_stages or use_dualpipev)"
            )
        chunks = len(self._model_chunks)
        if not 0 <= chunk_id < chunks:
            raise CheckError(f"PipelineLayer: chunk_id: got {chunk_id}; allowed are 0..{chunks - 1}")
        self.run_function = self._model_chunks[chunk_id].get_run_function()
        return self.run_function

    def update_run_function(self, chunk_id: int | None) -> None:
        """Makes `run_function` the layers and functions of a chunk; None leaves it as it is.

        Raises:
            AssertionError: there is no such chunk.
        """
        if chunk_id is not None:
            self._functions(chunk_id)

    def forward_function(self, start: int, end: int) -> Callable[..., Any]:
        """A function that runs `run_function[start:end]`.

        Args:
            start, end: int.
        """
        functions = self.run_function[start:end]
        return lambda *inputs: _passed(functions, inputs[0] if len(inputs) == 1 else inputs)

    def build_schedule_nodes(self, start: int, end: int) -> ScheduleChunk:
        """The nodes of `run_function[start:end]`, by the `build_schedule_node` of each layer.

        Args:
            start, end: int.
        Raises:
            AssertionError: a layer has no such method.
        """
        functions = self.run_function[start:end]
        for function in functions:
            if not hasattr(function, "build_schedule_node"):
                raise CheckError(
                    f"PipelineLayer: build_schedule_nodes: {type(function).__name__} has no method "
                    "build_schedule_node; add one that gives a ScheduleNode"
                )
        return ScheduleChunk([function.build_schedule_node() for function in functions])

    def get_schedule_chunk(self, chunk_id: int | None) -> ScheduleChunk:
        """The nodes of a chunk of this stage.

        Args:
            chunk_id: int, which chunk; None where there is one.
        Raises:
            AssertionError: there is no such chunk, recompute_interval is set, or a layer makes no node.
        """
        self.update_run_function(chunk_id)
        if self._recompute_interval != 0:
            raise CheckError(
                f"PipelineLayer: get_schedule_chunk: recompute_interval is {self._recompute_interval}; "
                "nodes keep their graphs, it must be 0"
            )
        return self.build_schedule_nodes(0, len(self.run_function))

    def get_stage_from_index(self, layer_idx: int) -> int:
        """The stage that has a layer of the list.

        Raises:
            AssertionError: there is no such layer.
        """
        if not 0 <= layer_idx < self._num_layers:
            raise CheckError(
                f"get_stage_from_index: layer_idx={layer_idx} is out of range for {self._num_layers} layers"
            )
        # Each bound up to the layer ends a part before its own.
        part = sum(bound <= layer_idx for bound in self.segment_parts[1:])
        return self.stage_of(part)

    def get_num_virtual_stages(self) -> int:
        """The number of parts that each stage has; 1 with use_dualpipev, as in Paddle."""
        return self._num_virtual_pipeline_stages

    def get_model_chunks(self) -> list[PipelineLayerChunk] | None:
        """The parts of this stage; None where there is one."""
        if self._num_virtual_pipeline_stages == 1:
            return None
        return self._model_chunks

    def _synchronize_shared_weights(self) -> None:
        for shared in self.shared_comm.values():
            shared.synchronize()

    def allreduce_shared_weight_gradients(self) -> None:
        """Sums the gradients of Layers that several stages have a copy of."""
        for shared in self.shared_comm.values():
            shared.sum_gradients()

    def save_state_dict(self, path: str) -> None:
        """Writes the state of each layer of this stage into a folder, as
        `layer_00-tensor_00-model_states.pdparams` and so on. The first of data parallel copies writes.
        """
        # All replicas have the same weights: the first one writes them.
        if getattr(self._topo.get_coord(self.global_rank), "data", 0) != 0:
            return
        check_local("save_state_dict", "path", path)
        pathlib.Path(path).mkdir(parents=True, exist_ok=True)
        for name, layer in self._with_state():
            save(layer.state_dict(), str(pathlib.Path(path) / name))

    def set_state_dir(self, path: str) -> None:
        """Loads what `save_state_dict` wrote.

        Raises:
            AssertionError: the folder or one of its files is missing.
        """
        for name, layer in self._with_state():
            file = pathlib.Path(path) / name
            if not file.is_file():
                raise CheckError(
                    f"set_state_dir: path: {file} is missing; write the folder with save_state_dict"
                )
            layer.set_state_dict(load(str(file)))
        # Stages may have read other copies of a shared Layer.
        self._synchronize_shared_weights()

    def _with_state(self) -> list[Any]:
        """(name of its file, Layer) of the layers of this stage that have a state."""
        if not self._model_chunks:
            parts = [self.run_function]
        else:
            parts = self._model_chunks
        found = []
        for chunk, (functions, (begin, _)) in enumerate(zip(parts, self._bounds(), strict=True)):
            if self._model_chunks:
                virtual = f"-virtual_pp_stage_{chunk:02d}"
            else:
                virtual = ""
            # Layers are numbered over the whole model.
            for index, layer in enumerate(functions, begin):
                if isinstance(layer, Layer) and layer.state_dict():
                    name = f"layer_{index:02d}{virtual}-tensor_{self._model_rank():02d}-model_states.pdparams"
                    found.append((name, layer))
        return found

    def _model_rank(self) -> int:
        """The place of this process among those that have parts of each layer."""
        return getattr(self._topo.get_coord(self.global_rank), "model", 0)


def _call_lent(grid: Any, layer: Any, stage: Any, function: Any, x: Any) -> Any:
    """Calls a function of a shared Layer whose Parameters lie on the devices of another stage."""
    with grid.lent(layer, stage):
        return function(x)


def _is_local(described: Any, key: str) -> bool:
    """Whether a description stands for a locally shared Layer of this key."""
    return isinstance(described, LocalSharedLayerDesc) and described.layer_name == key


def _passed(functions: Sequence[Callable[..., Any] | Layer], x: Tensor) -> Tensor:
    for function in functions:
        x = function(x)
    return x


def _worth_recomputing(functions: Sequence[Callable[..., Any] | Layer], input: Tensor) -> bool:
    """Whether there is something to keep from being held: Parameters, and an input that wants a gradient."""
    if not any(isinstance(one, Layer) and one.parameters() for one in functions):
        return False
    # A stage may give several Tensors, which are one argument of the next one.
    tensors = input if isinstance(input, tuple) else (input,)
    return any(isinstance(one, Tensor) and not one.stop_gradient for one in tensors)


def _chunks(wanted: Any, seg_method: str) -> int:
    """How many parts a stage has."""
    if not wanted:
        return 1
    if not isinstance(wanted, int):
        raise CheckError(
            f"PipelineLayer: num_virtual_pipeline_stages: got {wanted!r}; it must be an int or None"
        )
    if wanted > 1 and not (isinstance(seg_method, str) and seg_method.startswith("layer:")):
        raise CheckError(
            f"PipelineLayer: seg_method: got {seg_method!r}; several chunks a stage "
            "(num_virtual_pipeline_stages) need 'layer:Name'"
        )
    return wanted


def _topology(num_stages: int | None, topology: Any) -> CommunicateTopology:
    """The grid of all processes; where none is given, one of data parallel pipelines."""
    if num_stages is None and topology is None:
        raise ValueError("PipelineLayer: got neither num_stages nor topology; give one of them")
    grid = Current.grid
    if grid is not None and topology in (None, grid.topology) and num_stages in (None, 1, grid.stages):
        # A pipe group of a process that drives all devices has one process, whatever the degree is.
        return grid.topology
    if topology is not None:
        if num_stages is not None and num_stages != topology.get_dim("pipe"):
            raise CheckError(
                f"PipelineLayer: num_stages: got {num_stages}; the topology has {topology.get_dim('pipe')}"
            )
        return topology
    processes = get_world_size()
    if processes % num_stages:
        raise ValueError(
            f"PipelineLayer: num_stages: got {num_stages}; the {processes} processes of the program must be "
            "a multiple of it"
        )
    return CommunicateTopology(["data", "pipe", "model"], [processes // num_stages, num_stages, 1])
