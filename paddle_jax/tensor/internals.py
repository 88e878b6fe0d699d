"""Methods of Tensor with a leading underscore that programs take from Paddle's inside."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.freed_value import FREED_VALUE
from paddle_jax._core.lazy.multi_device import is_here
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tensors.held_values import element_count, held_value, holds_uninitialized, numpy_dtype
from paddle_jax._core.tensors.layout import lies_on_mesh
from paddle_jax._core.tensors.tensor import Parameter, Tensor, host_elements, read_raw, wrap
from paddle_jax._core.tensors.var_type import VarType
from paddle_jax.tensor.methods import _attach, _moved


@_attach
def _is_initialized(self) -> bool:
    if held_value(self) is FREED_VALUE or holds_uninitialized(self):
        return False
    # Of a Tensor on a mesh this process may hold nothing.
    return not lies_on_mesh(held_value(self)) or is_here(to_array(read_raw(self)))


@_attach
def _clear_data(self) -> None:
    self._rebind(FREED_VALUE)


@_attach
def _numel(self) -> int:
    return int(element_count(self))


@_attach
def _copy_to(self, place: Any, blocking: bool = True) -> Any:
    return wrap(jnp.array(_moved(self, place)._value), self.stop_gradient)


@_attach
def _share_buffer_to(self, other: Any) -> None:
    other._rebind(read_raw(self))


@_attach
def _is_shared_buffer_with(self, other: Any) -> bool:
    return held_value(self) is held_value(other)


@_attach
def _grad_ivar(self) -> Any:
    return self._grad


@_attach
def _slice(self, begin_idx: int, end_idx: int) -> Tensor:
    return wrap(self._value[begin_idx:end_idx])


@_attach
def _md5sum(self) -> str:
    return hashlib.md5(np.ascontiguousarray(host_elements(self)).tobytes(), usedforsecurity=False).hexdigest()


@_attach
def _bump_inplace_version(self) -> None:
    self._version += 1


@_attach
def _offset(self) -> int:
    return 0


@_attach
def _inplace_version(self) -> Any:
    return self._version


# memory -----------------------------------------------------------------------------------------------------


@_attach
def _clear(self) -> None:
    self._rebind(FREED_VALUE)


_attach(_clear, "_clear_dataptr")


@_attach
def _holder_size(self) -> int:
    return int(element_count(self)) * numpy_dtype(self).itemsize


@_attach
def _is_dense_tensor_hold_allocation(self) -> Any:
    return self._is_initialized()


@_attach
def _share_underline_tensor_to(self, other: Any) -> None:
    other._rebind(read_raw(self))


_attach(_share_underline_tensor_to, "_unsafe_share_buffer_to")


@_attach
def _is_shared_underline_tensor_with(self, other: Any) -> bool:
    return held_value(self) is held_value(other)


@_attach
def reconstruct_from_(self, other: Any) -> None:
    """Takes over the value of another Tensor, also of another shape or dtype, and where it came from."""
    self._rebind(read_raw(other))
    self._node = other._node
    self._idx = other._idx
    self.stop_gradient = other.stop_gradient


_attach(reconstruct_from_, "_inplace_assign")


@_attach
def _getitem_from_offset(self, *position: Any) -> np.ndarray:
    array = host_elements(self)
    if not position and array.size != 1:
        raise ValueError(
            f"(InvalidArgument) _getitem_from_offset: the tensor has {array.size} elements; say which one"
        )
    if len(position) == 1 and position[0] >= array.size:
        raise ValueError(
            f"(InvalidArgument) _getitem_from_offset: got {position[0]}; there are {array.size} elements"
        )
    return np.array(array.ravel()[position[0] if position else 0] if len(position) < 2 else array[position])


@_attach
def _getitem_dygraph(self, item: Any) -> Any:
    return self[item]


@_attach
def _setitem_dygraph(self, item: Any, value: Any) -> None:
    self[item] = value


@_attach
def _to(self, device: Any = None, dtype: Any = None, blocking: Any = None, copy_tensor: Any = None) -> Any:
    facts = {
        name: value
        for name, value in (("device", device), ("dtype", dtype), ("blocking", blocking))
        if value is not None
    }
    moved = self.to(**facts) if facts else self
    if copy_tensor and moved is self:
        return moved.clone()
    return moved


Tensor.type = property(lambda self: VarType.DENSE_TENSOR, doc="VarType.DENSE_TENSOR: every Tensor is one.")


# gradients --------------------------------------------------------------------------------------------------


@_attach
def _grad_value(self) -> Any:
    if self._grad is None:
        return None
    return self._grad.get_tensor()


@_attach
def _grad_name(self) -> Any:
    if self._grad is None:
        return ""
    return self._grad.name


@_attach
def _copy_gradient_from(self, other: Any) -> None:
    self._grad = wrap(jnp.array(other._value))


@_attach
def _set_grad_ivar(self, value: Any) -> None:
    if not isinstance(self, Parameter):
        raise TypeError("_set_grad_ivar: self: it must be a Parameter; set grad instead")
    if not isinstance(value, Tensor):
        raise ValueError(
            f"(InvalidArgument) _set_grad_ivar: value: got {type(value).__name__}; it must be a Tensor"
        )
    self._grad = value


@_attach
def _zero_grads(self) -> None:
    self.clear_gradient()


@_attach
def _reset_grad_inplace_version(self, set_to_zero: bool = True) -> None:
    if self._grad is not None and set_to_zero:
        self._grad._version = 0


@_attach
def _register_grad_hook(self, hook: Any) -> int:
    helper = self.register_hook(hook)
    known = self.__dict__.setdefault("_grad_hooks", [])
    known.append(helper)
    return len(known) - 1


@_attach
def _remove_grad_hook(self, hook_id: Any) -> Any:
    known = self.__dict__.get("_grad_hooks", ())
    return 0 <= hook_id < len(known) and known[hook_id].discard()


@_attach
def _register_backward_hook(self, hook: Callable[..., Any]) -> None:
    if self.stop_gradient:
        raise ValueError(
            "(InvalidArgument) _register_backward_hook: the tensor has stop_gradient=True, "
            "so it gets no gradient"
        )
    if self._node is not None:
        raise ValueError(
            "(InvalidArgument) _register_backward_hook: the tensor is a result; "
            "only leaves can have such a hook"
        )
    self._after_backward = (*self._after_backward, hook)


Tensor._after_backward = ()  # called without arguments once backward() has put a gradient there
