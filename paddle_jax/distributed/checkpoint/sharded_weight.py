"""Parts of Tensors that each process holds by itself, with their place in the whole: how models whose layers
are cut by hand are saved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tensors.held_values import plain_shape
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.communication.group import default_group
from paddle_jax.nn.layer.registrations import Registered

if TYPE_CHECKING:
    import jax

    from paddle_jax.distributed.communication.group import Group


class ShardedWeight:
    """The part of a Tensor that this process holds.

    Args:
        key: str, the name of the whole in a checkpoint.
        local_tensor: Tensor, the part. `load_state_dict` fills it.
        local_shape, global_shape, global_offset: tuple of int, the shape of the part, that of the whole, and
            where the part begins in it.
        is_flattened: bool, whether `local_tensor` is a row of consecutive elements of the part alone.
        flattened_range: slice, which elements of the flattened part these are. What `local_tensor` has after
            them is zeros.
    Attributes:
        key, local_tensor, is_flattened, flattened_range: as given.
        local_shape, global_shape, global_offset: tuples of ints.
    Raises:
        ValueError: the part does not lie within the whole, or has another shape than it says.
    Example:
        >>> part = paddle.distributed.ShardedWeight("w", paddle.ones([2, 3]), (2, 3), (4, 3), (2, 0))
        >>> part.global_offset
        (2, 0)
    """

    def __init__(
        self,
        key: str,
        local_tensor: Tensor,
        local_shape: Any,
        global_shape: Any,
        global_offset: Any,
        is_flattened: bool = False,
        flattened_range: Any = None,
    ) -> None:
        self.key = key
        self.local_tensor = local_tensor
        self.local_shape: tuple[Any, ...] = tuple(local_shape)
        self.global_shape: tuple[Any, ...] = tuple(global_shape)
        self.global_offset: tuple[Any, ...] = tuple(global_offset)
        self.is_flattened = is_flattened
        self.flattened_range = flattened_range
        if is_flattened or flattened_range is not None:
            self._check_range()
        elif self.local_shape != tuple(local_tensor.shape):
            raise ValueError(
                f"ShardedWeight: local_shape: got {self.local_shape} for a Tensor of shape "
                f"{tuple(local_tensor.shape)}; they must agree"
            )
        if not len(self.local_shape) == len(self.global_shape) == len(self.global_offset) or any(
            start < 0 or start + n > whole
            for start, n, whole in zip(self.global_offset, self.local_shape, self.global_shape, strict=True)
        ):
            raise ValueError(
                f"ShardedWeight: global_offset: got {self.global_offset}; "
                f"a part of shape {self.local_shape} from there must lie within a whole of "
                f"shape {self.global_shape}"
            )

    def _check_range(self) -> None:
        """Refuses a range that does not fit the part, or the Tensor."""
        part = self.flattened_range
        if not self.is_flattened or not isinstance(part, slice) or part.step not in (None, 1):
            raise ValueError(
                f"ShardedWeight: flattened_range: got {part} with is_flattened={self.is_flattened}; give a "
                "slice of the flattened part and True, or neither"
            )
        shape = tuple(self.local_tensor.shape)
        count = math.prod(self.local_shape)
        # Without bounds a slice would mean other elements for a part of another shape.
        if None in (part.start, part.stop) or not 0 <= part.start <= part.stop <= count:
            raise ValueError(
                f"ShardedWeight: flattened_range: got {part}; the part of shape {self.local_shape} has the "
                f"elements 0 to {count}"
            )
        if len(shape) != 1 or shape[0] < part.stop - part.start:
            raise ValueError(
                f"ShardedWeight: local_tensor: got shape {shape}; it must be one row of the "
                f"{part.stop - part.start} elements of flattened_range at least"
            )

    def boxes(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """(start, shape) of the boxes of the whole that this part has, in the order of their elements."""
        if not self.is_flattened:
            return [(self.global_offset, self.local_shape)]
        found = _boxes_of_range(self.local_shape, self.flattened_range.start, self.flattened_range.stop)
        return [
            (tuple(a + b for a, b in zip(self.global_offset, start, strict=True)), shape)
            for start, shape in found
        ]


def _boxes_of_range(
    shape: tuple[int, ...], start: int, stop: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(start, shape) of the boxes that consecutive elements of a flattened array are: the rest of a first
    row, whole rows, and the beginning of a last one."""
    if start >= stop:
        return
    if not shape:
        yield (), ()
        return
    length = math.prod(shape[1:])
    first, skipped = divmod(start, length)
    last, taken = divmod(stop, length)
    if skipped:
        # The range may end in its first row.
        end = taken if first == last else length
        for inner, size in _boxes_of_range(shape[1:], skipped, end):
            yield (first, *inner), (1, *size)
        first += 1
    if first < last:
        yield (first, *[0] * len(shape[1:])), (last - first, *shape[1:])
    if first <= last:
        for inner, size in _boxes_of_range(shape[1:], 0, taken):
            yield (last, *inner), (1, *size)


