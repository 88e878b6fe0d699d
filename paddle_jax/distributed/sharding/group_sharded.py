"""Data parallel training in which processes divide states, gradients and parameters among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.tape.grad_mode import is_grad_enabled
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.amp import GradScaler
from paddle_jax.distributed.communication.group import barrier
from paddle_jax.distributed.data_parallel import averaged, same_everywhere
from paddle_jax.distributed.expert_marks import is_expert
from paddle_jax.distributed.sharding.optimizers import (
    GroupShardedOptimizer,
    GroupShardedOptimizerStage2,
    Owned,
    Pieces,
    member_of,
)
from paddle_jax.framework.addresses import check_local
from paddle_jax.framework.io import save
from paddle_jax.nn import Layer
from paddle_jax.optimizer.optimizer import Optimizer

__all__ = ["group_sharded_parallel", "save_group_sharded_model"]

_LEVELS = ("os", "os_g", "p_g_os")
_BUFFER = 2**23  # bytes of gradients that travel together
# what an optimizer of whole parameters does otherwise than one of pieces
_METHODS_OF_PIECES = (
    "step",
    "minimize",
    "clear_grad",
    "clear_gradients",
    "state_dict",
    "set_state_dict",
    "_found_everywhere",
)


class GroupSharded(Layer):
    """A Layer for data parallel training in which processes divide work of the optimizer.
    `group_sharded_parallel` makes it.

    Args:
        layers: Layer.
        level: "os", "os_g" or "p_g_os".
        group: Group.
        size: bytes of gradients that travel together.
        copies: Group of the processes that have the same parts in other groups, or None: their gradients
            are averaged too.
    Attributes:
        _layers, _level, _group, _size: as given.
        _copies: Group with several processes, or None.
        _parts: Pieces or Owned: which process has what.
        _kept: dict of gradients of earlier passes, by the id of the Parameter.
        _armed: bool, whether the next backward pass averages gradients.
        _waiting: bool, whether that is to happen at the end of the pass that runs.
        _in_forward: bool, whether the Layer within is called by this one, and not by the program.
        _was_whole: bool, whether parameters were whole before the program called the Layer within.
    """

    load_dict: Callable[..., Any]

    def __init__(self, layers: Layer, level: Any, group: Any, size: Any, copies: Any = None) -> None:
        super().__init__(layers.full_name() + "_group_sharded")
        self._copies = None
        # Experts differ by process on purpose.
        alike = [t for t in (*layers.parameters(), *layers.buffers()) if not is_expert(t)]
        if copies is not None and copies.is_member():
            self._copies = copies
            same_everywhere(alike, copies)
        same_everywhere(alike, group)
        self._layers = layers
        self._level = level
        self._group = group
        self._size = size
        # Stage 3 cuts each parameter; below it each parameter belongs to one process.
        self._parts = (Pieces if level == "p_g_os" else Owned)(layers.parameters(), group)
        self._kept = {}
        self._armed = False
        self._waiting = False
        self._in_forward = False
        self._was_whole = True
        for parameter in self._parts.params:
            parameter._register_backward_hook(self._reached)
        # A program may call the Layer within, such as for an evaluation; its parameters are pieces then.
        if level == "p_g_os":
            layers.register_forward_pre_hook(self._before_own_call)
            layers.register_forward_post_hook(self._after_own_call)
            self._parts.release()

    def _before_own_call(self, layer: Any, inputs: Any) -> None:
        """Makes parameters whole for a call of the Layer within; all processes must make it."""
        if not self._in_forward:
            self._was_whole = self._parts.whole
            self._begin_call()

    def _after_own_call(self, layer: Any, inputs: Any, outputs: Any) -> None:
        if not self._in_forward:
            self._end_call(release=not self._was_whole)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Calls the Layer within; its parameters are whole meanwhile, and until the end of
        the backward pass."""
        pieces = self._level == "p_g_os"
        self._begin_call()
        self._in_forward = True
        try:
            out = self._layers(*inputs, **kwargs)
        except BaseException:
            # No backward pass will come that would release them.
            if pieces:
                self._parts.release()
            raise
        finally:
            self._in_forward = False
        self._end_call(release=pieces)
        return out

    def _begin_call(self) -> None:
        # With "os" gradients stay whole, and add up as they are.
        if is_grad_enabled() and self._level != "os":
            self._set_aside()
        if self._level == "p_g_os":
            self._parts.gather()

    def _end_call(self, release: bool) -> None:
        """Waits for the backward pass; without one it releases the parameters, if `release` is set."""
        if is_grad_enabled():
            self._armed = True
        elif release:
            self._parts.release()

    def _set_aside(self) -> None:
        """Keeps means of earlier backward passes apart from what the next one adds."""
        for p in self._parts.params:
            if p._grad is not None:
                self._kept[id(p)], p._grad = p._grad, None

    def _reached(self) -> None:
        # Each parameter calls this; the pass ends once.
        if self._armed and not self._waiting:
            self._waiting = True
            local.ctx.after_backward.append(self._average)

    def _average(self) -> None:
        self._armed = self._waiting = False
        # Frozen and unused parameters have no gradient on any process.
        active = [p for p in self._parts.params if p._grad is not None]
        if self._level == "os":
            averaged([p._grad for p in active], self._group, self._size)
            self._average_copies()
            return
        if self._level == "os_g":
            self._parts.average({id(p) for p in active}, self._size)
        else:
            self._parts.average(active, self._size)
            self._parts.release()
        self._average_copies()
        for p in self._parts.params:
            before = self._kept.pop(id(p), None)
            if before is not None:
                if p._grad is None:
                    p._grad = before
                else:
                    p._grad = wrap((p._grad + before)._value)

    def _average_copies(self) -> None:
        """Averages what this process has of the gradients over the copies of its group."""
        if self._copies is not None:
            grads = [p._grad for p in self._parts.params if p._grad is not None]
            averaged(grads, self._copies, self._size)

    def get_all_parameters(self, convert2cpu: Any = False) -> Any:
        """Makes all parameters whole, until the next step. All processes must call it.

        Args:
            convert2cpu: accepted.
        Returns:
            list of Parameters.
        """
        if self._level == "p_g_os":
            self._parts.gather()
        return self._layers.parameters()

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The state of the Layer within, whole and under its own names. With "p_g_os" all
        processes must call it."""
        if self._level != "p_g_os" or self._parts.whole:
            return self._layers.state_dict(*args, **kwargs)
        self._parts.gather()
        # Other Tensors, since those of the Layer become pieces again.
        found = {name: wrap(t._value) for name, t in self._layers.state_dict(*args, **kwargs).items()}
        self._parts.release()
        return found

    def sharded_state_dict(self, structured_name_prefix: str = "") -> dict[str, Any]:
        """The state of the Layer within as parts, under its own names; see `Layer.sharded_state_dict`. With
        "p_g_os" all processes must call it, and parameters are whole until the next step."""
        self.get_all_parameters()
        return self._layers.sharded_state_dict(structured_name_prefix)

    def set_state_dict(self, state_dict: Any, use_structured_name: Any = True) -> Any:
        """Loads whole values into the Layer within."""
        # Values of a file are whole; pieces would not fit them.
        pieces = self._level == "p_g_os" and not self._parts.whole
        if pieces:
            self._parts.gather()
        found = self._layers.set_state_dict(state_dict, use_structured_name)
        if pieces:
            self._parts.release()
        return found

    set_dict = load_dict = set_state_dict

    def clear_gradients(self, set_to_zero: Any = True) -> None:
        """Forgets the gradients."""
        self._layers.clear_gradients(set_to_zero)
        self._kept.clear()


class GroupShardedStage2(GroupSharded):
    """A Layer for data parallel training with an optimizer that is divided among the processes; each keeps
    the gradients of the parameters that it updates.

    Args:
        layer: Layer.
        sharding_optimizer: GroupShardedOptimizerStage2 of its parameters, or a list of such.
        group: Group. Default None: all processes.
        sync_buffers, auto_refresh_trainable, device: accepted.
        buffer_max_size: int, bytes of gradients that travel together.
        dp_group: Group of processes that have the same part in other groups; gradients are averaged over it
            as well. Default None: there is one group.
        level: "os_g", or "os" for gradients that all processes keep.
    Raises:
        TypeError: the optimizer is of another class. RuntimeError, ValueError: see
            GroupShardedOptimizerStage2.
    """

    def __init__(
        self,
        layer: Layer,
        sharding_optimizer: Any,
        group: Any = None,
        sync_buffers: Any = False,
        buffer_max_size: Any = 2**23,
        auto_refresh_trainable: Any = True,
        device: str = "gpu",
        dp_group: Any = None,
        level: str = "os_g",
    ) -> None:
        if isinstance(sharding_optimizer, list | tuple):
            optimizers = sharding_optimizer
        else:
            optimizers = [sharding_optimizer]
        for optimizer in optimizers:
            if not isinstance(optimizer, GroupShardedOptimizerStage2):
                raise TypeError(
                    f"GroupShardedStage2: sharding_optimizer: got {type(optimizer).__name__}; "
                    "it must be a GroupShardedOptimizerStage2"
                )
        group = member_of("GroupShardedStage2", group)
        super().__init__(layer, level, group, int(buffer_max_size), dp_group)
        for optimizer in optimizers:
            optimizer._model = self


class GroupShardedStage3(GroupSharded):
    """A Layer for data parallel training of which each process keeps pieces of parameters, gradients and
    states. The optimizer stays the program's own: its `step` and `clear_grad` work on the pieces.

    Args:
        layer: Layer.
        optimizer: Optimizer of its parameters that treats each element for itself.
        group: Group. Default None: all processes.
        sync_buffers, device, segment_size, pretrain_sync_models, offload, sync_comm, exclude_layer: accepted.
        dp_group: Group of processes that have the same part in other groups; gradients are averaged over it
            as well. Default None: there is one group.
    Raises:
        TypeError: the optimizer is none. RuntimeError: there is no group of all processes. ValueError: this
            process is not in the group, or the optimizer's rule cannot be followed in pieces.
    Differs from Paddle: CPUs as well; all parameters are gathered at once, before the forward pass.
    """

    def __init__(
        self,
        layer: Layer,
        optimizer: Optimizer,
        group: Any = None,
        sync_buffers: bool = False,
        device: str = "gpu",
        segment_size: int = 2**20,
        pretrain_sync_models: bool = True,
        offload: bool = False,
        sync_comm: bool = False,
        dp_group: Any = None,
        exclude_layer: Any = None,
    ) -> None:
        group = member_of("GroupShardedStage3", group)
        super().__init__(layer, "p_g_os", group, _BUFFER, dp_group)
        try:
            self._optim = GroupShardedOptimizer(optimizer, self._parts, self)
        except (TypeError, ValueError):
            # The optimizer is refused: the model must stay usable without it.
            self.get_all_parameters()
            raise
        # Programs go on with the optimizer that they have passed, so its methods change.
        for name in _METHODS_OF_PIECES:
            setattr(optimizer, name, getattr(self._optim, name))


def group_sharded_parallel(
    model: Layer,
    optimizer: Optimizer,
    level: str,
    scaler: Any = None,
    group: Any = None,
    offload: bool = False,
    sync_buffers: bool = False,
    buffer_max_size: Any = 2**23,
    segment_size: Any = 2**20,
    sync_comm: bool = False,
    dp_group: Any = None,
    exclude_layer: Any = None,
) -> (
    tuple[GroupShardedStage2, GroupShardedOptimizerStage2, GradScaler | None]
    | tuple[GroupSharded, GroupShardedOptimizer, GradScaler | None]
):
    """Makes model and optimizer ready for data parallel training in which the processes divide among them
    what only the step needs. Results are those of DataParallel.

    Args:
        model: Layer. Its parameters and buffers get the values of the first process.
        optimizer: Optimizer of its parameters. With "p_g_os" one that treats each element for itself, like
            SGD, Momentum, Adam, AdamW.
        level: what is divided: "os" the optimizer's states, "os_g" gradients as well, "p_g_os" parameters as
            well. With "os_g" a parameter has its `grad` on one process only. With "p_g_os" parameters and
            gradients are pieces, of one axis, but in the model's forward and backward pass.
        scaler: GradScaler, comes back as it is.
        group: Group. Default None: all processes.
        offload, sync_buffers, segment_size, sync_comm, exclude_layer: accepted.
        buffer_max_size: int, bytes of gradients that travel together.
        dp_group: Group of processes that have the same part in other groups; gradients are averaged over it
            as well. Default None: there is one group.
    Returns:
        model, optimizer and scaler to go on with.
    Raises:
        AssertionError: an argument has another type, or the level is another one. RuntimeError: there is no
            group of all processes. ValueError: the optimizer's rule cannot be followed in pieces.
    Differs from Paddle: CPUs as well; stage 3 gathers all parameters at once, before the
        model's forward pass.
    Example:
        >>> from paddle_jax.distributed.sharding import group_sharded_parallel
        >>> net = paddle.nn.Linear(2, 1)
        >>> group_sharded_parallel(net, paddle.optimizer.SGD(0.1, parameters=net.parameters()), "os2")
        Traceback (most recent call last):
        ...
        paddle_jax._core.base.errors.CheckError: group_sharded_parallel: level: got 'os2'; it must be one of
        os, os_g, p_g_os
    """
    call = "group_sharded_parallel"
    for name, value, kind in (("model", model, Layer), ("optimizer", optimizer, Optimizer)):
        if not isinstance(value, kind):
            raise CheckError(f"{call}: {name}: got {type(value).__name__}; it must be a {kind.__name__}")
    if level not in _LEVELS:
        raise CheckError(f"{call}: level: got {level!r}; it must be one of {', '.join(_LEVELS)}")
    if scaler is not None and not isinstance(scaler, GradScaler):
        raise CheckError(f"{call}: scaler: got {type(scaler).__name__}; it must be a GradScaler")
    group = member_of(call, group)
    if level != "p_g_os":
        divided = GroupShardedOptimizerStage2(model.parameters(), optimizer, group)
        return (
            GroupShardedStage2(
                model, divided, group, sync_buffers, buffer_max_size, dp_group=dp_group, level=level
            ),
            divided,
            scaler,
        )
    wrapped = GroupSharded(model, level, group, int(buffer_max_size), dp_group)
    try:
        return wrapped, GroupShardedOptimizer(optimizer, wrapped._parts, wrapped), scaler
    except ValueError:
        wrapped.get_all_parameters()
        raise


def save_group_sharded_model(model: Any, output: str, optimizer: Any = None) -> None:
    """Writes whole values of a model that group_sharded_parallel has made, and the whole states of its
    optimizer: files that one process can load, or another number of them. All processes must call it. The
    first of the group writes, and each process whose folder is another one, as on a disk of its own.

    Args:
        model: the model that group_sharded_parallel has given.
        output: str, a folder, which gets `model.pdmodel` and `model.pdopt`.
        optimizer: the optimizer that it has given. Default None: no states.
    Raises:
        AssertionError: output is a file. ValueError: the model or the optimizer is another one, or processes
            have different experts.
    Example:
        >>> sharding = paddle.distributed.sharding
        >>> if paddle.distributed.get_world_size() == 2:  # after init_parallel_env() in both processes
        ...     net = paddle.nn.Linear(4, 2)
        ...     adam = paddle.optimizer.AdamW(parameters=net.parameters())
        ...     net, adam, scaler = sharding.group_sharded_parallel(net, adam, "os_g")
        ...     sharding.save_group_sharded_model(net, "model", adam)
    """
    if not isinstance(model, GroupSharded):
        raise ValueError(
            f"save_group_sharded_model: model: got {type(model).__name__}; "
            "it must be what group_sharded_parallel has given"
        )
    if optimizer is not None and not isinstance(optimizer, GroupShardedOptimizer):
        raise ValueError(
            f"save_group_sharded_model: optimizer: got {type(optimizer).__name__}; "
            "it must be what group_sharded_parallel has given"
        )
    experts = [name for name, parameter in model._layers.named_parameters() if is_expert(parameter)]
    if experts:
        raise ValueError(
            f"save_group_sharded_model: model: each process has other experts, such as {experts[0]}, and one "
            "file cannot have them all; use distributed.save_state_dict with sharded_state_dict"
        )
    check_local("save_group_sharded_model", "output", output)
    folder = Path(output)
    if folder.is_file():
        raise CheckError(f"save_group_sharded_model: output: got {output!r}, which is a file; name a folder")
    # All processes gather the values.
    values = {"model.pdmodel": model.state_dict()}
    if optimizer is not None:
        values["model.pdopt"] = _tensors(optimizer.whole_state())
    if model._group.rank == 0:
        _write(folder, values)
    # Nobody looks before the files are there.
    barrier(model._group)
    marks = model._group.process_group.all_gather(_marks(folder, values), "save_group_sharded_model: files")
    if not np.array_equal(marks[model._group.rank], marks[0]):
        _write(folder, values)


def _write(folder: Path, values: dict[str, Any]) -> None:
    """Writes the values of some files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in values.items():
        save(value, str(folder / name))


def _marks(folder: Path, names: Iterable[str]) -> np.ndarray:
    """Sizes and times of files, by which processes find out whether they see the same ones."""
    marks = []
    for name in names:
        file = folder / name
        if file.exists():
            found = file.stat()
            marks.append((found.st_size, found.st_mtime_ns))
        else:
            marks.append((-1, -1))
    return np.asarray(marks, np.int64)


def _tensors(state: Any) -> Any:
    if isinstance(state, dict):
        return {name: _tensors(value) for name, value in state.items()}
    if isinstance(state, np.ndarray):
        return wrap(put(state))
    return state
