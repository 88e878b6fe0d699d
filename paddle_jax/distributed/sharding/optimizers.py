"""Optimizers round an optimizer, for parameters that several processes update together."""

from __future__ import annotations

import contextlib
import functools as ft
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.process_group import collectives
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.distributed.checkpoint.sharded_weight import shard_states
from paddle_jax.distributed.communication.group import default_group
from paddle_jax.distributed.communication.objects import all_gather_object
from paddle_jax.distributed.data_parallel import exchange_in_buckets, in_buckets
from paddle_jax.distributed.expert_marks import is_expert
from paddle_jax.nn.clip import ClipGradByGlobalNorm, ClipGradByValue, global_scale, square_sum
from paddle_jax.optimizer.optimizer import Optimizer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


# rules over norms of parameters, which a piece does not have
WHOLE = {"Lamb", "LarsMomentumOptimizer", "LBFGS"}
BUCKET = 25 << 20  # bytes that travel together


def owners(params: Any, count: Any) -> dict[Any, Any]:
    """{id of a Parameter: place of the process that updates it}: the largest first, each goes to the one that
    has the least so far."""
    found = {}
    loads = [0] * count
    # Large ones first: small ones fill up the differences that are left.
    for param in sorted(params, key=lambda param: -int(np.prod(param.shape))):
        place = int(np.argmin(loads))
        found[id(param)] = place
        # One more, so that empty parameters are dealt out as well.
        loads[place] += int(np.prod(param.shape)) + 1
    return found


def shared(params: Any) -> list[Any]:
    """The Parameters that processes update together: those that are trained, and are no experts."""
    return [p for p in params if not (p.stop_gradient or is_expert(p))]


@jax.jit
def _squares(grads: Any) -> Any:
    # A list without gradients gives a number, too.
    return sum((square_sum(g) for g in grads), jnp.zeros([], jnp.float32))


@jax.jit
def _scaled(grads: Any, total: Any, norm: Any) -> Any:
    # Taken from the total of all processes, each computes the same factor.
    scale = global_scale(total, norm)
    return [g * scale.astype(g.dtype) for g in grads]


def with_gradients(params: Any) -> list[Tensor]:
    """The Parameters that a step updates."""
    return [p for p in params if p._grad is not None and not p.stop_gradient]


class Round:
    """An optimizer round another one, which keeps the settings and the states. The common norm of gradients
    is taken here, over all processes.

    Args:
        optimizer: Optimizer.
        cut: whether gradients are pieces of those of one process.
    Raises:
        TypeError: optimizer is none. ValueError: gradients are clipped by a rule that cannot
            be followed here.
    """

    def __init__(self, optimizer: Optimizer, cut: Any = False) -> None:
        name = type(self).__name__
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{name}: optimizer: got {type(optimizer).__name__}; it must be an Optimizer")
        clip = optimizer._grad_clip
        # A group has the clip of the optimizer unless it names another; None means that it is not clipped.
        clips = [group.settings.get("grad_clip", clip) for group in optimizer._groups]
        if any(other is not None and other is not clip for other in clips):
            raise ValueError(
                f"{name}: optimizer: a parameter group has a grad_clip of its own; "
                "pass one grad_clip to the optimizer"
            )
        if cut and not isinstance(clip, ClipGradByGlobalNorm | ClipGradByValue | None):
            raise ValueError(
                f"{name}: optimizer: grad_clip: got {type(clip).__name__}; where gradients "
                "lie in pieces it must be ClipGradByGlobalNorm or ClipGradByValue"
            )
        self._inner, self._norm, self._clip = optimizer, None, clip
        self._clipped: list[Any] = []
        if isinstance(clip, ClipGradByGlobalNorm):
            # The optimizer sees a part of the gradients. The norm is taken here, over all processes.
            self._norm = clip.clip_norm
            optimizer._grad_clip = None
            self._clipped = [
                group for group, one in zip(optimizer._groups, clips, strict=True) if one is clip
            ]
            for group in self._clipped:
                # The group of an optimizer without groups has no entry, and follows the optimizer.
                if "grad_clip" in group.settings:
                    group.settings["grad_clip"] = None

    def __getattr__(self, name: Any) -> Any:
        # `copy` and `pickle` ask before `__init__` has run; that must not go on for ever.
        if name.startswith("__") or "_inner" not in vars(self):
            raise AttributeError(name)
        return getattr(self._inner, name)

    @property
    def _parameter_list(self) -> Any:
        return self._inner._all_params()

    def _with_gradients(self) -> list[Tensor]:
        return with_gradients(self._parameter_list)

    @no_grad()
    def step(self) -> None:
        """Updates the parameters. All processes must call it."""
        # Each group of parameters has a norm of its own, as in one process.
        for group in self._clipped:
            # Parameters without need_clip keep their gradients, and do not count.
            params = [p for p in with_gradients(group.params) if getattr(p, "need_clip", True)]
            grads = [p._grad._value for p in params]
            total = self._total(params, grads)
            for p, g in zip(params, _scaled(grads, total, self._norm) if grads else [], strict=True):
                p._grad._rebind(g)
        self._update()

    def _total(self, params: Any, grads: Any) -> Any:
        raise NotImplementedError

    def _update(self) -> None:
        self._inner.step()

    def minimize(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Tensor, Any]]]:
        """The step after `loss.backward()`; see `Optimizer.minimize`."""
        # Before the step: it may forget the gradients.
        pairs = [(p, p._grad) for p in self._with_gradients()]
        self.step()
        return [], pairs

    def clear_grad(self, set_to_zero: Any = True) -> None:
        """Forgets the gradients; see `Optimizer.clear_grad`."""
        self._inner.clear_grad(set_to_zero)

    def clear_gradients(self, set_to_zero: Any = True) -> None:
        """As clear_grad."""
        self.clear_grad(set_to_zero)

    def zero_grad(self, set_to_none: Any = True) -> None:
        """As clear_grad."""
        self.clear_grad(not set_to_none)

    def set_state_dict(self, state_dict: Any) -> None:
        """Takes over a state; see `Optimizer.set_state_dict`."""
        self._inner.set_state_dict(state_dict)

    load_state_dict = set_state_dict


