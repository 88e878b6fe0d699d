"""What goes into collectives and what comes out of them: the values of Tensors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.tensors.held_values import element_count, held_value, numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.distributed.communication.group import default_group

if TYPE_CHECKING:
    import jax


def kind(array: Any) -> str:
    """Dtype and shape, as messages show them."""
    return f"{array.dtype.name}{list(array.shape)}"


def value(call: Any, name: Any, tensor: Any) -> Any:
    """The array of a Tensor.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(tensor, Tensor):
        raise ValueError(
            f"(InvalidArgument) {call}: {name}: got {type(tensor).__name__}; "
            "it must be a Tensor, like paddle.to_tensor gives"
        )
    return tensor._value


def values(call: Any, name: Any, tensors: Any, count: Any) -> Any:
    """The arrays of a list of Tensors, stacked along a new first axis; they must be as many as processes, of
    one shape and dtype."""
    arrays = [value(call, f"{name}[{i}]", tensor) for i, tensor in enumerate(tensors)]
    if len(arrays) != count:
        raise ValueError(
            f"{call}: {name}: got {len(arrays)} tensors; there must be one for each of the "
            f"{count} processes of the group"
        )
    first = arrays[0]
    for i, array in enumerate(arrays):
        if array.shape != first.shape or array.dtype != first.dtype:
            raise ValueError(
                f"{call}: {name}[{i}]: got {kind(array)} beside {kind(first)}; all must be alike"
            )
    return stacked(arrays)


def at_hand(array: Any) -> Any:
    """An array that lies in the memory of the host as a NumPy array that shows it; others as they are."""
    import jax

    # Only on the CPU is a NumPy view of the array free.
    if isinstance(array, jax.core.Tracer) or jax.default_backend() != "cpu":
        return array
    return np.asarray(array)


def stacked(arrays: Any) -> Any:
    """Arrays of one shape and dtype along a new first axis."""
    import jax.numpy as jnp

    arrays = [at_hand(array) for array in arrays]
    # NumPy stacks what lies on the host without a compiled program.
    return (np.stack if all(isinstance(array, np.ndarray) for array in arrays) else jnp.stack)(arrays)


def unstack(array: Any) -> list[jax.Array] | list[Any]:
    """The rows of an array: jax arrays; on the host they are not copied."""
    shown = at_hand(array)
    if isinstance(shown, np.ndarray):
        return [put(row) for row in shown]
    return list(array)


def split(call: Any, name: Any, array: Any, count: Any) -> Any:
    """An array [count * n, ...] as [count, n, ...]."""
    if array.ndim == 0 or array.shape[0] % count:
        raise ValueError(
            f"{call}: {name}: got shape {list(array.shape)}; "
            f"its first length must be a multiple of the {count} processes of the group"
        )
    return at_hand(array).reshape(count, array.shape[0] // count, *array.shape[1:])


def fill(call: Any, name: Any, tensor: Any, array: Any) -> None:
    """Puts an array into a Tensor, which must be of its dtype and size."""
    value(call, name, tensor)
    if numpy_dtype(tensor) != array.dtype or element_count(tensor) != array.size:
        raise RuntimeError(
            f"{call}: {name}: got {kind(held_value(tensor))}; what was received is {kind(array)}"
        )
    # Only the number of elements has to agree; the Tensor keeps its shape.
    tensor._rebind(array if tuple(plain_shape(tensor)) == array.shape else array.reshape(plain_shape(tensor)))


def fill_list(call: Any, name: Any, tensors: Any, arrays: Any) -> None:
    """Puts arrays into a list: of as many Tensors, or an empty one, which gets new Tensors."""
    if not isinstance(tensors, list):
        raise ValueError(f"{call}: {name}: got {type(tensors).__name__}; it must be a list")
    # Paddle's usual call: an empty list gets new Tensors.
    if not tensors:
        tensors.extend(wrap(array) for array in arrays)
        return
    if len(tensors) != len(arrays):
        raise RuntimeError(
            f"{call}: {name}: got {len(tensors)} tensors; it must be empty, or have one for "
            f"each of the {len(arrays)} processes"
        )
    for i, (tensor, array) in enumerate(zip(tensors, arrays, strict=True)):
        fill(call, f"{name}[{i}]", tensor, array)


def shape_of_list(call: Any, name: Any, tensors: Any, like: Any, count: Any) -> None:
    """Refuses a list for results, before anything is sent, whose Tensors cannot take them."""
    if isinstance(tensors, list) and tensors and len(tensors) not in (0, count):
        raise RuntimeError(
            f"{call}: {name}: got {len(tensors)} tensors; it must be empty, or have one for "
            f"each of the {count} processes"
        )
    for i, tensor in enumerate(tensors if isinstance(tensors, list) else ()):
        value(call, f"{name}[{i}]", tensor)
        if numpy_dtype(tensor) != like.dtype or element_count(tensor) != like.size:
            raise RuntimeError(
                f"{call}: {name}[{i}]: got {kind(held_value(tensor))}; {kind(like)} will arrive"
            )


def place(group: Any, rank: Any) -> Any:
    """The place in a group of a process of the program.

    Raises:
        ValueError: it does not belong to the group.
    """
    if rank not in group.ranks:
        raise ValueError(f"rank {rank} is not in list {group.ranks} of the group")
    return group.ranks.index(rank)


def need_member(call: Any, group: Any) -> Any:
    """The group to communicate in, for calls that only its members may make.

    Raises:
        RuntimeError: this process does not belong to it.
    """
    if group is None:
        group = default_group()
    if not (group.is_member() or group.is_alone()):
        raise RuntimeError(
            f"{call}: The group should not be None and all ranks which invoke this operation "
            "should be the member of this group."
        )
    return group


def need_sync(call: Any, sync_op: Any, use_calc_stream: Any) -> None:
    """Refuses a call that is to be asynchronous on the stream of computations."""
    if use_calc_stream and not sync_op:
        raise RuntimeError(
            f"{call}: use_calc_stream: got True with sync_op=False; it can only be True when sync_op is"
        )


class Task:
    """A communication that was begun. Collectives are complete when the call returns; a message may
    still be on its way."""

    def __init__(self, finish: Any = None, ready: Any = None, sync: Any = True) -> None:
        self._finish = finish
        self._ready = ready
        self._sync = sync

    def wait(self, timeout: Any = None) -> bool:
        """Waits until it is complete; returns True."""
        if self._finish is not None:
            # Once only, as `__del__` waits too.
            finish = self._finish
            self._finish = None
            finish()
        return True

    def __del__(self) -> None:
        # At the end of the interpreter the other processes may be gone already.
        if not sys.is_finalizing():
            self.wait()  # a task that nobody keeps: `irecv(x)` alone must not leave x as it was

    def synchronize(self) -> None:
        """Waits until it is complete."""
        self.wait()

    def is_completed(self) -> bool:
        """Whether it is complete."""
        return self._finish is None or bool(self._ready and self._ready())

    def is_sync(self) -> bool:
        """Whether the call was to return when it is complete."""
        return self._sync


def bytes_of(array: Any) -> Any:
    """A uint8 array of the bytes of a bytes object."""
    return np.frombuffer(array, np.uint8)
