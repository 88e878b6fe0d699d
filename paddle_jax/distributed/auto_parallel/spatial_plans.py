"""Plans for `parallelize` that cut what layers get: images for convolutions, sequences for attention.

All of them say how values lie; XLA finds the communication: the borders that neighbours need for a
convolution, the exchange of heads for sequences of DeepSpeed-Ulysses (Jacobs et al., 2023,
https://arxiv.org/abs/2309.14509).
"""

from __future__ import annotations

from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.auto_parallel.placement_type import Shard
from paddle_jax.distributed.auto_parallel.plans import MODEL, PlanBase, each, laid_out
from paddle_jax.distributed.auto_parallel.ring_attention import attention_in_rings

SEQUENCE = "sep"  # the mesh dimension of context parallelism
_WAYS = ("p2p", "all2all")


class ConvParallel(PlanBase):
    """Cuts the images that a Conv2D gets along their width, so that each device computes some columns of the
    result, which stays cut.

    Values are those of one device whatever kernel, stride, padding and dilation are. A width that does not
    divide is left whole.

    Example:
        >>> plan = paddle.distributed.ConvParallel()
    """

    def conv_parallel_start(self, process_mesh: Any) -> Any:
        """The hook."""

        def hook(layer: Any, inputs: Any) -> Any:
            layout = getattr(layer, "_data_format", None)
            if layout not in ("NCHW", "NHWC"):
                raise ValueError(
                    f"ConvParallel: got a layer of data format {layout!r}; "
                    "it must be a Conv2D of NCHW or NHWC"
                )
            cut = Shard(layout.index("W"))
            return (laid_out(inputs[0], process_mesh, cut, MODEL), *inputs[1:])

        return hook

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Registers the hook."""
        layer.register_forward_pre_hook(self.conv_parallel_start(process_mesh))


class PrepareContextParallel(PlanBase):
    """Cuts what a model gets, [batch, sequence, ...], along the sequence, over the mesh dimension "sep".

    Args:
        backend: "p2p" or "all2all", the same as that of ContextParallel in the model.
    Raises:
        AssertionError: the backend is none of them.
    Example:
        >>> plan = paddle.distributed.PrepareContextParallel("all2all")
    """

    def __init__(self, backend: str = "p2p") -> None:
        self.backend: str = _way("PrepareContextParallel", backend)

    def hook(self, process_mesh: Any) -> Any:
        """The hook, for positional and for named arguments."""

        def split(value: Any) -> Any:
            # Without a second axis there is no sequence to cut.
            if isinstance(value, Tensor) and value.ndim > 1:
                return laid_out(value, process_mesh, Shard(1), SEQUENCE)
            return value

        return _of_inputs(split)

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Registers the hook."""
        layer.register_forward_pre_hook(self.hook(process_mesh), with_kwargs=True)


class ContextParallel(PlanBase):
    """Runs a layer that computes attention of queries, keys and values [batch, sequence, heads, size] on a
    sequence cut over "sep".

    Args:
        backend: "all2all": each device computes some heads over the whole sequence (the heads must divide),
            and what leaves the layer is cut along the sequence again. "p2p": each device computes its
            queries, and keys and values travel round the devices, as long as there is neither mask nor
            dropout and the sequence divides; else XLA gathers them. Values are the same.
    Raises:
        AssertionError: the backend is none of them.
    Example:
        >>> plan = paddle.distributed.ContextParallel("all2all")
    """

    def __init__(self, backend: str = "p2p") -> None:
        self.backend: str = _way("ContextParallel", backend)

    def before(self, process_mesh: Any) -> Any:
        """The hook before: of the tensors of four axes."""
        # All-to-all gives each device some heads for the whole sequence.
        cut = Shard(2 if self.backend == "all2all" else 1)

        def change(value: Any) -> Any:
            if isinstance(value, Tensor) and value.ndim == 4:
                return laid_out(value, process_mesh, cut, SEQUENCE)
            return value

        return _of_inputs(change)

    def after(self, process_mesh: Any) -> Any:
        """The hook behind."""
        return lambda layer, inputs, outputs: each(
            outputs, lambda t: laid_out(t, process_mesh, Shard(1), SEQUENCE)
        )

    def apply(self, layer: Any, process_mesh: Any, shard_param_list: Any) -> None:
        """Registers the hooks."""
        layer.register_forward_pre_hook(self.before(process_mesh), with_kwargs=True)
        layer.register_forward_post_hook(self.after(process_mesh))
        # After all-to-all each device has the whole sequence, and attention runs as it is.
        if self.backend == "p2p":
            rings = _Rings(process_mesh)
            layer.register_forward_pre_hook(rings.enter)
            layer.register_forward_post_hook(rings.leave, always_call=True)


class _Rings:
    """Hooks of a layer whose attention runs in rings.

    Attributes:
        mesh: ProcessMesh.
        open: contexts of the calls that go on.
    """

    def __init__(self, mesh: Any) -> None:
        self.mesh = mesh
        self.open = []

    def enter(self, layer: Any, inputs: Any) -> None:
        """Before a call."""
        context = attention_in_rings(self.mesh, SEQUENCE)
        context.__enter__()
        self.open.append(context)

    def leave(self, layer: Any, inputs: Any, outputs: Any) -> None:
        """After a call, also one that has raised."""
        # None is open where a hook before `enter` has raised.
        if self.open:
            self.open.pop().__exit__(None, None, None)


def _of_inputs(change: Any) -> Any:
    """The hook that changes what a layer gets, by position and by name."""
    return lambda layer, inputs, named: (
        tuple(map(change, inputs)),
        {name: change(value) for name, value in named.items()},
    )


def _way(plan: str, backend: str) -> str:
    if backend not in _WAYS:
        raise CheckError(f"{plan}: backend: got {backend!r}; allowed are 'p2p' and 'all2all'")
    return backend
