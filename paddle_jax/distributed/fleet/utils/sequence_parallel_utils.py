"""Sequence parallelism: between layers in parts (fleet.meta_parallel) each process of the model parallel
group keeps a part of the first axis, the sequence, in place of all of it.

See: Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.process_group import collectives
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.autograd import PyLayer
from paddle_jax.distributed.communication.reductions import all_reduce
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.layers.mpu.mp_layers import (
    ColumnParallelLinear,
    RowParallelLinear,
)
from paddle_jax.distributed.fleet.layers.mpu.mp_layers import (
    is_fused_matmul_bias_supported as is_fused_matmul_bias_supported,
)
from paddle_jax.distributed.fleet.layers.mpu.mp_ops import gathered, own_part
from paddle_jax.distributed.fleet.utils.hybrid_parallel_util import fused_allreduce_gradients_with_group
from paddle_jax.nn import functional

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Parameter, Tensor
    from paddle_jax.distributed.communication.group import Group
    from paddle_jax.nn.layer.layers import Layer


__all__ = []


def _group() -> Group:
    return Current.groups().get_model_parallel_group()


def _check(name: Any, x: Any, group: Any) -> None:
    if x.shape[0] % group.nranks:
        raise CheckError(
            f"{name}: input: got shape {list(x.shape)}; the first length must be a multiple of "
            f"the {group.nranks} processes of the model parallel group"
        )


def scatter(input: Tensor) -> Any:
    """The part of this process of the first axis.

    Args:
        input: Tensor [n, ...], alike on all processes of the model parallel group; n is a multiple
            of their number.
    Raises:
        AssertionError: n is no such multiple.
    """
    group = _group()
    _check("scatter", input, group)
    if group.nranks == 1:
        return _on_devices(input, 0)
    return own_part(input, group, 0)


def all_gather(input: Any) -> Any:
    """The parts of all processes of the model parallel group, one after the other along the first axis."""
    group = _group()
    if group.nranks == 1:
        return _on_devices(input, None)
    return gathered(input, group, 0, "sequence parallel")


def reduce_scatter(input: Any) -> Any:
    """The part of this process of the sum over the model parallel group.

    Raises:
        AssertionError: the first length is no multiple of the number of processes.
    """
    group = _group()
    _check("reduce_scatter", input, group)
    if group.nranks == 1:
        return _on_devices(input, 0)
    return wrap(group.process_group.reduce_scatter(input._value, collectives.SUM))


def _on_devices(input: Any, axis: Any) -> Any:
    """Where one process drives several devices, the Tensor with an axis cut along "mp", or whole."""
    grid = Current.grid
    if grid is None or not input.is_dist():
        return input
    return grid.cut_again(input, axis)


def _exchange(name: str, forward: Callable[..., Any], backward: Callable[..., Any], text: str) -> Any:
    """A PyLayer with these two functions of a Tensor."""

    class Exchange(PyLayer):
        @staticmethod
        def forward(ctx: Any, input: Any) -> Any:
            if _group().nranks == 1:
                # A PyLayer that returns its input as it is would have no node of its own.
                return forward(input) * 1
            return forward(input)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return backward(grad)

    Exchange.__name__ = Exchange.__qualname__ = name
    Exchange.__doc__ = text
    return Exchange


ScatterOp: Any = _exchange(
    "ScatterOp", scatter, all_gather, "`apply(x)`: `scatter`; gradients are put together again."
)
GatherOp: Any = _exchange(
    "GatherOp",
    all_gather,
    scatter,
    "`apply(x)`: `all_gather`, for what all processes go on with alike: each takes its part of the gradient.",
)
AllGatherOp: Any = _exchange(
    "AllGatherOp",
    all_gather,
    reduce_scatter,
    "`apply(x)`: `all_gather`, for layers in parts: gradients are added up.",
)
ReduceScatterOp: Any = _exchange(
    "ReduceScatterOp",
    reduce_scatter,
    all_gather,
    "`apply(x)`: `reduce_scatter`; gradients are put together again.",
)


def mark_as_sequence_parallel_parameter(parameter: Any) -> None:
    """Marks a Parameter that each process uses on its part of the sequence:
    `register_sequence_parallel_allreduce_hooks` adds up its gradients."""
    parameter.sequence_parallel = True


def is_sequence_parallel_parameter(parameter: Any) -> Any:
    """Whether a Parameter is marked."""
    return getattr(parameter, "sequence_parallel", False)


def create_fused_allreduce_gradient_hook(
    parameter_list: Sequence[Parameter], accumulation_steps: int
) -> Callable[..., Any]:
    """A hook for each of some Parameters, which adds up their gradients over the model parallel group.

    It does so when it was called once for each Parameter and accumulation step.

    Args:
        parameter_list: list of Parameters, for the `_register_backward_hook` of each.
        accumulation_steps: int, how many backward passes the program makes before a step.
    Returns:
        callable; an argument comes back as it is.
    """
    group = _group()
    calls = itertools.count(1)
    # The hook is called once for each Parameter of each pass; the last call exchanges all.
    period = accumulation_steps * len(parameter_list)

    def add_up(grad: Any = None) -> Any:
        if next(calls) % period == 0:
            fused_allreduce_gradients_with_group(parameter_list, group=group, scale=1.0)
        return grad

    return add_up


def create_non_fused_allreduce_gradient_hook(param: Parameter, accumulation_steps: int) -> Callable[[], None]:
    """A hook for a Parameter, which adds up its gradient over the model parallel group.

    Args:
        param: Parameter, for its `_register_backward_hook`. Its `main_grad` counts where it has one.
        accumulation_steps: int; the sum is made in each such backward pass.
    Returns:
        callable without arguments.
    """
    group = _group()
    calls = itertools.count(1)

    def add_up() -> None:
        # Gradients of several passes are added up first, and exchanged once.
        if next(calls) % accumulation_steps:
            return
        gradient = getattr(param, "main_grad", None)
        if gradient is None:
            gradient = param.grad
        with no_grad():
            all_reduce(gradient, group=group)

    return add_up


def register_sequence_parallel_allreduce_hooks(
    model: Layer, accumulation_steps: Any, fuse_sequence_parallel_allreduce: Any
) -> None:
    """From now on gradients of the marked Parameters of a model are added up over the model parallel group,
    in each backward pass.

    Args:
        model: Layer.
        accumulation_steps: int. 0 or less registers nothing; else sums of sums are the same.
        fuse_sequence_parallel_allreduce: accepted.
    """
    if accumulation_steps <= 0:
        return
    group = _group()
    if group.nranks == 1:
        return
    for parameter in model.parameters():
        if is_sequence_parallel_parameter(parameter):
            parameter.register_hook(
                lambda grad: wrap(
                    group.process_group.all_reduce(
                        grad._value, collectives.SUM, "sequence parallel: all_reduce"
                    )
                )
            )


class ColumnSequenceParallelLinear(ColumnParallelLinear):
    """ColumnParallelLinear on parts of a sequence: [n / processes, ..., in_features] to [n, ...,
    out_features / processes].

    Args:
        gather_output: must be False.
        others: as in ColumnParallelLinear.
    Raises:
        AssertionError: gather_output, or the model parallel group has one process.
    """

    def __init__(
        self,
        in_features: Any,
        out_features: Any,
        weight_attr: Any = None,
        has_bias: Any = None,
        gather_output: Any = True,
        fuse_matmul_bias: Any = False,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            in_features, out_features, weight_attr, has_bias, gather_output, fuse_matmul_bias, mp_group, name
        )
        # One process has all parts, on its devices.
        on_devices = Current.grid is not None and Current.grid.degree("mp") > 1
        if not (self.is_mp or on_devices) or gather_output:
            raise CheckError(
                f"ColumnSequenceParallelLinear: got gather_output={gather_output} and "
                f"{self.world_size} processes in the model parallel group; "
                "it must be False, and there must be several"
            )

    def forward(self, x: Any) -> Tensor:
        """The features of this process, for the whole sequence."""
        return functional.linear(AllGatherOp.apply(x), self.weight, self.bias)


class RowSequenceParallelLinear(RowParallelLinear):
    """RowParallelLinear that leaves each process its part of the sequence: [n, ..., in_features / processes]
    to [n / processes, ..., out_features]. Its bias is marked: `register_sequence_parallel_allreduce_hooks`.

    Args:
        input_is_parallel: must be True.
        others: as in RowParallelLinear.
    Raises:
        AssertionError: not input_is_parallel.
    """

    def __init__(
        self,
        in_features: Any,
        out_features: Any,
        weight_attr: Any = None,
        has_bias: Any = True,
        input_is_parallel: Any = False,
        fuse_matmul_bias: Any = False,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            in_features,
            out_features,
            weight_attr,
            has_bias,
            input_is_parallel,
            fuse_matmul_bias,
            mp_group,
            name,
        )
        if not input_is_parallel:
            raise CheckError("RowSequenceParallelLinear: input_is_parallel: got False; it must be True")
        if self.bias is not None:
            # Each process adds the bias to its part of the sequence, so its gradient is a sum.
            mark_as_sequence_parallel_parameter(self.bias)

    def forward(self, x: Any) -> Any:
        """The part of the sequence of this process, all features."""
        if self.is_mp:
            out = ReduceScatterOp.apply(functional.linear(x, self.weight))
        else:
            out = functional.linear(x, self.weight)
        if self.bias is None:
            return out
        return out + self.bias
