"""Data parallel training: each process computes with its part of the batch, and gradients are averaged
over the processes."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.transfer import zeros_like
from paddle_jax._core.process_group import collectives
from paddle_jax._core.tape.grad_mode import is_grad_enabled, no_grad
from paddle_jax._core.tensors.held_values import element_count, held_value
from paddle_jax._core.tensors.tensor import read_raw, wrap
from paddle_jax.distributed.communication.group import default_group, is_initialized
from paddle_jax.nn import Layer
from paddle_jax.tensor.joining import concat
from paddle_jax.tensor.manipulation import reshape

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = ["DataParallel", "averaged", "exchange_in_buckets", "in_buckets", "same_everywhere"]

_MIB = 1 << 20


def in_buckets(tensors: Any, size: Any) -> list[Any]:
    """Tensors in lists, each of one dtype and of `size` bytes at most (a larger Tensor has one of its own),
    in the order given."""
    found = []
    # for each dtype the bucket that is being filled, and its bytes
    open_ones = {}
    for tensor in tensors:
        raw = held_value(tensor)
        # Before a value is computed its size is known already.
        nbytes = raw.size * raw.dtype.itemsize
        bucket, full = open_ones.get(raw.dtype, (None, 0))
        # All processes have the same Tensors in the same order, so they make the same buckets.
        if bucket is None or full + nbytes > size:
            bucket = []
            full = 0
            found.append(bucket)
        bucket.append(tensor)
        open_ones[raw.dtype] = bucket, full + nbytes
    return found


def _together(tensors: Any, call: Any) -> None:
    """Replaces the values of Tensors of one dtype by what `call` makes of all of them in one row. Putting
    them together and apart is recorded like any operation, so it is compiled with what the program does
    before and after."""
    if len(tensors) == 1:
        # No copy for a single Tensor.
        flat = reshape(tensors[0], [-1])
    else:
        flat = concat([reshape(tensor, [-1]) for tensor in tensors])
    flat = wrap(call(flat._value))
    start = 0
    for tensor in tensors:
        size = element_count(tensor)
        # In place: an optimizer, and the user, may hold the gradient.
        tensor._fill(read_raw(reshape(flat[start : start + size], list(tensor.shape))))
        start += size


@no_grad()
def exchange_in_buckets(tensors: Sequence[Tensor], size: float, exchange: Callable[[Any], Any]) -> None:
    """Replaces the values of Tensors by what an exchange makes of buckets of them.

    Args:
        tensors: list of Tensors, the same on all processes in number, order, shapes and dtypes.
        size: bytes that travel together.
        exchange: function from a flat array of one dtype to such an array.
    """
    for bucket in in_buckets(tensors, size):
        _together(bucket, exchange)


def averaged(gradients: Sequence[Tensor], group: Any, size: Any = 25 * _MIB, in_half: bool = False) -> None:
    """Replaces gradients by their mean over the processes of a group.

    Args:
        gradients: list of Tensors, the same on all processes in number, order, shapes and dtypes.
        group: Group.
        size: bytes that travel together.
        in_half: whether gradients of float32 travel in float16.
    """
    where = "gradients: all_reduce"

    def mean(flat: Any) -> Any:
        if not in_half or flat.dtype != np.float32:
            return group.process_group.all_reduce(flat, collectives.AVG, where)
        # Divided before the sum, which could leave the range of float16.
        half = (wrap(flat) / group.nranks).astype("float16")
        total = group.process_group.all_reduce(half._value, collectives.SUM, where)
        return wrap(total).astype("float32")._value

    exchange_in_buckets(gradients, size, mean)


def same_everywhere(tensors: Any, group: Any, size: Any = 25 * _MIB, source: Any = 0) -> None:
    """Gives all processes of a group the values that the one at a place has, by default its first one."""
    exchange_in_buckets(tensors, size, lambda flat: group.process_group.broadcast(flat, source))


class DataParallel(Layer):
    """A Layer whose gradients are averaged over the processes of a group: each process computes with its part
    of the batch, and all of them make the same step. Parameters and buffers start with the values of
    the first process.

    Averaging follows a backward pass through the forward pass of this Layer (not of the Layer within): what
    `grad` holds then is averaged, with what was there before. Gradients travel together, up to
    comm_buffer_size; putting them together is compiled with the backward pass, and what follows with the
    optimizer's step.

    Args:
        layers: Layer with Parameters.
        strategy: accepted.
        comm_buffer_size: int, MiB that travel together. Default 25.
        last_comm_buffer_size: accepted.
        find_unused_parameters: processes may use different Parameters in a step; those that a process has not
            used count as zeros. Costs a small message per step. Default False: all use the same ones,
            which is checked.
        group: Group. Default None: all processes.
    Attributes:
        last_comm_buffer_size: as given.
        _layers: Layer, the one within.
        _strategy: as given.
        find_unused_parameters: bool.
        comm_buffer_size: int.
        grad_need_sync: bool, False inside `no_sync`.
        _armed: bool, whether the next backward pass averages gradients.
        _waiting: bool, whether that is to happen at the end of the pass that runs.
        _several: bool, whether there are other processes.
        group: Group, or None.
        _trained: list of the Parameters whose gradients are averaged.
    Raises:
        AssertionError: the Layer has no Parameter that is trained. RuntimeError (in backward): the processes
            do not have the same gradients.
    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True):  # one process: nothing to average
        ...     net = paddle.DataParallel(paddle.nn.Linear(2, 1))
        >>> net(paddle.ones([3, 2])).shape
        paddle.Size([3, 1])
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: Any = 1,
        find_unused_parameters: Any = False,
        group: Any = None,
    ) -> None:
        super().__init__(layers.full_name() + "_data_parallel")
        # Without one no hook would ever average.
        if not any(not p.stop_gradient for p in layers.parameters()):
            raise AssertionError(
                "This model does not have any parameters to train, and does not need to use DataParallel"
            )
        self._layers = layers
        self._strategy = strategy
        self.find_unused_parameters: bool = bool(find_unused_parameters)
        self.comm_buffer_size: int = int(comm_buffer_size)
        self.last_comm_buffer_size = last_comm_buffer_size
        self.grad_need_sync: bool = True
        # `_armed`: the last forward pass asks for averages. `_waiting`: the running backward pass will make
        # them.
        self._armed = False
        self._waiting = False
        if group is None and is_initialized():
            self.group = default_group()
        else:
            self.group: Any = group
        self._several = self.group is not None and self.group.is_member()
        if not self._several:
            warnings.warn(
                "DataParallel: there is one process, so gradients stay as they are; "
                "to run several, start the program by `python -m paddle_jax.distributed.launch` "
                "and call init_parallel_env() before this",
                stacklevel=2,
            )
            return
        # Marked Tensors belong to one process, such as its experts.
        tensors = [t for t in (*layers.parameters(), *layers.buffers()) if not getattr(t, "no_sync", False)]
        # All start from the values of the first process.
        same_everywhere(tensors, self.group)
        self.init_reducer()

    def init_reducer(self) -> None:
        """Notes which Parameters are trained."""
        # experts of other processes are others: their gradients are not averaged
        self._trained = [
            p for p in self._layers.parameters() if not (p.stop_gradient or getattr(p, "no_sync", False))
        ]
        for parameter in self._trained:
            parameter._register_backward_hook(self._reached)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Calls the Layer within."""
        out = self._layers(*inputs, **kwargs)
        # In evaluation and under `no_sync` nothing is averaged.
        if self._several and self.grad_need_sync and is_grad_enabled():
            self._armed = True
        return out

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Leaves gradients as they are after backward passes through forward passes inside, to add up several
        before they are averaged.

        Example:
            >>> import warnings
            >>> with warnings.catch_warnings(record=True):
            ...     net = paddle.DataParallel(paddle.nn.Linear(2, 1))
            >>> with net.no_sync():
            ...     net(paddle.ones([3, 2])).sum().backward()
        """
        before = self.grad_need_sync
        self.grad_need_sync = False
        try:
            yield
        finally:
            # Nested blocks restore what was there before.
            self.grad_need_sync = before

    def _reached(self) -> None:
        """Called when a Parameter has got its gradient; averaging waits for the end of the backward pass."""
        # Once for each backward pass, however many parameters it reaches.
        if self._armed and not self._waiting:
            self._waiting = True
            local.ctx.after_backward.append(self._average)

    def _average(self) -> None:
        self._armed = self._waiting = False
        # A Parameter that is used elsewhere needs a gradient here, too, since all processes send the same
        # Tensors.
        if self.find_unused_parameters:
            # A mask is of the same length everywhere, while processes may lack different gradients.
            mine = np.array([p._grad is not None for p in self._trained])
            used = np.asarray(
                self.group.process_group.all_reduce(
                    mine, collectives.MAX, "gradients: used parameters: all_reduce"
                )
            )
            for parameter in (
                p for p, anywhere in zip(self._trained, used, strict=True) if anywhere and p._grad is None
            ):
                # Zeros change no sum, and this process gets the mean like all others.
                parameter._grad = wrap(zeros_like(held_value(parameter)))
        # The same list on all processes, as the exchange goes by order.
        gradients = [p._grad for p in self._trained if p._grad is not None]
        try:
            averaged(gradients, self.group, self.comm_buffer_size * _MIB)
        except collectives.MismatchError as error:
            raise collectives.MismatchError(
                "DataParallel: the processes do not have gradients for the same "
                "Parameters; if that is meant, pass find_unused_parameters=True. "
                f"{error}"
            ) from None

    def apply_collective_grads(self) -> None:
        """Averages the gradients that there are now; after an ordinary backward pass they are
        averaged already."""
        if self._several:
            self._average()

    def scale_loss(self, loss: Any) -> Any:
        """The loss: gradients are averaged as they are."""
        return loss

    def state_dict(
        self, destination: Any = None, include_sublayers: Any = True, structured_name_prefix: str = ""
    ) -> Any:
        """The state of the Layer within, under its own names."""
        return self._layers.state_dict(destination, include_sublayers, structured_name_prefix)

    def set_state_dict(self, state_dict: Any, use_structured_name: Any = True) -> Any:
        """Loads a state into the Layer within."""
        return self._layers.set_state_dict(state_dict, use_structured_name)

    set_dict = set_state_dict
    load_dict = set_state_dict
