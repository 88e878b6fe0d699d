"""Plans for `parallelize`: what is done to a layer, or to one of its parameters.

Tensor parallelism as in Megatron-LM (Shoeybi et al., 2019, https://arxiv.org/abs/1909.08053), sequence
parallelism as in Korthikanti et al., 2022 (https://arxiv.org/abs/2205.05198), both written as layouts; XLA
finds the communication.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.auto_parallel.api import shard_tensor
from paddle_jax.distributed.auto_parallel.layers import replace
from paddle_jax.distributed.auto_parallel.layout import DistLayout, layout_of
from paddle_jax.distributed.auto_parallel.placement_type import Replicate, Shard
from paddle_jax.distributed.auto_parallel.reshard import reshard_tensor
from paddle_jax.nn.layer.common import Embedding

MODEL = "mp"  # the mesh dimension of tensor and sequence parallelism


class PlanBase:
    """Something that `parallelize` does to a layer."""

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> Any:
        """Does it. shard_param_list: names of the parameters that are meant, all if it is empty."""
        raise NotImplementedError(
            "PlanBase: the base class has no plan; use a subclass such as ColWiseParallel"
        )


def laid_out(tensor: Any, mesh: Any, placement: Any, dim: Any = MODEL) -> Any:
    """A Tensor that along one dimension of the mesh lies as `placement` says, and along the
    others as before."""
    own = layout_of(tensor) if tensor.is_dist() else None
    if own is not None and own.mesh == mesh:
        placements = list(own.placements)
    else:
        placements = [Replicate()] * mesh.ndim
    at = mesh.dim_names.index(dim)
    # Another dimension of the mesh that cuts the same axis gives it up.
    cut = [
        Replicate() if placement.is_shard() and p == placement and i != at else p
        for i, p in enumerate(placements)
    ]
    return reshard_tensor(tensor, DistLayout(mesh, [placement if i == at else p for i, p in enumerate(cut)]))


def each(values: Any, change: Any) -> Any:
    """Changes the Tensors in a value or tuple of values."""
    if isinstance(values, list | tuple):
        items = [change(v) if isinstance(v, Tensor) else v for v in values]
        return make_sequence(type(values), items)
    if isinstance(values, Tensor):
        return change(values)
    return values


def _first(values: Any, change: Any) -> Any:
    """Changes the first of the arguments of a layer."""
    return (change(values[0]), *values[1:])


def _cut_parameters(layer: Any, mesh: Any, names: Any, dims: Any) -> None:
    """Cuts parameters of a layer along the model dimension; dims: name -> axis, None for copies."""
    at = mesh.dim_names.index(MODEL)
    # Without names all parameters of the plan are meant; one that is on a mesh already stays.
    for name in names or dims:
        param = layer._parameters.get(name)
        if param is not None and name in dims and not param.is_dist():
            axis = dims[name]
            cut = Replicate() if axis is None else Shard(axis)
            replace(
                layer,
                name,
                shard_tensor(param, mesh, [cut if i == at else Replicate() for i in range(mesh.ndim)]),
            )


class ColWiseParallel(PlanBase):
    """Cuts the weight of a Linear (or Embedding) into columns: each device computes a part of the outputs.

    Args:
        gather_output: bool, whether the outputs are gathered again.
    Example:
        >>> plan = paddle.distributed.ColWiseParallel(gather_output=True)
    """

    def __init__(self, gather_output: bool = False) -> None:
        self.gather_output = gather_output

    def gather_output_hook(self, process_mesh: Any) -> Any:
        """A hook that gathers what a layer returns."""
        return lambda layer, inputs, outputs: each(outputs, lambda t: laid_out(t, process_mesh, Replicate()))

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Cuts the parameters."""
        # A Linear has its weight as [inputs, outputs].
        _cut_parameters(layer, process_mesh, shard_param_list, {"weight": 1, "bias": 0})
        if self.gather_output:
            layer.register_forward_post_hook(self.gather_output_hook(process_mesh))


class RowWiseParallel(PlanBase):
    """Cuts the weight of a Linear (or Embedding) into rows: each device takes a part of the inputs, and the
    results are added up.

    Args:
        is_input_parallel: bool, whether the inputs are cut along their last axis already.
    Example:
        >>> plan = paddle.distributed.RowWiseParallel(is_input_parallel=False)
    """

    def __init__(self, is_input_parallel: bool = True) -> None:
        self.is_input_parallel = is_input_parallel

    def split_input_hook(self, process_mesh: Any) -> Any:
        """A hook that cuts what a layer gets along its last axis."""
        return lambda layer, inputs: each(inputs, lambda t: laid_out(t, process_mesh, Shard(t.ndim - 1)))

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Cuts the parameters."""
        # The bias is added to the sum over devices, so each device has it whole.
        _cut_parameters(layer, process_mesh, shard_param_list, {"weight": 0, "bias": None})
        # An Embedding gets row numbers, which have no axis to cut.
        if not self.is_input_parallel and not isinstance(layer, Embedding):
            layer.register_forward_pre_hook(self.split_input_hook(process_mesh))


class PrepareLayerInput(PlanBase):
    """Changes what a layer gets.

    Args:
        fn: function (mesh) that gives a hook (layer, inputs) for `register_forward_pre_hook`.
    Example:
        >>> plan = paddle.distributed.PrepareLayerInput(lambda process_mesh: lambda layer, inputs: inputs)
    """

    def __init__(self, fn: Callable[..., Any] | None = None) -> None:
        if fn is None or not callable(fn):
            raise AssertionError("PrepareLayerInput: fn: it must be a function of the mesh that gives a hook")
        self.fn = fn

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Registers the hook."""
        layer.register_forward_pre_hook(self.fn(process_mesh=process_mesh))


