"""Models written down as a list of layers, for pipelines. Here the whole list runs in each process: a
pipeline of one stage."""

import functools as ft
import pathlib

from paddle_jax._core.base.errors import CheckError
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.recompute.recompute import recompute
from paddle_jax.framework.io import load, save
from paddle_jax.nn import Layer, LayerDict

__all__ = []


class LayerDesc:
    """A Layer that is made later.

    Args:
        layer_func_or_spec: subclass of Layer.
        inputs, kwargs: what it is made with.
    Raises:
        TypeError: it is no such class.
    Example:
        >>> from paddle_jax.distributed.fleet.meta_parallel import LayerDesc
        >>> LayerDesc(paddle.nn.Linear, 2, 3).build_layer().weight.shape
        paddle.Size([2, 3])
    """

    def __init__(self, layer_func_or_spec, *inputs, **kwargs):
        if not (isinstance(layer_func_or_spec, type) and issubclass(layer_func_or_spec, Layer)):
            raise TypeError(
                f"LayerDesc: layer_func_or_spec: got {layer_func_or_spec!r}; "
                "it must be a subclass of paddle.nn.Layer"
            )
        self.layer_func, self.inputs, self.kwargs = layer_func_or_spec, inputs, kwargs

    def build_layer(self, **extra_kwargs):
        """The Layer, made with further keyword arguments."""
        return self.layer_func(*self.inputs, **self.kwargs, **extra_kwargs)

    def __repr__(self):
        given = [*map(repr, self.inputs), *(f"{name}={value!r}" for name, value in self.kwargs.items())]
        return f"{self.layer_func.__name__}({', '.join(given)})"


class SharedLayerDesc(LayerDesc):
    """A Layer that stands at several places of a list: those with the same key are one Layer.

    Args:
        key: str.
        layer_func: subclass of Layer.
        forward_func: `f(layer, x)`, called in place of the Layer. Default None: the Layer.
        shared_weight_attr: name of the Parameter, or several names, that pipelines of more stages keep alike.
        inputs, kwargs: what the Layer is made with.
    """

    def __init__(self, key, layer_func, forward_func=None, shared_weight_attr="weight", *inputs, **kwargs):
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name, self.forward_func, self.shared_weight_attr = key, forward_func, shared_weight_attr


