"""Moving a layer to another device or dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import jax
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.lazy.transfer import is_on_host
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import host_elements, read_raw, wrap

if TYPE_CHECKING:
    import builtins

    from paddle_jax._annotations import DeviceLike, DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


class ConvertMixin:
    """What Layer has to do with devices and dtypes."""

    def to(
        self,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        blocking: bool | None = None,
        non_blocking: bool | None = None,
    ) -> Self:
        """Moves or casts all parameters and buffers, in place, with their gradients.

        Args:
            device: "cpu", "gpu:0", a Place, or None to stay.
            dtype: the dtype for every parameter and buffer, or None to keep.
            blocking: accepted for compatibility; JAX orders transfers itself.
            non_blocking: likewise.
        Returns:
            The layer.
        Raises:
            ValueError: there is no such device.
            TypeError: there is no such dtype.
            AssertionError: blocking is not a bool.
        Example:
            >>> paddle.nn.Linear(2, 2).to(dtype="float64").weight.dtype
            <DataType.FLOAT64: 11>
        """
        if blocking is not None and not isinstance(blocking, bool):
            raise AssertionError(f"Layer.to: blocking: got {blocking!r}; it must be True, False or None")
        # Each of both settings may be absent.
        if device is None:
            target = None
        else:
            target = places.jax_device(places.parse(device))
        np_dtype = None if dtype is None else dtypes.convert(dtype).np
        if target is not None:
            MultiDevice.move_count += 1
        if target is not None or np_dtype is not None:
            self._convert(np_dtype, target, dtype, floating_only=False, excluded=())
        return self

    def _convert(
        self,
        np_dtype: np.dtype | None,
        device: Any,
        label: DTypeLike | None,
        floating_only: bool,
        excluded: tuple[builtins.type, ...],
    ) -> Self:
        converted_ids = set()
        for layer in self.sublayers(include_self=True):
            # Excluded layers keep their dtype, the layers inside them do not.
            if excluded and isinstance(layer, excluded):
                continue
            if label is not None:
                layer._dtype = label
            for tensor in (*layer._parameters.values(), *layer._buffers.values()):
                if tensor is not None and id(tensor) not in converted_ids:
                    # A shared parameter is converted once.
                    converted_ids.add(id(tensor))
                    convert_tensor(tensor, np_dtype, device, floating_only)
        return self

    def _cast(
        self,
        dtype: DTypeLike,
        floating_only: bool = True,
        excluded: builtins.type | Sequence[builtins.type] | None = None,
    ) -> Self:
        dtype = dtypes.convert(dtype)
        excluded = _types(excluded)
        return self._convert(dtype.np, None, dtype, floating_only, excluded)

    def astype(self, dtype: DTypeLike | None = None) -> Self:
        """Casts floating-point parameters and buffers to a dtype, in place, and returns the layer.

        Args:
            dtype: any dtype.
        Raises:
            ValueError: there is no such dtype.
        Differs from Paddle: it really casts; 3.3 changes only what the layer says of itself
            (Paddle issue 76614).
        Example:
            >>> paddle.nn.Linear(2, 2).astype("float64").bias.dtype
            <DataType.FLOAT64: 11>
        """
        try:
            target = dtypes.convert(dtype)
        except TypeError as error:
            raise ValueError(f"Layer.astype: {error}") from None
        return self._cast(target)

    def float(self, excluded_layers: builtins.type | Sequence[builtins.type] | None = None) -> Self:
        """Casts floating-point parameters and buffers to float32.

        Args:
            excluded_layers: Layer class, or list of them, to leave as they are.
        Returns:
            The layer.
        Raises:
            TypeError: excluded_layers is of another type.
        """
        return self._cast("float32", excluded=excluded_layers)

    def float16(self, excluded_layers: builtins.type | Sequence[builtins.type] | None = None) -> Self:
        """Casts floating-point parameters and buffers to float16; arguments as of `float`."""
        return self._cast("float16", excluded=excluded_layers)

    def bfloat16(self, excluded_layers: builtins.type | Sequence[builtins.type] | None = None) -> Self:
        """Casts floating-point parameters and buffers to bfloat16; arguments as of `float`."""
        return self._cast("bfloat16", excluded=excluded_layers)

    def half(self) -> Self:
        """Casts all parameters and buffers to float16."""
        return self._cast("float16", floating_only=False)

    def double(self) -> Self:
        """Casts all parameters and buffers to float64."""
        return self._cast("float64", floating_only=False)

    def type(self, dst_type: DTypeLike) -> Self:
        """Casts all parameters and buffers to a dtype."""
        return self._cast(dst_type, floating_only=False)

    def cpu(self) -> Self:
        """Moves all parameters and buffers to the CPU."""
        return self.to("cpu")

    def cuda(self, device: DeviceLike | int | None = None) -> Self:
        """Moves all parameters and buffers to a GPU, or to another accelerator that JAX finds.

        Args:
            device: its number, name or Place. Default: the current device, or the first if that is the CPU.
        Raises:
            ValueError: this machine has no such device.
        """
        if device is None or isinstance(device, int):
            # A number is that of the accelerator.
            device = places.accelerator("Layer.cuda", device)
        return self.to(device)

    def xpu(self, device: DeviceLike | int | None = None) -> Self:
        """Moves all parameters and buffers to an XPU (a number or name; default: the first)."""
        return self.to(_named_device("xpu", device))


def _named_device(kind: str, device: DeviceLike | int | None) -> DeviceLike:
    if device is None or isinstance(device, int):
        return f"{kind}:{device or 0}"
    return device


def _types(excluded: type | Sequence[type] | None) -> tuple[type, ...]:
    if excluded is None:
        return ()
    if isinstance(excluded, type):
        return (excluded,)
    if isinstance(excluded, list | tuple):
        return tuple(e for e in excluded if isinstance(e, type))
    raise TypeError(
        f"excluded_layers: got {type(excluded).__name__}; it must be a Layer class or a list of them"
    )


def convert_tensor(tensor: Tensor, np_dtype: np.dtype | None, device: Any, floating_only: bool) -> None:
    """Casts or moves a Tensor in place, with its gradient."""
    value = _converted(tensor, np_dtype, device, floating_only)
    if value is not tensor._value:
        tensor._rebind(value)
    if tensor._grad is not None:
        # A gradient follows its parameter.
        tensor._grad = wrap(_converted(tensor._grad, np_dtype, device, floating_only))


def _converted(tensor: Tensor, np_dtype: np.dtype | None, device: Any, floating_only: bool) -> Any:
    if device is None and np_dtype is not None and _is_cast_by_numpy(tensor, np_dtype):
        array = host_elements(tensor)
        # Numbers beyond the range become infinite, as in JAX.
        with np.errstate(over="ignore"):
            return persistent_from_numpy(array.astype(np_dtype))
    value = tensor._value
    # Whole numbers, such as counts of batches, keep their dtype.
    if np_dtype is not None and not (floating_only and not dtypes.of(value).is_floating):
        value = value.astype(np_dtype)
    if device is None:
        return value
    return jax.device_put(value, device)


def _is_cast_by_numpy(tensor: Tensor, np_dtype: np.dtype) -> bool:
    """Whether NumPy casts it, for which nothing is compiled: floating-point numbers on the host."""
    before = numpy_dtype(tensor)
    return (
        before != np_dtype
        and dtypes.convert(before).is_floating
        and dtypes.convert(np_dtype).is_floating
        and is_on_host(read_raw(tensor))
    )
