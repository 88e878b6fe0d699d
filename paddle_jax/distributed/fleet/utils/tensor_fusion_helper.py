"""Parameters in groups of a size, for exchanges of many gradients at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.dtype import DType, bfloat16, float16, float32
from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.process_group import collectives
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import element_count, numpy_dtype
from paddle_jax._core.tensors.place import get_device
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.communication.group import default_group
from paddle_jax.distributed.data_parallel import exchange_in_buckets
from paddle_jax.tensor.creation import zeros_like

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Parameter

__all__ = []

# bytes to whose multiples programs fill up each Tensor of a flat buffer, by kind of device
alignment: dict[str, int] = {"cpu": 256, "gpu": 256, "npu": 256, "tpu": 256, "xpu": 256}
# bytes of an element
align: dict[DType, int] = {float16: 2, bfloat16: 2, float32: 4}


class HOOK_ACTION:
    """How the processes of a group exchange gradients: all get the sum, one gets it, or each gets a part."""

    ALL_REDUCE = 0
    REDUCE = 1
    REDUCE_SCATTER = 2


def get_current_device_type() -> str:
    """The kind of the current device, as in `alignment`, such as "gpu".

    Example:
        >>> from paddle_jax.distributed.fleet.utils.tensor_fusion_helper import get_current_device_type
        >>> paddle.get_device().startswith(get_current_device_type())
        True
    """
    return get_device().split(":")[0]


def assign_group_by_size(
    parameters: Sequence[Parameter], group_size: int = 128 * 1024 * 1024
) -> OrderedDict[int, list[Parameter]]:
    """Parts Parameters into groups of one dtype each. A group is full when it has `group_size` bytes or more.

    Args:
        parameters: Parameters or other Tensors.
        group_size: int, bytes. Default 128 MiB.
    Returns:
        OrderedDict, the lists by their numbers, in the order of their first Parameters.
    Raises:
        TypeError: an element is no Tensor, or the size is no integer from 0.
    Example:
        >>> from paddle_jax.distributed.fleet.utils.tensor_fusion_helper import assign_group_by_size
        >>> groups = assign_group_by_size([paddle.zeros([n]) for n in (2, 3, 4)], group_size=20)
        >>> [len(group) for group in groups.values()]
        [2, 1]
    """
    if not isinstance(group_size, (int, np.integer)) or group_size < 0:
        raise TypeError(f"assign_group_by_size: group_size: got {group_size!r}; it is an integer from 0")
    groups = []
    # for each dtype the group that is being filled, and its bytes
    unfilled = {}
    for parameter in parameters:
        if not isinstance(parameter, Tensor):
            raise TypeError(
                f"assign_group_by_size: parameters: got {type(parameter).__name__}; each is a Tensor"
            )
        dtype = numpy_dtype(parameter)
        group, filled = unfilled.pop(dtype, (None, 0))
        if group is None:
            group = []
            groups.append(group)
        group.append(parameter)
        filled += element_count(parameter) * dtype.itemsize
        if filled < group_size:
            unfilled[dtype] = group, filled
    return OrderedDict(enumerate(groups))


class FusedCommBuffer:
    """Gradients that processes exchange together, once each Parameter has checked in `acc_steps` times.

    Every process makes its buffers from the same Parameters in the same order. From then on gradients are
    zeros until a backward pass adds to them.

    Args:
        id: int, a number for messages.
        params: list of Parameters of one dtype.
        comm_group: Group, or None for all processes.
        acc_steps: int, how often each Parameter checks in before an exchange.
        act: a number of HOOK_ACTION, ALL_REDUCE or REDUCE.
        dst: int, for REDUCE: the process of the program that gets the result. On others gradients are of no
            use afterwards.
        use_main_grad: bool, whether gradients are in `main_grad`. Default: whether the first Parameter has
            one.
        fuse_param: False. Parameters cannot share memory.
        scale_after_comm: bool. True: the exchange adds up, and `scale_grads` divides by the number of
            processes. False: the exchange takes the mean.
        release_grads: bool. True: gradients stay as they are until a backward pass makes them.
        use_reduce_avg: bool. True: the exchange takes the mean.
        free_grads_in_comm: False.
        init_slice_param, slice_params: accepted; they are for REDUCE_SCATTER.
    Attributes:
        params: list of the Parameters.
        use_main_grad: bool.
        _id: int.
        _comm_group: Group.
        _acc_steps: int.
        _target: for REDUCE the place in the group of the process that gets the result; else None.
        _takes_mean: bool, whether the exchange takes the mean.
        _left: dict by id of the Parameter, how often it still checks in before the exchange.
        _exchanged: bool, whether gradients are exchanged and not scaled yet.
    Raises:
        ValueError: the action is another number, acc_steps is below 1, or a process is not in the group.
        AssertionError: Parameters are of several dtypes or are not trained, REDUCE has no dst, or
            free_grads_in_comm is set.
        IndexError: there is no Parameter.
        AttributeError: use_main_grad is set, and a Parameter has no `main_grad`.
        NotImplementedError: the action is REDUCE_SCATTER, or fuse_param is set.
    Example:
        >>> from paddle_jax.distributed.fleet.utils.tensor_fusion_helper import FusedCommBuffer, HOOK_ACTION
        >>> weight = paddle.create_parameter([2], "float32")
        >>> alone = paddle.distributed.collective.Group(0, 11, [0])
        >>> buffer = FusedCommBuffer(0, [weight], alone, act=HOOK_ACTION.ALL_REDUCE)
        >>> weight.sum().backward()
        >>> buffer.add_grad(weight)
        >>> buffer.scale_grads()
        >>> weight.grad.tolist()
        [1.0, 1.0]
    """

    def __init__(
        self,
        id: int,
        params: Sequence[Parameter],
        comm_group: Any,
        acc_steps: int = 1,
        act: int | None = None,
        dst: int = -1,
        use_main_grad: bool | None = None,
        fuse_param: bool = False,
        scale_after_comm: bool = True,
        release_grads: bool = False,
        use_reduce_avg: bool = False,
        free_grads_in_comm: bool = False,
        init_slice_param: bool = False,
        slice_params: Any = None,
    ) -> None:
        if free_grads_in_comm:
            raise CheckError("FusedCommBuffer: free_grads_in_comm: got True; it is for REDUCE_SCATTER alone")
        _check_action("FusedCommBuffer", act, dst, fuse_param)
        if acc_steps < 1:
            raise ValueError(f"FusedCommBuffer: acc_steps: got {acc_steps}; it is an integer from 1")
        self.params: list[Parameter] = list(params)
        _check_parameters(self.params)
        if use_main_grad is None:
            use_main_grad = hasattr(self.params[0], "main_grad")
        self.use_main_grad: bool = use_main_grad
        self._id = id
        self._comm_group = default_group() if comm_group is None else comm_group
        if self._comm_group.rank < 0:
            raise ValueError(f"FusedCommBuffer: comm_group: this process is not in {self._comm_group}")
        self._acc_steps = acc_steps
        self._target = self._comm_group.get_group_rank(dst) if act == HOOK_ACTION.REDUCE else None
        self._takes_mean: bool = use_reduce_avg or not scale_after_comm
        self._start_over()
        if not release_grads:
            for parameter in self.params:
                self._set_to_zero(parameter)

    def _start_over(self) -> None:
        """Waits for all Parameters again."""
        self._left: dict[int, int] = {id(parameter): self._acc_steps for parameter in self.params}
        self._exchanged = False

    def _set_to_zero(self, parameter: Any) -> Tensor:
        """Gives a Parameter a gradient of zeros, which it returns."""
        if not self.use_main_grad:
            parameter.grad = zeros_like(parameter)
            return parameter.grad
        if not hasattr(parameter, "main_grad"):
            raise AttributeError(
                f"FusedCommBuffer: use_main_grad: {parameter.name} has no main_grad; set it to None"
            )
        # Sums of many gradients of low precision need the longer type.
        parameter.main_grad = zeros_like(parameter, dtype="float32")
        return parameter.main_grad

    def _gradient(self, parameter: Any) -> Tensor:
        gradient = parameter.main_grad if self.use_main_grad else parameter.grad
        # All processes send the same Tensors, so one that a process has not used counts as zeros.
        return self._set_to_zero(parameter) if gradient is None else gradient

    def add_grad(self, param: Parameter, use_comm: bool = True) -> None:
        """Checks a Parameter in, whose gradient of this backward pass is made. The last one starts the
        exchange.

        Args:
            param: Parameter.
            use_comm: False leaves the exchange to `comm_grads`.
        Raises:
            AssertionError: the Parameter is not in the buffer, or has checked in often enough.
        """
        left = self._left.get(id(param))
        if left is None:
            raise CheckError(f"FusedCommBuffer.add_grad: param: {param.name} is not in buffer {self._id}")
        if left == 0:
            raise CheckError(
                f"FusedCommBuffer.add_grad: param: {param.name} has checked in {self._acc_steps} times; call "
                "scale_grads before the next backward pass"
            )
        self._left[id(param)] = left - 1
        if use_comm and not any(self._left.values()):
            self.comm_grads()

    @no_grad()
    def comm_grads(self) -> None:
        """Exchanges the gradients.

        Raises:
            AssertionError: a Parameter has not checked in often enough.
        """
        missing = [parameter.name for parameter in self.params if self._left[id(parameter)]]
        if missing:
            raise CheckError(
                f"FusedCommBuffer.comm_grads: {len(missing)} of {len(self.params)} Parameters have not "
                f"checked in {self._acc_steps} times, first {missing[0]}; call add_grad for them"
            )
        self._exchanged = True
        if self._comm_group.is_member():
            gradients = [self._gradient(parameter) for parameter in self.params]
            exchange_in_buckets(gradients, float("inf"), self._exchange)

    def _exchange(self, flat: Any) -> Any:
        op = collectives.AVG if self._takes_mean else collectives.SUM
        if self._target is None:
            return self._comm_group.process_group.all_reduce(flat, op, "gradients: all_reduce")
        result = self._comm_group.process_group.reduce(flat, self._target, op)
        # Only the target gets a result.
        return flat if result is None else result

    @no_grad()
    def scale_grads(self) -> None:
        """Ends an exchange: divides sums by the number of processes, and waits for all Parameters again.

        Raises:
            AssertionError: there was no exchange.
        """
        if not self._exchanged:
            raise CheckError(
                f"FusedCommBuffer.scale_grads: buffer {self._id} has exchanged no gradients; call it once "
                "after all Parameters have checked in"
            )
        if not self._takes_mean and self._comm_group.nranks > 1:
            for parameter in self.params:
                self._gradient(parameter).scale_(1 / self._comm_group.nranks)
        self._start_over()


def bw_hook_func(buffer: FusedCommBuffer, param: Parameter) -> Callable[..., None]:
    """A hook for `param._register_backward_hook`, which checks the Parameter in at a buffer.

    Args:
        buffer: FusedCommBuffer.
        param: Parameter of the buffer.
    Returns:
        callable; it takes any arguments.
    """

    def check_in(*_: Any) -> None:
        buffer.add_grad(param)

    return check_in


def fused_parameters(
    parameters: Sequence[Any],
    use_main_grad: bool = False,
    fuse_param: bool = True,
    comm_overlap: bool = False,
    comm_group: Any = None,
    act: int | None = None,
    dst: int = -1,
    acc_step: int = 1,
    scale_after_comm: bool = False,
    group_params: bool = False,
    apply_decay_param_fun: Any = None,
    use_reduce_avg: bool = False,
    group_size: int = 256 * 1024 * 1024,
) -> tuple[list[Any], ...]:
    """Makes buffers for the exchange of gradients. Program: `fuse_param=False, comm_overlap=True`.

    Parameters of which each process has a part, and those that are not clipped, have buffers of their own.

    Args:
        parameters: list of Parameters; with group_params a list of dicts, each with such a list as "params".
        fuse_param: False. Parameters cannot share memory.
        comm_overlap: bool, whether buffers are made.
        comm_group: Group. Default, for ALL_REDUCE alone: all processes.
        acc_step: int, how often each Parameter checks in before an exchange.
        group_params: bool.
        apply_decay_param_fun: accepted; it parts Parameters that share memory.
        group_size: int, bytes from which a buffer is full. Default 256 MiB.
        use_main_grad, act, dst, scale_after_comm, use_reduce_avg: as for FusedCommBuffer.
    Returns:
        a list without elements, another, and a list of FusedCommBuffers. With group_params: the dicts,
        without Parameters, and the list of FusedCommBuffers.
    Raises:
        AssertionError: act is None, or there is no group for REDUCE.
        NotImplementedError: fuse_param is set.
    """
    if act is None:
        raise CheckError("fused_parameters: act: got None; it is a number of HOOK_ACTION")
    if comm_group is None and act != HOOK_ACTION.ALL_REDUCE:
        raise CheckError("fused_parameters: comm_group: got None; only ALL_REDUCE has a default group")
    _check_action("fused_parameters", act, dst, fuse_param)

    def buffers_of(chosen: Sequence[Parameter]) -> list[FusedCommBuffer]:
        if not comm_overlap:
            return []
        return [
            FusedCommBuffer(
                number,
                group,
                comm_group,
                acc_step,
                act,
                dst,
                use_main_grad=use_main_grad,
                scale_after_comm=scale_after_comm,
                use_reduce_avg=use_reduce_avg,
            )
            for alike in _alike(chosen)
            for number, group in assign_group_by_size(alike, group_size).items()
        ]

    if group_params:
        buffers = [buffer for group in parameters for buffer in buffers_of(group["params"])]
        return [{**group, "params": []} for group in parameters], buffers
    return [], [], buffers_of(parameters)


def _alike(parameters: Sequence[Parameter]) -> list[list[Parameter]]:
    """Parameters by whether each process has a part of them, and whether they are clipped."""
    kinds: dict[tuple[bool, bool], list[Parameter]] = {
        (True, True): [],
        (True, False): [],
        (False, True): [],
        (False, False): [],
    }
    for parameter in parameters:
        has_part = bool(getattr(parameter, "is_distributed", False))
        kinds[has_part, bool(getattr(parameter, "need_clip", True))].append(parameter)
    return list(kinds.values())


def _check_action(function: str, act: Any, dst: int, fuse_param: bool) -> None:
    """Refuses an exchange that cannot be made."""
    if act not in (HOOK_ACTION.ALL_REDUCE, HOOK_ACTION.REDUCE, HOOK_ACTION.REDUCE_SCATTER):
        raise ValueError(f"{function}: act: got {act!r}; it is HOOK_ACTION.ALL_REDUCE or HOOK_ACTION.REDUCE")
    if act == HOOK_ACTION.REDUCE_SCATTER:
        raise NotImplementedError(
            f"{function}: act: got REDUCE_SCATTER; use REDUCE, or DygraphShardingOptimizerV2 for parts"
        )
    if act == HOOK_ACTION.REDUCE and dst == -1:
        raise CheckError(f"{function}: dst: got -1; REDUCE needs the process that gets the result")
    if fuse_param:
        raise NotImplementedError(
            f"{function}: fuse_param: got True; Parameters cannot share memory; pass fuse_param=False"
        )


def _check_parameters(parameters: Sequence[Parameter]) -> None:
    """Refuses Parameters that have no gradients, or not of one dtype."""
    if not parameters:
        raise IndexError("FusedCommBuffer: params: got no Parameter; give one at least")
    dtypes = {numpy_dtype(parameter) for parameter in parameters}
    if len(dtypes) > 1:
        names = sorted(str(dtype) for dtype in dtypes)
        raise CheckError(f"FusedCommBuffer: params: got {names}; they have one dtype")
    for parameter in parameters:
        if parameter.stop_gradient:
            raise CheckError(f"FusedCommBuffer: params: {parameter.name} is not trained; leave it out")