ShardedStateDict = dict[str, ShardedWeight]


class CuttingGroup:
    """The processes over which weights are cut, where a call names no group.

    Attributes:
        find: gives the Group; `fleet` puts its model parallel group there.
    """

    find: Callable[[], Group] = staticmethod(default_group)


def make_replicated_sharded_weight(key: str, tensor: Tensor) -> ShardedWeight:
    """A Tensor of which each process holds the whole, as a part.

    Args:
        key: str, its name in a checkpoint.
        tensor: Tensor.
    Returns:
        ShardedWeight.
    Example:
        >>> from paddle_jax.distributed.checkpoint.sharded_weight import make_replicated_sharded_weight
        >>> make_replicated_sharded_weight("w", paddle.ones([2, 3])).global_shape
        (2, 3)
    """
    shape = tuple(tensor.shape)
    return ShardedWeight(key, tensor, shape, shape, (0,) * len(shape))


def make_tp_sharded_weight_for_checkpoint(
    key: str, tensor: Tensor, tensor_parallel_axis: int = 0
) -> ShardedWeight:
    """A Tensor as the part that this process holds of one which is cut over the model parallel group.

    Args:
        key: str, the name of the whole.
        tensor: Tensor, the part.
        tensor_parallel_axis: int, the axis that is cut. Default: 0.
    Returns:
        ShardedWeight.
    Raises:
        ValueError: the axis is out of range.
        RuntimeError: neither `fleet.init` nor `init_parallel_env` was called.
    """
    return shard_weight(key, tensor, tensor_parallel_axis, CuttingGroup.find())


def create_sharded_weight_with_new_local(
    new_key: str, new_local_tensor: Tensor, reference_tensor: ShardedWeight
) -> ShardedWeight:
    """Another Tensor at the place of a part, such as a state of the optimizer at that of its weight.

    Args:
        new_key: str, the name of the new whole.
        new_local_tensor: Tensor of the shape of the part.
        reference_tensor: ShardedWeight, which says where the part lies in its whole.
    Returns:
        ShardedWeight.
    Raises:
        ValueError: the shapes differ.
    Example:
        >>> from paddle_jax.distributed.checkpoint import sharded_weight
        >>> part = paddle.distributed.ShardedWeight("w", paddle.ones([2, 3]), (2, 3), (4, 3), (2, 0))
        >>> new = sharded_weight.create_sharded_weight_with_new_local("m", paddle.zeros([2, 3]), part)
        >>> new.key, new.global_offset
        ('m', (2, 0))
    """
    if tuple(new_local_tensor.shape) != reference_tensor.local_shape:
        raise ValueError(
            f"create_sharded_weight_with_new_local: new_local_tensor: got shape "
            f"{tuple(new_local_tensor.shape)}; the part has {reference_tensor.local_shape}; they must agree"
        )
    return ShardedWeight(
        new_key,
        new_local_tensor,
        reference_tensor.local_shape,
        reference_tensor.global_shape,
        reference_tensor.global_offset,
    )


def shard_weight(key: str, weight: Tensor, axis: int, group: Group) -> ShardedWeight:
    """A Tensor as the part that this process holds of one which is cut evenly along an axis over a group.

    Args:
        key: str, the name of the whole.
        weight: Tensor, the part.
        axis: int, the axis that is cut.
        group: Group of the processes that hold the parts, in order.
    Returns:
        ShardedWeight.
    Raises:
        ValueError: the axis is out of range.
    Example:
        >>> paddle.distributed.shard_weight("w", paddle.ones([2, 3]), 0,
        ...                                 paddle.distributed.new_group([0])).global_shape
        (2, 3)
    """
    if not 0 <= axis < weight.ndim:
        raise ValueError(
            f"shard_weight: axis: got {axis} for a Tensor of {weight.ndim} axes; use 0 to {weight.ndim - 1}"
        )
    local = tuple(weight.shape)
    # A group of one process may have no connection; its rank is -1 then.
    place = max(group.rank, 0)
    whole = tuple(n * group.nranks if i == axis else n for i, n in enumerate(local))
    return ShardedWeight(
        key, weight, local, whole, tuple(place * n if i == axis else 0 for i, n in enumerate(local))
    )