class PipelineLayer(Layer):
    """A model as a list of layers that run one after the other, each on what the one before gives.

    Args:
        layers: list of Layers, functions, LayerDescs and SharedLayerDescs.
        num_stages: int, 1. Default None: that of the topology.
        topology: CommunicateTopology. One of the two must be given.
        loss_fn: `f(output, label)`, what `PipelineParallel.train_batch` makes small. Default None.
        seg_method: "uniform" or "layer:Name", where pipelines of more stages may be cut; the named class
            must be in the list.
        recompute_interval: int: so many layers at a time are computed again in the backward pass.
            Default 0: none are.
        recompute_ctx: dict, which recomputing needs; its entries concern GPUs and are accepted.
        num_virtual_pipeline_stages: int or None: accepted for one stage.
        use_cudagraph, use_dualpipev: accepted.
    Raises:
        ValueError: neither num_stages nor topology. NotImplementedError: more than one stage.
    Example:
        >>> from paddle_jax.distributed.fleet.meta_parallel import LayerDesc, PipelineLayer
        >>> net = PipelineLayer([LayerDesc(paddle.nn.Linear, 2, 3), paddle.nn.ReLU()], num_stages=1)
        >>> net(paddle.ones([4, 2])).shape
        paddle.Size([4, 3])
    """

    def __init__(
        self,
        layers,
        num_stages=None,
        topology=None,
        loss_fn=None,
        seg_method="uniform",
        recompute_interval=0,
        recompute_ctx=None,
        num_virtual_pipeline_stages=None,
        use_cudagraph=False,
        use_dualpipev=False,
    ):
        super().__init__()
        self._num_stages = _stages(num_stages, topology)
        if recompute_interval > 0 and recompute_ctx is None:
            raise CheckError(
                "PipelineLayer: recompute_ctx: got None; it must be a dict where recompute_interval is not 0"
            )
        self._layers_desc, self._loss_fn, self._topo, self._stage_id = list(layers), loss_fn, topology, 0
        self._recompute_interval, self._num_virtual_pipeline_stages = (
            recompute_interval,
            num_virtual_pipeline_stages or 1,
        )
        _check_method(seg_method, self._layers_desc)
        self.segment_parts = [0, len(self._layers_desc)]
        self.shared_layers, self.run_function = LayerDict(), []
        for at, one in enumerate(self._layers_desc):
            self.run_function.append(self._made(at, one))

    def _made(self, at, one):
        if isinstance(one, SharedLayerDesc):
            if one.layer_name not in self.shared_layers:
                self.shared_layers[one.layer_name] = one.build_layer()
            layer = self.shared_layers[one.layer_name]
            return layer if one.forward_func is None else ft.partial(one.forward_func, layer)
        layer = one.build_layer() if isinstance(one, LayerDesc) else one
        if isinstance(layer, Layer):
            self.add_sublayer(str(at), layer)
        return layer

    def forward(self, input, chunk_id=None):
        """What the last layer gives."""
        step = self._recompute_interval
        if step <= 0:
            return _passed(self.run_function, input)
        for start in range(0, len(self.run_function), step):
            some = self.run_function[start : start + step]
            wanted = any(isinstance(f, Layer) and f.parameters() for f in some)
            input = recompute(ft.partial(_passed, some), input) if wanted else _passed(some, input)
        return input

    def get_stage_from_index(self, layer_idx):
        """The stage that has a layer of the list: 0.

        Raises:
            AssertionError: there is no such layer.
        """
        if not 0 <= layer_idx < len(self._layers_desc):
            raise CheckError(
                f"get_stage_from_index: layer_idx={layer_idx} is out of range for "
                f"{len(self._layers_desc)} layers"
            )
        return 0

    def get_num_virtual_stages(self):
        """The number of parts that each stage has."""
        return self._num_virtual_pipeline_stages

    def get_model_chunks(self):
        """None: there is one part."""
        return None

    def allreduce_shared_weight_gradients(self):
        """Nothing to do: shared layers are one Layer here, whose gradients add up."""

    def save_state_dict(self, path):
        """Writes the state of each layer of the list into a folder, as
        `layer_00-tensor_00-model_states.pdparams` and so on."""
        pathlib.Path(path).mkdir(parents=True, exist_ok=True)
        for at, layer in self._with_state():
            save(layer.state_dict(), str(_file(path, at)))

    def set_state_dir(self, path):
        """Loads what `save_state_dict` wrote.

        Raises:
            AssertionError: the folder or one of its files is missing.
        """
        for at, layer in self._with_state():
            if not _file(path, at).is_file():
                raise CheckError(
                    f"set_state_dir: path: {_file(path, at)} is missing; "
                    "write the folder with save_state_dict"
                )
            layer.set_state_dict(load(str(_file(path, at))))

    def _with_state(self):
        return [
            (at, layer)
            for at, layer in enumerate(self.run_function)
            if isinstance(layer, Layer) and layer.state_dict()
        ]


def _passed(functions, x):
    for function in functions:
        x = function(x)
    return x


def _file(path, at):
    """The file of layer `at`; each process of a model parallel group has files of its own."""
    part = 0 if Current.hcg is None else Current.hcg.get_model_parallel_rank()
    return pathlib.Path(path) / f"layer_{at:02d}-tensor_{part:02d}-model_states.pdparams"


def _stages(num_stages, topology):
    if num_stages is None and topology is None:
        raise ValueError("PipelineLayer: got neither num_stages nor topology; give one of them")
    known = None if topology is None else topology.get_dim("pipe")
    if num_stages is not None and known is not None and num_stages != known:
        raise CheckError(f"PipelineLayer: num_stages: got {num_stages}; the topology has {known}")
    found = known if num_stages is None else num_stages
    if found != 1:
        raise NotImplementedError(
            f"PipelineLayer: num_stages: got {found}; pipelines of more than one stage "
            "are not written yet; use tensor parallelism (mp_degree) or sharding "
            "(sharding_degree)"
        )
    return found


def _check_method(seg_method, layers):
    if not seg_method.startswith("layer:"):
        return
    names = {(one.layer_func if isinstance(one, LayerDesc) else type(one)).__name__ for one in layers}
    if seg_method[6:] not in names:
        raise CheckError(
            f"PipelineLayer: seg_method: got {seg_method!r}; the list has no layer of that "
            f"class, but {sorted(names)}"
        )
