"""Layers and data loaders on the devices of a mesh."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.tensors.tensor import Parameter, Tensor
from paddle_jax.distributed.auto_parallel.api import dtensor_from_local, shard_tensor
from paddle_jax.distributed.auto_parallel.layout import DistLayout
from paddle_jax.distributed.auto_parallel.local_parts import has_other_processes
from paddle_jax.distributed.auto_parallel.placement_type import Replicate, Shard
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer


def shard_layer(
    layer: Layer,
    process_mesh: Any,
    shard_fn: Callable[..., Any] | None = None,
    input_fn: Callable[..., Any] | None = None,
    output_fn: Callable[..., Any] | None = None,
) -> Any:
    """Puts the parameters and buffers of a layer, and of all layers in it, on the devices of a mesh.

    Parameters are replaced: make the optimizer afterwards.

    Args:
        layer: Layer.
        process_mesh: ProcessMesh.
        shard_fn: function (name of a layer, layer, mesh), called for each, that puts shard_tensor(...) in
            place of what is to be cut. What is on one device afterwards becomes a copy on each.
            Default: copies of all.
        input_fn: function (arguments, mesh) that gives what the layer gets in their place.
        output_fn: function (result, mesh) that gives what the caller gets in its place.
    Returns:
        The layer.
    Raises:
        ValueError: `process_mesh` is no ProcessMesh.
    Example:
        >>> dist = paddle.distributed
        >>> layer = dist.shard_layer(paddle.nn.Linear(2, 2), dist.ProcessMesh([0], dim_names=["x"]))
        >>> layer.bias.placements
        [Replicate()]
    """
    if not isinstance(process_mesh, ProcessMesh):
        raise ValueError(
            f"shard_layer: process_mesh: got {type(process_mesh).__name__}; it must be a ProcessMesh"
        )
    for name, part in layer.named_sublayers(include_self=True):
        if shard_fn is not None:
            shard_fn(name, part, process_mesh)
    # What `shard_fn` has left alone.
    replicate_unsharded(layer, process_mesh)
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda _, inputs: input_fn(inputs, process_mesh))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, inputs, outputs: output_fn(outputs, process_mesh))
    return layer


def replicate_unsharded(layer: Layer, mesh_of: Any) -> None:
    """Makes copies on all devices of the parameters and buffers of a layer that are on one. One that several
    layers share stays shared.

    Args:
        layer: Layer.
        mesh_of: ProcessMesh, or function that gives the one of a layer in it.
    """
    made = {}
    for _, part in layer.named_sublayers(include_self=True):
        mesh = mesh_of(part) if callable(mesh_of) else mesh_of
        for store in (part._parameters, part._buffers):
            # A list, since `replace` changes the dict.
            for name, tensor in list(store.items()):
                if tensor is None or tensor.is_dist():
                    continue
                if id(tensor) not in made:
                    # The old Tensor is held as well, so that no other one gets its id.
                    made[id(tensor)] = shard_tensor(tensor, mesh, [Replicate()] * mesh.ndim), tensor
                replace(part, name, made[id(tensor)][0])


def replace(layer: Any, name: Any, tensor: Any) -> None:
    """Puts a Tensor in place of a parameter or buffer of a layer."""
    if name in layer._parameters:
        store = layer._parameters
    else:
        store = layer._buffers
    old = store[name]
    # A Parameter has its new name from `shard_tensor`; a buffer would have none.
    if not isinstance(old, Parameter):
        tensor._name = old._name
    store[name] = tensor


class ShardDataloader:
    """A data loader whose batches lie on the devices of a mesh; `shard_dataloader` makes it.

    This process drives all devices of its mesh, so a batch of the loader is the batch of all of them.
    Attributes:
        dense_tensor_idx: as given.
        _dataloader, _input_keys: as given.
        _meshes: list of ProcessMeshes.
        _dims: list of the dimension of each mesh along which inputs are cut, or None.
        _is_split: bool, whether each process reads a part of its own.
    """

    def __init__(
        self,
        dataloader: Any,
        meshes: Any,
        input_keys: Any = None,
        shard_dims: Any = None,
        is_dataset_splitted: Any = False,
        dense_tensor_idx: Any = None,
    ) -> None:
        if is_dataset_splitted and shard_dims is None:
            raise ValueError(
                "shard_dataloader: shard_dims: got None; a data set that is split already needs "
                "the dimension it is split along"
            )
        if isinstance(meshes, list | tuple):
            self._meshes = list(meshes)
        else:
            self._meshes = [meshes]
        if not self._meshes or any(not isinstance(mesh, ProcessMesh) for mesh in self._meshes):
            raise ValueError(
                f"shard_dataloader: meshes: got {meshes!r}; pass a ProcessMesh, or a list with "
                "one for each input"
            )
        if input_keys is not None and len(self._meshes) not in (1, len(input_keys)):
            raise ValueError(
                f"shard_dataloader: input_keys: got {len(input_keys)} keys for "
                f"{len(self._meshes)} meshes; pass one mesh for each"
            )
        if isinstance(shard_dims, list | tuple):
            dims = list(shard_dims)
        else:
            dims = [shard_dims] * len(self._meshes)
        if len(dims) != len(self._meshes):
            raise ValueError(
                f"shard_dataloader: shard_dims: got {len(dims)} for {len(self._meshes)} meshes; "
                "pass one for each"
            )
        self._dataloader = dataloader
        self._input_keys = input_keys
        self._dims = dims
        self._is_split = bool(is_dataset_splitted)
        self.dense_tensor_idx = dense_tensor_idx

    @property
    def batch_size(self) -> Any:
        """The number of samples in a batch."""
        sampler = getattr(self._dataloader, "batch_sampler", None)
        return getattr(sampler, "batch_size", None)

    def __len__(self) -> int:
        return len(self._dataloader)

    def __iter__(self) -> Any:
        return map(self._shard_batch, self._dataloader)

    def __call__(self) -> Any:
        return iter(self)

    def _shard_batch(self, batch: Any) -> Any:
        if isinstance(batch, dict):
            keys = list(self._input_keys or batch)
            return {
                # The place of a key names its mesh.
                key: self._one(value, keys.index(key) if key in keys else 0, key)
                for key, value in batch.items()
            }
        if isinstance(batch, list | tuple):
            items = [self._one(value, i, i) for i, value in enumerate(batch)]
            return make_sequence(type(batch), items)
        return self._one(batch, 0, 0)

    def _one(self, value: Any, place: Any, key: Any) -> Any:
        # One mesh is for all inputs.
        at = place if len(self._meshes) > 1 else 0
        if at >= len(self._meshes):
            raise ValueError(
                f"shard_dataloader: meshes: a batch has more than {len(self._meshes)} inputs; "
                "pass one mesh, or one for each input"
            )
        if isinstance(value, list | tuple):
            dense = self._dense(key)
            items = [v if i in dense else self._placed(v, at) for i, v in enumerate(value)]
            return make_sequence(type(value), items)
        if isinstance(value, dict):
            return {k: self._placed(v, at) for k, v in value.items()}
        if 0 in self._dense(key):
            return value
        return self._placed(value, at)

    def _dense(self, key: Any) -> Any:
        """The places in an input of what stays on one device."""
        chosen = self.dense_tensor_idx
        if chosen is None or not isinstance(key, int) or key >= len(chosen):
            return ()
        return chosen[key]

    def _placed(self, value: Any, at: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        mesh = self._meshes[at]
        dim = self._dims[at]
        if isinstance(dim, str):
            if dim not in mesh.dim_names:
                raise ValueError(f"shard_dataloader: shard_dims: got {dim!r}; the mesh has {mesh.dim_names}")
            dim = mesh.dim_names.index(dim)
        placements = [Shard(0) if i == dim and value.ndim else Replicate() for i in range(mesh.ndim)]
        # Without a dimension, an input is whole on each process.
        is_part = self._is_split and dim is not None and value.ndim
        if is_part and has_other_processes(DistLayout(mesh, placements)):
            _check_one_part(mesh, dim)
            return dtensor_from_local(value, mesh, placements)
        return shard_tensor(value, mesh, placements)


def _check_one_part(mesh: ProcessMesh, dim: int) -> None:
    """Refuses a process whose devices take different parts of a batch, where it reads one part."""
    rank = jax.process_index()
    own = [index for index, device in np.ndenumerate(mesh.jax_mesh().devices) if device.process_index == rank]
    if len({index[dim] for index in own}) > 1:
        raise NotImplementedError(
            "shard_dataloader: is_dataset_splitted: this process has several devices along "
            f"{mesh.dim_names[dim]!r}; read whole batches on every process, without is_dataset_splitted"
        )


def shard_dataloader(
    dataloader: Any,
    meshes: Any,
    input_keys: Sequence[str] | None = None,
    shard_dims: Any = None,
    is_dataset_splitted: bool = False,
    dense_tensor_idx: Any = None,
) -> ShardDataloader:
    """Makes a data loader whose batches lie on the devices of a mesh.

    Args:
        dataloader: DataLoader, or another iterable of batches.
        meshes: ProcessMesh, or a list with one for each input of a batch.
        input_keys: list of str, the inputs that the meshes stand for, where a batch is a dict.
        shard_dims: str or int, the mesh dimension along which axis 0 of each input is cut; or a list with one
            for each mesh. Default: copies.
        is_dataset_splitted: bool, whether each process reads a part of its own; then `shard_dims` is needed.
        dense_tensor_idx: list with a list of int for each input: the places in it of Tensors that
            stay on one device.
    Returns:
        ShardDataloader, to iterate over; `len` is the number of batches.
    Raises:
        ValueError: an argument does not fit the others.
    Example:
        >>> dist = paddle.distributed
        >>> data = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.ones([4, 2])]), batch_size=2)
        >>> batches = dist.shard_dataloader(data, dist.ProcessMesh([0], dim_names=["dp"]), shard_dims="dp")
        >>> [x.placements for (x,) in batches]
        [[Shard(dim=0)], [Shard(dim=0)]]
    """
    return ShardDataloader(dataloader, meshes, input_keys, shard_dims, is_dataset_splitted, dense_tensor_idx)