def build_sharded_state_dict(
    state_dict: dict[str, Any],
    shard_rules: dict[str, Any] | None = None,
    prefix: str = "",
    group: Group | None = None,
) -> dict[Any, Any]:
    """The Tensors of a state dict as parts: those in `shard_rules` are cut, of the others each process
    holds the whole.

    Args:
        state_dict: dict of Tensors.
        shard_rules: dict from name to the axis that is cut.
        prefix: str, put in front of each name.
        group: Group over which they are cut. Default: the model parallel group of `fleet`, without
            `fleet.init` all processes.
    Returns:
        dict of ShardedWeight.
    Raises:
        RuntimeError: something is cut, and `init_parallel_env` was not called.
    Example:
        >>> list(paddle.distributed.build_sharded_state_dict({"w": paddle.ones([2])}, prefix="net."))
        ['net.w']
    """
    rules = shard_rules or {}
    found = {}
    for name, tensor in state_dict.items():
        key = f"{prefix}{name}"
        if name not in rules:
            found[key] = make_replicated_sharded_weight(key, tensor)
        elif group is None:
            # Without a group, the model parallel one of fleet.
            found[key] = make_tp_sharded_weight_for_checkpoint(key, tensor, rules[name])
        else:
            found[key] = shard_weight(key, tensor, rules[name], group)
    return found


def shard_states(optimizer: Any, weights: dict[str, ShardedWeight]) -> dict[str, ShardedWeight]:
    """The states of an optimizer as parts, cut as their weights are.

    Args:
        optimizer: Optimizer.
        weights: the parts of its model.
    Returns:
        dict from the name of a weight and of a state to ShardedWeight.
    Raises:
        KeyError: the model has no weight of the name of a parameter with states.
    """
    states = optimizer.state_dict()
    masters = states.get("master_weights", {})
    keys: dict[str, str] = {}
    # In a fixed order, so that a weight with two names has the same one on all processes.
    for key in sorted(weights):
        keys.setdefault(weights[key].local_tensor.name, key)
    found = []
    for param in optimizer._all_params():
        named = [(slot, states.get(optimizer._state_name(param, slot))) for slot in optimizer._slots]
        present = [(f"{slot}_0", tensor) for slot, tensor in named if tensor is not None]
        # The float32 copy of a weight in low precision is a state as well.
        if param.name in masters:
            present.append(("w_0", masters[param.name]))
        if present and param.name not in keys:
            raise KeyError(
                f"sharded_state_dict: model_sharded_state_dict: there is no weight {param.name!r}, which the "
                "optimizer has states for; pass what the whole model gives"
            )
        elements = optimizer._elements_of(param)
        found += [_state_part(keys[param.name], end, tensor, weights, elements) for end, tensor in present]
    return {part.key: part for part in found}


def _state_part(
    key: str, end: str, tensor: Tensor, weights: dict[str, ShardedWeight], elements: slice | None
) -> ShardedWeight:
    # The powers of the decays are the same number for all parts of a weight.
    if "_pow_acc" in end:
        return make_replicated_sharded_weight(f"{key}.{end}", tensor)
    if elements is not None:
        whole = weights[key]
        return ShardedWeight(
            f"{key}.{end}",
            tensor,
            whole.local_shape,
            whole.global_shape,
            whole.global_offset,
            is_flattened=True,
            flattened_range=elements,
        )
    return create_sharded_weight_with_new_local(f"{key}.{end}", tensor, weights[key])


def whole_shape(value: Any) -> list[Any]:
    """The shape of what a value of a state dict is, or is a part of."""
    if isinstance(value, ShardedWeight):
        return list(value.global_shape)
    return list(plain_shape(value))


def tensor_of(value: Any) -> Tensor:
    """The Tensor of a value of a state dict."""
    if isinstance(value, ShardedWeight):
        return value.local_tensor
    return value


def local_piece(value: Any, array: jax.Array) -> Iterator[Any]:
    """(start, values) of the pieces of the whole that a ShardedWeight is."""
    values = np.array(array).reshape(-1)
    at = 0
    for start, shape in value.boxes():
        size = math.prod(shape)
        yield list(start), values[at : at + size].reshape(shape)
        at += size


Registered.build_sharded_state_dict = build_sharded_state_dict
Registered.shard_states = shard_states
