"""`paddle.distributed.split`: linear layers and embeddings of static programs, with weights in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.program import default_startup_program
from paddle_jax._program.shape_inference import Inferred
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.layers.mpu.process_grid import PARTS, process_grid
from paddle_jax.distributed.parallel import get_world_size
from paddle_jax.framework.mode import in_dynamic_mode
from paddle_jax.nn import Embedding, Linear, functional
from paddle_jax.tensor.manipulation import unsqueeze

__all__ = []

_OPERATIONS = ("linear", "embedding")


def split(
    x: Tensor,
    size: Sequence[int],
    operation: str,
    axis: int = 0,
    num_partitions: int = 1,
    gather_out: bool = True,
    weight_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> Tensor:
    """Applies a linear layer or an embedding whose weight the processes of a static program have in parts.

    Neighbours in rank have the parts of one weight. Where one process drives all devices, the weight is whole
    in the Scope, and each of `num_partitions` devices holds a part of it.

    Args:
        x: Variable; [..., size[0]] for "linear", or [..., size[0] / num_partitions] where axis is 0 and the
            input is in parts already; integers [...] for "embedding".
        size: [features in, features out], or [rows, width], of the whole weight.
        operation: "linear" or "embedding".
        axis: the axis of the weight that is cut: 0 or 1, and 0 for "embedding".
        num_partitions: int, the number of parts. It divides the number of processes.
        gather_out: False leaves results as a process has them: its columns for axis 1; for axis 0 what its
            rows add to the sum, without the bias.
        weight_attr, bias_attr: as in `nn.Linear`; each process fills its part.
        name: prefix of the names of parameters.
    Returns:
        Variable [..., size[1]], or [..., size[1] / num_partitions] without `gather_out` for axis 1.
    Raises:
        AssertionError: an argument is of the wrong type, the axis does not divide, or fleet.init was not
            called.
        ValueError: in dynamic mode; for another axis; for parts that the processes or devices cannot have.
    Differs from Paddle: in one process the parts lie on its devices.
    Example:
        >>> paddle.enable_static()
        >>> _ = paddle.distributed.fleet.init(is_collective=True)
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 4])
        ...     y = paddle.distributed.split(x, (4, 6), "linear", axis=1, num_partitions=1)
        >>> y.shape
        paddle.Size([-1, 6])
        >>> paddle.disable_static()
    """
    _check_arguments(size, operation)
    if in_dynamic_mode():
        raise ValueError(
            "paddle.distributed.split: it belongs to static programs; in dynamic mode use "
            "ColumnParallelLinear, RowParallelLinear or VocabParallelEmbedding of fleet.meta_parallel"
        )
    if Current.fleet is None or Current.fleet._role_maker is None:
        raise AssertionError("paddle.distributed.split: there is no fleet; call fleet.init() first")
    _check_axis(size, operation, axis, num_partitions)
    if local.ctx.frame.blocks:
        raise NotImplementedError(
            "paddle.distributed.split: it is in a branch or a loop of a static program; call it outside"
        )
    if operation == "embedding":
        layer = _Divided(num_partitions, 0)
        return layer.embedding(x, size, weight_attr, name)
    layer = _Divided(num_partitions, axis)
    return layer.linear(x, size, gather_out, weight_attr, bias_attr, name)


def _check_arguments(size: Any, operation: Any) -> None:
    if not isinstance(size, list | tuple) or len(size) != 2:
        raise AssertionError(
            f"paddle.distributed.split: size: got {size!r}; it must be a list or tuple of two integers"
        )
    if operation not in _OPERATIONS:
        raise AssertionError(
            f"paddle.distributed.split: operation: got {operation!r}; it must be 'linear' or 'embedding'"
        )


def _check_axis(size: Sequence[int], operation: str, axis: int, num_partitions: int) -> None:
    if operation == "embedding" and axis != 0:
        raise AssertionError(
            f"paddle.distributed.split: axis: got {axis}; an embedding is cut along axis 0 only"
        )
    if axis not in (0, 1):
        raise ValueError(f"paddle.distributed.split: axis: got {axis}; it must be 0 or 1")
    if size[axis] % num_partitions:
        raise AssertionError(
            f"paddle.distributed.split: size: got {list(size)}; axis {axis} must be divisible by "
            f"num_partitions, {num_partitions}"
        )


class _Divided:
    """A weight that is cut along an axis.

    Attributes:
        part_count: int, the number of parts.
        axis: the axis of the weight.
        is_exchanging: whether processes have the parts. Else the weight is whole.
        program: Program that is recorded.
    """

    def __init__(self, part_count: int, axis: int) -> None:
        self.part_count = part_count
        self.axis = axis
        self.is_exchanging: bool = part_count > 1 and get_world_size() > 1
        self.program: Any = local.ctx.frame.program
        if self.is_exchanging:
            _exchange_in(self.program, part_count)
        elif part_count > 1:
            _check_devices(part_count)

    def linear(
        self,
        x: Tensor,
        size: Sequence[int],
        gather_out: bool,
        weight_attr: Any,
        bias_attr: Any,
        name: str | None,
    ) -> Tensor:
        """See `split`."""
        own = list(size)
        if self.is_exchanging:
            own[self.axis] //= self.part_count
        # The layer only makes the weight and the bias.
        made = Linear(own[0], own[1], weight_attr=weight_attr, bias_attr=bias_attr, name=name)
        self._cut(made.weight, self.axis)
        # Each part of the columns has its part of the bias. With rows the bias is added to the sum.
        if self.axis == 1 and made.bias is not None:
            self._cut(made.bias, 0)
        # One process: XLA divides the work by the layout of the weight.
        if not self.is_exchanging:
            return functional.linear(x, made.weight, made.bias)
        if self.axis == 1:
            # Each process adds to the gradient of x by its own columns.
            out = functional.linear(_identity(x), made.weight, made.bias)
            return _joined(out, self.part_count) if gather_out else out
        # An x of part of the columns comes from a layer with gather_out=False.
        if x.shape[-1] == size[0]:
            x = _own_part(x, self.part_count)
        out = functional.linear(x, made.weight)
        if not gather_out:
            return out
        out = _summed(out)
        if made.bias is None:
            return out
        return out + made.bias

    def embedding(self, x: Tensor, size: Sequence[int], weight_attr: Any, name: str | None) -> Tensor:
        """See `split`."""
        rows = size[0]
        if self.is_exchanging:
            rows //= self.part_count
        made = Embedding(rows, size[1], weight_attr=weight_attr, name=name)
        self._cut(made.weight, 0)
        if not self.is_exchanging:
            return functional.embedding(x, made.weight)
        numbers, is_here = _local_numbers(x, rows)
        found = functional.embedding(numbers, made.weight)
        return _summed(found * unsqueeze(is_here, -1).astype(made.weight.dtype))

    def _cut(self, weight: Any, axis: int) -> None:
        """Marks a weight as a part, or lays the whole out over the devices of this process."""
        if self.is_exchanging:
            weight.is_distributed = True
        elif self.part_count > 1:
            initializers = default_startup_program().initializers
            fill = initializers[weight.name]
            # A static weight gets its value in the startup program.
            initializers[weight.name] = lambda: _over_devices(fill(), self.part_count, axis)


def _exchange_in(program: Any, part_count: int) -> None:
    """Makes the operations of a program exchange values between processes."""
    count = get_world_size()
    if count % part_count:
        raise CheckError(
            f"paddle.distributed.split: num_partitions: got {part_count}; it must divide the number of "
            f"processes, {count}"
        )
    grid = process_grid(part_count)
    # The operations of a program name one axis of parts.
    if program.process_grid not in (None, grid):
        raise CheckError(
            f"paddle.distributed.split: num_partitions: got {part_count}; the program has weights in "
            f"{program.process_grid.part_count} parts already; use one number in a program"
        )
    program.process_grid = grid


def _check_devices(part_count: int) -> None:
    present = jax.local_device_count()
    if part_count > present:
        raise CheckError(
            f"paddle.distributed.split: num_partitions: got {part_count}; this process is alone and sees "
            f"{present} devices; start {part_count} processes with paddle.distributed.launch, or on a CPU "
            f"set XLA_FLAGS=--xla_force_host_platform_device_count={part_count} before the start"
        )


def _over_devices(value: Any, part_count: int, axis: int) -> jax.Array:
    """An array whose parts lie on the first devices of this process."""
    mesh = ProcessMesh(np.arange(part_count), [PARTS]).jax_mesh()
    spec = [None] * np.ndim(value)
    spec[axis] = PARTS
    # From the host, so that a device gets its part alone.
    return jax.device_put(np.asarray(value), NamedSharding(mesh, P(*spec)))


# operations that exchange -----------------------------------------------------------------------------------


def _pair(name: str, forward: Callable[..., Any], backward: Callable[..., Any]) -> Kernel:
    """A kernel whose gradient is another exchange.

    Shapes cannot be inferred outside of a run of the processes, so results are declared; and the body is not
    traced ahead of a run.
    """
    function = jax.custom_vjp(forward)
    function.defvjp(lambda x: (forward(x), None), lambda _, cotangent: (backward(cotangent),))
    # An exchange works only inside a program over the axis of parts.
    return Kernel(name, function, jit=False)


def _sum_over_parts(x: jax.Array) -> jax.Array:
    return lax.psum(x, PARTS)


def _same(x: jax.Array) -> jax.Array:
    return x


def _join_parts(x: jax.Array) -> jax.Array:
    return lax.all_gather(x, PARTS, axis=x.ndim - 1, tiled=True)


def _part_of(x: jax.Array) -> jax.Array:
    length = x.shape[-1] // lax.axis_size(PARTS)
    return lax.dynamic_slice_in_dim(x, lax.axis_index(PARTS) * length, length, x.ndim - 1)


_IDENTITY = _pair("c_identity", _same, _sum_over_parts)
_SUM = _pair("mp_allreduce_sum", _sum_over_parts, _same)
_JOIN = _pair("c_concat", _join_parts, _part_of)
_PART = _pair("c_split", _part_of, _join_parts)


def _recorded(kernel: Kernel, x: Tensor, change: Callable[[int], int] = lambda length: length) -> Tensor:
    """Adds an exchange to the program. change: the last length of the result from that of the operand."""
    recorder = local.ctx.frame
    symbol = recorder.symbol(x)
    avals = tuple(aval_of((*a.shape[:-1], change(a.shape[-1])), a.dtype) for a in symbol.avals)
    return recorder.add(kernel, [symbol], (bool(x.stop_gradient),), Inferred(None, [avals]), [False])[0]


def _identity(x: Tensor) -> Tensor:
    """A value that all processes use: its gradients are added up."""
    return _recorded(_IDENTITY, x)


def _summed(x: Tensor) -> Tensor:
    """The sum over the processes that have the parts of a weight."""
    return _recorded(_SUM, x)


def _joined(x: Tensor, part_count: int) -> Tensor:
    """The columns of all processes that have the parts of a weight."""
    return _recorded(_JOIN, x, lambda length: length * part_count)


def _own_part(x: Tensor, part_count: int) -> Tensor:
    """The part of this process of the last axis."""
    return _recorded(_PART, x, lambda length: length // part_count)


def _local_numbers(x: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """Numbers counted from the first row of this process, 0 for rows of others; and which are its own."""

    def local_numbers(numbers: jax.Array) -> tuple[jax.Array, jax.Array]:
        # In the dtype of the numbers, so that the result keeps it.
        start = lax.axis_index(PARTS).astype(numbers.dtype) * length
        is_here = (numbers >= start) & (numbers < start + length)
        return jnp.where(is_here, numbers - start, 0), is_here

    recorder = local.ctx.frame
    symbol = recorder.symbol(x)
    are_here = tuple(aval_of(a.shape, np.dtype(bool)) for a in symbol.avals)
    inferred = Inferred(tuple, [symbol.avals, are_here])
    kernel = Kernel("c_embedding", local_numbers, jit=False, nondiff=True)
    numbers, is_here = recorder.add(kernel, [symbol], (True,), inferred, [True, True])
    return numbers, is_here