def summed(total: Any, *groups: Any) -> Any:
    """A number added up over the processes of groups."""
    for group in groups:
        # Processes outside the group have nothing to add.
        if group.is_member():
            total = group.process_group.all_reduce(total, collectives.SUM, "norm of gradients: all_reduce")
    return total


def anywhere(found: Any, *groups: Any) -> Any:
    """Whether something was found on one of the processes of groups: for a GradScaler, an infinite
    or NaN gradient."""
    for group in groups:
        if group.is_member():
            found = group.process_group.all_reduce(found, collectives.MAX, "GradScaler: all_reduce")
    return found


class Owned:
    """The parameters of which each process of a group updates some, and keeps their states.

    Args:
        params: list of Parameters.
        group: Group.
    """

    group: Any
    params: list[Any]

    def __init__(self, params: Any, group: Any) -> None:
        self.group, self.params = group, shared(params)
        self._owners = owners(self.params, group.nranks)

    def owns(self, param: Any) -> Any:
        """Whether this process updates a parameter."""
        # An expert, and one that was frozen at the start, has no owner: each process updates it.
        return self._owners.get(id(param), self.group.rank) == self.group.rank

    def lists(self) -> list[list[Any]]:
        """For each process its parameters."""
        found = [[] for _ in range(self.group.nranks)]
        for param in self.params:
            found[self._owners[id(param)]].append(param)
        return found

    @no_grad()
    def update(self, optimizer: Any) -> None:
        """Lets an optimizer step for the parameters of this process, and hands the new values out to all."""
        # The optimizer skips what has no gradient, so each process updates its own parameters.
        hidden = [(p, p._grad) for p in self.params if p._grad is not None and not self.owns(p)]
        for p, _ in hidden:
            p._grad = None
        try:
            optimizer.step()
        finally:
            for p, grad in hidden:
                p._grad = grad
        # All processes walk the owners in one order, so that their broadcasts meet.
        for place, params in enumerate(self.lists()):
            exchange_in_buckets(params, BUCKET, ft.partial(self.group.process_group.broadcast, source=place))

    @no_grad()
    def average(self, active: Any, size: Any) -> None:
        """Replaces gradients by their mean on the process that updates their parameter; the
        others lose them."""
        for place, params in enumerate(self.lists()):
            chosen = [p for p in params if id(p) in active]
            exchange_in_buckets(
                [p._grad for p in chosen],
                size,
                lambda flat: self.group.process_group.all_reduce(flat, collectives.AVG, "gradients: reduce"),
            )
            # Only the process that updates a parameter needs the mean.
            if place != self.group.rank:
                for p in chosen:
                    p._grad = None