class PrepareLayerOutput(PlanBase):
    """Changes what a layer returns.

    Args:
        fn: function (mesh) that gives a hook (layer, inputs, outputs) for `register_forward_post_hook`.
    Example:
        >>> plan = paddle.distributed.PrepareLayerOutput(
        ...     lambda process_mesh: lambda layer, inputs, outputs: outputs)
    """

    def __init__(self, fn: Callable[..., Any] | None = None) -> None:
        if fn is None or not callable(fn):
            raise AssertionError(
                "PrepareLayerOutput: fn: it must be a function of the mesh that gives a hook"
            )
        self.fn = fn

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Registers the hook."""
        layer.register_forward_post_hook(self.fn(process_mesh=process_mesh))


def _begun(tensor: Any, mesh: Any, transpose: Any) -> Any:
    """A Tensor [batch, sequence, ...] cut along the sequence, as [sequence, batch, ...] if it is
    to be transposed."""
    return laid_out(_swapped(tensor) if transpose else tensor, mesh, Shard(0 if transpose else 1))


def _ended(tensor: Any, mesh: Any, transpose: Any) -> Any:
    whole = laid_out(tensor, mesh, Replicate())
    if transpose:
        return _swapped(whole)
    return whole


def _swapped(tensor: Any) -> Any:
    return tensor.transpose([1, 0, *range(2, tensor.ndim)])


class SequenceParallelBegin(PlanBase):
    """Cuts what a layer returns, [batch, sequence, ...], along the sequence: those after it run on parts,
    until SequenceParallelEnd.

    Args:
        need_transpose: bool, whether the result becomes [sequence, batch, ...].
    Example:
        >>> plan = paddle.distributed.SequenceParallelBegin()
    """

    def __init__(self, need_transpose: bool = True) -> None:
        self.need_transpose = need_transpose

    def sequence_parallel_begin(self, process_mesh: Any) -> Any:
        """The hook."""
        return lambda layer, inputs, outputs: each(
            outputs, lambda t: _begun(t, process_mesh, self.need_transpose)
        )

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Registers the hook."""
        layer.register_forward_post_hook(self.sequence_parallel_begin(process_mesh))


class SequenceParallelEnd(PlanBase):
    """Gathers what a layer gets, which SequenceParallelBegin has cut.

    Args:
        need_transpose: bool, whether [sequence, batch, ...] becomes [batch, sequence, ...] again.
    Example:
        >>> plan = paddle.distributed.SequenceParallelEnd()
    """

    def __init__(self, need_transpose: bool = True) -> None:
        self.need_transpose = need_transpose

    def sequence_parallel_end(self, process_mesh: Any) -> Any:
        """The hook."""
        return lambda layer, inputs: _first(inputs, lambda t: _ended(t, process_mesh, self.need_transpose))

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Registers the hook."""
        layer.register_forward_pre_hook(self.sequence_parallel_end(process_mesh))


class SequenceParallelEnable(PlanBase):
    """Runs one layer, from [batch, sequence, ...] to the same, on parts of the sequence.

    Example:
        >>> plan = paddle.distributed.SequenceParallelEnable()
    """

    def sequence_parallel_begin(self, process_mesh: Any) -> Any:
        """The hook before."""
        return lambda layer, inputs: _first(inputs, lambda t: _begun(t, process_mesh, False))

    def sequence_parallel_end(self, process_mesh: Any) -> Any:
        """The hook behind."""
        return lambda layer, inputs, outputs: each(outputs, lambda t: _ended(t, process_mesh, False))

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Registers the hooks."""
        layer.register_forward_pre_hook(self.sequence_parallel_begin(process_mesh))
        layer.register_forward_post_hook(self.sequence_parallel_end(process_mesh))


class SequenceParallelDisable(PlanBase):
    """Runs one layer between SequenceParallelBegin and SequenceParallelEnd on the whole sequence.

    Args:
        need_transpose: bool, whether the layer gets [batch, sequence, ...] for [sequence, batch, ...], and
            its result is transposed back.
    Example:
        >>> plan = paddle.distributed.SequenceParallelDisable(need_transpose=False)
    """

    def __init__(self, need_transpose: bool = True) -> None:
        self.need_transpose = need_transpose

    def sequence_parallel_begin(self, process_mesh: Any) -> Any:
        """The hook behind."""
        return lambda layer, inputs, outputs: each(
            outputs, lambda t: _begun(t, process_mesh, self.need_transpose)
        )

    def sequence_parallel_end(self, process_mesh: Any) -> Any:
        """The hook before."""
        return lambda layer, inputs: _first(inputs, lambda t: _ended(t, process_mesh, self.need_transpose))

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Registers the hooks."""
        layer.register_forward_pre_hook(self.sequence_parallel_end(process_mesh))
        layer.register_forward_post_hook(self.sequence_parallel_begin(process_mesh))