class OwnedRound(Round):
    """An optimizer round another one, of which each process of a group updates some parameters; all of them
    outside the group.

    Args:
        optimizer: Optimizer.
        group: Group.
    """

    def __init__(self, optimizer: Optimizer, group: Any) -> None:
        super().__init__(optimizer)
        # A process outside the group updates all parameters itself.
        if group.is_member():
            self._parts = Owned(self._parameter_list, group)
        else:
            self._parts = None

    def _update(self) -> None:
        if self._parts is None:
            self._inner.step()
        else:
            self._parts.update(self._inner)


class Pieces:
    """Parameters of which each process of a group keeps a piece: consecutive elements, all of one length,
    zeros after the last.

    Args:
        params: list of Parameters, whole; `release` makes pieces of them.
        group: Group.
    Attributes:
        params: list of Parameters, each once.
        group: Group.
        whole: bool, whether the parameters are whole at present.
        shapes: {id of a parameter: the shape of the whole one}.
        lengths: {id of a parameter: number of elements of a piece}.
    """

    group: Any
    params: list[Any]

    def __init__(self, params: Any, group: Any) -> None:
        self.group = group
        self.params = shared(params)
        self.whole = True
        self.shapes: dict[int, tuple[Any, ...]] = {id(p): tuple(p.shape) for p in self.params}
        # rounded up: the last piece is filled up with zeros
        self.lengths: dict[int, Any] = {id(p): -(-int(np.prod(p.shape)) // group.nranks) for p in self.params}

    @property
    def whole(self) -> bool:
        """Whether the parameters are whole at present."""
        return self._whole

    @whole.setter
    def whole(self, value: bool) -> None:
        self._whole = value
        for param in self.params:
            # Checkpoints refuse what looks like a whole parameter, and is not.
            param._holds_piece = not value

    def _filled(self, param: Any, array: Any) -> np.ndarray:
        """A whole value as rows, one for each process."""
        flat = np.asarray(array).reshape(-1)
        length = self.lengths[id(param)]
        return np.pad(flat, (0, length * self.group.nranks - flat.size)).reshape(self.group.nranks, length)

    def piece(self, param: Any, array: Any) -> np.ndarray:
        """The piece of this process of a value of the shape of a parameter."""
        return self._filled(param, array)[self.group.rank].copy()

    def elements(self, param: Tensor) -> slice:
        """The elements of a flattened parameter that the piece of this process has."""
        size = int(np.prod(self.shapes[id(param)]))
        length = self.lengths[id(param)]
        return slice(min(length * self.group.rank, size), min(length * (self.group.rank + 1), size))

    def release(self) -> None:
        """Keeps the pieces only."""
        if self.whole:
            self.whole = False
            for p in self.params:
                p._fill(put(self.piece(p, p._value)))

    @contextlib.contextmanager
    def as_pieces(self) -> Iterator[None]:
        """Parameters are pieces inside, and what they were before afterwards. No other process is asked."""
        if not self.whole:
            yield
            return
        # Held on to, as no other process can be asked for them.
        values = [p._value for p in self.params]
        self.release()
        try:
            yield
        finally:
            for p, value in zip(self.params, values, strict=True):
                p._fill(value)
            self.whole = True

    def gather(self) -> None:
        """Makes the parameters whole. All processes must call it."""
        if not self.whole:
            self.whole = True
            for bucket in in_buckets(self.params, BUCKET):
                mine = np.concatenate([to_numpy(p._value) for p in bucket])
                # One message for many parameters costs less than one for each.
                rows = self.group.process_group.all_gather(mine, "parameters: all_gather")
                self._cut(bucket, np.asarray(rows), lambda p, part: p._fill(put(self.joined(p, part))))

    def _cut(self, bucket: Any, rows: Any, take: Any) -> None:
        start = 0
        for p in bucket:
            take(p, rows[..., start : start + self.lengths[id(p)]])
            start += self.lengths[id(p)]

    def joined(self, param: Any, rows: Any) -> np.ndarray:
        """The whole value of which processes have rows."""
        shape = self.shapes[id(param)]
        return np.ascontiguousarray(rows).reshape(-1)[: int(np.prod(shape))].reshape(shape)

    @no_grad()
    def average(self, active: Any, size: Any) -> None:
        """Replaces gradients by the piece of this process of their mean."""
        for bucket in in_buckets([p._grad for p in active], size):
            # Buckets are made of gradients; this leads back to their parameters.
            owner = {id(p._grad): p for p in active}
            params = [owner[id(grad)] for grad in bucket]
            # Row r has the pieces of process r of all these parameters.
            rows = np.concatenate([self._filled(p, p._grad._value) for p in params], axis=1)
            out = self.group.process_group.reduce_scatter(rows.reshape(-1), collectives.AVG)
            self._cut(params, np.asarray(out), lambda p, part: setattr(p, "_grad", wrap(put(part.copy()))))


class GroupShardedOptimizer(Round):
    """An optimizer of which each process of a group keeps a part of the states.
    `group_sharded_parallel` makes it.

    Args:
        optimizer: Optimizer.
        parts: Owned or Pieces.
        model: the Layer that was made with it, or None.
    """

    def __init__(self, optimizer: Optimizer, parts: Any, model: Any) -> None:
        if isinstance(parts, Pieces) and WHOLE & {base.__name__ for base in type(optimizer).__mro__}:
            raise ValueError(
                f"{type(self).__name__}: optimizer: {type(optimizer).__name__} looks at whole "
                'parameters; use "os" or "os_g"'
            )
        super().__init__(optimizer, cut=isinstance(parts, Pieces))
        self._parts = parts
        self._model = model
        # Checkpoints ask the optimizer that has made the Tensors of `state_dict`.
        optimizer._take_values = self._take_values
        optimizer._elements_of = self._elements_of

    def _call_inner(self, method: str, *args: Any) -> Any:
        """Calls a method of the optimizer within, as its class defines it."""
        # Some methods of the object itself lead here.
        return getattr(type(self._inner), method)(self._inner, *args)

    def _total(self, params: Any, grads: Any) -> Any:
        mine = [
            g
            for p, g in zip(params, grads, strict=True)
            if isinstance(self._parts, Pieces) or self._parts.owns(p)
        ]
        return summed(_squares(mine), self._parts.group)

    def _found_everywhere(self, found: Any) -> Any:
        return anywhere(found, self._parts.group)

    def _update(self) -> None:
        if isinstance(self._parts, Owned):
            self._parts.update(self._inner)
        else:
            # Parameters may still be whole from the forward pass.
            self._parts.release()
            self._call_inner("step")

    def clear_grad(self, set_to_zero: Any = True) -> None:
        """Forgets the gradients; see `Optimizer.clear_grad`."""
        self._call_inner("clear_grad", set_to_zero)
        if self._model is not None:
            self._model._kept.clear()

    def state_dict(self) -> dict[str, Any]:
        """The states of this process; see `Optimizer.state_dict`. Of a Parameter in pieces: of its piece."""
        with self._as_pieces():
            return self._call_inner("state_dict")

    def _take_values(self, loaded: Any) -> None:
        """Takes over the values of some Tensors of an earlier `state_dict`."""
        with self._as_pieces():
            self._call_inner("_take_values", loaded)

    def sharded_state_dict(self, model_sharded_state_dict: dict[str, Any]) -> dict[str, Any]:
        """The states as parts for `paddle.distributed.save_state_dict` and `load_state_dict`, which fills the
        optimizer. They are named by the weights of the model, such as `fc.weight.moment1_0`.

        Args:
            model_sharded_state_dict: dict, what `Layer.sharded_state_dict` of the model gives.
        Returns:
            dict from name to ShardedWeight.
        Raises:
            KeyError: the model has no weight of the name of a parameter with states.
        """
        with self._as_pieces():
            return shard_states(self._inner, model_sharded_state_dict)

    def _elements_of(self, param: Tensor) -> slice | None:
        """The elements of a flattened parameter that its states are for; None for all."""
        if not isinstance(self._parts, Pieces) or id(param) not in self._parts.lengths:
            return None
        return self._parts.elements(param)

    def _as_pieces(self) -> contextlib.AbstractContextManager[None]:
        """States have the shapes of pieces, whatever the parameters are at present."""
        if isinstance(self._parts, Pieces):
            return self._parts.as_pieces()
        return contextlib.nullcontext()

    def whole_state(self) -> dict[Any | str, Any]:
        """The state of all processes, as one process would have it. All processes must call it.

        Returns:
            dict of NumPy arrays, and what `state_dict` has besides.
        """
        named = {}
        # Of which parameter a state is: its pieces are joined by that.
        with self._as_pieces():
            for slot, param, _ in self._inner._entries():
                named[
                    "master" if slot == "master" else self._inner._state_name(param, slot),
                    param.name if slot == "master" else None,
                ] = param
        state = self.state_dict()
        mine = {}
        for (name, owner), param in named.items():
            if owner:
                value = state["master_weights"][owner]
            else:
                value = state[name]
            mine[owner or name, bool(owner)] = to_numpy(value._value, "state_dict"), param.name
        everyone = []
        all_gather_object(everyone, mine, self._parts.group)
        by_name = {p.name: p for p in self._parameter_list}
        found = {}
        masters = {}
        # Each state once, in the order of the processes.
        for key, is_master in dict.fromkeys(key for each in everyone for key in each):
            values = [each[key, is_master] for each in everyone if (key, is_master) in each]
            (masters if is_master else found)[key] = self._put_together(
                by_name[values[0][1]], [value for value, _ in values]
            )
        if masters:
            found["master_weights"] = masters
        return found | ({"LR_Scheduler": state["LR_Scheduler"]} if "LR_Scheduler" in state else {})

    def _put_together(self, param: Any, values: Any) -> Any:
        cut = isinstance(self._parts, Pieces) and id(param) in self._parts.lengths
        # A single number, such as a power of beta, is the same on all processes.
        if (
            not cut
            or values[0].shape != (self._parts.lengths[id(param)],)
            or len(values) < self._parts.group.nranks
        ):
            return values[0]
        return self._parts.joined(param, np.stack(values))

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over a state of this process, or one of all that `save_group_sharded_model` has written.

        Args:
            state_dict: dict as of `Optimizer.state_dict`.
        """
        if isinstance(self._parts, Owned):
            kept = {name: value for name, value in state_dict.items() if self._owns_state(name)}
            if "master_weights" in state_dict:
                own = {p.name for p in self._parts.params if self._parts.owns(p)}
                kept["master_weights"] = {
                    name: value for name, value in state_dict["master_weights"].items() if name in own
                }
            # Only the states of this process: those of the others would have no place.
            self._inner.set_state_dict(kept)
            return
        names = {
            self._inner._state_name(p, slot): p for p in self._parts.params for slot in self._inner._slots
        }
        cut = {name: self._cut_state(names.get(name), value) for name, value in state_dict.items()}
        if "master_weights" in state_dict:
            by_name = {p.name: p for p in self._parts.params}
            cut["master_weights"] = {
                name: self._cut_state(by_name.get(name), value)
                for name, value in state_dict["master_weights"].items()
            }
        with self._as_pieces():
            self._call_inner("set_state_dict", cut)

    load_state_dict = set_state_dict

    def _owns_state(self, name: Any) -> Any:
        others = {
            self._inner._state_name(p, slot)
            for p in self._parts.params
            if not self._parts.owns(p)
            for slot in self._inner._slots
        }
        return name != "master_weights" and name not in others

    def _cut_state(self, param: Any, value: Any) -> Any:
        # Single numbers and pieces stay as they are.
        if param is None or tuple(value.shape) != self._parts.shapes[id(param)]:
            return value
        return wrap(put(self._parts.piece(param, np.asarray(value))))


class GroupShardedOptimizerStage2(GroupShardedOptimizer):
    """An optimizer of which each process of a group updates some parameters, and keeps their states.
    `GroupShardedStage2` makes the model for it; `group_sharded_parallel` makes both.

    Args:
        params: list of Parameters.
        optim: Optimizer of them.
        group: Group. Default None: all processes.
        offload, device, pretrain_sync_models: accepted.
        dp_group: accepted; the model averages gradients over it.
    Raises:
        TypeError: optim is no Optimizer. RuntimeError: there is no group of all processes. ValueError: this
            process is not in the group.
    Differs from Paddle: CPUs as well.
    """

    _broadcast_overlap = False  # values are handed out within the step

    def __init__(
        self,
        params: Any,
        optim: Optimizer,
        group: Any = None,
        offload: Any = False,
        device: str = "gpu",
        pretrain_sync_models: Any = True,
        dp_group: Any = None,
        **kw: Any,
    ) -> None:
        super().__init__(optim, Owned(params, member_of(type(self).__name__, group)), None)


def member_of(call: str, group: Any) -> Any:
    """The group of a call: all processes for None."""
    if group is None:
        group = default_group()
    if not group.is_member():
        raise ValueError(
            f"{call}: group: got group {group.id}, to which this process does not belong, "
            "or which has one process"
        )
    return group
