"""Made by tools/stubs.py."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Iterator
from paddle_jax._core.base.dtype import DType
from paddle_jax._core.base.dtype import DType as _DType
from paddle_jax._core.base.size import Size
from typing import Any, Literal, overload
import builtins as _b
import numpy as np
import paddle_jax._annotations as _a

class Tensor:
    @property
    def T(self) -> Tensor: ...
    def __abs__(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor: ...
    def __add__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __and__(self, y: Tensor, out: Tensor | None = None, name: _b.str | None = None) -> Tensor: ...
    def __array__(self, dtype: Any = None, copy: _b.bool | None = None) -> Any: ...
    def __bool__(self) -> _b.bool: ...
    def __complex__(self) -> _b.complex: ...
    def __contains__(self, item: Any) -> _b.bool: ...
    def __copy__(self) -> Any: ...
    def __deepcopy__(self, memo: _b.dict[Any, Any]) -> Any: ...
    def __div__(self, y: Any) -> Any: ...
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> Any: ...
    def __eq__(self, y: _b.object) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> _b.float: ...
    def __floordiv__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __format__(self, spec: _b.str) -> _b.str: ...
    def __ge__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __getitem__(self, item: Any) -> Tensor: ...
    def __gt__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __hash__(self) -> _b.int: ...
    def __index__(self) -> _b.int: ...
    def __init__(self, data: Any = None, *rest: Any, value: Any = None, dtype: _a.DTypeLike | None = None, place: _a.DeviceLike | None = None, stop_gradient: Any = True, name: Any = None, persistable: Any = False, zero_copy: Any = None) -> None: ...
    def __int__(self) -> _b.int: ...
    def __invert__(self, out: Tensor | None = None, name: _b.str | None = None) -> Tensor: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __jax_array__(self) -> Any: ...
    def __le__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __len__(self) -> _b.int: ...
    def __long__(self) -> Any: ...
    def __lshift__(self, y: Tensor | _b.int, *args: Any, **kwargs: Any) -> Tensor: ...
    def __lt__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __matmul__(self, y: Tensor | np.ndarray) -> Tensor: ...
    def __mod__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __mul__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __ne__(self, y: _b.object) -> Tensor: ...  # type: ignore[override]
    def __neg__(self, name: _b.str | None = None) -> Tensor: ...
    def __nonzero__(self) -> Any: ...
    def __or__(self, y: Tensor, out: Tensor | None = None, name: _b.str | None = None) -> Tensor: ...
    def __pos__(self, name: _b.str | None = None) -> Tensor: ...
    def __pow__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __radd__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __rand__(self, y: Tensor | _b.int, *args: Any, **kwargs: Any) -> Tensor: ...
    def __rdiv__(self, y: Any) -> Any: ...
    def __repr__(self) -> _b.str: ...
    def __rfloordiv__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __rlshift__(self, y: Tensor | _b.int, *args: Any, **kwargs: Any) -> Tensor: ...
    def __rmatmul__(self, y: Tensor | np.ndarray) -> Tensor: ...
    def __rmod__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __rmul__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __ror__(self, y: Tensor | _b.int, *args: Any, **kwargs: Any) -> Tensor: ...
    def __rpow__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __rrshift__(self, y: Tensor | _b.int, *args: Any, **kwargs: Any) -> Tensor: ...
    def __rshift__(self, y: Tensor | _b.int, *args: Any, **kwargs: Any) -> Tensor: ...
    def __rsub__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __rtruediv__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __rxor__(self, y: Tensor | _b.int, *args: Any, **kwargs: Any) -> Tensor: ...
    def __setitem__(self, item: Any, value: Any) -> None: ...
    def __str__(self) -> _b.str: ...
    def __sub__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __truediv__(self, y: Tensor | _b.complex | np.number | np.ndarray) -> Tensor: ...
    def __xor__(self, y: Tensor, out: Tensor | None = None, name: _b.str | None = None) -> Tensor: ...
    def abs(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The absolute value; the modulus of complex numbers.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.

        Example:
            >>> paddle.abs(paddle.to_tensor([-1.5, 2.0])).tolist()
            [1.5, 2.0]
        """
    def abs_(self, name: _b.str | None = None) -> Tensor:
        """In-place abs: puts the result into its first argument and returns it. See `abs`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([-1.5, 2.0]).abs_().tolist()
            [1.5, 2.0]
        """
    def acos(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The arc cosine, in radians.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.acos(paddle.to_tensor(1.0)).item(), 4)
            0.0
        """
    def acos_(self, name: _b.str | None = None) -> Tensor:
        """In-place acos: puts the result into its first argument and returns it. See `acos`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(1.0).acos_().item(), 4)
            0.0
        """
    def acosh(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The inverse hyperbolic cosine.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.acosh(paddle.to_tensor(1.0)).item(), 4)
            0.0
        """
    def acosh_(self, name: _b.str | None = None) -> Tensor:
        """In-place acosh: puts the result into its first argument and returns it. See `acosh`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(1.0).acosh_().item(), 4)
            0.0
        """
    def add(self, y: Tensor, name: _b.str | None = None, *, alpha: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1, out: Tensor | None = None) -> Tensor:
        """Adds two tensors elementwise: x + alpha * y, with broadcasting.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            alpha: number that y is multiplied with.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Raises:
            ValueError: the shapes do not broadcast.
            TypeError: the dtypes do not promote (integer with float, say).
        Example:
            >>> paddle.add(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
            [4.0, 6.0]
        """
    def add_(self, y: Tensor, name: _b.str | None = None, *, alpha: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1) -> Tensor:
        """In-place add: puts the result into its first argument and returns it. See `add`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            alpha: number that y is multiplied with.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, 2.0]).add_(paddle.to_tensor([3.0, 4.0])).tolist()
            [4.0, 6.0]
        """
    def add_n(self, name: _b.str | None = None) -> Tensor:
        """Adds several tensors of one shape and dtype.

        Args:
            inputs: list or tuple of Tensors, or one Tensor. A 0-D one counts as one of shape [1] among such.
        Returns:
            Tensor of that shape and dtype.
        Raises:
            ValueError: the list is empty, or shapes or dtypes differ.
        Example:
            >>> paddle.add_n([paddle.ones([2]), paddle.ones([2])]).tolist()
            [2.0, 2.0]
        """
    def addmm(self, x: Tensor, y: Tensor, beta: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1.0, alpha: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1.0, name: _b.str | None = None) -> Tensor:
        """beta * input + alpha * (x @ y).

        Args:
            input: Tensor [n, m], or one that broadcasts to it.
            x: Tensor [n, k].
            y: Tensor [k, m].
            beta, alpha: numbers.
        Returns:
            Tensor [n, m].
        Raises:
            ValueError: the shapes do not fit.
        Example:
            >>> paddle.addmm(paddle.ones([1, 1]), paddle.ones([1, 2]), paddle.ones([2, 1]), alpha=2.0).tolist()
            [[5.0]]
        """
    def addmm_(self, x: Tensor, y: Tensor, beta: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1.0, alpha: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1.0, name: _b.str | None = None) -> Tensor:
        """In-place addmm: puts the result into its first argument and returns it. See `addmm`.

        Args:
            input: Tensor [n, m], or one that broadcasts to it.
            x: Tensor [n, k].
            y: Tensor [k, m].
            beta, alpha: numbers.
        Returns:
            The Tensor `input`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.ones([1, 1]).addmm_(paddle.ones([1, 2]), paddle.ones([2, 1]), alpha=2.0).tolist()
            [[5.0]]
        """
    def all(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells whether all elements over the given axes are True (not zero).

        Args:
            x: Tensor [...].
            axis: int, list of ints, or None for all axes.
            keepdim: keep the reduced axes with length 1.
            out: Tensor that receives the result.
        Returns:
            bool Tensor; True where nothing is reduced.
        Raises:
            ValueError: an axis is out of range or given twice.
        Example:
            >>> paddle.all(paddle.to_tensor([True, False])).item()
            False
        """
    def allclose(self, y: Tensor, rtol: _b.float | Tensor | np.integer | np.floating = 1e-05, atol: _b.float | Tensor | np.integer | np.floating = 1e-08, equal_nan: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """Tells whether all elements are close, as `isclose` judges. Returns a bool Tensor [].

        Args:
            x, y: Tensors of one shape and dtype.
            rtol, atol: numbers; close means |x - y| <= atol + rtol * |y|.
            equal_nan: NaN counts as close to NaN.
        Returns:
            bool Tensor [].
        Example:
            >>> paddle.allclose(paddle.to_tensor([1.0]), paddle.to_tensor([1.0])).item()
            True
        """
    def amax(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The largest element over the given axes, as `max`.

        Args:
            x: Tensor [...], real. `input` is accepted as a name.
            axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
            keepdim: keep the reduced axes with length 1.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape of x without the axes. Equal elements share the gradient.
        Example:
            >>> paddle.amax(paddle.to_tensor([1.0, 5.0, 3.0])).item()
            5.0
        """
    def amin(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The smallest element over the given axes, as `min`.

        Args:
            x: Tensor [...], real. `input` is accepted as a name.
            axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
            keepdim: keep the reduced axes with length 1.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape of x without the axes. Equal elements share the gradient.
        Example:
            >>> paddle.amin(paddle.to_tensor([1.0, 5.0, 3.0])).item()
            1.0
        """
    def angle(self, name: _b.str | None = None) -> Tensor:
        """The angle of complex numbers in radians, in -pi..pi; pi for negative real numbers, 0 for others.

        Args:
            x: Tensor [...], floating or complex.
        Returns:
            Real Tensor of the same shape.
        Example:
            >>> round(paddle.angle(paddle.to_tensor([1j])).item(), 4)
            1.5708
        """
    def any(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells whether any element over the given axes is True (not zero).

        Args:
            x: Tensor [...].
            axis: int, list of ints, or None for all axes.
            keepdim: keep the reduced axes with length 1.
            out: Tensor that receives the result.
        Returns:
            bool Tensor; False where nothing is reduced.
        Example:
            >>> paddle.any(paddle.to_tensor([True, False])).item()
            True
        """
    def apply(self, func: Callable[..., Any]) -> Any:
        """func(tensor), for tensors outside of recording.

        Raises:
            RuntimeError: the tensor needs a gradient.
        Example:
            >>> paddle.to_tensor([1, 2]).apply(lambda t: t + 1).tolist()
            [2, 3]
        """
    def apply_(self, func: Callable[..., Any]) -> Tensor:
        """Puts func(tensor) into the tensor; returns it. See `apply`."""
    def argmax(self, axis: _b.int | Sequence[_b.int] | Tensor | _b.float | np.integer | np.floating | np.ndarray | None = None, keepdim: _b.bool | None = False, dtype: _a.DTypeLike = 'int64', name: _b.str | None = None) -> Tensor:
        """The index of the largest element, the first one of equals; NaN is not looked at.

        Args:
            x: Tensor [...], numeric.
            axis: int, or None for the index in the flattened tensor. `dim` is accepted as a name.
            keepdim: keep the axis with length 1.
            dtype: int64 or int32.
        Returns:
            Integer Tensor.
        Raises:
            ValueError: the axis is out of range, or there is no element.
        Example:
            >>> paddle.argmax(paddle.to_tensor([1.0, 3.0, 2.0])).item()
            1
        """
    def argmin(self, axis: _b.int | Sequence[_b.int] | Tensor | _b.float | np.integer | np.floating | np.ndarray | None = None, keepdim: _b.bool | None = False, dtype: _a.DTypeLike = 'int64', name: _b.str | None = None) -> Tensor:
        """The index of the smallest element.

        Args:
            x: Tensor [...], numeric.
            axis: int, or None for the index in the flattened tensor. `dim` is accepted as a name.
            keepdim: keep the axis with length 1.
            dtype: int64 or int32.
        Returns:
            Integer Tensor.
        Example:
            >>> paddle.argmin(paddle.to_tensor([1.0, 3.0, 2.0])).item()
            0
        """
    def argsort(self, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = -1, descending: _b.bool | None = False, stable: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """The indices that sort along an axis.

        Args:
            x: Tensor [...].
            axis: int. `dim` is accepted as a name.
            descending: largest first.
            stable: accepted; equal elements always keep their order.
        Returns:
            int64 Tensor of the shape of x. NaN counts as larger than all numbers.
        Raises:
            ValueError: the axis is out of range.
        Example:
            >>> paddle.argsort(paddle.to_tensor([3, 1, 2])).tolist()
            [1, 2, 0]
        """
    def argwhere(self) -> Tensor:
        """The indices of the elements that are not zero, as a matrix. See `nonzero`.

        Args:
            input: Tensor [...].
        Returns:
            int64 Tensor [n, ndim].
        Example:
            >>> paddle.argwhere(paddle.to_tensor([0, 3])).tolist()
            [[1]]
        """
    def as_complex(self, name: _b.str | None = None) -> Tensor:
        """Reads the last axis, of length 2, as real and imaginary part.

        Args:
            x: floating Tensor [..., 2].
        Returns:
            complex64 or complex128 Tensor [...].
        Raises:
            ValueError: the last axis has another length.
        Example:
            >>> paddle.as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
            [(1+2j)]
        """
    def as_real(self, name: _b.str | None = None) -> Tensor:
        """Real and imaginary part along a new last axis of length 2.

        Args:
            x: complex Tensor [...].
        Returns:
            Tensor [..., 2], float32 for complex64, float64 for complex128.
        Raises:
            RuntimeError: x is not complex.
        Example:
            >>> paddle.as_real(paddle.to_tensor([1 + 2j])).tolist()
            [[1.0, 2.0]]
        """
    def as_strided(self, shape: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, stride: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, offset: _b.int | Tensor | np.integer = 0, name: _b.str | None = None) -> Tensor:
        """Reads the elements, which lie in a row, with a shape and steps of one's own: a view where no element
        is shown twice, else a copy.

        Args:
            x: Tensor [...].
            shape: list of ints; an int counts as a list of one.
            stride: list of as many ints: how far apart neighbours along each axis lie, in elements.
            offset: int, where to begin, in bytes as in Paddle.
        Returns:
            Tensor of the given shape.
        Raises:
            ValueError: an element would lie outside x.
        Example:
            >>> paddle.as_strided(paddle.arange(4), [3, 2], [1, 1]).tolist()
            [[0, 1], [1, 2], [2, 3]]
        """
    def asin(self, name: _b.str | None = None) -> Tensor:
        """The arc sine, in radians.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.asin(paddle.to_tensor(1.0)).item(), 4)
            1.5708
        """
    def asin_(self, name: _b.str | None = None) -> Tensor:
        """In-place asin: puts the result into its first argument and returns it. See `asin`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(1.0).asin_().item(), 4)
            1.5708
        """
    def asinh(self, name: _b.str | None = None) -> Tensor:
        """The inverse hyperbolic sine.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.asinh(paddle.to_tensor(0.0)).item(), 4)
            0.0
        """
    def asinh_(self, name: _b.str | None = None) -> Tensor:
        """In-place asinh: puts the result into its first argument and returns it. See `asinh`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).asinh_().item(), 4)
            0.0
        """
    def astype(self, dtype: _a.DTypeLike) -> Tensor:
        """The tensor in another dtype; itself where it has that dtype. See `cast`.

        Example:
            >>> paddle.to_tensor([1.5]).astype("int32").tolist()
            [1]
        """
    def atan(self, name: _b.str | None = None) -> Tensor:
        """The arc tangent, in radians.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.atan(paddle.to_tensor(1.0)).item(), 4)
            0.7854
        """
    def atan2(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """The angle of the points (y, x), in -pi..pi.

        Args:
            x: Tensor [...], the ordinates. Integers are taken as float64.
            y: Tensor broadcastable with x, the abscissas.
        Returns:
            Tensor of radians.
        Example:
            >>> round(paddle.atan2(paddle.to_tensor(1.0), paddle.to_tensor(1.0)).item(), 4)
            0.7854
        """
    def atan_(self, name: _b.str | None = None) -> Tensor:
        """In-place atan: puts the result into its first argument and returns it. See `atan`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(1.0).atan_().item(), 4)
            0.7854
        """
    def atanh(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The inverse hyperbolic tangent.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.atanh(paddle.to_tensor(0.0)).item(), 4)
            0.0
        """
    def atanh_(self, name: _b.str | None = None) -> Tensor:
        """In-place atanh: puts the result into its first argument and returns it. See `atanh`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).atanh_().item(), 4)
            0.0
        """
    def atleast_1d(*self, name: _b.str | None = None) -> Any:
        """Makes 0-D tensors 1-D and leaves others alone.

        Args:
            inputs: Tensors, or numbers and lists that become Tensors.
        Returns:
            One Tensor for one input, a list for several.
        Example:
            >>> paddle.atleast_1d(paddle.to_tensor(3)).shape
            paddle.Size([1])
        """
    def atleast_2d(*self, name: _b.str | None = None) -> Any:
        """Adds axes in front until there are 2. See `atleast_1d`.

        Returns:
            Tensor, or a list of Tensors for several arguments.
        Example:
            >>> paddle.atleast_2d(paddle.ones([3])).shape
            paddle.Size([1, 3])
        """
    def atleast_3d(*self, name: _b.str | None = None) -> Any:
        """Adds axes until there are 3: [n] becomes [1, n, 1], [m, n] becomes [m, n, 1]. See `atleast_1d`.

        Returns:
            Tensor, or a list of Tensors for several arguments.
        Example:
            >>> paddle.atleast_3d(paddle.ones([3])).shape
            paddle.Size([1, 3, 1])
        """
    def backward(self, grad_tensor: Tensor | None = None, retain_graph: _b.bool = False, *, dump_backward_graph_path: Any = None) -> Any:
        """Computes gradients of this tensor and adds them to the `grad` of the leaves it depends on.

        Args:
            grad_tensor: Tensor of the same shape, the gradient to start from. Default: ones.
            retain_graph: keep the tape so that backward can be called again.
            dump_backward_graph_path: accepted for compatibility; nothing is written.
        Raises:
            AssertionError: grad_tensor is no Tensor, or of another shape.
            TypeError: retain_graph is not a bool.
            RuntimeError: the tape was freed by an earlier backward.
        Example:
            >>> x = paddle.to_tensor([2.0], stop_gradient=False); (x * x).backward(); x.grad.tolist()
            [4.0]
        """
    def baddbmm(self, x: Tensor, y: Tensor, beta: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1.0, alpha: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1.0, name: _b.str | None = None) -> Tensor:
        """beta * input + alpha * bmm(x, y).

        Args:
            input: Tensor [b, n, m], or one that broadcasts to it, or [b, m] for all rows.
            x: Tensor [b, n, k].
            y: Tensor [b, k, m].
            beta, alpha: numbers.
        Returns:
            Tensor [b, n, m].
        Raises:
            ValueError: the shapes do not fit.
        Example:
            >>> paddle.baddbmm(paddle.ones([1, 1, 1]), paddle.ones([1, 1, 2]), paddle.ones([1, 2, 1])).tolist()
            [[[3.0]]]
        """
    def baddbmm_(self, x: Tensor, y: Tensor, beta: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1.0, alpha: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1.0, name: _b.str | None = None) -> Tensor:
        """In-place baddbmm: puts the result into its first argument and returns it. See `baddbmm`.

        Args:
            input: Tensor [b, n, m], or one that broadcasts to it, or [b, m] for all rows.
            x: Tensor [b, n, k].
            y: Tensor [b, k, m].
            beta, alpha: numbers.
        Returns:
            The Tensor `input`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.ones([1, 1, 1]).baddbmm_(paddle.ones([1, 1, 2]), paddle.ones([1, 2, 1])).tolist()
            [[[3.0]]]
        """
    def bernoulli_(self, p: _b.int | _b.float | np.integer | np.floating | None = 0.5, name: _b.str | None = None) -> Tensor:
        """Fills a tensor in place with zeros and ones, ones with probability p (a number, or a Tensor that
        broadcasts to x); returns it.

        Args:
            x: Tensor [...].
            p: number in 0..1, or Tensor of such numbers.
        Returns:
            x.
        Example:
            >>> paddle.zeros([2]).bernoulli_(1.0).tolist()
            [1.0, 1.0]
        """
    def bfloat16(self) -> Any:
        """The tensor in the dtype bfloat16; itself where it has that dtype. See `cast`."""
    def bincount(self, weights: Tensor | None = None, minlength: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 0, name: _b.str | None = None) -> Tensor:
        """Counts how often each number 0, 1, 2 ... comes.

        Args:
            x: int32 or int64 Tensor [n], not negative.
            weights: Tensor [n]: sum these instead of counting; integer weights give float64.
            minlength: the result has at least this length.
        Returns:
            Tensor [max(x) + 1 or minlength], int64 or the dtype of weights.
        Raises:
            TypeError: x is not of integers.
            ValueError: x is not 1-d or holds a negative number, minlength is negative, or weights
                have another length.
        Example:
            >>> paddle.bincount(paddle.to_tensor([1, 2, 1])).tolist()
            [0, 2, 1]
        """
    def bitwise_and(self, y: Tensor, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """The bits set in both operands, with broadcasting.

        Args:
            x: Tensor [...], integer or bool.
            y: Tensor of the same dtype that broadcasts with x.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            ValueError: the dtypes differ or the shapes do not broadcast.
            RuntimeError: the dtype has no bits to speak of.
        Example:
            >>> paddle.bitwise_and(paddle.to_tensor([6]), paddle.to_tensor([3])).tolist()
            [2]
        """
    def bitwise_and_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place bitwise_and: puts the result into its first argument and returns it. See `bitwise_and`.

        Args:
            x: Tensor [...], integer or bool.
            y: Tensor of the same dtype that broadcasts with x.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([6]).bitwise_and_(paddle.to_tensor([3])).tolist()
            [2]
        """
    def bitwise_invert(self, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """All bits flipped, as `bitwise_not`.

        Args:
            x: Tensor [...], integer or bool.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape and dtype.
        Example:
            >>> paddle.bitwise_invert(paddle.to_tensor([0, -1])).tolist()
            [-1, 0]
        """
    def bitwise_invert_(self, name: _b.str | None = None) -> Tensor:
        """In-place bitwise_invert: puts the result into its first argument and returns it. See `bitwise_invert`.

        Args:
            x: Tensor [...], integer or bool.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([0, -1]).bitwise_invert_().tolist()
            [-1, 0]
        """
    def bitwise_left_shift(self, y: Tensor, is_arithmetic: _b.bool | None = True, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """Shifts the bits of x to the left by y places, with broadcasting; what leaves the word is lost.

        Args:
            x: Tensor [...], integer.
            y: Tensor of the same dtype.
            is_arithmetic: no effect on shifts to the left.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            ValueError: the dtypes differ.
        Example:
            >>> paddle.bitwise_left_shift(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 1])).tolist()
            [4, 6]
        """
    def bitwise_left_shift_(self, y: Tensor, is_arithmetic: _b.bool | None = True, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """In-place bitwise_left_shift: puts the result into its first argument and returns it. See `bitwise_left_shift`.

        Args:
            x: Tensor [...], integer.
            y: Tensor of the same dtype.
            is_arithmetic: no effect on shifts to the left.
            out: accepted.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 3]).bitwise_left_shift_(paddle.to_tensor([2, 1])).tolist()
            [4, 6]
        """
    def bitwise_not(self, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """All bits flipped; for bool the opposite.

        Args:
            x: Tensor [...], integer or bool.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape and dtype.
        Example:
            >>> paddle.bitwise_not(paddle.to_tensor([0, -1])).tolist()
            [-1, 0]
        """
    def bitwise_not_(self, name: _b.str | None = None) -> Tensor:
        """In-place bitwise_not: puts the result into its first argument and returns it. See `bitwise_not`.

        Args:
            x: Tensor [...], integer or bool.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([0, -1]).bitwise_not_().tolist()
            [-1, 0]
        """
    def bitwise_or(self, y: Tensor, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """The bits set in either operand.

        Args:
            x: Tensor [...], integer or bool.
            y: Tensor of the same dtype that broadcasts with x.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape.
        Example:
            >>> paddle.bitwise_or(paddle.to_tensor([6]), paddle.to_tensor([3])).tolist()
            [7]
        """
    def bitwise_or_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place bitwise_or: puts the result into its first argument and returns it. See `bitwise_or`.

        Args:
            x: Tensor [...], integer or bool.
            y: Tensor of the same dtype that broadcasts with x.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([6]).bitwise_or_(paddle.to_tensor([3])).tolist()
            [7]
        """
    def bitwise_right_shift(self, y: Tensor, is_arithmetic: _b.bool | None = True, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """Shifts the bits of x to the right by y places, with broadcasting.

        Args:
            x: Tensor [...], integer.
            y: Tensor of the same dtype.
            is_arithmetic: fill with the sign bit; False fills with zeros.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            ValueError: the dtypes differ.
        Example:
            >>> paddle.bitwise_right_shift(paddle.to_tensor([8, -8]), paddle.to_tensor([1, 1])).tolist()
            [4, -4]
        """
    def bitwise_right_shift_(self, y: Tensor, is_arithmetic: _b.bool | None = True, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """In-place bitwise_right_shift: puts the result into its first argument and returns it. See `bitwise_right_shift`.

        Args:
            x: Tensor [...], integer.
            y: Tensor of the same dtype.
            is_arithmetic: fill with the sign bit; False fills with zeros.
            out: accepted.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([8, -8]).bitwise_right_shift_(paddle.to_tensor([1, 1])).tolist()
            [4, -4]
        """
    def bitwise_xor(self, y: Tensor, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """The bits set in exactly one operand.

        Args:
            x: Tensor [...], integer or bool.
            y: Tensor of the same dtype that broadcasts with x.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape.
        Example:
            >>> paddle.bitwise_xor(paddle.to_tensor([6]), paddle.to_tensor([3])).tolist()
            [5]
        """
    def bitwise_xor_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place bitwise_xor: puts the result into its first argument and returns it. See `bitwise_xor`.

        Args:
            x: Tensor [...], integer or bool.
            y: Tensor of the same dtype that broadcasts with x.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([6]).bitwise_xor_(paddle.to_tensor([3])).tolist()
            [5]
        """
    @property
    def block(self) -> Any: ...
    def block_diag(self, name: _b.str | None = None) -> Tensor:
        """A matrix with matrices along its diagonal and zeros elsewhere.

        Args:
            inputs: list of Tensors of at most 2 axes and one dtype; 0-D and 1-D ones count as one row.
        Returns:
            Tensor [sum of rows, sum of columns].
        Raises:
            ValueError: a tensor has more axes, or the dtypes differ.
        Example:
            >>> paddle.block_diag([paddle.ones([1, 2]), paddle.ones([1])]).tolist()
            [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
    def bmm(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Multiplies two batches of matrices.

        Args:
            x: Tensor [b, n, k].
            y: Tensor [b, k, m].
            out: Tensor that receives the result.
        Returns:
            Tensor [b, n, m].
        Raises:
            ValueError: a tensor is not 3-d, or lengths do not fit.
        Example:
            >>> paddle.bmm(paddle.ones([2, 1, 3]), paddle.ones([2, 3, 4])).shape
            paddle.Size([2, 1, 4])
        """
    def bool(self) -> Any:
        """The tensor in the dtype bool; itself where it has that dtype. See `cast`."""
    def broadcast_shape(self, y_shape: Any) -> Any:
        """The shape that two shapes broadcast to, as a list.

        Args:
            x_shape, y_shape: lists of ints; -1 for a length that is not known.
        Returns:
            list of ints.
        Raises:
            ValueError: the shapes do not broadcast.
        Example:
            >>> paddle.broadcast_shape([2, 1], [3])
            [2, 3]
        """
    def broadcast_shapes(*self) -> Any:
        """The shape that several shapes broadcast to, as a list.

        Returns:
            list of ints.
        Raises:
            ValueError: the shapes do not broadcast.
        Example:
            >>> paddle.broadcast_shapes([2, 1], [3], [1])
            [2, 3]
        """
    def broadcast_tensors(self, name: _b.str | None = None) -> _b.list[Tensor]:
        """Broadcasts tensors to their common shape.

        Args:
            input: list or tuple of Tensors.
        Returns:
            List of Tensors.
        Raises:
            ValueError: the shapes do not broadcast, the dtypes differ, or the list is empty.
        Example:
            >>> [t.shape for t in paddle.broadcast_tensors([paddle.ones([2, 1]), paddle.ones([3])])]
            [paddle.Size([2, 3]), paddle.Size([2, 3])]
        """
    @overload
    def broadcast_to(self, shape: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, name: _b.str | None = None) -> Tensor: ...
    @overload
    def broadcast_to(self, *shape: _b.int | Tensor, name: _b.str | None = None) -> Tensor:
        """Broadcasts x to a shape. The same as `expand`.

        Args:
            x: Tensor [...].
            shape: list, tuple or 1-D int Tensor; -1 keeps the length.
        Returns:
            Tensor of the shape.
        Example:
            >>> paddle.broadcast_to(paddle.ones([1]), [2, 2]).shape
            paddle.Size([2, 2])
        """
    def bucketize(self, sorted_sequence: Tensor, out_int32: _b.bool | None = False, right: _b.bool | None = False, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """In which interval between sorted boundaries each element lies. See `searchsorted`.

        Args:
            x: Tensor [...].
            sorted_sequence: 1-D Tensor of boundaries. `boundaries` is accepted as a name.
            out_int32: int32 instead of int64.
            right: an element equal to a boundary belongs to the interval after it.
            out: Tensor that receives the result.
        Returns:
            int Tensor of the shape of x: how many boundaries are smaller than each element.
        Raises:
            ValueError: the boundaries are not 1-D.
        Example:
            >>> paddle.bucketize(paddle.to_tensor([0, 4]), paddle.to_tensor([1, 3, 5])).tolist()
            [0, 2]
        """
    def byte(self) -> Any:
        """The tensor in the dtype uint8; itself where it has that dtype. See `cast`."""
    def cast(self, dtype: _a.DTypeLike) -> Tensor:
        """Converts to another dtype. Floats lose their fraction when they become integers; out-of-range values of
        float to int32 or int64 saturate.

        Args:
            x: Tensor [...].
            dtype: dtype in any spelling: "float32", paddle.float32, np.float32.
        Returns:
            Tensor of the same shape and the other dtype.
        Raises:
            TypeError: the dtype is unknown.
        Example:
            >>> paddle.cast(paddle.to_tensor([1.5, -1.5]), "int32").tolist()
            [1, -1]
        """
    def cast_(self, dtype: _a.DTypeLike) -> Tensor:
        """In-place cast: puts the result into its first argument and returns it. See `cast`.

        Args:
            x: Tensor [...].
            dtype: dtype in any spelling: "float32", paddle.float32, np.float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.5, -1.5]).cast_("int32").tolist()
            [1, -1]
        """
    def cauchy_(self, loc: Any = 0, scale: Any = 1, name: _b.str | None = None) -> Tensor:
        """Fills a tensor in place with Cauchy random numbers around loc; returns it.

        Args:
            x: floating Tensor.
            loc, scale: numbers, the median and half the distance of the quartiles.
        Returns:
            x.
        Example:
            >>> paddle.zeros([2]).cauchy_().shape
            paddle.Size([2])
        """
    def cdist(self, y: Tensor, p: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 2.0, compute_mode: _b.str = 'use_mm_for_euclid_dist_if_necessary', name: _b.str | None = None) -> Tensor:
        """The p-norm distances between the rows of x and the rows of y.

        Args:
            x: Tensor [..., n, k].
            y: Tensor [..., m, k].
            p: number >= 0.
            compute_mode: whether Euclidean distances go through a matrix product: "use_mm_for_euclid_dist",
                "donot_use_mm_for_euclid_dist", or the default, which does so for more than 25 rows.
        Returns:
            Tensor [..., n, m].
        Raises:
            AssertionError: too few axes, last lengths differ, or p is negative.
            ValueError: the mode is not known.
        Example:
            >>> paddle.cdist(paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])).tolist()
            [[5.0]]
        """
    def cdouble(self) -> Any:
        """The tensor in the dtype complex128; itself where it has that dtype. See `cast`."""
    def ceil(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Rounds up to the next integer.

        Args:
            x: Tensor [...].
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> paddle.ceil(paddle.to_tensor([1.5, -1.5])).tolist()
            [2.0, -1.0]
        """
    def ceil_(self, name: _b.str | None = None) -> Tensor:
        """In-place ceil: puts the result into its first argument and returns it. See `ceil`.

        Args:
            x: Tensor [...].
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.5, -1.5]).ceil_().tolist()
            [2.0, -1.0]
        """
    def cfloat(self) -> Any:
        """The tensor in the dtype complex64; itself where it has that dtype. See `cast`."""
    def char(self) -> Any:
        """The tensor in the dtype int8; itself where it has that dtype. See `cast`."""
    def cholesky(self, upper: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """The Cholesky factor of symmetric positive definite matrices: x = L L^T, or U^T U.

        Args:
            x: Tensor [..., n, n]; only the triangle that `upper` names is read.
            upper: return U instead of L.
        Returns:
            Tensor [..., n, n], a triangular matrix with zeros elsewhere.
        Raises:
            ValueError: a matrix is not positive definite.
            AssertionError: the matrices are not square.
        Example:
            >>> paddle.linalg.cholesky(paddle.to_tensor([[4.0, 0.0], [0.0, 9.0]])).tolist()
            [[2.0, 0.0], [0.0, 3.0]]
        """
    def cholesky_inverse(self, upper: _b.bool = False, name: _b.str | None = None) -> Tensor:
        """The inverse of A = x x^T (or x^T x), given its Cholesky factor.

        Args:
            x: Tensor [n, n], the factor.
            upper: the factor is upper triangular.
        Returns:
            Tensor of the shape of x.
        Raises:
            ValueError: x is not a square matrix.
        Example:
            >>> paddle.linalg.cholesky_inverse(paddle.to_tensor([[2.0]])).tolist()
            [[0.25]]
        """
    def cholesky_solve(self, y: Tensor, upper: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """Solves A @ out = x for A = y y^T (or y^T y), given its Cholesky factor.

        Args:
            x: Tensor [..., n, k], the right-hand sides.
            y: Tensor [..., n, n], the factor.
            upper: the factor is upper triangular.
        Returns:
            Tensor [..., n, k].
        Raises:
            ValueError: the shapes do not fit.
        Example:
            >>> paddle.linalg.cholesky_solve(paddle.to_tensor([[4.0]]), paddle.to_tensor([[2.0]])).tolist()
            [[1.0]]
        """
    def chunk(self, chunks: _b.int, axis: Tensor | _b.int | np.integer | np.ndarray = 0, name: _b.str | None = None) -> _b.list[Tensor]:
        """Splits into `chunks` equal parts along an axis. See `split`.

        Args:
            x: Tensor [...].
            chunks: int that divides the length of the axis.
            axis: int or Tensor of one int.
        Returns:
            list of Tensors.
        Raises:
            ValueError: chunks does not divide the length of the axis.
        Example:
            >>> [p.tolist() for p in paddle.chunk(paddle.arange(4), 2)]
            [[0, 1], [2, 3]]
        """
    def clamp(self, min: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, max: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Brings elements into the range min..max.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            min, max: numbers, Tensors of one element, or None for no bound. Float bounds make an
                integer x float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape. The gradient is 1 inside and on the bounds, 0 outside; the bounds get none.
        Raises:
            ValueError: min is greater than max, or a bound has more than one element.
        Example:
            >>> paddle.clip(paddle.to_tensor([-1.0, 0.5, 2.0]), 0.0, 1.0).tolist()
            [0.0, 0.5, 1.0]
        """
    def clamp_(self, min: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, max: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, name: _b.str | None = None) -> Tensor:
        """In-place clip: puts the result into x and returns it. Of float bounds for an integer x the fraction is
        dropped. See `clip`.

        Example:
            >>> paddle.to_tensor([-1.0, 2.0]).clip_(0.0, 1.0).tolist()
            [0.0, 1.0]
        """
    def clear_grad(self) -> Any:
        """Sets the gradient to zeros, in place."""
    def clear_gradient(self, set_to_zero: _b.bool = True) -> Any:
        """Sets the gradient to zeros, in place, or to None with set_to_zero=False."""
    def clip(self, min: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, max: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Brings elements into the range min..max.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            min, max: numbers, Tensors of one element, or None for no bound. Float bounds make an
                integer x float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape. The gradient is 1 inside and on the bounds, 0 outside; the bounds get none.
        Raises:
            ValueError: min is greater than max, or a bound has more than one element.
        Example:
            >>> paddle.clip(paddle.to_tensor([-1.0, 0.5, 2.0]), 0.0, 1.0).tolist()
            [0.0, 0.5, 1.0]
        """
    def clip_(self, min: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, max: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, name: _b.str | None = None) -> Tensor:
        """In-place clip: puts the result into x and returns it. Of float bounds for an integer x the fraction is
        dropped. See `clip`.

        Example:
            >>> paddle.to_tensor([-1.0, 2.0]).clip_(0.0, 1.0).tolist()
            [0.0, 1.0]
        """
    def clone(self, *, memory_format: Any = None) -> Tensor:
        """A copy that takes part in recording. memory_format is ignored, as in Paddle. See `paddle.clone`."""
    coalesce: Any
    cols: Any
    def column_stack(self, name: _b.str | None = None) -> Tensor:
        """Joins tensors along the second axis, 1-D ones as columns. See `hstack`.

        Args:
            x: list or tuple of Tensors of one dtype.
        Returns:
            Tensor.
        Example:
            >>> paddle.column_stack([paddle.ones([2]), paddle.zeros([2])]).tolist()
            [[1.0, 0.0], [1.0, 0.0]]
        """
    def combinations(self, r: _b.int = 2, with_replacement: _b.bool = False, name: _b.str | None = None) -> Tensor:
        """All choices of r elements of a vector, in order.

        Args:
            x: Tensor [n].
            r: int >= 0.
            with_replacement: an element may be chosen again.
        Returns:
            Tensor [number of choices, r]; for r = 0 an empty vector.
        Raises:
            ValueError: r is negative.
            TypeError: x is not 1-D.
        Example:
            >>> paddle.combinations(paddle.to_tensor([1, 2, 3])).tolist()
            [[1, 2], [1, 3], [2, 3]]
        """
    def complex128(self) -> Any:
        """The tensor in the dtype complex128; itself where it has that dtype. See `cast`."""
    def complex64(self) -> Any:
        """The tensor in the dtype complex64; itself where it has that dtype. See `cast`."""
    def concat(self, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | np.ndarray | None = 0, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Joins tensors along an axis they have.

        Args:
            x: list or tuple of Tensors of one dtype, equal in shape but for `axis`. `tensors` is
                accepted as a name.
            axis: int or Tensor of one int. `dim` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor.
        Raises:
            ValueError: shapes or dtypes do not fit, or the axis is out of range.
        Example:
            >>> paddle.concat([paddle.ones([2]), paddle.zeros([1])]).tolist()
            [1.0, 1.0, 0.0]
        """
    def cond(self, p: Tensor | _b.int | _b.float | _b.str | np.integer | np.floating | np.ndarray | None = None, name: _b.str | None = None) -> Tensor:
        """The condition numbers of matrices: the norm times the norm of the inverse.

        Args:
            x: Tensor [..., n, n]; for p None, 2 and -2 also [..., m, n].
            p: order of the norm as for `linalg.matrix_norm`. None means 2.
        Returns:
            Tensor [...].
        Raises:
            ValueError: p is not known or the matrices do not fit.
        Example:
            >>> paddle.linalg.cond(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).item()
            2.0
        """
    def conj(self, name: _b.str | None = None) -> Tensor:
        """Complex conjugates; real numbers stay as they are.

        Args:
            x: Tensor [...], any numeric dtype.
        Returns:
            Tensor of the shape and dtype of x.
        Example:
            >>> paddle.conj(paddle.to_tensor([1 + 2j])).tolist()
            [(1-2j)]
        """
    def contiguous(self, *, memory_format: Any = None) -> Tensor:
        """The tensor itself: elements always lie row by row. memory_format is ignored, as in Paddle."""
    def copy_(self, other: Tensor, blocking: _b.bool = True, *, non_blocking: _b.bool = False) -> Tensor:
        """Takes over the value of another tensor, unrecorded; returns the tensor.

        Args:
            other: Tensor of the same dtype.
            blocking, non_blocking: no difference here: a copy that is under way is waited for where it is read.
        Raises:
            ValueError: other is no Tensor.
            RuntimeError: the dtypes differ.
        Example:
            >>> paddle.zeros([1]).copy_(paddle.ones([1])).tolist()
            [1.0]
        """
    def copysign(self, y: Tensor | _b.int | _b.float, name: _b.str | None = None) -> Tensor:
        """The magnitude of x with the sign of y.

        Args:
            x: Tensor [...].
            y: Tensor broadcastable with x, or a number.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            RuntimeError: an operand is complex.
        Example:
            >>> paddle.copysign(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([-1.0, 3.0])).tolist()
            [-1.0, 2.0]
        """
    def copysign_(self, y: Tensor | _b.int | _b.float, name: _b.str | None = None) -> Tensor:
        """In-place copysign: puts the result into its first argument and returns it. See `copysign`.

        Args:
            x: Tensor [...].
            y: Tensor broadcastable with x, or a number.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, 2.0]).copysign_(paddle.to_tensor([-1.0, 3.0])).tolist()
            [-1.0, 2.0]
        """
    def corrcoef(self, rowvar: _b.bool = True, name: _b.str | None = None) -> Tensor:
        """The matrix of correlation coefficients of variables.

        Args:
            x: Tensor [variables, observations] or [observations].
            rowvar: False takes columns as variables.
        Returns:
            Tensor [variables, variables], or [] for a 1-d x.
        Example:
            >>> paddle.linalg.corrcoef(paddle.to_tensor([1.0, 2.0, 3.0])).item()
            1.0
        """
    def cos(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The cosine of angles in radians.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.cos(paddle.to_tensor(0.0)).item(), 4)
            1.0
        """
    def cos_(self, name: _b.str | None = None) -> Tensor:
        """In-place cos: puts the result into its first argument and returns it. See `cos`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).cos_().item(), 4)
            1.0
        """
    def cosh(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic cosine.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.cosh(paddle.to_tensor(0.0)).item(), 4)
            1.0
        """
    def cosh_(self, name: _b.str | None = None) -> Tensor:
        """In-place cosh: puts the result into its first argument and returns it. See `cosh`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).cosh_().item(), 4)
            1.0
        """
    def count_nonzero(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """Counts the elements over the given axes that are not zero, as int64.

        Args:
            x: Tensor [...].
            axis: int, list of ints, or None for all axes.
            keepdim: keep the reduced axes with length 1.
        Returns:
            int64 Tensor.
        Example:
            >>> paddle.count_nonzero(paddle.to_tensor([0.0, 2.0, 0.0])).item()
            1
        """
    def cov(self, rowvar: _b.bool = True, ddof: _b.bool | _b.int = True, fweights: Tensor | None = None, aweights: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """The covariance matrix of variables.

        Args:
            x: Tensor [variables, observations] or [observations].
            rowvar: False takes columns as variables.
            ddof: True divides by the number of observations minus 1.
            fweights: int Tensor [observations], how often each counts.
            aweights: Tensor [observations], how much each weighs.
        Returns:
            Tensor [variables, variables], or [] for a 1-d x.
        Raises:
            ValueError: x has more than two axes, or a weight does not fit.
            TypeError: x is not floating.
        Example:
            >>> paddle.linalg.cov(paddle.to_tensor([1.0, 2.0, 3.0])).item()
            1.0
        """
    def cpu(self) -> Tensor:
        """The tensor in the memory of the CPU; itself when it is there.

        Example:
            >>> paddle.ones([1]).cpu().place
            Place(cpu)
        """
    def crop(self, shape: Tensor | Sequence[_b.int | Tensor] | np.ndarray | None = None, offsets: Tensor | Sequence[_b.int | Tensor] | np.ndarray | None = None, name: _b.str | None = None) -> Tensor:
        """Cuts a block of a given shape out of a tensor.

        Args:
            x: Tensor [...].
            shape: list, tuple or Tensor of ints, one per axis; -1 takes what is left. Default: the shape of x.
            offsets: where the block begins. Default: zeros.
        Returns:
            Tensor of the given shape.
        Raises:
            ValueError: the block does not lie inside x.
        Example:
            >>> paddle.crop(paddle.to_tensor([[1, 2], [3, 4]]), [1, 2], [1, 0]).tolist()
            [[3, 4]]
        """
    def cross(self, y: Tensor, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = 9, name: _b.str | None = None) -> Tensor:
        """The cross product of vectors of length 3.

        Args:
            x, y: Tensors of one shape.
            axis: int, the axis of the vectors. Default (9): the first of length 3. `dim` is accepted as a name.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            ValueError: the shapes differ or the axis has not length 3.
            IndexError: the axis is out of range.
        Example:
            >>> paddle.cross(paddle.to_tensor([1.0, 0.0, 0.0]), paddle.to_tensor([0.0, 1.0, 0.0])).tolist()
            [0.0, 0.0, 1.0]
        """
    crows: Any
    def cuda(self, device_id: _b.int | None = None, blocking: _b.bool = True) -> Tensor:
        """The tensor on a GPU; itself when it is there.

        Where JAX has devices that Paddle has no name for, such as TPUs, it is one of these.

        Args:
            device_id: int. Default: the current device, or the first if that is the CPU.
        Raises:
            ValueError: this machine has no such device.
        """
    def cummax(self, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = None, dtype: _a.DTypeLike = 'int64', name: _b.str | None = None) -> _b.tuple[Tensor, Tensor]:
        """Running maxima along an axis and where they are; of equal ones the last counts.

        Args:
            x: Tensor [...], real. From a NaN on, the maximum is NaN.
            axis: int, or None to run over the flattened tensor.
            dtype: dtype of the indices, "int64" or "int32".
        Returns:
            (maxima, indices).
        Raises:
            IndexError: the axis is out of range.
            ValueError: dtype is something else.
        Example:
            >>> [t.tolist() for t in paddle.cummax(paddle.to_tensor([1.0, 3.0, 2.0]))]
            [[1.0, 3.0, 3.0], [0, 1, 1]]
        """
    def cummin(self, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = None, dtype: _a.DTypeLike = 'int64', name: _b.str | None = None) -> _b.tuple[Tensor, Tensor]:
        """Running minima along an axis and where they are.

        Args:
            x: Tensor [...], real. From a NaN on, the maximum is NaN.
            axis: int, or None to run over the flattened tensor.
            dtype: dtype of the indices, "int64" or "int32".
        Returns:
            (minima, indices).
        Example:
            >>> [t.tolist() for t in paddle.cummin(paddle.to_tensor([2.0, 3.0, 1.0]))]
            [[2.0, 2.0, 1.0], [0, 0, 2]]
        """
    def cumprod(self, dim: Tensor | _b.int | np.integer | None = None, *, dtype: _a.DTypeLike | None = None, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """Running products along an axis.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            dim: int, or None to run over the flattened tensor.
            dtype: dtype to cast to first.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape of x, or 1-D for dim=None.
        Raises:
            ValueError: dim is out of range.
        Example:
            >>> paddle.cumprod(paddle.to_tensor([1.0, 2.0, 3.0]), dim=0).tolist()
            [1.0, 2.0, 6.0]
        """
    def cumprod_(self, dim: Tensor | _b.int | np.integer | None = None, *, dtype: _a.DTypeLike | None = None, name: _b.str | None = None) -> Tensor:
        """In-place cumprod: puts the result into its first argument and returns it. See `cumprod`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            dim: int, or None to run over the flattened tensor.
            dtype: dtype to cast to first.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, 2.0, 3.0]).cumprod_(dim=0).tolist()
            [1.0, 2.0, 6.0]
        """
    def cumsum(self, axis: _b.int | Sequence[_b.int] | Tensor | _b.float | np.integer | np.floating | np.ndarray | None = None, dtype: _a.DTypeLike | None = None, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Running sums along an axis.

        Args:
            x: Tensor [...]; integers sum as int64. `input` is accepted as a name.
            axis: int, or None to run over the flattened tensor. `dim` is accepted as a name.
            dtype: dtype to cast to first.
            out: Tensor that receives the result.
        Returns:
            Tensor of x's shape, or 1-d for axis=None.
        Raises:
            IndexError: the axis is out of range.
        Example:
            >>> paddle.cumsum(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
            [1.0, 3.0, 6.0]
        """
    def cumsum_(self, axis: _b.int | Sequence[_b.int] | Tensor | _b.float | np.integer | np.floating | np.ndarray | None = None, dtype: _a.DTypeLike | None = None, name: _b.str | None = None) -> Tensor:
        """In-place cumsum: puts the result into x and returns it. Integers keep their dtype. See `cumsum`.

        Args:
            x: Tensor [...].
            axis: int, or None to run over the flattened tensor.
            dtype: dtype to cast to first.
        Returns:
            The Tensor `x`.
        Example:
            >>> paddle.cumsum_(paddle.to_tensor([1.0, 2.0])).tolist()
            [1.0, 3.0]
        """
    def cumulative_trapezoid(self, x: Tensor | None = None, dx: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = -1, name: _b.str | None = None) -> Tensor:
        """Running integrals of sampled values by the trapezoid rule. Arguments as for `trapezoid`; the axis
        is shorter by 1.

        Args:
            y, x, dx, axis: as for `trapezoid`.
        Returns:
            Tensor of the shape of y, but for the axis.
        Example:
            >>> paddle.cumulative_trapezoid(paddle.to_tensor([4.0, 5.0, 6.0])).tolist()
            [4.5, 10.0]
        """
    data: Tensor
    def data_ptr(self) -> Any:
        """The address of the first element."""
    def deg2rad(self, name: _b.str | None = None) -> Tensor:
        """Turns degrees into radians.

        Args:
            x: Tensor [...]; int32 and int64 are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.deg2rad(paddle.to_tensor(180.0)).item(), 4)
            3.1416
        """
    def dense_dim(self) -> Any:
        """How many of the axes are stored densely: all.

        Example:
            >>> paddle.ones([2, 3]).dense_dim()
            2
        """
    def detach(self) -> Tensor: ...
    def detach_(self) -> Tensor: ...
    @property
    def device(self) -> Any: ...
    def diag(self, offset: _b.int | Tensor | np.integer = 0, padding_value: _b.int | Tensor | _b.float | np.integer | np.floating | np.ndarray = 0, name: _b.str | None = None) -> Tensor:
        """A square matrix with a vector on a diagonal, or the diagonal of a matrix.

        Args:
            x: Tensor [n] or [n, m].
            offset: 0 for the main diagonal, positive above, negative below.
            padding_value: number beside the diagonal.
        Returns:
            Tensor [n + |offset|, n + |offset|], or the 1-D diagonal.
        Raises:
            ValueError: x has more than 2 axes.
        Example:
            >>> paddle.diag(paddle.to_tensor([1, 2])).tolist()
            [[1, 0], [0, 2]]
        """
    def diag_embed(self, offset: Tensor | _b.int | np.integer = 0, dim1: Tensor | _b.int | np.integer = -2, dim2: Tensor | _b.int | np.integer = -1) -> Tensor:
        """Square matrices with the vectors along the last axis on a diagonal.

        Args:
            input: Tensor [..., n], or what `to_tensor` takes.
            offset: 0 for the main diagonal, positive above, negative below.
            dim1, dim2: the axes of the matrices in the result.
        Returns:
            Tensor of one axis more.
        Raises:
            IndexError: an axis is out of range.
            ValueError: the axes are the same.
        Example:
            >>> paddle.diag_embed(paddle.ones([3, 2])).shape
            paddle.Size([3, 2, 2])
        """
    def diagflat(self, offset: _b.int | Tensor | np.integer = 0, name: _b.str | None = None) -> Tensor:
        """A square matrix with all elements of x on a diagonal.

        Args:
            x: Tensor [...].
            offset: 0 for the main diagonal, positive above, negative below.
        Returns:
            Tensor [n, n], where n is the number of elements plus the absolute offset.
        Example:
            >>> paddle.diagflat(paddle.to_tensor([[1], [2]])).tolist()
            [[1, 0], [0, 2]]
        """
    def diagonal(self, offset: _b.int | Tensor | np.integer = 0, axis1: _b.int | Tensor | np.integer = 0, axis2: _b.int | Tensor | np.integer = 1, name: _b.str | None = None) -> Tensor:
        """The diagonals of the planes of two axes, along a new last axis.

        Args:
            x: Tensor of at least 2 axes.
            offset: 0 for the main diagonal, positive above it, negative below.
            axis1, axis2: the plane. `dim1` and `dim2` are accepted as names.
        Returns:
            Tensor of the other axes, and a last one for the diagonal; a view of x.
        Raises:
            IndexError: an axis is out of range.
            ValueError: the axes are the same.
        Example:
            >>> paddle.diagonal(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
            [1, 4]
        """
    def diagonal_scatter(self, y: Tensor, offset: Tensor | _b.int | np.integer = 0, axis1: Tensor | _b.int | np.integer = 0, axis2: Tensor | _b.int | np.integer = 1, name: _b.str | None = None) -> Tensor:
        """x with y in place of a diagonal. Arguments as for `diagonal`.

        Args:
            y: Tensor of the shape of that diagonal.
            x, offset, axis1, axis2: as for `diagonal`.
        Returns:
            Tensor of the shape of x.
        Raises:
            AssertionError: y has another shape.
        Example:
            >>> paddle.diagonal_scatter(paddle.zeros([2, 2]), paddle.ones([2])).tolist()
            [[1.0, 0.0], [0.0, 1.0]]
        """
    def diff(self, n: Tensor | _b.int | np.integer | np.ndarray = 1, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | np.ndarray | None = -1, prepend: Tensor | None = None, append: Tensor | None = None, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Differences of neighbours along an axis, n times over.

        Args:
            x: Tensor [...]; of bools the result tells where neighbours differ. `input` is accepted as a name.
            n: how often, at least 1.
            axis: int. `dim` is accepted as a name.
            prepend, append: Tensors put before and after x first.
            out: Tensor that receives the result.
        Returns:
            Tensor whose axis is shorter by n.
        Raises:
            ValueError: n < 1 or shapes do not fit.
            IndexError: the axis is out of range.
        Example:
            >>> paddle.diff(paddle.to_tensor([1.0, 4.0, 9.0])).tolist()
            [3.0, 5.0]
        """
    def digamma(self, name: _b.str | None = None) -> Tensor:
        """The derivative of the logarithm of the gamma function.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.digamma(paddle.to_tensor(1.0)).item(), 4)
            -0.5772
        """
    def digamma_(self, name: _b.str | None = None) -> Tensor:
        """In-place digamma: puts the result into its first argument and returns it. See `digamma`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(1.0).digamma_().item(), 4)
            -0.5772
        """
    def dim(self) -> Any:
        """The number of axes.

        Example:
            >>> paddle.ones([2, 3]).dim()
            2
        """
    def dist(self, y: Tensor, p: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 2, name: _b.str | None = None) -> Tensor:
        """The p-norm of x - y over all elements, with broadcasting.

        Args:
            x, y: Tensors [...].
            p: number as for `linalg.vector_norm`.
        Returns:
            Tensor [].
        Raises:
            ValueError: the shapes do not broadcast.
        Example:
            >>> paddle.dist(paddle.to_tensor([1.0, 1.0]), paddle.to_tensor([4.0, 5.0])).item()
            5.0
        """
    def div(self, y: Tensor, name: _b.str | None = None, *, rounding_mode: _b.str | None = None, out: Tensor | None = None) -> Tensor:
        """Divides elementwise, with broadcasting; integers give float32 unless rounded.

        Args:
            x, y: Tensors as for `add`.
            rounding_mode: None, "trunc" (towards zero) or "floor".
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            ValueError: rounding_mode is something else, or the shapes do not broadcast.
            ZeroDivisionError: integers are divided by zero and rounded; also Paddle's EnforceNotMet.
        Example:
            >>> paddle.divide(paddle.to_tensor([1, 4]), paddle.to_tensor([2, 2])).tolist()
            [0.5, 2.0]
        """
    def div_(self, y: Tensor, name: _b.str | None = None, *, rounding_mode: _b.str | None = None) -> Tensor:
        """In-place divide: puts the result into its first argument and returns it. See `divide`.

        Args:
            x, y: Tensors as for `add`.
            rounding_mode: None, "trunc" (towards zero) or "floor".
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 4]).divide_(paddle.to_tensor([2, 2])).tolist()
            [0.5, 2.0]
        """
    def divide(self, y: Tensor, name: _b.str | None = None, *, rounding_mode: _b.str | None = None, out: Tensor | None = None) -> Tensor:
        """Divides elementwise, with broadcasting; integers give float32 unless rounded.

        Args:
            x, y: Tensors as for `add`.
            rounding_mode: None, "trunc" (towards zero) or "floor".
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            ValueError: rounding_mode is something else, or the shapes do not broadcast.
            ZeroDivisionError: integers are divided by zero and rounded; also Paddle's EnforceNotMet.
        Example:
            >>> paddle.divide(paddle.to_tensor([1, 4]), paddle.to_tensor([2, 2])).tolist()
            [0.5, 2.0]
        """
    def divide_(self, y: Tensor, name: _b.str | None = None, *, rounding_mode: _b.str | None = None) -> Tensor:
        """In-place divide: puts the result into its first argument and returns it. See `divide`.

        Args:
            x, y: Tensors as for `add`.
            rounding_mode: None, "trunc" (towards zero) or "floor".
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 4]).divide_(paddle.to_tensor([2, 2])).tolist()
            [0.5, 2.0]
        """
    def dot(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The inner product of two vectors, or of the rows of two matrices.

        Args:
            x: Tensor [n] or [b, n]. `input` is accepted as a name.
            y: Tensor of the same shape. `tensor` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor [] or [b]. Complex numbers are not conjugated.
        Raises:
            RuntimeError: the shapes differ or have another number of axes.
        Example:
            >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
            11.0
        """
    def double(self) -> Any:
        """The tensor in the dtype float64; itself where it has that dtype. See `cast`."""
    def dsplit(self, num_or_indices: _b.int | Sequence[_b.int | Tensor], name: _b.str | None = None) -> _b.list[Tensor]:
        """Splits along the third axis. See `tensor_split`.

        Args:
            x: Tensor [...].
            num_or_indices: int, how many parts; or list of the positions to cut at.
        Returns:
            list of Tensors.
        Example:
            >>> len(paddle.dsplit(paddle.ones([1, 2, 4]), 2))
            2
        """
    def dstack(self, name: _b.str | None = None) -> Tensor:
        """Joins tensors along the third axis. See `hstack`.

        Args:
            x: list or tuple of Tensors of one dtype.
        Returns:
            Tensor.
        Example:
            >>> paddle.dstack([paddle.ones([2]), paddle.zeros([2])]).shape
            paddle.Size([1, 2, 2])
        """
    @property
    def dtype(self) -> DType: ...
    def eig(self, name: _b.str | None = None) -> _b.tuple[Tensor, Tensor]:
        """Eigenvalues and eigenvectors of square matrices.

        Args:
            x: Tensor [..., n, n], real or complex.
        Returns:
            (eigenvalues [..., n], eigenvectors [..., n, n], one of unit length per column), complex.
        Raises:
            ValueError: the matrices are not square.
        Example:
            >>> paddle.linalg.eig(paddle.to_tensor([[2.0, 0.0], [0.0, 2.0]]))[0].tolist()
            [(2+0j), (2+0j)]
        """
    def eigvals(self, name: _b.str | None = None) -> Tensor:
        """The eigenvalues of square matrices. Argument as for `eig`.

        Args:
            x: Tensor [..., n, n], floating or complex.
        Returns:
            Complex Tensor [..., n].
        Example:
            >>> paddle.linalg.eigvals(paddle.to_tensor([[2.0, 0.0], [0.0, 2.0]])).tolist()
            [(2+0j), (2+0j)]
        """
    def eigvalsh(self, UPLO: _b.str = 'L', name: _b.str | None = None) -> Tensor:
        """The eigenvalues of symmetric (Hermitian) matrices, rising.

        Args:
            x: Tensor [..., n, n]; only the triangle that UPLO names is read.
            UPLO: "L" (lower) or "U" (upper).
        Returns:
            Tensor [..., n], the eigenvalues, rising.
        Example:
            >>> paddle.linalg.eigvalsh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
            [1.0, 2.0]
        """
    def element_size(self) -> Any:
        """How many bytes one element takes.

        Example:
            >>> paddle.ones([2]).element_size()
            4
        """
    def eq(self, y: Tensor | _b.int | _b.float | _b.complex, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x equals y, with broadcasting.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x (`equal` takes a number too). `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 3])).tolist()
            [True, False]
        """
    def equal(self, y: Tensor | _b.int | _b.float | _b.complex, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x equals y, with broadcasting.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x (`equal` takes a number too). `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 3])).tolist()
            [True, False]
        """
    def equal_(self, y: Tensor | _b.int | _b.float | _b.complex, name: _b.str | None = None) -> Tensor:
        """In-place equal: puts the result into its first argument and returns it. See `equal`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x (`equal` takes a number too). `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 2]).equal_(paddle.to_tensor([1, 3])).tolist()
            [True, False]
        """
    def equal_all(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """Tells whether two tensors have the same shape and equal elements. Returns a bool Tensor [].

        Args:
            x, y: Tensors [...].
        Returns:
            bool Tensor [].
        Raises:
            ValueError: the dtypes differ.
        Example:
            >>> paddle.equal_all(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 2])).item()
            True
        """
    def erf(self, name: _b.str | None = None) -> Tensor:
        """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.erf(paddle.to_tensor(1.0)).item(), 4)
            0.8427
        """
    def erf_(self, name: _b.str | None = None) -> Tensor:
        """In-place erf: puts the result into its first argument and returns it. See `erf`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(1.0).erf_().item(), 4)
            0.8427
        """
    def erfinv(self, name: _b.str | None = None) -> Tensor:
        """The inverse of `erf`; infinite at -1 and 1.

        Args:
            x: Tensor [...] in -1..1; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.erfinv(paddle.to_tensor(0.5)).item(), 4)
            0.4769
        """
    def erfinv_(self, name: _b.str | None = None) -> Tensor:
        """In-place erfinv: puts the result into its first argument and returns it. See `erfinv`.

        Args:
            x: Tensor [...] in -1..1; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.5).erfinv_().item(), 4)
            0.4769
        """
    def exp(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """e raised to the power of each element.

        Args:
            x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.

        Example:
            >>> round(paddle.exp(paddle.to_tensor(1.0)).item(), 4)
            2.7183
        """
    def exp_(self, name: _b.str | None = None) -> Tensor:
        """In-place exp: puts the result into its first argument and returns it. See `exp`.

        Args:
            x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(1.0).exp_().item(), 4)
            2.7183
        """
    @overload
    def expand(self, shape: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, name: _b.str | None = None) -> Tensor: ...
    @overload
    def expand(self, *shape: _b.int | Tensor, name: _b.str | None = None) -> Tensor:
        """Repeats axes of length 1, and adds axes in front, to reach a shape.

        Args:
            x: Tensor [...].
            shape: list, tuple or 1-D int Tensor; -1 keeps the length. The lengths may also be given as
                separate arguments.
        Returns:
            Tensor of the shape.
        Raises:
            ValueError: an axis whose length is not 1 would change, or the shape has too few axes.
        Example:
            >>> paddle.expand(paddle.to_tensor([1, 2]), [2, 2]).tolist()
            [[1, 2], [1, 2]]
        """
    def expand_as(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """Expands x to the shape of y. See `expand`.

        Args:
            x: Tensor [...].
            y: Tensor whose shape counts.
        Returns:
            Tensor of the shape of y.
        Example:
            >>> paddle.expand_as(paddle.ones([1]), paddle.zeros([2, 2])).shape
            paddle.Size([2, 2])
        """
    def expm1(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """exp(x) - 1, exact for small x.

        Args:
            x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.expm1(paddle.to_tensor(0.0)).item(), 4)
            0.0
        """
    def expm1_(self, name: _b.str | None = None) -> Tensor:
        """In-place expm1: puts the result into its first argument and returns it. See `expm1`.

        Args:
            x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).expm1_().item(), 4)
            0.0
        """
    def exponential_(self, lam: Any = 1.0, name: _b.str | None = None, *, lambd: Any = None) -> Tensor:
        """Fills a tensor in place with exponential random numbers of rate lam (`lambd` is accepted as a
        name); returns it.

        Raises:
            ValueError: lam is not positive.
        Example:
            >>> bool((paddle.zeros([5]).exponential_(2.0) > 0).all())
            True
        """
    def fill_(self, value: Any) -> Tensor:
        """Fills the tensor in place with a number; returns it.

        Raises:
            TypeError: value is not a number.
        Example:
            >>> paddle.zeros([2]).fill_(3).tolist()
            [3.0, 3.0]
        """
    def fill_diagonal_(self, value: _b.float, offset: _b.int = 0, wrap: _b.bool = False, name: _b.str | None = None) -> Tensor:
        """Fills the main diagonal in place, shifted by offset columns.

        Args:
            x: Tensor of at least 2 axes (with more than 2 the elements whose indices are all equal).
            value: number.
            offset: int, by how many columns the diagonal is shifted.
            wrap: in a tall matrix begin again below the square part.
        Returns:
            x.
        Raises:
            ValueError: x has fewer than 2 axes.
        Example:
            >>> paddle.zeros([2, 2]).fill_diagonal_(1.0).tolist()
            [[1.0, 0.0], [0.0, 1.0]]
        """
    def fill_diagonal_tensor(self, y: Tensor, offset: Tensor | _b.int | np.integer = 0, dim1: Tensor | _b.int | np.integer = 0, dim2: Tensor | _b.int | np.integer = 1, name: _b.str | None = None) -> Tensor:
        """x with y in place of a diagonal. See `diagonal_scatter`.

        Example:
            >>> paddle.zeros([2, 2]).fill_diagonal_tensor(paddle.ones([2])).tolist()
            [[1.0, 0.0], [0.0, 1.0]]
        """
    def fill_diagonal_tensor_(self, y: Tensor, offset: Tensor | _b.int | np.integer = 0, dim1: Tensor | _b.int | np.integer = 0, dim2: Tensor | _b.int | np.integer = 1, name: _b.str | None = None) -> Tensor:
        """In-place fill_diagonal_tensor: puts the result into its first argument and returns it. See `fill_diagonal_tensor`.

        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.zeros([2, 2]).fill_diagonal_tensor_(paddle.ones([2])).tolist()
            [[1.0, 0.0], [0.0, 1.0]]
        """
    def flatten(self, start_axis: _b.int = 0, stop_axis: _b.int = -1, name: _b.str | None = None) -> Tensor:
        """Joins the axes from start_axis to stop_axis (included) to one.

        Args:
            x: Tensor [...]. A 0-D tensor becomes 1-D.
            start_axis: first axis. `start_dim` is accepted as a name.
            stop_axis: last axis. `end_dim` is accepted as a name.
        Returns:
            Tensor with the joined axes as one.
        Raises:
            ValueError: an axis is out of range, or stop_axis comes before start_axis.
        Example:
            >>> paddle.flatten(paddle.ones([2, 3, 4]), 1).shape
            paddle.Size([2, 12])
        """
    def flatten_(self, start_axis: _b.int = 0, stop_axis: _b.int = -1, name: _b.str | None = None) -> Tensor:
        """In-place flatten: puts the result into its first argument and returns it. See `flatten`.

        Args:
            x: Tensor [...]. A 0-D tensor becomes 1-D.
            start_axis: first axis. `start_dim` is accepted as a name.
            stop_axis: last axis. `end_dim` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: a leaf waits for a gradient.
        Example:
            >>> paddle.ones([2, 3, 4]).flatten_(1).shape
            paddle.Size([2, 12])
        """
    def flip(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None, name: _b.str | None = None) -> Tensor:
        """Reverses the order of the elements along axes.

        Args:
            x: Tensor [...].
            axis: int, list or tuple of ints.
        Returns:
            Tensor of the same shape and dtype.
        Raises:
            ValueError: an axis is out of range or named twice.
        Example:
            >>> paddle.flip(paddle.to_tensor([1, 2, 3]), 0).tolist()
            [3, 2, 1]
        """
    def float(self) -> Any:
        """The tensor in the dtype float32; itself where it has that dtype. See `cast`."""
    def float16(self) -> Any:
        """The tensor in the dtype float16; itself where it has that dtype. See `cast`."""
    def float32(self) -> Any:
        """The tensor in the dtype float32; itself where it has that dtype. See `cast`."""
    def float64(self) -> Any:
        """The tensor in the dtype float64; itself where it has that dtype. See `cast`."""
    def floor(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Rounds down to the next integer; integers stay as they are.

        Args:
            x: Tensor [...].
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.

        Example:
            >>> paddle.floor(paddle.to_tensor([1.5, -1.5])).tolist()
            [1.0, -2.0]
        """
    def floor_(self, name: _b.str | None = None) -> Tensor:
        """In-place floor: puts the result into its first argument and returns it. See `floor`.

        Args:
            x: Tensor [...].
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.5, -1.5]).floor_().tolist()
            [1.0, -2.0]
        """
    def floor_divide(self, y: Tensor | _b.int | _b.float | np.integer | np.floating, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Divides elementwise and rounds towards minus infinity. Arguments as for `add`; y may be a number, which
        counts as the 0-d Tensor that `to_tensor` makes of it.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Raises:
            ZeroDivisionError: integers are divided by zero; also Paddle's EnforceNotMet.
        Example:
            >>> paddle.floor_divide(paddle.to_tensor([7, -7]), paddle.to_tensor([2, 2])).tolist()
            [3, -4]
        """
    def floor_divide_(self, y: Tensor | _b.int | _b.float | np.integer | np.floating, name: _b.str | None = None) -> Tensor:
        """In-place floor_divide: puts the result into its first argument and returns it. See `floor_divide`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([7, -7]).floor_divide_(paddle.to_tensor([2, 2])).tolist()
            [3, -4]
        """
    def floor_mod(self, y: Tensor | _b.int | _b.float, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The rest of the floor division, with the sign of the divisor; of complex numbers the rest to the
        nearest multiple.

        Arguments as for `add`; y may be a number, whose fraction is cut beside an integer Tensor.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Raises:
            ZeroDivisionError: as for `floor_divide`.
        Example:
            >>> paddle.remainder(paddle.to_tensor([7, -7]), paddle.to_tensor([4, 4])).tolist()
            [3, 1]
        """
    def floor_mod_(self, y: Tensor | _b.int | _b.float, name: _b.str | None = None) -> Tensor:
        """In-place remainder: puts the result into its first argument and returns it. See `remainder`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([7, -7]).remainder_(paddle.to_tensor([4, 4])).tolist()
            [3, 1]
        """
    def fmax(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """The larger of two elements; where one is NaN, the other. Equal elements give the gradient to x.

        Args:
            x: Tensor [...], real.
            y: Tensor broadcastable with x.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Example:
            >>> paddle.fmax(paddle.to_tensor([1.0, float("nan")]), paddle.to_tensor([3.0, 2.0])).tolist()
            [3.0, 2.0]
        """
    def fmin(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """The smaller of two elements; where one is NaN, the other. Equal elements give the gradient to x.

        Args:
            x: Tensor [...], real.
            y: Tensor broadcastable with x.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Example:
            >>> paddle.fmin(paddle.to_tensor([1.0, float("nan")]), paddle.to_tensor([3.0, 2.0])).tolist()
            [1.0, 2.0]
        """
    def frac(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The fractional part, with the sign of x.

        Args:
            x: Tensor [...], float, int32 or int64. `input` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape and dtype of x.
        Raises:
            TypeError: x has another dtype.
        Example:
            >>> paddle.frac(paddle.to_tensor([1.5, -1.5])).tolist()
            [0.5, -0.5]
        """
    def frac_(self, name: _b.str | None = None) -> Tensor:
        """In-place frac: puts the result into its first argument and returns it. See `frac`.

        Args:
            x: Tensor [...], float, int32 or int64. `input` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.5, -1.5]).frac_().tolist()
            [0.5, -0.5]
        """
    def frexp(self, name: _b.str | None = None) -> _b.tuple[Tensor, Tensor]:
        """Splits numbers into mantissas in 0.5..1 (with sign) and powers of two.

        Args:
            x: Tensor [...], float32 or float64.
        Returns:
            (mantissa, exponent), both of x's dtype; x = mantissa * 2^exponent.
        Raises:
            TypeError: x is not floating.
        Example:
            >>> [t.item() for t in paddle.frexp(paddle.to_tensor(10.0))]
            [0.625, 4.0]
        """
    def gammainc(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """The regularized lower incomplete gamma function P(x, y).

        Args:
            x: positive floating Tensor [...], the parameter.
            y: positive Tensor of the same dtype, the upper end of the integral.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            ValueError: an element of x or y is negative or NaN (not looked at under a JAX trace).
        Example:
            >>> round(paddle.gammainc(paddle.to_tensor(0.5), paddle.to_tensor(1.0)).item(), 4)
            0.8427
        """
    def gammainc_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place gammainc: puts the result into its first argument and returns it. See `gammainc`.

        Args:
            x: positive floating Tensor [...], the parameter.
            y: positive Tensor of the same dtype, the upper end of the integral.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.5).gammainc_(paddle.to_tensor(1.0)).item(), 4)
            0.8427
        """
    def gammaincc(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """The regularized upper incomplete gamma function Q(x, y) = 1 - P(x, y).

        Args:
            x: positive floating Tensor [...], the parameter.
            y: positive Tensor of the same dtype, the upper end of the integral.
        Returns:
            Tensor of the broadcast shape.
        Example:
            >>> round(paddle.gammaincc(paddle.to_tensor(0.5), paddle.to_tensor(1.0)).item(), 4)
            0.1573
        """
    def gammaincc_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place gammaincc: puts the result into its first argument and returns it. See `gammaincc`.

        Args:
            x: positive floating Tensor [...], the parameter.
            y: positive Tensor of the same dtype, the upper end of the integral.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.5).gammaincc_(paddle.to_tensor(1.0)).item(), 4)
            0.1573
        """
    def gammaln(self, name: _b.str | None = None) -> Tensor:
        """The logarithm of the absolute value of the gamma function, as `lgamma`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.gammaln(paddle.to_tensor(5.0)).item(), 4)
            3.1781
        """
    def gammaln_(self, name: _b.str | None = None) -> Tensor:
        """In-place gammaln: puts the result into its first argument and returns it. See `gammaln`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(5.0).gammaln_().item(), 4)
            3.1781
        """
    def gather(self, index: Tensor | _b.int | None = None, axis: Tensor | _b.int | np.integer | np.ndarray | None = None, name: _b.str | None = None, *, dim: Any = None, out: Tensor | None = None) -> Tensor:
        """Takes the slices of x at the indices along an axis.

        Args:
            x: Tensor [...].
            index: int32 or int64 Tensor: 0-D, 1-D or [n, 1]. Negative indices count from the end.
            axis: int or Tensor of one int. Default: 0.
            dim: another form, also written gather(x, 1, index): takes single elements, as `take_along_axis` with
                broadcast=False does.
            out: Tensor that receives the result.
        Returns:
            Tensor whose `axis` has the length of the index (and vanishes for a 0-D index).
        Raises:
            IndexError: an index or the axis is out of range.
            ValueError: the index has another dtype or shape.
        Example:
            >>> paddle.gather(paddle.to_tensor([[1, 2], [3, 4], [5, 6]]), paddle.to_tensor([2, 0])).tolist()
            [[5, 6], [1, 2]]
        """
    def gather_nd(self, index: Tensor, name: _b.str | None = None) -> Tensor:
        """Takes elements, or slices, at coordinates.

        Args:
            x: Tensor [...].
            index: int32 or int64 Tensor [..., k], whose last axis holds the coordinates along the
                first k axes of x.
        Returns:
            Tensor of shape index.shape[:-1] + x.shape[k:].
        Raises:
            ValueError: a coordinate is out of range, there are too many, or the dtype is not an index.
        Example:
            >>> paddle.gather_nd(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[0, 1], [1, 0]])).tolist()
            [2, 3]
        """
    def gcd(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """The greatest common divisor of integers, with broadcasting; never negative.

        Args:
            x: Tensor [...] of ints. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            TypeError: the dtypes differ.
        Example:
            >>> paddle.gcd(paddle.to_tensor([12]), paddle.to_tensor([18])).tolist()
            [6]
        """
    def gcd_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place gcd: puts the result into its first argument and returns it. See `gcd`.

        Args:
            x: Tensor [...] of ints. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([12]).gcd_(paddle.to_tensor([18])).tolist()
            [6]
        """
    def ge(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x >= y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.greater_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
            [False, True]
        """
    def geometric_(self, probs: Any, name: _b.str | None = None) -> Tensor:
        """Fills a tensor in place with waiting times for an event of probability probs per step, returns it.

        As in Paddle the times are not rounded up to whole steps: they are exponential of rate -log(1 - probs);
        `ceil` gives the geometric distribution on 1, 2, ...

        Args:
            x: floating Tensor.
            probs: number or Tensor in (0, 1].
        Returns:
            x.
        Raises:
            ValueError: the dtype of x is not floating.
        Example:
            >>> bool((paddle.zeros([5]).geometric_(0.5) >= 0).all())
            True
        """
    def get_device(self) -> Any:
        """The number of the GPU the tensor is on, -1 for the CPU.

        Example:
            >>> paddle.device.set_device("cpu"); paddle.ones([1]).get_device()
            Place(cpu)
            -1
        """
    def get_strides(self) -> Any:
        """The same as `stride()`."""
    def get_tensor(self) -> Any:
        """The storage of the tensor, a DenseTensor."""
    grad: Tensor | None
    @property
    def grad_(self) -> Any: ...
    @property
    def grad_fn(self) -> Any: ...
    def gradient(self) -> Any:
        """The gradient as a NumPy array, or None.

        Example:
            >>> x = paddle.ones([1]); x.stop_gradient = False; (x * 2).backward(); x.gradient().tolist()
            [2.0]
        """
    def greater(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x > y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.greater_than(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
            [False, True]
        """
    def greater_equal(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x >= y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.greater_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
            [False, True]
        """
    def greater_equal_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place greater_equal: puts the result into its first argument and returns it. See `greater_equal`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 3]).greater_equal_(paddle.to_tensor([2, 2])).tolist()
            [False, True]
        """
    def greater_than(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x > y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.greater_than(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
            [False, True]
        """
    def greater_than_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place greater_than: puts the result into its first argument and returns it. See `greater_than`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 3]).greater_than_(paddle.to_tensor([2, 2])).tolist()
            [False, True]
        """
    def gt(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x > y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.greater_than(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
            [False, True]
        """
    def half(self) -> Any:
        """The tensor in the dtype float16; itself where it has that dtype. See `cast`."""
    def heaviside(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """0 where x is negative, y where it is 0, 1 where it is positive.

        Args:
            x: Tensor [...].
            y: Tensor of the same dtype that broadcasts with x.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            ValueError: the dtypes differ.
        Example:
            >>> paddle.heaviside(paddle.to_tensor([-1.0, 0.0, 2.0]), paddle.to_tensor([0.5])).tolist()
            [0.0, 0.5, 1.0]
        """
    def histogram(self, bins: Tensor | _b.int | np.integer = 100, min: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 0.0, max: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 0.0, weight: Tensor | None = None, density: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """Counts how many elements fall into each of several ranges of equal width; the last one
        includes its right end.

        Args:
            input: Tensor [...], real.
            bins: number of ranges.
            min, max: ends of the ranges. Equal: the smallest and largest element. Elements outside are left out.
            weight: Tensor of input's shape: sum these instead of counting.
            density: scale the result so that the area under it is 1.
        Returns:
            Tensor [bins], int64; float32 with density, the dtype of weight with weights.
        Raises:
            ValueError: bins < 1, max < min, or weight has another shape.
        Example:
            >>> paddle.histogram(paddle.to_tensor([1, 2, 1]), bins=4, min=0, max=3).tolist()
            [0, 2, 1, 0]
        """
    def histogram_bin_edges(self, bins: Tensor | _b.int | np.integer | np.ndarray = 100, min: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 0.0, max: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 0.0, name: _b.str | None = None) -> Tensor:
        """The ends of the ranges that `histogram` counts in, as a float32 Tensor [bins + 1]. Arguments as there.

        Equal min and max other than 0 are widened by 0.5 on either side instead of standing for the
        range of the data.

        Args:
            input: Tensor [...], real.
            bins: int, how many ranges.
            min, max: numbers, the ends; both 0 stand for the range of the data.
        Returns:
            float32 Tensor [bins + 1].
        Example:
            >>> paddle.histogram_bin_edges(paddle.to_tensor([0, 1, 4]), bins=2).tolist()
            [0.0, 2.0, 4.0]
        """
    def histogramdd(self, bins: _b.int | Sequence[_b.int] = 10, ranges: Tensor | Sequence[_b.float] | Sequence[Tensor] | np.ndarray | None = None, density: _b.bool = False, weights: Tensor | None = None, name: _b.str | None = None) -> Any:
        """Counts points of a d-dimensional space in a grid of cells.

        Args:
            x: floating Tensor [..., d].
            bins: number of cells along each dimension: int, or list of d ints.
            ranges: list of 2 d numbers, both ends of each dimension. Default: those of the data.
            density: scale the result so that its integral is 1.
            weights: Tensor of x's shape without the last axis: sum these instead of counting.
        Returns:
            (counts, list of d Tensors of edges).
        Raises:
            AssertionError: x is not at least 2-d, or bins has not d entries.
            ValueError: an entry of bins is not an int.
        Example:
            >>> counts, edges = paddle.histogramdd(paddle.to_tensor([[0.0, 0.0], [1.0, 1.0]]), bins=2)
            >>> counts.tolist()
            [[1.0, 0.0], [0.0, 1.0]]
        """
    def householder_product(self, tau: Tensor, name: _b.str | None = None) -> Tensor:
        """The first n columns of a product of Householder reflections.

        Args:
            x: Tensor [..., m, n], m >= n; column i holds the i-th vector below the diagonal.
            tau: Tensor [..., k], k <= n, the factors.
        Returns:
            Tensor [..., m, n].
        Raises:
            AssertionError: the shapes do not fit.
        Example:
            >>> paddle.linalg.householder_product(paddle.to_tensor([[1.0], [0.0]]),
            ...                                   paddle.to_tensor([2.0])).tolist()
            [[-1.0], [0.0]]
        """
    def hsplit(self, num_or_indices: _b.int | Sequence[_b.int | Tensor], name: _b.str | None = None) -> _b.list[Tensor]:
        """Splits along the second axis, 1-D tensors along the first. See `tensor_split`.

        Args:
            x: Tensor [...].
            num_or_indices: int, how many parts; or list of the positions to cut at.
        Returns:
            list of Tensors.
        Example:
            >>> len(paddle.hsplit(paddle.ones([2, 4]), 2))
            2
        """
    def hstack(self, name: _b.str | None = None) -> Tensor:
        """Joins tensors side by side: along the second axis, 1-D ones along the first.

        Args:
            x: list or tuple of Tensors.
        Returns:
            Tensor.
        Raises:
            ValueError: shapes or dtypes do not fit.
        Example:
            >>> paddle.hstack([paddle.ones([1]), paddle.zeros([2])]).tolist()
            [1.0, 0.0, 0.0]
        """
    def hypot(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """sqrt(x^2 + y^2), with broadcasting.

        Args:
            x, y: Tensors [...]; integers are taken as float32.
        Returns:
            Tensor of the broadcast shape.
        Example:
            >>> paddle.hypot(paddle.to_tensor(3.0), paddle.to_tensor(4.0)).item()
            5.0
        """
    def hypot_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place hypot: puts the result into its first argument and returns it. See `hypot`.

        Args:
            x, y: Tensors [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor(3.0).hypot_(paddle.to_tensor(4.0)).item()
            5.0
        """
    def i0(self, name: _b.str | None = None) -> Tensor:
        """The modified Bessel function of the first kind, order 0.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.i0(paddle.to_tensor(1.0)).item(), 4)
            1.2661
        """
    def i0_(self, name: _b.str | None = None) -> Tensor:
        """In-place i0: puts the result into its first argument and returns it. See `i0`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(1.0).i0_().item(), 4)
            1.2661
        """
    def i0e(self, name: _b.str | None = None) -> Tensor:
        """exp(-|x|) times `i0`: the exponentially scaled Bessel function of order 0.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.i0e(paddle.to_tensor(1.0)).item(), 4)
            0.4658
        """
    def i1(self, name: _b.str | None = None) -> Tensor:
        """The modified Bessel function of the first kind, order 1.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.i1(paddle.to_tensor(1.0)).item(), 4)
            0.5652
        """
    def i1e(self, name: _b.str | None = None) -> Tensor:
        """exp(-|x|) times `i1`: the exponentially scaled Bessel function of order 1.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.i1e(paddle.to_tensor(1.0)).item(), 4)
            0.2079
        """
    def imag(self, name: _b.str | None = None) -> Tensor:
        """The imaginary parts of complex numbers.

        Args:
            x: Tensor [...].
        Returns:
            Tensor of the same shape, float32 for complex64, float64 for complex128.
        Example:
            >>> paddle.imag(paddle.to_tensor([1 + 2j])).tolist()
            [2.0]
        """
    def increment(self, value: _b.float | Tensor | np.integer | np.floating | np.ndarray = 1.0, name: _b.str | None = None) -> Tensor:
        """Adds a number to a one-element tensor in place and returns it.

        Args:
            x: Tensor of one element; it is changed.
            value: number to add, cast to the dtype of x.
        Returns:
            The Tensor x.
        Raises:
            ValueError: x has more than one element.
        Example:
            >>> paddle.increment(paddle.to_tensor([1.0])).tolist()
            [2.0]
        """
    def index_add(self, index: Tensor | _b.int, axis: _b.int | Tensor | np.integer, value: Tensor, alpha: _b.float | Tensor | np.integer | np.floating | np.ndarray = 1, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Adds alpha * value to slices along an axis; values for the same index add up.

        Args:
            x: Tensor [...].
            index: 1-D int32 or int64 Tensor.
            axis: int. `dim` is accepted as a name; index_add(x, dim, index, source) is accepted too.
            value: Tensor of the shape of x but for the axis, which has the length of the index. `source` is
                accepted as a name.
            alpha: number.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape of x.
        Raises:
            ValueError: an index is out of range, or shapes or dtypes do not fit.
            IndexError: the axis is out of range.
        Example:
            >>> paddle.index_add(paddle.zeros([3]), paddle.to_tensor([1, 1]), 0, paddle.ones([2])).tolist()
            [0.0, 2.0, 0.0]
        """
    def index_add_(self, index: Tensor | _b.int, axis: _b.int | Tensor | np.integer, value: Tensor, alpha: _b.float | Tensor | np.integer | np.floating | np.ndarray = 1, name: _b.str | None = None) -> Tensor:
        """In-place index_add: puts the result into its first argument and returns it. See `index_add`.

        Args:
            x: Tensor [...].
            index: 1-D int32 or int64 Tensor.
            axis: int. `dim` is accepted as a name; index_add(x, dim, index, source) is accepted too.
            value: Tensor of the shape of x but for the axis, which has the length of the index. `source` is
                accepted as a name.
            alpha: number.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.zeros([3]).index_add_(paddle.to_tensor([1, 1]), 0, paddle.ones([2])).tolist()
            [0.0, 2.0, 0.0]
        """
    def index_fill(self, index: Tensor, axis: _b.int, value: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating, name: _b.str | None = None) -> Tensor:
        """Fills slices along an axis with one value.

        Args:
            x: Tensor [...].
            index: int32 or int64 Tensor.
            axis: int.
            value: number, or 0-D Tensor.
        Returns:
            Tensor of the shape and dtype of x.
        Raises:
            ValueError: the axis is out of range, or value has more than one element.
            IndexError: an index is out of range.
        Example:
            >>> paddle.index_fill(paddle.zeros([3]), paddle.to_tensor([1]), 0, 7).tolist()
            [0.0, 7.0, 0.0]
        """
    def index_fill_(self, index: Tensor, axis: _b.int, value: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating, name: _b.str | None = None) -> Tensor:
        """In-place index_fill: puts the result into its first argument and returns it. See `index_fill`.

        Args:
            x: Tensor [...].
            index: int32 or int64 Tensor.
            axis: int.
            value: number, or 0-D Tensor.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.zeros([3]).index_fill_(paddle.to_tensor([1]), 0, 7).tolist()
            [0.0, 7.0, 0.0]
        """
    def index_put(self, indices: Sequence[Tensor], value: Tensor, accumulate: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """Puts values at the points that a tuple of index tensors names, as x[indices] = value does.

        Args:
            x: Tensor [...].
            indices: list or tuple of int32, int64 or bool Tensors for the first axes; they broadcast
                with one another.
            value: Tensor of the dtype of x that broadcasts to the points.
            accumulate: add instead of replacing; values for the same point add up.
        Returns:
            Tensor of the shape of x.
        Raises:
            IndexError: an index is out of range.
            ValueError: shapes or dtypes do not fit.
        Example:
            >>> paddle.index_put(paddle.zeros([3]), (paddle.to_tensor([1]),), paddle.to_tensor(7.0)).tolist()
            [0.0, 7.0, 0.0]
        """
    def index_put_(self, indices: Sequence[Tensor], value: Tensor, accumulate: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """In-place index_put: puts the result into its first argument and returns it. See `index_put`.

        Args:
            x: Tensor [...].
            indices: list or tuple of int32, int64 or bool Tensors for the first axes; they broadcast
                with one another.
            value: Tensor of the dtype of x that broadcasts to the points.
            accumulate: add instead of replacing; values for the same point add up.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.zeros([3]).index_put_((paddle.to_tensor([1]),), paddle.to_tensor(7.0)).tolist()
            [0.0, 7.0, 0.0]
        """
    def index_sample(self, index: Tensor) -> Tensor:
        """Takes from each row of x the elements at the indices in the same row.

        Args:
            x: Tensor [n, m].
            index: int32 or int64 Tensor [n, k].
        Returns:
            Tensor [n, k].
        Raises:
            ValueError: an index is out of range, or shapes or dtype do not fit.
        Example:
            >>> paddle.index_sample(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]])).tolist()
            [[2], [3]]
        """
    def index_select(self, index: Tensor | _b.int, axis: _b.int | Tensor | np.integer = 0, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Takes the slices of x at the indices along an axis.

        Args:
            x: Tensor [...].
            index: 1-D int32 or int64 Tensor.
            axis: int. `dim` is accepted as a name; index_select(x, dim, index) is accepted too.
            out: Tensor that receives the result.
        Returns:
            Tensor whose `axis` has the length of the index.
        Raises:
            ValueError: an index is out of range, or has another dtype or shape.
            IndexError: the axis is out of range.
        Example:
            >>> paddle.index_select(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([1, 1])).tolist()
            [[3, 4], [3, 4]]
        """
    indices: Any
    def inner(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """Inner products over the last axes of two tensors.

        Args:
            x: Tensor [..., n].
            y: Tensor [..., n].
        Returns:
            Tensor of shape x.shape[:-1] + y.shape[:-1]. If one has no axes, the product of the two.
        Raises:
            ValueError: the last lengths differ.
        Example:
            >>> paddle.inner(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
            11.0
        """
    @property
    def inplace_version(self) -> _b.int: ...
    def int(self) -> Any:
        """The tensor in the dtype int32; itself where it has that dtype. See `cast`."""
    def int16(self) -> Any:
        """The tensor in the dtype int16; itself where it has that dtype. See `cast`."""
    def int32(self) -> Any:
        """The tensor in the dtype int32; itself where it has that dtype. See `cast`."""
    def int64(self) -> Any:
        """The tensor in the dtype int64; itself where it has that dtype. See `cast`."""
    def int8(self) -> Any:
        """The tensor in the dtype int8; itself where it has that dtype. See `cast`."""
    def inverse(self, name: _b.str | None = None) -> Tensor:
        """The inverses of square matrices.

        Args:
            x: Tensor [..., n, n].
        Returns:
            Tensor [..., n, n].
        Raises:
            ValueError: the matrices are not square, or one is singular.
        Example:
            >>> paddle.linalg.inv(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
            [[0.5, 0.0], [0.0, 0.25]]
        """
    is_coalesced: Any
    def is_complex(self) -> _b.bool:
        """Tells whether the dtype is complex64 or complex128, as a Python bool. `input` is accepted as a name.

        Args:
            x: Tensor [...].
        Returns:
            bool.
        Raises:
            TypeError: x is not a Tensor.
        Example:
            >>> paddle.is_complex(paddle.to_tensor([1j]))
            True
        """
    def is_contiguous(self) -> Any:
        """True: elements always lie row by row."""
    @property
    def is_cuda(self) -> Any: ...
    def is_dense(self) -> Any:
        """True: this is a dense tensor."""
    def is_dist(self) -> Any:
        """Whether the Tensor lies on the devices of a mesh.

        Example:
            >>> paddle.ones([2]).is_dist()
            False
        """
    def is_empty(self, name: _b.str | None = None) -> Tensor:
        """Tells whether a tensor has no elements, as a bool Tensor [].

        Args:
            x: Tensor [...].
        Returns:
            bool Tensor [].
        Example:
            >>> paddle.is_empty(paddle.ones([0, 2])).item()
            True
        """
    def is_floating_point(self) -> _b.bool:
        """Tells whether the dtype is a floating type, as a Python bool. `input` is accepted as a name.

        Args:
            x: Tensor [...].
        Returns:
            bool.
        Raises:
            TypeError: x is not a Tensor.
        Example:
            >>> paddle.is_floating_point(paddle.to_tensor([1.0]))
            True
        """
    def is_integer(self) -> _b.bool:
        """Tells whether the dtype is an integer type, as a Python bool; False for bool.

        Args:
            x: Tensor [...].
        Returns:
            bool.
        Raises:
            TypeError: x is not a Tensor.
        Example:
            >>> paddle.is_integer(paddle.to_tensor([1]))
            True
        """
    @property
    def is_leaf(self) -> _b.bool: ...
    def is_same_shape(self, y: Tensor) -> Any:
        """Whether another tensor, dense or sparse, has the same shape.

        Example:
            >>> paddle.ones([2]).is_same_shape(paddle.ones([3]))
            False
        """
    def is_selected_rows(self) -> Any:
        """False: this is a dense tensor on one device or sharded by XLA."""
    def is_sparse(self) -> Any:
        """False: this is a dense tensor on one device or sharded by XLA."""
    def is_sparse_coo(self) -> Any:
        """False: this is a dense tensor on one device or sharded by XLA."""
    def is_sparse_csr(self) -> Any:
        """False: this is a dense tensor on one device or sharded by XLA."""
    def is_tensor(self) -> _b.bool:
        """Tells whether x is a Tensor, as a Python bool. `obj` is accepted as a name.

        Args:
            x: anything.
        Returns:
            bool.
        Example:
            >>> paddle.is_tensor([1.0])
            False
        """
    def isclose(self, y: Tensor, rtol: _b.float | Tensor | np.integer | np.floating = 1e-05, atol: _b.float | Tensor | np.integer | np.floating = 1e-08, equal_nan: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """Tells elementwise whether |x - y| <= atol + rtol * |y|.

        Args:
            x, y: Tensors of one shape and dtype.
            rtol, atol: numbers.
            equal_nan: count NaN as close to NaN.
        Returns:
            bool Tensor of the same shape.
        Raises:
            ValueError: the dtypes differ.
            RuntimeError: the shapes differ.
        Example:
            >>> paddle.isclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 2.1])).tolist()
            [True, False]
        """
    def isfinite(self, name: _b.str | None = None) -> Tensor:
        """True where an element is neither infinite nor NaN.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
        Returns:
            bool Tensor of the same shape.
        Example:
            >>> paddle.isfinite(paddle.to_tensor([1.0, float("inf")])).tolist()
            [True, False]
        """
    def isin(self, test_x: Tensor, assume_unique: _b.bool = False, invert: _b.bool = False, name: _b.str | None = None) -> Tensor:
        """Tells for each element of x whether test_x holds it.

        Args:
            x: Tensor [...]. `elements` is accepted as a name.
            test_x: Tensor [...]. `test_elements` is accepted as a name.
            assume_unique: a promise that both hold no element twice; the result is the same.
            invert: tell the opposite.
        Returns:
            bool Tensor of x's shape.
        Raises:
            TypeError: the dtypes do not promote.
        Example:
            >>> paddle.isin(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2])).tolist()
            [False, True, False]
        """
    def isinf(self, name: _b.str | None = None) -> Tensor:
        """True where an element is infinite, of either sign.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
        Returns:
            bool Tensor of the same shape.
        Example:
            >>> paddle.isinf(paddle.to_tensor([1.0, float("-inf")])).tolist()
            [False, True]
        """
    def isnan(self, name: _b.str | None = None) -> Tensor:
        """True where an element is NaN.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
        Returns:
            bool Tensor of the same shape.
        Example:
            >>> paddle.isnan(paddle.to_tensor([1.0, float("nan")])).tolist()
            [False, True]
        """
    def isneginf(self, name: _b.str | None = None) -> Tensor:
        """True where an element is minus infinity.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
        Returns:
            bool Tensor of the same shape.
        Example:
            >>> paddle.isneginf(paddle.to_tensor([float("inf"), float("-inf")])).tolist()
            [False, True]
        """
    def isposinf(self, name: _b.str | None = None) -> Tensor:
        """True where an element is plus infinity.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
        Returns:
            bool Tensor of the same shape.
        Example:
            >>> paddle.isposinf(paddle.to_tensor([float("inf"), float("-inf")])).tolist()
            [True, False]
        """
    def isreal(self, name: _b.str | None = None) -> Tensor:
        """True where an element has no imaginary part; always for real dtypes.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
        Returns:
            bool Tensor of the same shape.
        Example:
            >>> paddle.isreal(paddle.to_tensor([1 + 0j, 1j])).tolist()
            [True, False]
        """
    def istft(self, n_fft: _b.int | np.integer | np.ndarray, hop_length: _b.int | None = None, win_length: Tensor | _b.int | np.integer | np.ndarray | None = None, window: Tensor | None = None, center: _b.bool = True, normalized: _b.bool = False, onesided: _b.bool | _b.int | None = True, length: _b.int | np.integer | None = None, return_complex: _b.bool | _b.int | None = False, name: _b.str | None = None) -> Tensor:
        """The inverse of `stft`: the signal whose short-time Fourier transform is nearest to x (least squares).

        Args:
            x: complex Tensor [frequencies, frames] or [batch, frequencies, frames].
            n_fft, hop_length, win_length, window, normalized: as they were for `stft`; hop_length is at
                most win_length.
            center: cut n_fft // 2 elements off at both ends.
            onesided: x has n_fft // 2 + 1 frequencies, not n_fft.
            length: the result has at most this length. Default: all that the frames tell.
            return_complex: the signal is complex; needs onesided=False.
        Returns:
            Tensor [n] or [batch, n].
        Raises:
            AssertionError: x is neither 2-D nor 3-D or is empty, a length is not allowed, the number of
                frequencies does not fit, or a complex result is asked for of half a spectrum or refused for
                a complex window.
            ValueError: somewhere the squares of overlapping windows add up to zero, or nothing is
                left of the signal.
        Example:
            >>> x = paddle.arange(8, dtype="float32")
            >>> [round(v, 3) for v in paddle.signal.istft(paddle.signal.stft(x, 4), 4).tolist()]
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
        """
    def item(self, *args: Any) -> Any: ...
    @property
    def itemsize(self) -> _b.int: ...
    def kron(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """The Kronecker product: every element of x times all of y, laid out in blocks.

        Args:
            x, y: Tensors; the one with fewer axes gets leading axes of length 1.
        Returns:
            Tensor whose lengths are the products of theirs.
        Example:
            >>> paddle.kron(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 10])).tolist()
            [1, 10, 2, 20]
        """
    def kthvalue(self, k: Tensor | _b.int | np.integer, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None) -> _b.tuple[Tensor, Tensor]:
        """The k-th smallest element along an axis, and its index.

        Args:
            x: Tensor [...].
            k: int, 1 for the smallest.
            axis: Default: the last.
            keepdim: keep the axis with length 1.
        Returns:
            Tuple (values, indices int64).
        Raises:
            ValueError: k or the axis is out of range.
        Example:
            >>> value, index = paddle.kthvalue(paddle.to_tensor([3.0, 1.0, 2.0]), 2); value.item()
            2.0
        """
    @property
    def layout(self) -> Any: ...
    def lcm(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """The least common multiple of integers, with broadcasting; 0 where either is 0.

        Args:
            x: Tensor [...] of ints. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            Tensor of the broadcast shape.
        Example:
            >>> paddle.lcm(paddle.to_tensor([4]), paddle.to_tensor([6])).tolist()
            [12]
        """
    def lcm_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place lcm: puts the result into its first argument and returns it. See `lcm`.

        Args:
            x: Tensor [...] of ints. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([4]).lcm_(paddle.to_tensor([6])).tolist()
            [12]
        """
    def ldexp(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """x * 2^y, with broadcasting.

        Args:
            x: Tensor [...]. The result is float64 for a float64 x, else float32.
            y: Tensor of exponents.
        Returns:
            Tensor of the broadcast shape.
        Example:
            >>> paddle.ldexp(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([2, 1])).tolist()
            [4.0, 6.0]
        """
    def ldexp_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place ldexp: puts the result into its first argument and returns it. See `ldexp`.

        Args:
            x: Tensor [...]. The result is float64 for a float64 x, else float32.
            y: Tensor of exponents.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, 3.0]).ldexp_(paddle.to_tensor([2, 1])).tolist()
            [4.0, 6.0]
        """
    def le(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x <= y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.less_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
            [True, False]
        """
    def lerp(self, y: Tensor, weight: Tensor | _b.float, name: _b.str | None = None) -> Tensor:
        """x + weight * (y - x), with broadcasting.

        Args:
            x, y: Tensors [...].
            weight: number, or Tensor broadcastable with them.
        Returns:
            Tensor of the broadcast shape.
        Raises:
            ValueError: the shapes do not broadcast.
        Example:
            >>> paddle.lerp(paddle.to_tensor([0.0]), paddle.to_tensor([4.0]), 0.25).tolist()
            [1.0]
        """
    def lerp_(self, y: Tensor, weight: Tensor | _b.float, name: _b.str | None = None) -> Tensor:
        """In-place lerp: puts the result into its first argument and returns it. See `lerp`.

        Args:
            x, y: Tensors [...].
            weight: number, or Tensor broadcastable with them.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([0.0]).lerp_(paddle.to_tensor([4.0]), 0.25).tolist()
            [1.0]
        """
    def less(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x < y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.less_than(paddle.to_tensor([1, 2]), paddle.to_tensor([2, 2])).tolist()
            [True, False]
        """
    def less_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place less_than: puts the result into its first argument and returns it. See `less_than`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 2]).less_than_(paddle.to_tensor([2, 2])).tolist()
            [True, False]
        """
    def less_equal(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x <= y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.less_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
            [True, False]
        """
    def less_equal_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place less_equal: puts the result into its first argument and returns it. See `less_equal`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 3]).less_equal_(paddle.to_tensor([2, 2])).tolist()
            [True, False]
        """
    def less_than(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x < y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.less_than(paddle.to_tensor([1, 2]), paddle.to_tensor([2, 2])).tolist()
            [True, False]
        """
    def less_than_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place less_than: puts the result into its first argument and returns it. See `less_than`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 2]).less_than_(paddle.to_tensor([2, 2])).tolist()
            [True, False]
        """
    def lgamma(self, name: _b.str | None = None) -> Tensor:
        """The logarithm of the absolute value of the gamma function.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.lgamma(paddle.to_tensor(5.0)).item(), 4)
            3.1781
        """
    def lgamma_(self, name: _b.str | None = None) -> Tensor:
        """In-place lgamma: puts the result into its first argument and returns it. See `lgamma`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(5.0).lgamma_().item(), 4)
            3.1781
        """
    def log(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The natural logarithm of each element; NaN for negative real numbers.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.

        Example:
            >>> round(paddle.log(paddle.to_tensor(1.0)).item(), 4)
            0.0
        """
    def log10(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The logarithm to base 10.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.log10(paddle.to_tensor(100.0)).item(), 4)
            2.0
        """
    def log10_(self, name: _b.str | None = None) -> Tensor:
        """In-place log10: puts the result into its first argument and returns it. See `log10`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(100.0).log10_().item(), 4)
            2.0
        """
    def log1p(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """log(1 + x), exact for small x.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.log1p(paddle.to_tensor(0.0)).item(), 4)
            0.0
        """
    def log1p_(self, name: _b.str | None = None) -> Tensor:
        """In-place log1p: puts the result into its first argument and returns it. See `log1p`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).log1p_().item(), 4)
            0.0
        """
    def log2(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The logarithm to base 2.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.log2(paddle.to_tensor(8.0)).item(), 4)
            3.0
        """
    def log2_(self, name: _b.str | None = None) -> Tensor:
        """In-place log2: puts the result into its first argument and returns it. See `log2`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(8.0).log2_().item(), 4)
            3.0
        """
    def log_(self, name: _b.str | None = None) -> Tensor:
        """In-place log: puts the result into its first argument and returns it. See `log`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(1.0).log_().item(), 4)
            0.0
        """
    def log_normal_(self, mean: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | np.ndarray = 1.0, std: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 2.0, name: _b.str | None = None) -> Tensor:
        """Fills a tensor in place with random numbers whose logarithm is normal with this mean and standard
        deviation; returns it.

        Args:
            x: floating Tensor.
            mean, std: numbers, of the logarithm.
        Returns:
            x.
        Example:
            >>> bool((paddle.zeros([5]).log_normal_() > 0).all())
            True
        """
    def logaddexp(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """log(exp(x) + exp(y)) without overflow, with broadcasting.

        Args:
            x, y: Tensors [...]; integers are taken as float32.
        Returns:
            Tensor of the broadcast shape.
        Example:
            >>> round(paddle.logaddexp(paddle.to_tensor(0.0), paddle.to_tensor(0.0)).item(), 4)
            0.6931
        """
    def logcumsumexp(self, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = None, dtype: _a.DTypeLike | None = None, name: _b.str | None = None) -> Tensor:
        """The logarithm of running sums of exponentials, computed without overflow.

        Args:
            x: Tensor [...]; integers are taken as float32.
            axis: int, or None to run over the flattened tensor.
            dtype: dtype to cast to first.
        Returns:
            Tensor of the shape of x, or 1-D for axis=None.
        Raises:
            IndexError: the axis is out of range.
        Differs from Paddle: a leading -inf stays -inf.
        Example:
            >>> [round(v, 4) for v in paddle.logcumsumexp(paddle.to_tensor([0.0, 0.0])).tolist()]
            [0.0, 0.6931]
        """
    def logical_and(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """True where both elements are true (not zero), with broadcasting.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Raises:
            ValueError: the shapes do not broadcast.
            TypeError: the dtypes do not promote.
        Example:
            >>> paddle.logical_and(paddle.to_tensor([True, True]), paddle.to_tensor([True, False])).tolist()
            [True, False]
        """
    def logical_and_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place logical_and: puts the result into its first argument and returns it. See `logical_and`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([True, True]).logical_and_(paddle.to_tensor([True, False])).tolist()
            [True, False]
        """
    def logical_not(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """True where the element is false (zero).

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the same shape.
        Example:
            >>> paddle.logical_not(paddle.to_tensor([True, False])).tolist()
            [False, True]
        """
    def logical_not_(self, name: _b.str | None = None) -> Tensor:
        """In-place logical_not: puts the result into its first argument and returns it. See `logical_not`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([True, False]).logical_not_().tolist()
            [False, True]
        """
    def logical_or(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """True where either element is true (not zero).

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.logical_or(paddle.to_tensor([True, False]), paddle.to_tensor([False, False])).tolist()
            [True, False]
        """
    def logical_or_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place logical_or: puts the result into its first argument and returns it. See `logical_or`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([True, False]).logical_or_(paddle.to_tensor([False, False])).tolist()
            [True, False]
        """
    def logical_xor(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """True where exactly one element is true (not zero).

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.logical_xor(paddle.to_tensor([True, True]), paddle.to_tensor([True, False])).tolist()
            [False, True]
        """
    def logical_xor_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place logical_xor: puts the result into its first argument and returns it. See `logical_xor`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([True, True]).logical_xor_(paddle.to_tensor([True, False])).tolist()
            [False, True]
        """
    def logit(self, eps: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray | None = None, name: _b.str | None = None) -> Tensor:
        """log(x / (1 - x)), the inverse of sigmoid.

        Args:
            x: Tensor [...]; integers are taken as float32. NaN outside [0, 1].
            eps: number; x is first brought into [eps, 1 - eps]. None or 0: x is taken as it is.
        Returns:
            Tensor of the same shape.
        Example:
            >>> paddle.logit(paddle.to_tensor(0.5)).item()
            0.0
        """
    def logit_(self, eps: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray | None = None, name: _b.str | None = None) -> Tensor:
        """In-place logit: puts the result into its first argument and returns it. See `logit`.

        Args:
            x: Tensor [...]; integers are taken as float32. NaN outside [0, 1].
            eps: number; x is first brought into [eps, 1 - eps]. None or 0: x is taken as it is.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor(0.5).logit_().item()
            0.0
        """
    def logsumexp(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of the sum of exponentials over the given axes, computed without overflow.

        Args:
            x: Tensor [...]; integers are taken as float32.
            axis: int, list of ints, or None for all axes.
            keepdim: keep the reduced axes with length 1.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape of x without the axes.
        Raises:
            ValueError: an axis is out of range or given twice.
        Differs from Paddle: elements that are all -inf give -inf, not NaN.
        Example:
            >>> round(paddle.logsumexp(paddle.to_tensor([0.0, 0.0])).item(), 4)
            0.6931
        """
    def long(self) -> Any:
        """The tensor in the dtype int64; itself where it has that dtype. See `cast`."""
    def lstsq(self, y: Tensor, rcond: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, driver: _b.str | None = None, name: _b.str | None = None) -> _b.tuple[Tensor, Tensor, Tensor, Tensor]:
        """Solves x @ out = y in the sense of least squares; of several solutions the shortest.

        Args:
            x: Tensor [..., m, n].
            y: Tensor [..., m, k].
            rcond: singular values up to rcond times the largest count as 0. Default: the precision of the dtype
                times max(m, n).
            driver: "gels", "gelsy" (default), "gelsd" or "gelss"; it only decides which of the
                results are filled.
        Returns:
            (solution [..., n, k], squared residuals [..., k] or empty, rank int32 [...] or empty, singular values
            [..., min(m, n)] or empty).
        Raises:
            ValueError: the shapes do not fit or the driver is not known.
        Example:
            >>> paddle.linalg.lstsq(paddle.to_tensor([[1.0], [1.0]]),
            ...                     paddle.to_tensor([[1.0], [3.0]]))[0].tolist()
            [[2.0]]
        """
    def lt(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x < y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.less_than(paddle.to_tensor([1, 2]), paddle.to_tensor([2, 2])).tolist()
            [True, False]
        """
    def lu(self, pivot: _b.bool = True, get_infos: _b.bool = False, name: _b.str | None = None) -> _b.tuple[Tensor, ...]:
        """The LU factorisation with row exchanges, in packed form.

        Args:
            x: Tensor [..., m, n].
            pivot: only True is possible.
            get_infos: also return an int32 Tensor [...]: 0, or the number of the first zero on the diagonal of
                U, counted from 1.
        Returns:
            (LU, pivots): L below the diagonal of LU (its own diagonal is 1), U on and above it; row i was
            exchanged with row pivots[i] - 1. See `lu_unpack`.
        Raises:
            ValueError: pivot is False or x has fewer than two axes.
        Example:
            >>> [t.tolist() for t in paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [2.0, 2.0]]))]
            [[[2.0, 2.0], [0.5, 1.0]], [2, 2]]
        """
    def lu_unpack(self, y: Tensor, unpack_ludata: _b.bool | None = True, unpack_pivots: _b.bool | None = True, name: _b.str | None = None) -> _b.tuple[Tensor, Tensor, Tensor]:
        """Unpacks what `lu` returns into P, L, U with x = P L U.

        Args:
            x: Tensor [..., m, n], the packed factors.
            y: int32 Tensor [..., min(m, n)], the pivots.
            unpack_ludata, unpack_pivots: False leaves an empty Tensor in place of L and U, or of P.
        Returns:
            (P [..., m, m], L [..., m, k], U [..., k, n]), k = min(m, n).
        Raises:
            ValueError: a pivot is not in 1..m.
        Example:
            >>> p, l, u = paddle.linalg.lu_unpack(*paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [2.0, 2.0]])))
            >>> p.tolist()
            [[0.0, 1.0], [1.0, 0.0]]
        """
    @property
    def mT(self) -> Tensor: ...
    def masked_fill(self, mask: Tensor, value: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating, name: _b.str | None = None) -> Tensor:
        """Replaces the elements where the mask is true.

        Args:
            x: Tensor [...].
            mask: bool Tensor that broadcasts with x.
            value: number, or Tensor of the dtype of x that broadcasts.
        Returns:
            Tensor of the shape that x and mask broadcast to.
        Raises:
            ValueError: shapes do not broadcast, or the dtype of value differs.
        Example:
            >>> paddle.masked_fill(paddle.to_tensor([1, 2]), paddle.to_tensor([True, False]), 9).tolist()
            [9, 2]
        """
    def masked_fill_(self, mask: Tensor, value: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating, name: _b.str | None = None) -> Tensor:
        """In-place masked_fill: puts the result into its first argument and returns it. See `masked_fill`.

        Args:
            x: Tensor [...].
            mask: bool Tensor that broadcasts with x.
            value: number, or Tensor of the dtype of x that broadcasts.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 2]).masked_fill_(paddle.to_tensor([True, False]), 9).tolist()
            [9, 2]
        """
    def masked_scatter(self, mask: Tensor, value: Tensor, name: _b.str | None = None) -> Tensor:
        """Replaces the elements where the mask is true by the elements of value, in order.

        Args:
            x: Tensor [...].
            mask: bool Tensor that broadcasts with x.
            value: Tensor of the dtype of x with at least as many elements as the mask has true ones.
        Returns:
            Tensor of the shape and dtype of x.
        Raises:
            AssertionError: the mask is not bool, or the dtypes differ.
            ValueError: value has too few elements.
        Example:
            >>> paddle.masked_scatter(paddle.zeros([3]), paddle.to_tensor([True, False, True]),
            ...                       paddle.to_tensor([5.0, 6.0])).tolist()
            [5.0, 0.0, 6.0]
        """
    def masked_scatter_(self, mask: Tensor, value: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place masked_scatter: puts the result into its first argument and returns it. See `masked_scatter`.

        Args:
            x: Tensor [...].
            mask: bool Tensor that broadcasts with x.
            value: Tensor of the dtype of x with at least as many elements as the mask has true ones.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.zeros([3]).masked_scatter_(paddle.to_tensor([True, False, True]),
            ...                       paddle.to_tensor([5.0, 6.0])).tolist()
            [5.0, 0.0, 6.0]
        """
    def masked_select(self, mask: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The elements where the mask is true, in a row.

        Args:
            x: Tensor [...].
            mask: bool Tensor that broadcasts with x.
            out: Tensor that receives the result.
        Returns:
            1-D Tensor.
        Raises:
            ValueError: the mask is not bool, or the shapes do not broadcast.
        Example:
            >>> paddle.masked_select(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([True, False, True])).tolist()
            [1, 3]
        """
    def matmul(self, y: Tensor, transpose_x: _b.bool | None = False, transpose_y: _b.bool | None = False, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The matrix product over the last two axes; leading axes broadcast. Vectors count as one row (x)
        or one column (y).

        Args:
            x: Tensor [..., n, k] or [k].
            y: Tensor [..., k, m] or [k].
            transpose_x, transpose_y: exchange the last two axes first; no effect on vectors.
            out: Tensor that receives the result.
        Returns:
            Tensor [..., n, m]; the axes that belong to vectors are dropped.
        Raises:
            ValueError: lengths do not fit, a tensor is 0-d, or the dtypes differ.
        Example:
            >>> paddle.matmul(paddle.ones([2, 3]), paddle.ones([3, 4])).shape
            paddle.Size([2, 4])
        """
    def matrix_power(self, n: _b.int | Tensor | np.integer, name: _b.str | None = None) -> Tensor:
        """Square matrices raised to an integer power.

        Args:
            x: Tensor [..., k, k].
            n: int; negative powers are powers of the inverse.
        Returns:
            Tensor of the same shape.
        Raises:
            ValueError: the matrices are not square, or n is negative and one is singular.
            TypeError: n is not an int.
        Example:
            >>> paddle.linalg.matrix_power(paddle.to_tensor([[1.0, 1.0], [0.0, 1.0]]), 3).tolist()
            [[1.0, 3.0], [0.0, 1.0]]
        """
    def matrix_rank(self, tol: Tensor | _b.int | _b.float | np.integer | np.floating | None = None, hermitian: _b.bool | None = False, atol: Tensor | _b.int | _b.float | None = None, rtol: Tensor | _b.int | _b.float | None = None, name: _b.str | None = None) -> Tensor:
        """The ranks of matrices: how many singular values exceed a tolerance.

        Args:
            x: Tensor [..., m, n].
            tol: number or Tensor [...], the tolerance. Default: the largest singular value times max(m, n) times
                the precision of the dtype.
            hermitian: x is symmetric (Hermitian), which is faster; only its lower triangle is read.
            atol, rtol: instead of tol: the greater of atol and rtol times the largest singular value.
        Returns:
            int64 Tensor [...].
        Raises:
            ValueError: tol is given together with atol or rtol, or x has fewer than two axes.
        Example:
            >>> paddle.linalg.matrix_rank(paddle.to_tensor([[1.0, 1.0], [1.0, 1.0]])).item()
            1
        """
    def matrix_transpose(self, name: _b.str | None = None) -> Tensor:
        """Exchanges the last two axes.

        Args:
            x: Tensor [..., n, m].
        Returns:
            Tensor [..., m, n].
        Raises:
            ValueError: there are fewer than two axes.
        Example:
            >>> paddle.matrix_transpose(paddle.ones([2, 3])).shape
            paddle.Size([3, 2])
        """
    def max(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """The largest element over the given axes. The gradient is shared equally among equal maxima.

        Args:
            x: Tensor [...], real. NaN wins.
            axis: int, list of ints, or None for all axes.
            keepdim: keep the reduced axes with length 1.
        Returns:
            Tensor of x's shape without the reduced axes.
        Raises:
            ValueError: a reduced axis is empty, out of range or given twice.
        Example:
            >>> paddle.max(paddle.to_tensor([[1.0, 5.0], [3.0, 2.0]]), axis=0).tolist()
            [3.0, 5.0]
        """
    def maximum(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The larger of two elements; NaN if either is NaN. Equal elements share the gradient.

        Args:
            x: Tensor [...], real.
            y: Tensor broadcastable with x.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Raises:
            ValueError: the shapes do not broadcast.
            TypeError: the dtypes do not promote.
        Example:
            >>> paddle.maximum(paddle.to_tensor([1.0, 4.0]), paddle.to_tensor([3.0, 2.0])).tolist()
            [3.0, 4.0]
        """
    def mean(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None, *, dtype: _a.DTypeLike | None = None, out: Tensor | None = None) -> Tensor:
        """The average over the given axes.

        Args:
            x: Tensor [...]. Integers are averaged as integers, rounded towards zero; the mean of bools tells
                whether any is True.
            axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
            keepdim: keep the reduced axes with length 1.
            dtype: dtype to cast to first.
            out: Tensor that receives the result.
        Returns:
            Tensor; NaN where nothing is averaged.
        Raises:
            ValueError: an axis is out of range or given twice.
        Example:
            >>> paddle.mean(paddle.to_tensor([[1.0, 3.0], [5.0, 7.0]]), axis=1).tolist()
            [2.0, 6.0]
        """
    def median(self, axis: _b.int | None = None, keepdim: _b.bool | None = False, mode: _b.str = 'avg', name: _b.str | None = None, *, out: Tensor | None = None) -> Any:
        """The median over all elements or along an axis; NaN if there is a NaN.

        Args:
            x: Tensor [...], real. `input` is accepted as a name.
            axis: int, or None for all axes. `dim` is accepted as a name.
            keepdim: keep the reduced axes with length 1.
            mode: "avg" takes the mean of the two middle values of an even count, "min" the smaller one. With
                `input` or `dim` as a keyword the default is "min".
            out: Tensor, or tuple of two for two results, that receives them.
        Returns:
            Tensor, float64 for a float64 x and float32 otherwise with "avg", x's dtype with "min". With "min" and
            an axis: (values, indices).
        Raises:
            ValueError: axis is no int in range, or mode is something else.
        Example:
            >>> paddle.median(paddle.to_tensor([3.0, 1.0, 2.0, 4.0])).item()
            2.5
        """
    def min(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """The smallest element over the given axes.

        Args:
            x: Tensor [...], real. NaN wins.
            axis: int, list of ints, or None for all axes.
            keepdim: keep the reduced axes with length 1.
        Returns:
            Tensor of x's shape without the reduced axes.
        Example:
            >>> paddle.min(paddle.to_tensor([[1.0, 5.0], [3.0, 2.0]]), axis=0).tolist()
            [1.0, 2.0]
        """
    def minimum(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The smaller of two elements; NaN if either is NaN.

        Args:
            x: Tensor [...], real.
            y: Tensor broadcastable with x.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Example:
            >>> paddle.minimum(paddle.to_tensor([1.0, 4.0]), paddle.to_tensor([3.0, 2.0])).tolist()
            [1.0, 2.0]
        """
    def mm(self, mat2: Tensor, name: _b.str | None = None) -> Tensor:
        """The matrix product, as `matmul` without transposition.

        Args:
            input: Tensor [..., n, k] or [k].
            mat2: Tensor [..., k, m] or [k].
        Returns:
            Tensor [..., n, m]; the axes that belong to vectors are dropped.
        Example:
            >>> paddle.mm(paddle.ones([2, 3]), paddle.ones([3, 4])).shape
            paddle.Size([2, 4])
        """
    def mod(self, y: Tensor | _b.int | _b.float, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The rest of the floor division, with the sign of the divisor; of complex numbers the rest to the
        nearest multiple.

        Arguments as for `add`; y may be a number, whose fraction is cut beside an integer Tensor.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Raises:
            ZeroDivisionError: as for `floor_divide`.
        Example:
            >>> paddle.remainder(paddle.to_tensor([7, -7]), paddle.to_tensor([4, 4])).tolist()
            [3, 1]
        """
    def mod_(self, y: Tensor | _b.int | _b.float, name: _b.str | None = None) -> Tensor:
        """In-place remainder: puts the result into its first argument and returns it. See `remainder`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([7, -7]).remainder_(paddle.to_tensor([4, 4])).tolist()
            [3, 1]
        """
    def mode(self, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = -1, keepdim: _b.bool | None = False, name: _b.str | None = None) -> _b.tuple[Tensor, Tensor]:
        """The most frequent element along an axis, the smallest of equally frequent ones, and its last index.

        Args:
            x: Tensor [...].
            axis: int.
            keepdim: keep the axis with length 1.
        Returns:
            Tuple (values, indices int64).
        Raises:
            ValueError: the axis is out of range or has length 0.
        Example:
            >>> value, index = paddle.mode(paddle.to_tensor([1, 2, 2])); (value.item(), index.item())
            (2, 2)
        """
    def moveaxis(self, source: _b.int | Sequence[_b.int], destination: _b.int | Sequence[_b.int], name: _b.str | None = None) -> Tensor:
        """Moves axes to new places; the others keep their order.

        Args:
            x: Tensor [...].
            source: int or list of ints.
            destination: int or list of as many ints.
        Returns:
            Tensor with the same elements and the axes in another order.
        Raises:
            AssertionError: an axis is out of range, or the lists differ in length.
            ValueError: an axis is named twice.
            TypeError: an axis is not an int.
        Example:
            >>> paddle.moveaxis(paddle.ones([2, 3, 4]), 0, 2).shape
            paddle.Size([3, 4, 2])
        """
    def msort(self, *, out: Tensor | None = None) -> Tensor:
        """Sorts along the first axis.

        Args:
            input: Tensor [n, ...].
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape and dtype of input.
        Example:
            >>> paddle.msort(paddle.to_tensor([[3, 1], [2, 5]])).tolist()
            [[2, 1], [3, 5]]
        """
    def mul(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Multiplies two tensors elementwise, with broadcasting.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Example:
            >>> paddle.multiply(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 5.0])).tolist()
            [3.0, 10.0]
        """
    def mul_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place multiply: puts the result into its first argument and returns it. See `multiply`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, 2.0]).multiply_(paddle.to_tensor([3.0, 5.0])).tolist()
            [3.0, 10.0]
        """
    def multi_dot(self, name: _b.str | None = None) -> Tensor:
        """The product of several matrices in the order that needs the fewest multiplications.

        Args:
            x: list of at least two Tensors; the first and the last may be vectors.
        Returns:
            Tensor; the axes that belong to vectors are dropped.
        Raises:
            ValueError: fewer than two tensors, or shapes do not fit.
        Example:
            >>> paddle.linalg.multi_dot([paddle.ones([2, 3]), paddle.ones([3, 4]), paddle.ones([4, 1])]).tolist()
            [[12.0], [12.0]]
        """
    def multigammaln(self, p: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray, name: _b.str | None = None) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension p.

        Args:
            x: floating Tensor [...].
            p: int >= 1.
        Returns:
            Tensor of the same shape.
        Raises:
            TypeError: x is not floating.
            AssertionError: p is smaller than 1.
        Example:
            >>> round(paddle.multigammaln(paddle.to_tensor(2.5), 2).item(), 4)
            0.857
        See:
            p (p - 1) / 4 log(pi) + sum_j lgamma(x - j / 2), j = 0..p-1.
        """
    def multigammaln_(self, p: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray, name: _b.str | None = None) -> Tensor:
        """In-place multigammaln: puts the result into its first argument and returns it. See `multigammaln`.

        Args:
            x: floating Tensor [...].
            p: int >= 1.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(2.5).multigammaln_(2).item(), 4)
            0.857
        """
    def multinomial(self, num_samples: Tensor | _b.int | _b.float | np.integer | np.ndarray = 1, replacement: _b.bool | None = False, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Random class numbers with given weights.

        Args:
            x: floating Tensor [n] or [rows, n] of weights >= 0 that need not add up to 1.
            num_samples: how many are drawn from each row.
            replacement: a class may be drawn again.
            out: Tensor that receives the result.
        Returns:
            int64 Tensor [num_samples] or [rows, num_samples].
        Raises:
            ValueError: a weight is negative, all are 0, or there are fewer classes than samples
                without replacement.
        Example:
            >>> paddle.multinomial(paddle.to_tensor([0.0, 1.0]), 1).tolist()
            [1]
        """
    def multiplex(self, index: Tensor, name: _b.str | None = None) -> Tensor:
        """Picks each row from one of several tensors: row i of the result is row i of inputs[index[i]].

        Args:
            inputs: list of at least two Tensors [n, ...] of one shape.
            index: int32 Tensor [n, 1].
        Returns:
            Tensor [n, ...].
        Raises:
            ValueError: fewer than two tensors, or index is not int32.
            RuntimeError: index is not [n, 1] or names a tensor that is not there.
        Example:
            >>> a, b = paddle.zeros([2, 1]), paddle.ones([2, 1])
            >>> paddle.multiplex([a, b], paddle.to_tensor([[1], [0]], "int32")).tolist()
            [[1.0], [0.0]]
        """
    def multiply(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Multiplies two tensors elementwise, with broadcasting.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Example:
            >>> paddle.multiply(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 5.0])).tolist()
            [3.0, 10.0]
        """
    def multiply_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place multiply: puts the result into its first argument and returns it. See `multiply`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, 2.0]).multiply_(paddle.to_tensor([3.0, 5.0])).tolist()
            [3.0, 10.0]
        """
    def mv(self, vec: Tensor, name: _b.str | None = None) -> Tensor:
        """Multiplies a matrix [n, k] with a vector [k].

        Args:
            x: Tensor [n, k].
            vec: Tensor [k].
        Returns:
            Tensor [n].
        Raises:
            ValueError: the shapes do not fit.
        Example:
            >>> paddle.mv(paddle.ones([2, 3]), paddle.ones([3])).tolist()
            [3.0, 3.0]
        """
    name: _b.str
    def nan_to_num(self, nan: _b.float | Tensor | np.integer | np.floating = 0.0, posinf: _b.float | Tensor | np.integer | np.floating | None = None, neginf: _b.float | Tensor | np.integer | np.floating | None = None, name: _b.str | None = None) -> Tensor:
        """Replaces NaN and infinities by numbers; they get no gradient.

        Args:
            x: Tensor [...], float32 or float64.
            nan, posinf, neginf: the replacements; None stands for the largest and smallest number of the dtype.
        Returns:
            Tensor of the same shape and dtype.
        Raises:
            AssertionError: x is not floating.
        Example:
            >>> paddle.nan_to_num(paddle.to_tensor([float("nan"), 1.0])).tolist()
            [0.0, 1.0]
        """
    def nan_to_num_(self, nan: _b.float | Tensor | np.integer | np.floating = 0.0, posinf: _b.float | Tensor | np.integer | np.floating | None = None, neginf: _b.float | Tensor | np.integer | np.floating | None = None, name: _b.str | None = None) -> Tensor:
        """In-place nan_to_num: puts the result into its first argument and returns it. See `nan_to_num`.

        Args:
            x: Tensor [...], float32 or float64.
            nan, posinf, neginf: the replacements; None stands for the largest and smallest number of the dtype.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([float("nan"), 1.0]).nan_to_num_().tolist()
            [0.0, 1.0]
        """
    def nanmean(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """The average over the given axes of what is not NaN.

        Args:
            x: Tensor [...]; the result of integers is float32.
            axis: int, list of ints, or None for all axes.
            keepdim: keep the reduced axes with length 1.
        Returns:
            Tensor of the shape of x without the axes.
        Raises:
            ValueError: an axis is out of range or given twice.
        Example:
            >>> paddle.nanmean(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
            2.0
        """
    def nanmedian(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, keepdim: _b.bool | None = False, mode: _b.str = 'avg', name: _b.str | None = None) -> Any:
        """The median of what is not NaN; NaN if nothing is left.

        Args:
            x: Tensor [...], real; the result has its dtype.
            axis: int, list of ints, or None for all axes.
            keepdim: keep the reduced axes with length 1.
            mode: as for `median`.
        Returns:
            Tensor. With "min" and an int axis: (values, indices).
        Raises:
            ValueError: an axis is out of range or given twice, the list of axes is empty, or mode
                is something else.
        Example:
            >>> paddle.nanmedian(paddle.to_tensor([3.0, float("nan"), 1.0])).item()
            2.0
        """
    def nanquantile(self, q: Tensor | _b.int | _b.float | Sequence[_b.float] | Sequence[Tensor], axis: _b.int | Sequence[_b.int] | None = None, keepdim: _b.bool = False, interpolation: _b.str = 'linear') -> Tensor:
        """Quantiles of what is not NaN; NaN if nothing is left.

        Args:
            x: floating Tensor [...]. `input` is accepted as a name.
            q: number in 0..1, or list or 1-d Tensor of them.
            axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
            keepdim: keep the reduced axes with length 1.
            interpolation: between two elements: "linear", "lower", "higher", "nearest" or "midpoint".
        Returns:
            Tensor; more than one q adds a first axis.
        Example:
            >>> paddle.nanquantile(paddle.to_tensor([1.0, float("nan"), 3.0]), 0.5).item()
            2.0
        """
    def nansum(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, dtype: _a.DTypeLike | None = None, keepdim: _b.bool = False, name: _b.str | None = None) -> Tensor:
        """Sums elements over the given axes, counting NaN as zero.

        Args:
            x: Tensor [...], any dtype; bool and int32 sum as int64. `input` is accepted as a name.
            axis: int, list of ints, or None (or an empty list) for all axes. `dim` is accepted as a name.
            dtype: dtype to cast to before summing, float16 and bfloat16 to integers after it; a bool here is
                taken for keepdim.
            keepdim: keep the summed axes with length 1.
        Returns:
            Tensor of x's shape without the summed axes.
        Example:
            >>> paddle.nansum(paddle.to_tensor([1.0, float("nan"), 2.0])).item()
            3.0
        """
    def narrow(self, dim: _b.int | Tensor | np.integer | np.ndarray, start: Tensor | _b.int | np.integer | np.ndarray, length: _b.int | Tensor | np.integer) -> Tensor:
        """The part of an axis that begins at `start` and has `length` elements.

        Args:
            input: Tensor [...].
            dim: int, the axis.
            start: int or Tensor of one int; negative counts from the end.
            length: int.
        Returns:
            Tensor; the axis has `length` elements.
        Raises:
            IndexError: the axis is out of range.
            AssertionError: the part does not lie inside the axis.
        Example:
            >>> paddle.narrow(paddle.arange(5), 0, 1, 3).tolist()
            [1, 2, 3]
        """
    @property
    def ndim(self) -> _b.int: ...
    def ndimension(self) -> Any:
        """The number of axes.

        Example:
            >>> paddle.ones([2, 3]).dim()
            2
        """
    def ne(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x differs from y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.not_equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 3])).tolist()
            [False, True]
        """
    def neg(self, name: _b.str | None = None) -> Tensor:
        """Changes the sign of each element.

        Args:
            x: Tensor [...].
        Returns:
            Tensor of the same shape.

        Example:
            >>> paddle.neg(paddle.to_tensor([1.0, -2.0])).tolist()
            [-1.0, 2.0]
        """
    def neg_(self, name: _b.str | None = None) -> Tensor:
        """In-place neg: puts the result into its first argument and returns it. See `neg`.

        Args:
            x: Tensor [...].
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, -2.0]).neg_().tolist()
            [-1.0, 2.0]
        """
    def negative(self, name: _b.str | None = None) -> Tensor:
        """Changes the sign of each element, as `neg`; bool is refused.

        Args:
            x: Tensor [...], numeric.
        Returns:
            Tensor of the shape and dtype of x.
        Raises:
            TypeError: x is bool.
        Example:
            >>> paddle.negative(paddle.to_tensor([-2.0])).tolist()
            [2.0]
        """
    @overload
    def new_empty(self, size: Any, *, dtype: _b.str | None = None, device: _a.DeviceLike | None = None, requires_grad: _b.bool = False, pin_memory: _b.bool = False) -> Any: ...
    @overload
    def new_empty(self, *size: _b.int | Tensor, dtype: _b.str | None = None, device: _a.DeviceLike | None = None, requires_grad: _b.bool = False, pin_memory: _b.bool = False) -> Any:
        """A tensor like paddle.empty makes, with the dtype and device of this one by default. See `empty`."""
    def new_full(self, size: Any, fill_value: Any, *, dtype: _a.DTypeLike | None = None, device: _a.DeviceLike | None = None, requires_grad: _b.bool = False, pin_memory: _b.bool = False) -> Any:
        """A tensor filled with one value, with the dtype and device of this one by default. See `full`.

        Example:
            >>> paddle.to_tensor([1]).new_full([2], 7).tolist()
            [7, 7]
        """
    @overload
    def new_ones(self, size: Any, *, dtype: _b.str | None = None, device: _a.DeviceLike | None = None, requires_grad: _b.bool = False, pin_memory: _b.bool = False) -> Any: ...
    @overload
    def new_ones(self, *size: _b.int | Tensor, dtype: _b.str | None = None, device: _a.DeviceLike | None = None, requires_grad: _b.bool = False, pin_memory: _b.bool = False) -> Any:
        """A tensor like paddle.ones makes, with the dtype and device of this one by default. See `ones`."""
    @overload
    def new_zeros(self, size: Any, *, dtype: _b.str | None = None, device: _a.DeviceLike | None = None, requires_grad: _b.bool = False, pin_memory: _b.bool = False) -> Any: ...
    @overload
    def new_zeros(self, *size: _b.int | Tensor, dtype: _b.str | None = None, device: _a.DeviceLike | None = None, requires_grad: _b.bool = False, pin_memory: _b.bool = False) -> Any:
        """A tensor like paddle.zeros makes, with the dtype and device of this one by default. See `zeros`."""
    def nextafter(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """The next number after x in the direction of y.

        Args:
            x, y: floating Tensors that broadcast.
        Returns:
            Tensor of the broadcast shape.
        Example:
            >>> paddle.nextafter(paddle.to_tensor(1.0), paddle.to_tensor(2.0)).item() > 1
            True
        """
    nnz: Any
    def nonzero(self, as_tuple: _b.bool = False, *, out: Tensor | None = None) -> Any:
        """The indices of the elements that are not zero.

        Args:
            x: Tensor [...] of at least one axis.
            as_tuple: one index tensor per axis instead of a matrix.
            out: Tensor that receives the result.
        Returns:
            int64 Tensor [n, ndim], or a tuple of ndim int64 Tensors [n].
        Raises:
            ValueError: x is 0-D.
        Example:
            >>> paddle.nonzero(paddle.to_tensor([0, 3, 4])).tolist()
            [[1], [2]]
        """
    def norm(self, p: Tensor | _b.int | _b.float | _b.str | np.integer | np.floating | np.ndarray | None = None, axis: _b.int | Sequence[_b.int | Tensor] | None = None, keepdim: _b.bool | None = False, out: Tensor | None = None, dtype: _a.DTypeLike | None = None, name: _b.str | None = None) -> Tensor:
        """The norm of vectors, or of matrices where two axes are given.

        Args:
            x: Tensor [...], floating or complex. `input` and `A` are accepted as names.
            p: order: a number or "fro" for vectors; for matrices see `linalg.matrix_norm`. Default: 2. `ord` is
                accepted as a name.
            axis: int (vectors), list of two ints (matrices), or None: all elements as one vector. `dim` is
                accepted as a name.
            keepdim: keep the reduced axes with length 1.
            out: Tensor that receives the result.
            dtype: dtype to cast to first.
        Returns:
            Real Tensor. The gradient at a zero vector is 0.
        Raises:
            ValueError: p is not known or an axis is out of range.
        Example:
            >>> paddle.linalg.norm(paddle.to_tensor([3.0, 4.0])).item()
            5.0
        """
    def normal_(self, mean: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | np.ndarray = 0.0, std: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1.0, name: _b.str | None = None) -> Tensor:
        """Fills a tensor in place with normal random numbers. Complex numbers have the variance std**2 in all.

        Args:
            x: floating or complex Tensor.
            mean, std: numbers.
        Returns:
            x.
        Raises:
            RuntimeError: the dtype of x is neither floating nor complex.
        Example:
            >>> paddle.zeros([2]).normal_().shape
            paddle.Size([2])
        """
    def not_equal(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Tells elementwise whether x differs from y.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            bool Tensor of the broadcast shape.
        Example:
            >>> paddle.not_equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 3])).tolist()
            [False, True]
        """
    def not_equal_(self, y: Tensor, name: _b.str | None = None) -> Tensor:
        """In-place not_equal: puts the result into its first argument and returns it. See `not_equal`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1, 2]).not_equal_(paddle.to_tensor([1, 3])).tolist()
            [False, True]
        """
    @property
    def num_shard(self) -> _b.int: ...
    def numel(self, name: _b.str | None = None) -> Tensor:
        """The number of elements as an int64 Tensor [].

        Args:
            x: Tensor [...].
        Returns:
            int64 Tensor [].
        Example:
            >>> paddle.numel(paddle.ones([2, 3])).item()
            6
        """
    def numpy(self, blocking: _b.bool = True, *, force: _b.bool = False) -> np.ndarray: ...
    @property
    def offset(self) -> Any: ...
    def ormqr(self, tau: Tensor, y: Tensor, left: _b.bool | _b.int | None = True, transpose: _b.bool | _b.int | None = False, name: _b.str | None = None) -> Tensor:
        """Multiplies y with the matrix Q of Householder reflections that `householder_product` makes.

        Args:
            x, tau: as for `householder_product`.
            y: Tensor that fits.
            left: Q y; False: y Q.
            transpose: use the conjugate transpose of Q.
        Returns:
            Tensor of the shape of y.
        Raises:
            AssertionError: the shapes do not fit.
        Example:
            >>> x, tau = paddle.to_tensor([[1.0], [0.0]]), paddle.to_tensor([2.0])
            >>> paddle.linalg.ormqr(x, tau, paddle.to_tensor([[3.0]])).tolist()
            [[-3.0], [0.0]]
        """
    def outer(self, y: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """All products of an element of x with an element of y.

        Args:
            x: Tensor, flattened to [n]. `input` is accepted as a name.
            y: Tensor, flattened to [m]. `vec2` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor [n, m].
        Raises:
            TypeError: the dtypes do not promote.
        Example:
            >>> paddle.outer(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
            [[3.0, 4.0], [6.0, 8.0]]
        """
    def pca_lowrank(self, q: Tensor | _b.int | np.integer | None = None, center: _b.bool = True, niter: _b.float | Tensor | np.integer | np.ndarray = 2, name: _b.str | None = None) -> _b.tuple[Tensor, Tensor, Tensor]:
        """The first q principal components by random projection.

        Args:
            x: Tensor [..., m, n], one sample per row.
            q: how many. Default: min(6, m, n).
            center: subtract the mean of each column first.
            niter: number of power iterations.
        Returns:
            (U [..., m, q], S [..., q], V [..., n, q]); the columns of V are the principal directions.
        Raises:
            ValueError: q or niter is out of range.
        Example:
            >>> paddle.linalg.pca_lowrank(paddle.ones([4, 3]), 2)[2].shape
            paddle.Size([3, 2])
        """
    @overload
    def permute(self, dims: Sequence[_b.int | Tensor] | np.ndarray) -> Tensor: ...
    @overload
    def permute(self, *dims: _b.int | Tensor) -> Tensor:
        """Puts the axes in the order given, as a list or as separate numbers. See `transpose`.

        Args:
            input: Tensor [...].
            dims: list or tuple of all axes, or as many ints.
        Returns:
            Tensor.
        Example:
            >>> paddle.permute(paddle.ones([2, 3]), 1, 0).shape
            paddle.Size([3, 2])
        """
    persistable: _b.bool
    def pin_memory(self, blocking: Any = True) -> Tensor:
        """The tensor in the memory of the host; itself when it is there. XLA pins memory for transfers."""
    def pinv(self, rcond: _b.float | Tensor | np.integer | np.floating | np.ndarray = 1e-15, hermitian: _b.bool | _b.int | None = False, name: _b.str | None = None) -> Tensor:
        """The Moore-Penrose pseudo-inverses of matrices.

        Args:
            x: Tensor [..., m, n].
            rcond: singular values up to rcond times the largest count as 0; so do those that are rounding errors
                in the dtype of x.
            hermitian: x is symmetric (Hermitian); only its lower triangle is read.
        Returns:
            Tensor [..., n, m].
        Raises:
            ValueError: x has fewer than two axes.
        Example:
            >>> paddle.linalg.pinv(paddle.to_tensor([[2.0], [0.0]])).tolist()
            [[0.5, 0.0]]
        """
    @property
    def place(self) -> Any: ...
    @property
    def placements(self) -> Any: ...
    def polar(self, angle: Tensor, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Complex numbers from moduli and angles in radians, with broadcasting.

        Args:
            abs, angle: floating Tensors.
            out: Tensor that receives the result.
        Returns:
            complex64 or complex128 Tensor.
        Raises:
            TypeError: the operands are not floating.
        Example:
            >>> paddle.polar(paddle.to_tensor([2.0]), paddle.to_tensor([0.0])).tolist()
            [(2+0j)]
        """
    def polygamma(self, n: _b.int, name: _b.str | None = None) -> Tensor:
        """The n-th derivative of `digamma`.

        Args:
            x: Tensor [...]; integers are taken as float32.
            n: int >= 0.
        Returns:
            Tensor of the same shape.
        Raises:
            ValueError: n is negative.
            TypeError: n is not an int.
        Example:
            >>> round(paddle.polygamma(paddle.to_tensor(1.0), 1).item(), 4)
            1.6449
        """
    def polygamma_(self, n: _b.int, name: _b.str | None = None) -> Tensor:
        """In-place polygamma: puts the result into its first argument and returns it. See `polygamma`.

        Args:
            x: Tensor [...]; integers are taken as float32.
            n: int >= 0.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(1.0).polygamma_(1).item(), 4)
            1.6449
        """
    def pow(self, y: Tensor | _b.int | _b.float, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Raises x to the power y elementwise.

        Args:
            x: Tensor [...].
            y: Tensor broadcastable with x, or a number (an integer x stays an integer: 2.5 counts as 2).
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape.
        Example:
            >>> paddle.pow(paddle.to_tensor([1.0, 2.0, 3.0]), 2).tolist()
            [1.0, 4.0, 9.0]
        """
    def pow_(self, y: Tensor | _b.int | _b.float, name: _b.str | None = None) -> Tensor:
        """In-place pow: puts the result into its first argument and returns it. See `pow`.

        Args:
            x: Tensor [...].
            y: Tensor broadcastable with x, or a number (an integer x stays an integer: 2.5 counts as 2).
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, 2.0, 3.0]).pow_(2).tolist()
            [1.0, 4.0, 9.0]
        """
    @property
    def process_mesh(self) -> Any: ...
    def prod(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | None = None, keepdim: _b.bool | None = False, dtype: _a.DTypeLike | None = None, out: Tensor | None = None, name: _b.str | None = None) -> Tensor:
        """Multiplies elements over the given axes; 1 where there are none.

        Args:
            x: Tensor [...].
            axis: int, list of ints, or None for all axes.
            keepdim: keep the reduced axes with length 1.
            dtype: dtype to cast to first.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape of x without the axes.
        Raises:
            ValueError: an axis is out of range or given twice.
        Example:
            >>> paddle.prod(paddle.to_tensor([1.0, 2.0, 3.0])).item()
            6.0
        """
    def put_along_axis(self, indices: Tensor, values: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating, axis: _b.int | Tensor | np.integer, reduce: _b.str = 'assign', include_self: _b.bool | None = True, broadcast: _b.bool = True) -> Tensor:
        """Puts one value per index along an axis: out[i][indices[i][j]] = values[i][j] for axis 1.

        Args:
            arr: Tensor [...].
            indices: int32 or int64 Tensor of as many axes; negative indices count from the end.
            values: Tensor that broadcasts to indices, or a number.
            axis: int.
            reduce: "assign", "add", "mul" ("multiply"), "mean", "amax" or "amin": how a value
                meets what is there.
            include_self: False leaves out what was there before.
            broadcast: broadcast indices against arr along the other axes.
        Returns:
            Tensor of the shape of arr.
        Raises:
            IndexError: an index is out of range.
            ValueError: reduce is unknown, or shapes or dtypes do not fit.
        Example:
            >>> paddle.put_along_axis(paddle.zeros([2, 2]), paddle.to_tensor([[1], [0]]), 9.0, 1).tolist()
            [[0.0, 9.0], [9.0, 0.0]]
        """
    def put_along_axis_(self, indices: Tensor, values: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating, axis: _b.int | Tensor | np.integer, reduce: _b.str = 'assign', include_self: _b.bool | None = True, broadcast: _b.bool = True) -> Tensor:
        """In-place put_along_axis: puts the result into its first argument and returns it. See `put_along_axis`.

        Args:
            arr: Tensor [...].
            indices: int32 or int64 Tensor of as many axes; negative indices count from the end.
            values: Tensor that broadcasts to indices, or a number.
            axis: int.
            reduce: "assign", "add", "mul" ("multiply"), "mean", "amax" or "amin": how a value
                meets what is there.
            include_self: False leaves out what was there before.
            broadcast: broadcast indices against arr along the other axes.
        Returns:
            The Tensor `arr`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.zeros([2, 2]).put_along_axis_(paddle.to_tensor([[1], [0]]), 9.0, 1).tolist()
            [[0.0, 9.0], [9.0, 0.0]]
        """
    def qr(self, mode: _b.str = 'reduced', name: _b.str | None = None) -> Any:
        """The QR factorisation x = Q R with orthonormal columns in Q and upper triangular R.

        Args:
            x: Tensor [..., m, n].
            mode: "reduced" (Q [m, k], R [k, n] with k = min(m, n)), "complete" (Q [m, m], R [m, n])
                or "r" (R alone).
        Returns:
            (Q, R), or R.
        Raises:
            ValueError: the mode is not known or x has fewer than two axes.
        Example:
            >>> q, r = paddle.linalg.qr(paddle.to_tensor([[1.0, 2.0], [0.0, 1.0]])); q.shape
            paddle.Size([2, 2])
        """
    def quantile(self, q: _b.float | Tensor | Sequence[_b.float] | Sequence[Tensor], axis: _b.int | Sequence[_b.int] | None = None, keepdim: _b.bool = False, interpolation: _b.str = 'linear', name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Values below which the given shares of the elements lie; NaN if there is a NaN.

        Args:
            x: floating Tensor [...]. `input` is accepted as a name.
            q: number in 0..1, or list or 1-d Tensor of them.
            axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
            keepdim: keep the reduced axes with length 1.
            interpolation: between two elements: "linear", "lower", "higher", "nearest" or "midpoint".
            out: Tensor that receives the result.
        Returns:
            Tensor; more than one q adds a first axis.
        Raises:
            ValueError: q is empty or outside 0..1, an axis is out of range or given twice, or the
                interpolation is not known.
        Example:
            >>> paddle.quantile(paddle.to_tensor([1.0, 2.0, 3.0, 4.0]), 0.5).item()
            2.5
        """
    def rad2deg(self, name: _b.str | None = None) -> Tensor:
        """Turns radians into degrees.

        Args:
            x: Tensor [...]; int32 and int64 are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.rad2deg(paddle.to_tensor(3.14159265)).item(), 3)
            180.0
        """
    def random_(self, from_: _b.int = 0, to: _b.int | None = None, *, generator: Any = None) -> Tensor:
        """Fills a tensor in place with random integers from [from_, to); returns it.

        Args:
            x: int32, int64 or floating Tensor.
            from_: int; the upper bound when it is given alone.
            to: int. Default: the largest number up to which the dtype holds all integers.
        Raises:
            ValueError: the range is empty.
        Example:
            >>> bool((paddle.zeros([5]).random_(3) < 3).all())
            True
        """
    def rank(self) -> Tensor:
        """The number of axes as an int32 Tensor [].

        Args:
            input: Tensor [...].
        Returns:
            int32 Tensor [].
        Example:
            >>> paddle.rank(paddle.ones([2, 3])).item()
            2
        """
    def ravel(self) -> Tensor:
        """The elements as a 1-D tensor.

        Args:
            input: Tensor [...].
        Returns:
            Tensor [input.size].
        Example:
            >>> paddle.ravel(paddle.ones([2, 3])).shape
            paddle.Size([6])
        """
    def real(self, name: _b.str | None = None) -> Tensor:
        """The real parts of complex numbers; real numbers stay as they are.

        Args:
            x: Tensor [...].
        Returns:
            Tensor of the same shape, float32 for complex64, float64 for complex128.
        Example:
            >>> paddle.real(paddle.to_tensor([1 + 2j])).tolist()
            [1.0]
        """
    def reciprocal(self, name: _b.str | None = None) -> Tensor:
        """1 / x.

        Args:
            x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.reciprocal(paddle.to_tensor(4.0)).item(), 4)
            0.25
        """
    def reciprocal_(self, name: _b.str | None = None) -> Tensor:
        """In-place reciprocal: puts the result into its first argument and returns it. See `reciprocal`.

        Args:
            x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(4.0).reciprocal_().item(), 4)
            0.25
        """
    def reconstruct_from_(self, other: Any) -> Tensor:
        """Takes over the value of another Tensor, also of another shape or dtype, and where it came from."""
    def reduce_as(self, target: Tensor, name: _b.str | None = None) -> Tensor:
        """Sums x over the axes along which `target` was broadcast to it, so that the result has target's shape.

        Args:
            x: Tensor [...].
            target: Tensor whose shape broadcasts to that of x.
        Returns:
            Tensor of the shape of target.
        Raises:
            ValueError: target's shape does not broadcast to x's.
        Example:
            >>> paddle.reduce_as(paddle.ones([2, 3]), paddle.zeros([3])).tolist()
            [2.0, 2.0, 2.0]
        """
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Calls `hook(grad)` when the gradient of this tensor is known; a Tensor it returns
        replaces the gradient.

        Returns:
            A helper whose `remove()` takes the hook away.
        Raises:
            RuntimeError: the tensor has stop_gradient=True.
        """
    def remainder(self, y: Tensor | _b.int | _b.float, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The rest of the floor division, with the sign of the divisor; of complex numbers the rest to the
        nearest multiple.

        Arguments as for `add`; y may be a number, whose fraction is cut beside an integer Tensor.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Raises:
            ZeroDivisionError: as for `floor_divide`.
        Example:
            >>> paddle.remainder(paddle.to_tensor([7, -7]), paddle.to_tensor([4, 4])).tolist()
            [3, 1]
        """
    def remainder_(self, y: Tensor | _b.int | _b.float, name: _b.str | None = None) -> Tensor:
        """In-place remainder: puts the result into its first argument and returns it. See `remainder`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([7, -7]).remainder_(paddle.to_tensor([4, 4])).tolist()
            [3, 1]
        """
    def renorm(self, p: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | np.ndarray | None, max_norm: _b.float | Tensor | np.integer | np.floating | np.ndarray) -> Tensor:
        """Shrinks every slice along an axis whose p-norm exceeds a limit to that norm.

        Args:
            x: Tensor [...].
            p: order of the norm.
            axis: int, the axis that numbers the slices.
            max_norm: the limit.
        Returns:
            Tensor of the same shape.
        Raises:
            ValueError: the axis is out of range.
        Example:
            >>> paddle.renorm(paddle.to_tensor([[3.0, 4.0]]), 2.0, 0, 1.0).tolist()
            [[0.6000000238418579, 0.800000011920929]]
        """
    def renorm_(self, p: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | np.ndarray | None, max_norm: _b.float | Tensor | np.integer | np.floating | np.ndarray) -> Tensor:
        """In-place renorm: puts the result into its first argument and returns it. See `renorm`.

        Args:
            x: Tensor [...].
            p: order of the norm.
            axis: int, the axis that numbers the slices.
            max_norm: the limit.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([[3.0, 4.0]]).renorm_(2.0, 0, 1.0).tolist()
            [[0.6000000238418579, 0.800000011920929]]
        """
    @overload
    def repeat(self, repeats: Any) -> Any: ...
    @overload
    def repeat(self, *repeats: _b.int | Tensor) -> Any:
        """Repeats the whole tensor along its axes: x.repeat(2, 1) or x.repeat([2, 1]). See `tile`.

        Example:
            >>> paddle.to_tensor([1, 2]).repeat(2).tolist()
            [1, 2, 1, 2]
        """
    def repeat_interleave(self, repeats: _b.int | Tensor | np.integer, axis: _b.int | Tensor | np.integer | None = None, name: _b.str | None = None, *, output_size: Tensor | _b.int | np.integer | None = None) -> Tensor:
        """Repeats each element (or slice along an axis) some times in place.

        Args:
            x: Tensor [...].
            repeats: int > 0, or 1-D int Tensor with a number for each slice.
            axis: int. Default: the flattened tensor. `dim` is accepted as a name.
            output_size: the length of the result along the axis, needed only inside a trace when
                repeats is a Tensor.
        Returns:
            Tensor whose axis has the length of all repeats together; 1-D without an axis.
        Raises:
            ValueError: repeats is not positive, or a Tensor of another length than the axis.
            IndexError: the axis is out of range.
            TypeError: repeats is neither int nor Tensor.
        Example:
            >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), 2).tolist()
            [1, 1, 2, 2]
        """
    requires_grad: _b.bool
    def requires_grad_(self, requires_grad: _b.bool = True) -> Tensor:
        """Says whether gradients are wanted, the opposite of stop_gradient; returns the tensor.

        Example:
            >>> paddle.ones([1]).requires_grad_().stop_gradient
            False
        """
    @overload
    def reshape(self, shape: Tensor | _b.int | Sequence[_b.int | Tensor], name: _b.str | None = None) -> Tensor: ...
    @overload
    def reshape(self, *shape: _b.int | Tensor, name: _b.str | None = None) -> Tensor:
        """Gives the elements another shape, in the same order.

        Args:
            x: Tensor [...], any dtype.
            shape: list, tuple or 1-D int Tensor; its items may be Tensors. 0 copies the length of x at that
                place, one -1 takes what is left. The lengths may also be given as separate arguments:
                x.reshape(2, 3).
        Returns:
            Tensor of the new shape.
        Raises:
            ValueError: the number of elements does not fit.
        Example:
            >>> paddle.reshape(paddle.arange(6), [0, -1]).shape
            paddle.Size([6, 1])
        """
    def reshape_(self, shape: Tensor | _b.int | Sequence[_b.int | Tensor], name: _b.str | None = None) -> Tensor:
        """In-place reshape: puts the result into its first argument and returns it. See `reshape`.

        Args:
            x: Tensor [...], any dtype.
            shape: list, tuple or 1-D int Tensor; its items may be Tensors. 0 copies the length of x at that
                place, one -1 takes what is left. The lengths may also be given as separate arguments:
                x.reshape(2, 3).
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: a leaf waits for a gradient.
        Example:
            >>> paddle.arange(6).reshape_([0, -1]).shape
            paddle.Size([6, 1])
        """
    def resize_(self, shape: Any, fill_zero: _b.bool = False, name: _b.str | None = None) -> Tensor:
        """Changes shape and size in place: keeps the elements in order, cuts off or adds zeros at the end;
        returns the tensor.

        Raises:
            ValueError: a length is negative.
        Example:
            >>> paddle.ones([2]).resize_([3], fill_zero=True).tolist()
            [1.0, 1.0, 0.0]
        """
    def retain_grads(self) -> Any:
        """Makes `backward` keep the gradient of this non-leaf tensor in `grad`."""
    def reverse(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None, name: _b.str | None = None) -> Tensor:
        """Reverses the order of the elements along axes.

        Args:
            x: Tensor [...].
            axis: int, list or tuple of ints.
        Returns:
            Tensor of the same shape and dtype.
        Raises:
            ValueError: an axis is out of range or named twice.
        Example:
            >>> paddle.flip(paddle.to_tensor([1, 2, 3]), 0).tolist()
            [3, 2, 1]
        """
    def roll(self, shifts: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, name: _b.str | None = None) -> Tensor:
        """Shifts elements along axes; what leaves at one end comes in at the other.

        Args:
            x: Tensor [...].
            shifts: int, list or Tensor of ints: how far.
            axis: as many axes. Default: roll the flattened tensor. `dims` is accepted as a name.
        Returns:
            Tensor of the same shape and dtype.
        Raises:
            ValueError: an axis is out of range, or there are not as many shifts as axes.
        Example:
            >>> paddle.roll(paddle.to_tensor([1, 2, 3]), 1).tolist()
            [3, 1, 2]
        """
    def rot90(self, k: _b.int | Tensor | _b.float | np.integer | np.floating | np.ndarray = 1, axes: Tensor | Sequence[_b.int | Tensor] | np.ndarray = ..., name: _b.str | None = None) -> Tensor:
        """Turns the plane of two axes by 90 degrees, k times, from the first axis towards the second.

        Args:
            x: Tensor of at least 2 axes.
            k: int, negative to turn the other way.
            axes: two axes.
        Returns:
            Tensor with the same elements.
        Raises:
            ValueError: x has too few axes, or axes are not two different ones in range.
        Example:
            >>> paddle.rot90(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
            [[2, 4], [1, 3]]
        """
    def round(self, decimals: _b.int | Tensor | np.integer = 0, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Rounds to the nearest number with the given count of decimals; halves go to the even neighbour.

        Args:
            x: Tensor [...]; integers stay as they are. `input` is accepted as a name.
            decimals: int, may be negative (tens, hundreds).
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape and dtype of x.
        Raises:
            TypeError: decimals is not an int.
        Example:
            >>> paddle.round(paddle.to_tensor([0.5, 1.5, -1.6])).tolist()
            [0.0, 2.0, -2.0]
        """
    def round_(self, decimals: _b.int | Tensor | np.integer = 0, name: _b.str | None = None) -> Tensor:
        """In-place round: puts the result into its first argument and returns it. See `round`.

        Args:
            x: Tensor [...]; integers stay as they are. `input` is accepted as a name.
            decimals: int, may be negative (tens, hundreds).
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([0.5, 1.5, -1.6]).round_().tolist()
            [0.0, 2.0, -2.0]
        """
    def row_stack(self, name: _b.str | None = None) -> Tensor:
        """The same as `vstack`.

        Args:
            x: list or tuple of Tensors of one dtype.
        Returns:
            Tensor.
        Example:
            >>> paddle.row_stack([paddle.ones([2]), paddle.zeros([2])]).shape
            paddle.Size([2, 2])
        """
    def rsqrt(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """1 / sqrt(x).

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.rsqrt(paddle.to_tensor(4.0)).item(), 4)
            0.5
        """
    def rsqrt_(self, name: _b.str | None = None) -> Tensor:
        """In-place rsqrt: puts the result into its first argument and returns it. See `rsqrt`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(4.0).rsqrt_().item(), 4)
            0.5
        """
    def scale(self, scale: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | np.ndarray = 1.0, bias: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 0.0, bias_after_scale: _b.bool | None = True, act: _b.str | None = None, name: _b.str | None = None) -> Tensor:
        """scale * x + bias, or scale * (x + bias).

        Args:
            x: Tensor [...].
            scale, bias: numbers, or Tensors or arrays of one element, cast to the dtype of x; no gradient.
            bias_after_scale: False adds the bias first.
            act: name of a function applied last, e.g. "relu".
        Returns:
            Tensor of the same shape.
        Raises:
            AttributeError: act is not known.
        Example:
            >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), 2.0, 1.0).tolist()
            [3.0, 5.0]
        """
    def scale_(self, scale: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | np.ndarray = 1.0, bias: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 0.0, bias_after_scale: _b.bool | None = True, act: _b.str | None = None, name: _b.str | None = None) -> Tensor:
        """In-place scale: puts the result into its first argument and returns it. See `scale`.

        Args:
            x: Tensor [...].
            scale, bias: numbers, or Tensors or arrays of one element, cast to the dtype of x; no gradient.
            bias_after_scale: False adds the bias first.
            act: name of a function applied last, e.g. "relu".
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, 2.0]).scale_(2.0, 1.0).tolist()
            [3.0, 5.0]
        """
    def scatter(self, index: Tensor | _b.int | None = None, updates: Tensor | None = None, overwrite: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = True, name: _b.str | None = None, *, dim: Any = None, src: Tensor | None = None, reduce: _b.str | None = None, value: Any = None, out: Tensor | None = None) -> Tensor:
        """Replaces rows of x, or adds to them.

        Args:
            x: Tensor [n, ...].
            index: int32 or int64 Tensor: 0-D, 1-D or [k, 1].
            updates: Tensor [k, ...], the new rows.
            overwrite: False sets the rows to zero and adds all updates, so that those with the same index add up.
            dim, src, reduce, value: another form: scatter(x, dim, index, src) puts single elements along an axis;
                see `put_along_axis`.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape of x.
        Raises:
            IndexError: an index is out of range.
            ValueError: shapes or dtypes do not fit.
        Example:
            >>> paddle.scatter(paddle.zeros([3]), paddle.to_tensor([2]), paddle.to_tensor([5.0])).tolist()
            [0.0, 0.0, 5.0]
        """
    def scatter_(self, *args: Any, **kwargs: Any) -> Tensor:
        """In-place scatter: puts the result into x and returns it. See `scatter`.

        Args:
            x: Tensor [n, ...].
            *args, **kwargs: as for `scatter`.
        Returns:
            The Tensor `x`.
        Example:
            >>> paddle.zeros([2]).scatter_(paddle.to_tensor([1]), paddle.to_tensor([5.0])).tolist()
            [0.0, 5.0]
        """
    def scatter_add(self, dim: _b.int | Tensor | np.integer, index: Tensor, src: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating) -> Tensor:
        """Adds each element of src at its index along an axis. See `put_along_axis`.

        Args:
            input: Tensor [...].
            dim: int.
            index: int Tensor, at most as large as src.
            src: Tensor of the dtype of input.
        Returns:
            Tensor of the shape of input.
        Raises:
            RuntimeError: an index is out of range, or src is smaller than the index.
        Example:
            >>> paddle.scatter_add(paddle.zeros([3]), 0, paddle.to_tensor([1, 1]), paddle.ones([2])).tolist()
            [0.0, 2.0, 0.0]
        """
    def scatter_add_(self, dim: _b.int | Tensor | np.integer, index: Tensor, src: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating) -> Tensor:
        """In-place scatter_add: puts the result into its first argument and returns it. See `scatter_add`.

        Args:
            input: Tensor [...].
            dim: int.
            index: int Tensor, at most as large as src.
            src: Tensor of the dtype of input.
        Returns:
            The Tensor `input`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.zeros([3]).scatter_add_(0, paddle.to_tensor([1, 1]), paddle.ones([2])).tolist()
            [0.0, 2.0, 0.0]
        """
    def scatter_nd(self, updates: Tensor, shape: Tensor | Sequence[_b.int | Tensor] | np.integer | np.ndarray, name: _b.str | None = None) -> Tensor:
        """Zeros with updates added at coordinates. See `scatter_nd_add`.

        Args:
            index, updates: as for `scatter_nd_add`.
            shape: list, tuple or Tensor of ints: the shape of the result.
        Returns:
            Tensor of the given shape.
        Example:
            >>> paddle.scatter_nd(paddle.to_tensor([[1], [1]]), paddle.ones([2]), [3]).tolist()
            [0.0, 2.0, 0.0]
        """
    def scatter_nd_add(self, index: Tensor, updates: Tensor, name: _b.str | None = None) -> Tensor:
        """Adds updates at coordinates; those with the same coordinates add up.

        Args:
            x: Tensor [...].
            index: int32 or int64 Tensor [..., k]: coordinates along the first k axes of x.
            updates: Tensor of shape index.shape[:-1] + x.shape[k:] and the dtype of x.
        Returns:
            Tensor of the shape and dtype of x.
        Raises:
            IndexError: a coordinate is out of range.
            ValueError: the shapes do not fit.
            TypeError: the dtypes differ.
        Example:
            >>> paddle.scatter_nd_add(paddle.zeros([2]), paddle.to_tensor([[1], [1]]), paddle.ones([2])).tolist()
            [0.0, 2.0]
        """
    def scatter_reduce(self, dim: Tensor | _b.int | np.integer, index: Tensor, src: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating, reduce: _b.str, *, include_self: _b.bool | None = True) -> Tensor:
        """Combines each element of src with what is at its index along an axis.

        Args:
            reduce: "sum", "prod", "mean", "amax" or "amin". The other arguments as for `scatter_add`.
            include_self: False leaves out what was there before.
            input, dim, index, src: as for `scatter_add`.
        Returns:
            Tensor of the shape of input.
        Raises:
            ValueError: reduce is unknown.
        Example:
            >>> paddle.scatter_reduce(paddle.ones([2]), 0, paddle.to_tensor([0, 0]), paddle.to_tensor([2.0, 3.0]),
            ...                       "sum").tolist()
            [6.0, 1.0]
        """
    def select_scatter(self, values: Tensor, axis: Tensor | _b.int | np.integer, index: Tensor | _b.int | np.integer, name: _b.str | None = None) -> Tensor:
        """x with `values` in place of one slice.

        Args:
            x: Tensor [...].
            values: Tensor of the shape of the slice.
            axis, index: which slice.
        Returns:
            Tensor of the shape and dtype of x.
        Raises:
            RuntimeError: values has another shape.
            IndexError: the axis or the index is out of range.
        Example:
            >>> paddle.select_scatter(paddle.zeros([2, 2]), paddle.ones([2]), 0, 1).tolist()
            [[0.0, 0.0], [1.0, 1.0]]
        """
    def set_(self, source: Tensor | None = None, shape: Any = None, stride: Any = None, offset: Any = 0, name: _b.str | None = None) -> Tensor:
        """Takes over the elements of another tensor, read with a shape, steps and offset of one's own; without
        one becomes empty. Returns the tensor.

        Args:
            source: Tensor of the same dtype.
            shape, stride, offset: as for `as_strided`. Default: those of source.
        Raises:
            ValueError: the dtypes differ, or an element would lie outside source.
        Example:
            >>> paddle.zeros([1], "int64").set_(paddle.arange(4), [2], [2]).tolist()
            [0, 2]
        """
    def set_value(self, value: Any) -> Any:
        """Replaces the value, in place and unrecorded.

        Args:
            value: Tensor or NumPy array of the same shape and dtype.
        Raises:
            AssertionError: the type, shape or dtype differs.
        Example:
            >>> x = paddle.zeros([2]); x.set_value(paddle.ones([2])); x.tolist()
            [1.0, 1.0]
        """
    def sgn(self, name: _b.str | None = None) -> Tensor:
        """x / |x| for complex numbers (0 at 0), the sign for real ones.

        Args:
            x: Tensor [...], floating or complex.
        Returns:
            Tensor of the same shape and dtype.
        Raises:
            TypeError: x is of an integer dtype or bool.
        Example:
            >>> paddle.sgn(paddle.to_tensor([-2.0, 0.0, 3.0])).tolist()
            [-1.0, 0.0, 1.0]
        """
    @property
    def shape(self) -> Size: ...
    def shard_index(self, index_num: Tensor | _b.int | np.integer, nshards: Tensor | _b.int | np.integer, shard_id: Tensor | _b.int | np.integer, ignore_value: Tensor | _b.int | np.integer = -1) -> Tensor:
        """Turns indices of the whole into indices inside one shard; those of other shards become ignore_value.

        Args:
            input: int Tensor [..., 1] with values in [0, index_num).
            index_num: how many indices there are in all.
            nshards: into how many shards of ceil(index_num / nshards) they are cut.
            shard_id: which shard.
            ignore_value: int that stands for indices of other shards.
        Returns:
            Tensor of the shape and dtype of input.
        Raises:
            ValueError: shard_id or an index is out of range.
        Example:
            >>> paddle.shard_index(paddle.to_tensor([[16], [1]]), 20, 2, 0).tolist()
            [[-1], [1]]
        """
    def short(self) -> Any:
        """The tensor in the dtype int16; itself where it has that dtype. See `cast`."""
    def sigmoid(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """1 / (1 + exp(-x)), the logistic function.

        Args:
            x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.

        Example:
            >>> round(paddle.sigmoid(paddle.to_tensor(0.0)).item(), 4)
            0.5
        """
    def sigmoid_(self, name: _b.str | None = None) -> Tensor:
        """In-place sigmoid: puts the result into its first argument and returns it. See `sigmoid`.

        Args:
            x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).sigmoid_().item(), 4)
            0.5
        """
    def sign(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """-1, 0 or 1 by the sign of each element; x / |x| for complex numbers.

        Args:
            x: Tensor [...].
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape and dtype.
        Example:
            >>> paddle.sign(paddle.to_tensor([-2.0, 0.0, 3.0])).tolist()
            [-1.0, 0.0, 1.0]
        """
    def signbit(self, name: _b.str | None = None) -> Tensor:
        """True where an element carries a minus sign, -0.0 included.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
        Returns:
            bool Tensor of the same shape.
        Example:
            >>> paddle.signbit(paddle.to_tensor([1.0, -0.0])).tolist()
            [False, True]
        """
    def sin(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The sine of angles in radians.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.

        Example:
            >>> round(paddle.sin(paddle.to_tensor(0.0)).item(), 4)
            0.0
        """
    def sin_(self, name: _b.str | None = None) -> Tensor:
        """In-place sin: puts the result into its first argument and returns it. See `sin`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).sin_().item(), 4)
            0.0
        """
    def sinc(self, name: _b.str | None = None) -> Tensor:
        """sin(pi x) / (pi x), 1 at 0.

        Args:
            x: Tensor [...], floating or complex.
        Returns:
            Tensor of the same shape.
        Raises:
            TypeError: x is of an integer dtype.
        Example:
            >>> round(paddle.sinc(paddle.to_tensor(0.5)).item(), 4)
            0.6366
        """
    def sinc_(self, name: _b.str | None = None) -> Tensor:
        """In-place sinc: puts the result into its first argument and returns it. See `sinc`.

        Args:
            x: Tensor [...], floating or complex.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.5).sinc_().item(), 4)
            0.6366
        """
    def sinh(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic sine.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.sinh(paddle.to_tensor(0.0)).item(), 4)
            0.0
        """
    def sinh_(self, name: _b.str | None = None) -> Tensor:
        """In-place sinh: puts the result into its first argument and returns it. See `sinh`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).sinh_().item(), 4)
            0.0
        """
    @property
    def size(self) -> _b.int: ...
    def slice(self, axes: Sequence[_b.int | Tensor], starts: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, ends: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray) -> Tensor:
        """Cuts ranges out of axes.

        Args:
            input: Tensor [...].
            axes: list of axes.
            starts, ends: list (items may be Tensors) or 1-D Tensor, one number per axis; negative counts from the
                end, too large is cut off.
        Returns:
            Tensor with the axes shortened to ends - starts.
        Raises:
            ValueError: an axis is out of range, or the lists differ in length.
        Example:
            >>> paddle.slice(paddle.arange(6), [0], [1], [-1]).tolist()
            [1, 2, 3, 4]
        """
    def slice_scatter(self, value: Tensor, axes: Sequence[_b.int | Tensor], starts: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, ends: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, strides: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, name: _b.str | None = None) -> Tensor:
        """x with `value` in place of the part that `strided_slice` with the same arguments takes.

        Args:
            value: Tensor that broadcasts to that part.
            x, axes, starts, ends, strides: as for `strided_slice`.
        Returns:
            Tensor of the shape of x.
        Raises:
            ValueError: value does not broadcast, or the lists differ in length.
        Example:
            >>> paddle.slice_scatter(paddle.zeros([4]), paddle.ones([2]), [0], [0], [4], [2]).tolist()
            [1.0, 0.0, 1.0, 0.0]
        """
    def slogdet(self, name: _b.str | None = None) -> Tensor:
        """Signs and logarithms of the absolute values of determinants.

        Args:
            x: Tensor [..., n, n].
        Returns:
            Tensor [2, ...]: signs, then logarithms.
        Raises:
            ValueError: the matrices are not square.
        Example:
            >>> [round(v, 4) for v in paddle.linalg.slogdet(paddle.to_tensor([[2.0, 0.0], [0.0, -4.0]])).tolist()]
            [-1.0, 2.0794]
        """
    def softmax(self, dim: _b.int | None = None, dtype: Any = None, *, out: Tensor | None = None) -> Tensor:
        """Computes the softmax along `dim`: the form of `nn.functional.softmax` that is `paddle.softmax` and
        `Tensor.softmax`.

        Args:
            input: Tensor [...], floating.
            dim: int. Default: axis 0 of tensors of 0, 1 or 3 axes, otherwise axis 1.
            dtype: input is cast to this dtype first.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape of input; it sums to 1 along dim.
        Example:
            >>> paddle.to_tensor([1.0, 1.0]).softmax().tolist()
            [0.5, 0.5]
        """
    def solve(self, y: Tensor, left: _b.bool | _b.int | None = True, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Solves x @ out = y, or out @ x = y.

        Args:
            x: Tensor [..., n, n]. `A` is accepted as a name.
            y: Tensor [..., n, k], or [..., n] for vectors. `B` is accepted as a name.
            left: False solves out @ x = y.
        Returns:
            Tensor of y's shape.
        Raises:
            ValueError: the shapes do not fit, or a matrix is singular.
        Example:
            >>> paddle.linalg.solve(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]),
            ...                     paddle.to_tensor([2.0, 8.0])).tolist()
            [1.0, 2.0]
        """
    def sort(self, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = -1, descending: _b.bool | None = False, stable: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """Sorts along an axis.

        Args:
            x: Tensor [...].
            axis: int. `dim` is accepted as a name.
            descending: largest first.
            stable: accepted; equal elements always keep their order.
        Returns:
            Tensor of the shape and dtype of x. NaN counts as larger than all numbers.
        Example:
            >>> paddle.sort(paddle.to_tensor([3, 1, 2]), descending=True).tolist()
            [3, 2, 1]
        """
    def sparse_dim(self) -> Any:
        """How many of the axes are stored sparsely: none."""
    def split(self, num_or_sections: _b.int | Sequence[_b.int | Tensor], axis: Tensor | _b.int | np.integer | np.ndarray = 0, name: _b.str | None = None) -> _b.list[Tensor]:
        """Splits along an axis into equal parts, or into parts of given lengths.

        Args:
            x: Tensor [...].
            num_or_sections: int, the number of equal parts, or a list of lengths, one of which may be -1.
            axis: int or Tensor of one int.
        Returns:
            List of Tensors.
        Raises:
            ValueError: the parts do not fit the length of the axis.
        Example:
            >>> [p.tolist() for p in paddle.split(paddle.arange(4), [1, -1])]
            [[0], [1, 2, 3]]
        """
    def split_with_sizes(self, split_sizes: Any, dim: Any = 0) -> Any:
        """Splits into parts of the given lengths. See `split`.

        Example:
            >>> [p.tolist() for p in paddle.arange(3).split_with_sizes([1, 2])]
            [[0], [1, 2]]
        """
    def sqrt(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The square root of each element; NaN for negative real numbers.

        Args:
            x: Tensor [...]; integers are taken as float32.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.

        Example:
            >>> round(paddle.sqrt(paddle.to_tensor(4.0)).item(), 4)
            2.0
        """
    def sqrt_(self, name: _b.str | None = None) -> Tensor:
        """In-place sqrt: puts the result into its first argument and returns it. See `sqrt`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(4.0).sqrt_().item(), 4)
            2.0
        """
    def square(self, name: _b.str | None = None) -> Tensor:
        """The square of each element; integers stay integers.

        Args:
            x: Tensor [...].
        Returns:
            Tensor of the same shape.

        Example:
            >>> round(paddle.square(paddle.to_tensor(3.0)).item(), 4)
            9.0
        """
    def square_(self, name: _b.str | None = None) -> Tensor:
        """In-place square: puts the result into its first argument and returns it. See `square`.

        Args:
            x: Tensor [...].
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(3.0).square_().item(), 4)
            9.0
        """
    def squeeze(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, name: _b.str | None = None) -> Tensor:
        """Takes away axes of length 1.

        Args:
            x: Tensor [...].
            axis: int, list or tuple of ints: the axes to look at (those of another length stay). Default: all.
                `dim` is accepted as a name.
        Returns:
            Tensor with the same elements.
        Raises:
            ValueError: an axis is out of range.
        Example:
            >>> paddle.squeeze(paddle.ones([1, 3, 1]), 0).shape
            paddle.Size([3, 1])
        """
    def squeeze_(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, name: _b.str | None = None) -> Tensor:
        """In-place squeeze: puts the result into its first argument and returns it. See `squeeze`.

        Args:
            x: Tensor [...].
            axis: int, list or tuple of ints: the axes to look at (those of another length stay). Default: all.
                `dim` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: a leaf waits for a gradient.
        Example:
            >>> paddle.ones([1, 3, 1]).squeeze_(0).shape
            paddle.Size([3, 1])
        """
    def stack(self, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = 0, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Joins tensors of one shape along a new axis.

        Args:
            x: list or tuple of Tensors of one shape and dtype. `tensors` is accepted as a name.
            axis: where the new axis comes. `dim` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor with one axis more.
        Raises:
            ValueError: shapes or dtypes differ, or the axis is out of range.
        Example:
            >>> paddle.stack([paddle.ones([2]), paddle.zeros([2])]).tolist()
            [[1.0, 1.0], [0.0, 0.0]]
        """
    def stanh(self, scale_a: _b.float | Tensor | np.integer | np.floating | np.ndarray = 0.67, scale_b: _b.float | Tensor | np.integer | np.floating | np.ndarray = 1.7159, name: _b.str | None = None) -> Tensor:
        """scale_b * tanh(scale_a * x).

        Args:
            x: Tensor [...]; integers are taken as float32.
            scale_a, scale_b: numbers.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.stanh(paddle.to_tensor(1.0)).item(), 4)
            1.0038
        """
    def std(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, unbiased: _b.bool = True, keepdim: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """The standard deviation over the given axes: the square root of the variance.

        Args:
            x: Tensor [...]; the result of integers is float32.
            axis: int, list of ints, or None for all axes.
            unbiased: True divides by n - 1, False by n.
            keepdim: keep the reduced axes with length 1.
        Returns:
            Tensor of the shape of x without the axes.
        Raises:
            ValueError: an axis is out of range or given twice.
        Example:
            >>> paddle.std(paddle.to_tensor([1.0, 2.0, 3.0])).item()
            1.0
        """
    def stft(self, n_fft: _b.int, hop_length: _b.int | None = None, win_length: _b.int | Tensor | np.integer | np.ndarray | None = None, window: Tensor | None = None, center: _b.bool = True, pad_mode: _b.str = 'reflect', normalized: _b.bool = False, onesided: _b.bool | _b.int | None = None, name: _b.str | None = None) -> Tensor:
        """The short-time Fourier transform: `fft.fft` of windowed frames of a signal.

        Args:
            x: Tensor [n] or [batch, n], real or complex.
            n_fft: int, the length of a frame, at most n.
            hop_length: int > 0, the distance between the beginnings of two frames. Default: n_fft // 4.
            win_length: int, the length of the window, at most n_fft; zeros on both sides fill it
                up. Default: n_fft.
            window: Tensor [win_length]. Default: ones.
            center: continue x on both sides by n_fft // 2 elements, so that frame k is centred at k hop_length.
            pad_mode: how: "reflect" or "constant" (zeros).
            normalized: divide by sqrt(n_fft).
            onesided: keep the first n_fft // 2 + 1 frequencies, from which the others follow for real signals.
                Default: so for real x and window.
        Returns:
            Complex Tensor [frequencies, frames] or [batch, frequencies, frames].
        Raises:
            AssertionError: x is neither 1-D nor 2-D, a length or pad_mode is not allowed, the window has another
                length, or onesided is asked for of what is complex.
            TypeError: the dtypes of x and window do not go together.
        Example:
            >>> paddle.signal.stft(paddle.ones([8]), n_fft=4, hop_length=4, center=False).abs().tolist()
            [[4.0, 4.0], [0.0, 0.0], [0.0, 0.0]]
        """
    stop_gradient: _b.bool
    def stride(self, dim: Any = None) -> Any:
        """How far apart neighbours along each axis (or along `dim`) lie, in elements: always row by row.

        Example:
            >>> paddle.ones([2, 3]).stride()
            [3, 1]
        """
    def strided_slice(self, axes: Sequence[_b.int | Tensor], starts: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, ends: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, strides: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, name: _b.str | None = None) -> Tensor:
        """Cuts ranges with steps out of axes. Arguments as for `slice`.

        Args:
            strides: list or Tensor of the steps, not 0; a negative step goes backwards.
            x, axes, starts, ends: as for `slice`.
        Returns:
            Tensor with as many axes as x.
        Raises:
            ValueError: a stride is 0, an axis is out of range, or the lists differ in length.
        Example:
            >>> paddle.strided_slice(paddle.arange(6), [0], [5], [0], [-2]).tolist()
            [5, 3, 1]
        """
    @property
    def strides(self) -> Any: ...
    def sub(self, y: Tensor, name: _b.str | None = None, *, alpha: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1, out: Tensor | None = None) -> Tensor:
        """Subtracts elementwise: x - alpha * y, with broadcasting.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            alpha: number that y is multiplied with.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Example:
            >>> paddle.subtract(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 5.0])).tolist()
            [-2.0, -3.0]
        """
    def sub_(self, y: Tensor, name: _b.str | None = None, *, alpha: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1) -> Tensor:
        """In-place subtract: puts the result into its first argument and returns it. See `subtract`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            alpha: number that y is multiplied with.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, 2.0]).subtract_(paddle.to_tensor([3.0, 5.0])).tolist()
            [-2.0, -3.0]
        """
    def subtract(self, y: Tensor, name: _b.str | None = None, *, alpha: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1, out: Tensor | None = None) -> Tensor:
        """Subtracts elementwise: x - alpha * y, with broadcasting.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            alpha: number that y is multiplied with.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and the promoted dtype.
        Example:
            >>> paddle.subtract(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 5.0])).tolist()
            [-2.0, -3.0]
        """
    def subtract_(self, y: Tensor, name: _b.str | None = None, *, alpha: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1) -> Tensor:
        """In-place subtract: puts the result into its first argument and returns it. See `subtract`.

        Args:
            x: Tensor [...]. `input` is accepted as a name.
            y: Tensor broadcastable with x. `other` is accepted as a name.
            alpha: number that y is multiplied with.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.0, 2.0]).subtract_(paddle.to_tensor([3.0, 5.0])).tolist()
            [-2.0, -3.0]
        """
    def sum(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, dtype: _a.DTypeLike | _b.bool | None = None, keepdim: _b.bool = False, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """Sums elements over the given axes.

        Args:
            x: Tensor [...], any dtype; bool and int32 sum as int64. `input` is accepted as a name.
            axis: int, list of ints, or None (or an empty list) for all axes. `dim` is accepted as a name.
            dtype: dtype to cast to before summing, float16 and bfloat16 to integers after it; a bool here is
                taken for keepdim.
            keepdim: keep the summed axes with length 1.
            out: Tensor that receives the result.
        Returns:
            Tensor of x's shape without the summed axes.
        Raises:
            ValueError: an axis is out of range or given twice.
            TypeError: axis is not made of ints.
        Example:
            >>> paddle.sum(paddle.ones([2, 3]), axis=0).tolist()
            [2.0, 2.0, 2.0]
        """
    def svd_lowrank(self, q: Tensor | _b.int | np.integer | None = None, niter: _b.float | Tensor | np.integer | np.ndarray = 2, M: Tensor | None = None, name: _b.str | None = None) -> _b.tuple[Tensor, Tensor, Tensor]:
        """The q largest singular values and vectors by random projection.

        Args:
            x: Tensor [..., m, n].
            q: how many. Default: min(6, m, n).
            niter: number of power iterations; more are more exact.
            M: Tensor that is subtracted from x first.
        Returns:
            (U [..., m, q], S [..., q], V [..., n, q]) with x nearly U diag(S) V^H.
        Raises:
            ValueError: q or niter is out of range.
        Example:
            >>> [t.shape for t in paddle.linalg.svd_lowrank(paddle.ones([4, 3]), 2)]
            [paddle.Size([4, 2]), paddle.Size([2]), paddle.Size([3, 2])]
        """
    def swapaxes(self, perm: _b.bool | Sequence[_b.int | Tensor] | np.ndarray | _b.int | None = None, name: _b.str | _b.int | None = None, *, dim0: Any = None, dim1: Tensor | _b.int | np.integer | np.ndarray | None = None) -> Tensor:
        """Puts the axes in another order.

        Args:
            x: Tensor [...].
            perm: list of the axes in their new order. Two numbers, x.transpose(0, 1), swap those axes.
            dim0, dim1: the axes to swap, instead of perm. `axis0` and `axis1` are accepted as names.
        Returns:
            Tensor whose axis i is axis perm[i] of x.
        Raises:
            ValueError: perm does not name each axis once.
        Example:
            >>> paddle.transpose(paddle.ones([2, 3, 4]), [2, 0, 1]).shape
            paddle.Size([4, 2, 3])
        """
    def swapdims(self, perm: _b.bool | Sequence[_b.int | Tensor] | np.ndarray | _b.int | None = None, name: _b.str | _b.int | None = None, *, dim0: Any = None, dim1: Tensor | _b.int | np.integer | np.ndarray | None = None) -> Tensor:
        """Puts the axes in another order.

        Args:
            x: Tensor [...].
            perm: list of the axes in their new order. Two numbers, x.transpose(0, 1), swap those axes.
            dim0, dim1: the axes to swap, instead of perm. `axis0` and `axis1` are accepted as names.
        Returns:
            Tensor whose axis i is axis perm[i] of x.
        Raises:
            ValueError: perm does not name each axis once.
        Example:
            >>> paddle.transpose(paddle.ones([2, 3, 4]), [2, 0, 1]).shape
            paddle.Size([4, 2, 3])
        """
    def t(self, name: _b.str | None = None) -> Tensor:
        """Transposes a matrix; a vector or number stays as it is.

        Args:
            input: Tensor with at most two axes.
        Returns:
            Tensor with the same elements.
        Raises:
            ValueError: there are more than two axes.
        Example:
            >>> paddle.t(paddle.ones([2, 3])).shape
            paddle.Size([3, 2])
        """
    def t_(self, name: _b.str | None = None) -> Tensor:
        """In-place t: puts the result into its first argument and returns it. See `t`.

        Args:
            input: Tensor with at most two axes.
        Returns:
            The Tensor `input`.
        Raises:
            ValueError: a leaf waits for a gradient.
        Example:
            >>> paddle.ones([2, 3]).t_().shape
            paddle.Size([3, 2])
        """
    def take(self, index: Tensor, mode: _b.str = 'raise', name: _b.str | None = None) -> Tensor:
        """Takes elements of the flattened tensor.

        Args:
            x: Tensor [...].
            index: int32 or int64 Tensor of any shape; negative indices count from the end.
            mode: what happens to indices out of range: "raise", "wrap" (modulo the size) or "clip" (nearest end;
                negative ones become 0).
        Returns:
            Tensor of the shape of the index.
        Raises:
            ValueError: an index is out of range in mode "raise", or the mode is unknown.
            TypeError: the index is no integer.
        Example:
            >>> paddle.take(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([3, 0])).tolist()
            [4, 1]
        """
    def take_along_axis(self, indices: Tensor, axis: _b.int | Tensor | np.integer, broadcast: _b.bool = True, *, out: Tensor | None = None) -> Tensor:
        """Takes one element per index along an axis: out[i][j] = arr[i][indices[i][j]] for axis 1.

        Args:
            arr: Tensor [...]. `input` is accepted as a name.
            indices: int32 or int64 Tensor of as many axes; negative indices count from the end.
            axis: int. `dim` is accepted as a name.
            broadcast: broadcast indices and arr against each other along the other axes; False takes the
                leading part of arr.
            out: Tensor that receives the result.
        Returns:
            Tensor of the (broadcast) shape of indices.
        Raises:
            IndexError: an index is out of range.
            ValueError: the shapes do not fit.
            AssertionError: the axis is out of range.
        Example:
            >>> paddle.take_along_axis(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]]),
            ...                        1).tolist()
            [[2], [3]]
        """
    def take_along_dim(self, indices: Tensor, axis: _b.int | Tensor | np.integer, broadcast: _b.bool = True, *, out: Tensor | None = None) -> Tensor:
        """Takes one element per index along an axis: out[i][j] = arr[i][indices[i][j]] for axis 1.

        Args:
            arr: Tensor [...]. `input` is accepted as a name.
            indices: int32 or int64 Tensor of as many axes; negative indices count from the end.
            axis: int. `dim` is accepted as a name.
            broadcast: broadcast indices and arr against each other along the other axes; False takes the
                leading part of arr.
            out: Tensor that receives the result.
        Returns:
            Tensor of the (broadcast) shape of indices.
        Raises:
            IndexError: an index is out of range.
            ValueError: the shapes do not fit.
            AssertionError: the axis is out of range.
        Example:
            >>> paddle.take_along_axis(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]]),
            ...                        1).tolist()
            [[2], [3]]
        """
    def tan(self, name: _b.str | None = None) -> Tensor:
        """The tangent of angles in radians.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            Tensor of the same shape.
        Example:
            >>> round(paddle.tan(paddle.to_tensor(0.0)).item(), 4)
            0.0
        """
    def tan_(self, name: _b.str | None = None) -> Tensor:
        """In-place tan: puts the result into its first argument and returns it. See `tan`.

        Args:
            x: Tensor [...]; integers are taken as float32.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).tan_().item(), 4)
            0.0
        """
    def tanh(self, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic tangent.

        Args:
            x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
            out: Tensor that receives the result.
        Returns:
            Tensor of the same shape.

        Example:
            >>> round(paddle.tanh(paddle.to_tensor(0.0)).item(), 4)
            0.0
        """
    def tanh_(self, name: _b.str | None = None) -> Tensor:
        """In-place tanh: puts the result into its first argument and returns it. See `tanh`.

        Args:
            x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> round(paddle.to_tensor(0.0).tanh_().item(), 4)
            0.0
        """
    def tensor_split(self, num_or_indices: _b.int | Sequence[_b.int | Tensor], axis: _b.int | Tensor | np.integer | np.ndarray = 0, name: _b.str | None = None) -> _b.list[Tensor]:
        """Splits along an axis into parts of nearly equal length, or before given indices.

        Args:
            x: Tensor [...].
            num_or_indices: int, the number of parts (the first ones are longer by one where it does not divide),
                or a list of ints, where to cut. `sections`, `indices` and `indices_or_sections` are
                accepted as names.
            axis: int. `dim` is accepted as a name.
        Returns:
            List of Tensors.
        Raises:
            ValueError: the number is not positive, or the axis is out of range.
        Example:
            >>> [p.tolist() for p in paddle.tensor_split(paddle.arange(5), 2)]
            [[0, 1, 2], [3, 4]]
        """
    def tensordot(self, y: Sequence[Tensor] | Tensor, axes: _b.int | Tensor | Sequence[_b.int | Tensor] | Sequence[Sequence[Any]] | np.integer | np.ndarray = 2, name: _b.str | None = None) -> Tensor:
        """Sums products over axes of x and y.

        Args:
            x, y: Tensors.
            axes: int: the last ones of x with the first ones of y. A list of ints: these axes of both. A pair of
                lists: these of x with those of y (the shorter list is completed by the longer). A
                Tensor of these.
        Returns:
            Tensor with the other axes of x, then those of y.
        Raises:
            AssertionError: the lengths of paired axes differ.
        Example:
            >>> paddle.tensordot(paddle.ones([2, 3]), paddle.ones([3, 4]), 1).shape
            paddle.Size([2, 4])
        """
    def tile(self, repeat_times: Tensor | _b.int | Sequence[_b.int | Tensor] | np.integer | np.ndarray, name: _b.str | None = None) -> Tensor:
        """Repeats the whole tensor along its axes.

        Args:
            x: Tensor [...].
            repeat_times: int, list, tuple or 1-D int Tensor, the last one for the last axis. `dims` is
                accepted as a name.
        Returns:
            Tensor whose axes are as many times as long.
        Raises:
            ValueError: a number is negative.
        Example:
            >>> paddle.tile(paddle.to_tensor([1, 2]), [2]).tolist()
            [1, 2, 1, 2]
        """
    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """A copy on another device or in another dtype; the tensor itself when nothing changes.

        Called as to(device, dtype, blocking), to(dtype, blocking) or to(other, blocking), positionally or by
        these names. With copy=True it is a copy in any case.

        Args:
            device: "cpu", "gpu:0", a Place.
            dtype: dtype in any spelling.
            other: Tensor whose device and dtype are taken.
            blocking: accepted; XLA orders transfers itself.
        Raises:
            TypeError: no argument, too many or unknown ones are given.
            ValueError: there is no such device or dtype.
        Example:
            >>> paddle.to_tensor([1.5]).to("int32").tolist()
            [1]
        """
    to_dense: Any
    def to_sparse_coo(self, sparse_dim: _b.int) -> Any:
        """The elements that are not 0 by coordinates, with gradients.

        Args:
            sparse_dim: number of leading axes that get coordinates; what lies behind is kept whole.
        Returns:
            SparseCooTensor.
        Raises:
            ValueError: there are not so many axes.
        Example:
            >>> paddle.to_tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse_coo(2).values().tolist()
            [2.0]
        """
    def to_sparse_csr(self) -> Any:
        """The elements of a matrix, or of a stack of matrices, that are not 0 by rows, with gradients.

        Returns:
            SparseCsrTensor.
        Raises:
            ValueError: the Tensor has not two or three axes.
        Example:
            >>> paddle.to_tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse_csr().cols().tolist()
            [1]
        """
    def tolist(self) -> Any: ...
    def top_p_sampling(self, ps: Tensor, threshold: Tensor | None = None, topp_seed: Any = None, seed: Any = -1, k: Any = 0, mode: _b.str = 'truncated', return_top: _b.bool = False, name: _b.str | None = None) -> Any:
        """Draws one class of each row among the likeliest ones that together reach the probability ps.

        Args:
            x: floating Tensor [rows, classes] of probabilities.
            ps: Tensor [rows] or [rows, 1], in (0, 1].
            threshold: Tensor [rows]: classes below this probability are never drawn.
            k: with return_top, how many of the likeliest classes are returned too.
            return_top: also return (top probabilities, top classes) [rows, k].
            topp_seed, seed, mode: accepted; the draw follows the default generator.
        Returns:
            Tuple (probabilities [rows, 1], classes int64 [rows, 1]).
        Example:
            >>> paddle.to_tensor([[0.1, 0.9]]).top_p_sampling(paddle.to_tensor([0.5]))[1].tolist()
            [[1]]
        """
    def topk(self, k: Tensor | _b.int | _b.float | np.integer | np.ndarray, axis: Tensor | _b.int | np.integer | None = None, largest: _b.bool | None = True, sorted: _b.bool | None = True, name: _b.str | None = None, *, out: Tensor | None = None) -> Any:
        """The k largest (or smallest) elements along an axis, in order, and their indices.

        Args:
            x: Tensor [...], numeric.
            k: how many, int or Tensor of one int.
            axis: Default: the last. `dim` is accepted as a name.
            largest: False looks for the smallest.
            sorted: accepted; the result is always in order.
            out: tuple of two Tensors that receive values and indices.
        Returns:
            Named tuple (values, indices int64). Of equal elements the first come first.
        Raises:
            ValueError: k is not in 1..length, or the axis is out of range.
        Example:
            >>> values, indices = paddle.topk(paddle.to_tensor([1.0, 3.0, 2.0]), 2); indices.tolist()
            [1, 2]
        """
    def trace(self, offset: _b.int | Tensor | np.integer = 0, axis1: _b.int | Tensor | np.integer = 0, axis2: _b.int | Tensor | np.integer = 1, name: _b.str | None = None) -> Tensor:
        """The sum of a diagonal of a matrix.

        Args:
            x: Tensor with at least two axes. `input` is accepted as a name.
            offset: which diagonal; positive ones lie above the main one.
            axis1, axis2: the axes of the matrices.
        Returns:
            Tensor of x's shape without the two axes.
        Raises:
            IndexError: an axis is out of range.
            ValueError: the axes are the same.
        Example:
            >>> paddle.trace(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).item()
            5.0
        """
    def transpose(self, perm: _b.bool | Sequence[_b.int | Tensor] | np.ndarray | _b.int | None = None, name: _b.str | _b.int | None = None, *, dim0: Any = None, dim1: Tensor | _b.int | np.integer | np.ndarray | None = None) -> Tensor:
        """Puts the axes in another order.

        Args:
            x: Tensor [...].
            perm: list of the axes in their new order. Two numbers, x.transpose(0, 1), swap those axes.
            dim0, dim1: the axes to swap, instead of perm. `axis0` and `axis1` are accepted as names.
        Returns:
            Tensor whose axis i is axis perm[i] of x.
        Raises:
            ValueError: perm does not name each axis once.
        Example:
            >>> paddle.transpose(paddle.ones([2, 3, 4]), [2, 0, 1]).shape
            paddle.Size([4, 2, 3])
        """
    def transpose_(self, perm: _b.bool | Sequence[_b.int | Tensor] | np.ndarray | _b.int | None = None, name: _b.str | _b.int | None = None, *, dim0: Any = None, dim1: Tensor | _b.int | np.integer | np.ndarray | None = None) -> Tensor:
        """In-place transpose: puts the result into its first argument and returns it. See `transpose`.

        Args:
            x: Tensor [...].
            perm: list of the axes in their new order. Two numbers, x.transpose(0, 1), swap those axes.
            dim0, dim1: the axes to swap, instead of perm. `axis0` and `axis1` are accepted as names.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: a leaf waits for a gradient.
        Example:
            >>> paddle.ones([2, 3, 4]).transpose_([2, 0, 1]).shape
            paddle.Size([4, 2, 3])
        """
    def trapezoid(self, x: Tensor | None = None, dx: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = -1, name: _b.str | None = None) -> Tensor:
        """The integral of sampled values along an axis by the trapezoid rule.

        Args:
            y: floating Tensor [...], the samples.
            x: Tensor of sample points, 1-d or of y's shape.
            dx: distance between sample points; it gets no gradient. Default: 1.
            axis: int.
        Returns:
            Tensor of y's shape without the axis.
        Raises:
            ValueError: both x and dx are given.
            TypeError: y is not floating.
        Example:
            >>> paddle.trapezoid(paddle.to_tensor([4.0, 5.0, 6.0])).item()
            10.0
        """
    def triangular_solve(self, y: Tensor, upper: _b.bool | None = True, transpose: _b.bool = False, unitriangular: _b.bool | None = False, name: _b.str | None = None) -> Tensor:
        """Solves x @ out = y for a triangular x.

        Args:
            x: Tensor [..., n, n]; only one triangle is read.
            y: Tensor [..., n, k].
            upper: which triangle.
            transpose: solve with the transpose of x.
            unitriangular: take the diagonal as ones.
        Returns:
            Tensor [..., n, k].
        Raises:
            ValueError: the shapes do not fit.
        Example:
            >>> paddle.linalg.triangular_solve(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]),
            ...                                paddle.to_tensor([[2.0], [8.0]])).tolist()
            [[1.0], [2.0]]
        """
    def tril(self, diagonal: _b.int | Tensor | np.integer = 0, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The lower triangles of matrices; what lies above becomes 0.

        Args:
            x: Tensor [..., n, m].
            diagonal: the last diagonal that stays: 0 the main one, positive above it, negative below.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape and dtype of x.
        Raises:
            ValueError: x has fewer than 2 axes.
        Example:
            >>> paddle.tril(paddle.ones([2, 2])).tolist()
            [[1.0, 0.0], [1.0, 1.0]]
        """
    def tril_(self, diagonal: _b.int | Tensor | np.integer = 0, name: _b.str | None = None) -> Tensor:
        """In-place tril: puts the result into its first argument and returns it. See `tril`.

        Args:
            x: Tensor [..., n, m].
            diagonal: the last diagonal that stays: 0 the main one, positive above it, negative below.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.ones([2, 2]).tril_().tolist()
            [[1.0, 0.0], [1.0, 1.0]]
        """
    def triu(self, diagonal: _b.int | Tensor | np.integer = 0, name: _b.str | None = None, *, out: Tensor | None = None) -> Tensor:
        """The upper triangles of matrices; what lies below becomes 0. Arguments as for `tril`.

        Args:
            x: Tensor [..., n, m].
            diagonal: the first diagonal that stays: 0 the main one, positive above it, negative below.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape and dtype of x.
        Example:
            >>> paddle.triu(paddle.ones([2, 2])).tolist()
            [[1.0, 1.0], [0.0, 1.0]]
        """
    def triu_(self, diagonal: _b.int | Tensor | np.integer = 0, name: _b.str | None = None) -> Tensor:
        """In-place triu: puts the result into its first argument and returns it. See `triu`.

        Args:
            x: Tensor [..., n, m].
            diagonal: the first diagonal that stays: 0 the main one, positive above it, negative below.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.ones([2, 2]).triu_().tolist()
            [[1.0, 1.0], [0.0, 1.0]]
        """
    def true_divide(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Divides elementwise, with broadcasting; integers give float32. What the operator / computes.

        Args:
            input: Tensor [...].
            other: Tensor broadcastable with input, or a number.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape.
        Example:
            >>> paddle.true_divide(paddle.to_tensor([1, 4]), paddle.to_tensor([2, 2])).tolist()
            [0.5, 2.0]
        """
    def trunc(self, name: _b.str | None = None) -> Tensor:
        """Drops the fractional part. Arguments as for `floor`.

        Args:
            input: Tensor [...].
        Returns:
            Tensor of the shape and dtype of input.
        Example:
            >>> paddle.trunc(paddle.to_tensor([1.5, -1.5])).tolist()
            [1.0, -1.0]
        """
    def trunc_(self, name: _b.str | None = None) -> Tensor:
        """In-place trunc: puts the result into its first argument and returns it. See `trunc`.

        Args:
            input: Tensor [...].
        Returns:
            The Tensor `input`.
        Raises:
            ValueError: the result has another shape, or a leaf waits for a gradient.
        Example:
            >>> paddle.to_tensor([1.5, -1.5]).trunc_().tolist()
            [1.0, -1.0]
        """
    @property
    def type(self) -> Any: ...
    def type_as(self, other: Tensor) -> Tensor:
        """The tensor in the dtype of another one; itself where it has that dtype.

        Example:
            >>> paddle.to_tensor([1.5]).type_as(paddle.to_tensor([1])).tolist()
            [1]
        """
    def uint8(self) -> Any:
        """The tensor in the dtype uint8; itself where it has that dtype. See `cast`."""
    def unbind(self, axis: _b.int | Sequence[_b.int] | None = 0) -> Any:
        """Takes the slices along an axis, which vanishes. They are views, as `x[i]` is one.

        Args:
            input: Tensor [...].
            axis: int. `dim` is accepted as a name.
        Returns:
            List of Tensors, one per index of the axis.
        Raises:
            ValueError: the axis is out of range.
        Example:
            >>> [t.tolist() for t in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]))]
            [[1, 2], [3, 4]]
        """
    def unflatten(self, axis: _b.int | Tensor | np.integer | np.ndarray, shape: Tensor | Sequence[_b.int | Tensor], name: _b.str | None = None) -> Tensor:
        """Splits one axis into several.

        Args:
            x: Tensor [...].
            axis: int. `dim` is accepted as a name.
            shape: list, tuple or Tensor of the new lengths, one may be -1. `sizes` is accepted as a name.
        Returns:
            Tensor with the same elements.
        Raises:
            ValueError: the lengths do not multiply to that of the axis.
            AssertionError: the axis is out of range.
            TypeError: shape is not a list, tuple or Tensor.
        Example:
            >>> paddle.unflatten(paddle.ones([2, 6]), 1, [3, -1]).shape
            paddle.Size([2, 3, 2])
        """
    def unfold(self, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None, size: Tensor | _b.int | np.integer, step: Tensor | _b.int | np.integer, name: _b.str | None = None) -> Tensor:
        """All windows of `size` elements along an axis, `step` apart, along a new last axis: a view where
        they do not overlap, else a copy.

        Args:
            x: Tensor [...].
            axis: int. `dimension` is accepted as a name.
            size: int, at most the length of the axis.
            step: int > 0.
        Returns:
            Tensor with one axis more, of length size; the axis has the number of windows as its length.
        Raises:
            ValueError: size or step does not fit.
        Example:
            >>> paddle.unfold(paddle.arange(4), 0, 2, 1).tolist()
            [[0, 1], [1, 2], [2, 3]]
        """
    def uniform_(self, min: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 0, max: Tensor | _b.int | _b.float | np.integer | np.floating | np.ndarray = 1.0, seed: Tensor | _b.int | np.integer = 0, name: _b.str | None = None, **names: Any) -> Tensor:
        """Fills a tensor in place with uniform random numbers on [min, max).

        Args:
            x: floating Tensor.
            min, max: numbers. `from` and `to` are accepted as names.
            seed: a number other than 0 gives the same numbers at each call.
        Returns:
            x.
        Raises:
            ValueError: min is not below max.
        Example:
            >>> paddle.zeros([2]).uniform_(2.0, 3.0).shape
            paddle.Size([2])
        """
    def unique(self, return_index: _b.bool | None = False, return_inverse: _b.bool | None = False, return_counts: _b.bool | None = False, axis: _b.int | Tensor | np.integer | None = None, dtype: _a.DTypeLike = 'int64', sorted: _b.bool = True, name: _b.str | None = None) -> Any:
        """The distinct elements, or distinct slices along an axis, in ascending order.

        Args:
            x: Tensor [...].
            return_index: also the index of the first occurrence of each.
            return_inverse: also, for each element of x, its index among the distinct ones.
            return_counts: also how often each occurs.
            axis: int. Default: the flattened tensor.
            dtype: int64 or int32, of the index tensors.
            sorted: accepted; the result is always sorted.
        Returns:
            Tensor, or a tuple (distinct, index, inverse, counts) of what was asked for.
        Raises:
            ValueError: the axis is out of range, or dtype is no index.
        Example:
            >>> distinct, counts = paddle.unique(paddle.to_tensor([3, 1, 3]), return_counts=True)
            >>> (distinct.tolist(), counts.tolist())
            ([1, 3], [1, 2])
        """
    def unique_consecutive(self, return_inverse: _b.bool | None = False, return_counts: _b.bool | None = False, axis: _b.int | Tensor | np.integer | None = None, dtype: _a.DTypeLike = 'int64', name: _b.str | None = None) -> Any:
        """The first of each run of equal elements, or of equal slices along an axis.

        Args:
            x: Tensor [...].
            return_inverse: also, for each element of x, the number of its run.
            return_counts: also the lengths of the runs.
            axis: int. Default: the flattened tensor. `dim` is accepted as a name.
            dtype: int64 or int32, of the index tensors.
        Returns:
            Tensor, or a tuple (elements, inverse, counts) of what was asked for.
        Raises:
            ValueError: the axis is out of range, or dtype is no index.
        Example:
            >>> paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 1])).tolist()
            [1, 2, 1]
        """
    def unsqueeze(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None, name: _b.str | None = None) -> Tensor:
        """Inserts axes of length 1.

        Args:
            x: Tensor [...].
            axis: int, list, tuple or Tensor of ints: where; several are inserted one after the other. `dim` is
                accepted as a name.
        Returns:
            Tensor with the same elements.
        Raises:
            ValueError: an axis is out of range.
        Example:
            >>> paddle.unsqueeze(paddle.ones([3]), [0, 2]).shape
            paddle.Size([1, 3, 1])
        """
    def unsqueeze_(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None, name: _b.str | None = None) -> Tensor:
        """In-place unsqueeze: puts the result into its first argument and returns it. See `unsqueeze`.

        Args:
            x: Tensor [...].
            axis: int, list, tuple or Tensor of ints: where; several are inserted one after the other. `dim` is
                accepted as a name.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: a leaf waits for a gradient.
        Example:
            >>> paddle.ones([3]).unsqueeze_([0, 2]).shape
            paddle.Size([1, 3, 1])
        """
    def unstack(self, axis: _b.int | Sequence[_b.int] | Tensor | np.integer | None = 0, num: Any = None) -> _b.list[Tensor]:
        """Takes the slices along an axis, which vanishes: the reverse of `stack`.

        Args:
            x: Tensor [...].
            axis: int.
            num: the length of the axis, for a check.
        Returns:
            List of Tensors.
        Raises:
            ValueError: the axis is out of range or its length is not num.
        Example:
            >>> len(paddle.unstack(paddle.ones([2, 3]), axis=1))
            3
        """
    def value(self) -> Any:
        """The tensor itself, as older programs expect it behind a variable."""
    values: Any
    def vander(self, n: Tensor | _b.int | np.integer | None = None, increasing: _b.bool = False, name: _b.str | None = None) -> Tensor:
        """The Vandermonde matrix: row i holds the powers of x[i].

        Args:
            x: Tensor [m].
            n: number of columns. Default: m.
            increasing: powers rise from 0 instead of falling to 0.
        Returns:
            Tensor [m, n].
        Raises:
            ValueError: x is not 1-d or n is negative.
        Example:
            >>> paddle.vander(paddle.to_tensor([2, 3]), 3).tolist()
            [[4, 2, 1], [9, 3, 1]]
        """
    def var(self, axis: _b.int | Sequence[_b.int | Tensor] | Tensor | np.integer | np.ndarray | None = None, unbiased: _b.bool | None = None, keepdim: _b.bool | None = False, name: _b.str | None = None, *, correction: _b.int | Tensor | _b.float | np.integer | np.floating | np.ndarray = 1, out: Tensor | None = None) -> Tensor:
        """The variance over the given axes.

        Args:
            x: Tensor [...]. Integers are computed as integers. `input` is accepted as a name.
            axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
            unbiased: True divides by n - 1, False by n.
            keepdim: keep the reduced axes with length 1.
            correction: divide by n - correction; give either this or unbiased.
            out: Tensor that receives the result.
        Returns:
            Tensor of the shape of x without the axes.
        Raises:
            ValueError: an axis is out of range or given twice, or both unbiased and correction are given.
        Example:
            >>> paddle.var(paddle.to_tensor([1.0, 2.0, 3.0])).item()
            1.0
        """
    @overload
    def view(self, shape_or_dtype: _b.str | _DType | Sequence[_b.int | Tensor], name: _b.str | None = None) -> Tensor: ...
    @overload
    def view(self, *shape_or_dtype: _b.int | Tensor, name: _b.str | None = None) -> Tensor:
        """Reads the elements with another shape, or their bytes as another dtype (the last axis shrinks
        or grows to fit).

        Args:
            x: Tensor [...].
            shape_or_dtype: list or tuple of ints as for `reshape`, or a dtype. `size` and `dtype` are
                accepted as names.
        Returns:
            Tensor that shares its elements with x.
        Raises:
            ValueError: the number of elements, or of bytes on the last axis, does not fit.
        Example:
            >>> paddle.view(paddle.ones([2]), "int32").tolist()
            [1065353216, 1065353216]
        """
    def view_as(self, other: Tensor, name: _b.str | None = None) -> Tensor:
        """Gives x the shape of `other`.

        Args:
            x: Tensor [...].
            other: Tensor with as many elements.
        Returns:
            Tensor of the shape of other, which shares its elements with x.
        Raises:
            ValueError: the numbers of elements differ.
        Example:
            >>> paddle.view_as(paddle.arange(6), paddle.ones([2, 3])).shape
            paddle.Size([2, 3])
        """
    def view_as_complex(self) -> Tensor:
        """The same as `as_complex`.

        Args:
            input: floating Tensor [..., 2].
        Returns:
            complex Tensor [...].
        Example:
            >>> paddle.view_as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
            [(1+2j)]
        """
    def view_as_real(self) -> Tensor:
        """The same as `as_real`.

        Args:
            input: complex Tensor [...].
        Returns:
            floating Tensor [..., 2].
        Example:
            >>> paddle.view_as_real(paddle.to_tensor([1 + 2j])).tolist()
            [[1.0, 2.0]]
        """
    def vsplit(self, num_or_indices: _b.int | Sequence[_b.int | Tensor], name: _b.str | None = None) -> _b.list[Tensor]:
        """Splits along the first axis. See `tensor_split`.

        Args:
            x: Tensor [...].
            num_or_indices: int, how many parts; or list of the positions to cut at.
        Returns:
            list of Tensors.
        Example:
            >>> len(paddle.vsplit(paddle.ones([4, 2]), 2))
            2
        """
    def vstack(self, name: _b.str | None = None) -> Tensor:
        """Joins tensors on top of each other: along the first axis, 1-D ones as rows. See `hstack`.

        Args:
            x: list or tuple of Tensors of one dtype.
        Returns:
            Tensor.
        Example:
            >>> paddle.vstack([paddle.ones([2]), paddle.zeros([2])]).shape
            paddle.Size([2, 2])
        """
    def where(self, x: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, y: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, name: _b.str | None = None, *, out: Tensor | None = None) -> Any:
        """Takes x where the condition is true and y elsewhere; without x and y the indices of the true elements.

        Args:
            condition: bool Tensor [...].
            x, y: Tensors or numbers that broadcast with the condition. `input` and `other` are accepted as names.
            out: Tensor that receives the result.
        Returns:
            Tensor of the broadcast shape and common dtype; without x and y a tuple of int64 Tensors as
            `nonzero(condition, as_tuple=True)`.
        Raises:
            ValueError: the condition is not bool, only one of x and y is given, or shapes do not broadcast.
            TypeError: the dtypes of x and y do not promote.
        Example:
            >>> x = paddle.to_tensor([1.0, -2.0]); paddle.where(x > 0, x, 0.0).tolist()
            [1.0, 0.0]
        """
    def where_(self, x: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, y: Tensor | _b.int | _b.float | _b.complex | np.integer | np.floating | None = None, name: _b.str | None = None) -> Tensor:
        """In-place where: puts the result into x and returns it. See `where`.

        Args:
            condition: bool Tensor [...].
            x, y: Tensors that broadcast with the condition; x has the broadcast shape.
        Returns:
            The Tensor `x`.
        Raises:
            ValueError: the result is larger than x.
        Example:
            >>> x = paddle.to_tensor([1.0, -2.0]); paddle.where_(x > 0, x, paddle.zeros([2])).tolist()
            [1.0, 0.0]
        """
    def zero_(self) -> Tensor:
        """Fills the tensor in place with zeros; returns it.

        Example:
            >>> paddle.ones([2]).zero_().tolist()
            [0.0, 0.0]
        """
    def _adopt(self, *args: Any, **kwargs: Any) -> Any: ...
    _after_backward: Any
    _alias: Any
    def _assign_raw(self, *args: Any, **kwargs: Any) -> Any: ...
    def _bump_inplace_version(self, *args: Any, **kwargs: Any) -> Any: ...
    def _clear(self, *args: Any, **kwargs: Any) -> Any: ...
    def _clear_data(self, *args: Any, **kwargs: Any) -> Any: ...
    def _clear_dataptr(self, *args: Any, **kwargs: Any) -> Any: ...
    def _copy_gradient_from(self, *args: Any, **kwargs: Any) -> Any: ...
    def _copy_to(self, *args: Any, **kwargs: Any) -> Any: ...
    _dist: Any
    def _end_history(self, *args: Any, **kwargs: Any) -> Any: ...
    def _fill(self, *args: Any, **kwargs: Any) -> Any: ...
    def _getitem_dygraph(self, *args: Any, **kwargs: Any) -> Any: ...
    def _getitem_from_offset(self, *args: Any, **kwargs: Any) -> Any: ...
    _grad: Any
    def _grad_ivar(self, *args: Any, **kwargs: Any) -> Any: ...
    def _grad_name(self, *args: Any, **kwargs: Any) -> Any: ...
    def _grad_value(self, *args: Any, **kwargs: Any) -> Any: ...
    def _holder_size(self, *args: Any, **kwargs: Any) -> Any: ...
    _hooks: Any
    _idx: Any
    def _inplace_assign(self, *args: Any, **kwargs: Any) -> Any: ...
    def _inplace_version(self, *args: Any, **kwargs: Any) -> Any: ...
    def _is_dense_tensor_hold_allocation(self, *args: Any, **kwargs: Any) -> Any: ...
    def _is_initialized(self, *args: Any, **kwargs: Any) -> Any: ...
    def _is_shared_buffer_with(self, *args: Any, **kwargs: Any) -> Any: ...
    def _is_shared_underline_tensor_with(self, *args: Any, **kwargs: Any) -> Any: ...
    _local_shape: Any
    def _local_value(self, *args: Any, **kwargs: Any) -> Any: ...
    def _md5sum(self, *args: Any, **kwargs: Any) -> Any: ...
    _name: Any
    _node: Any
    def _numel(self, *args: Any, **kwargs: Any) -> Any: ...
    def _offset(self, *args: Any, **kwargs: Any) -> Any: ...
    _persistable: Any
    _place_str: Any
    def _placements_str(self, *args: Any, **kwargs: Any) -> Any: ...
    _raw: Any
    def _rebind(self, *args: Any, **kwargs: Any) -> Any: ...
    def _register_backward_hook(self, *args: Any, **kwargs: Any) -> Any: ...
    def _register_grad_hook(self, *args: Any, **kwargs: Any) -> Any: ...
    def _remove_grad_hook(self, *args: Any, **kwargs: Any) -> Any: ...
    def _reset_grad_inplace_version(self, *args: Any, **kwargs: Any) -> Any: ...
    def _set_grad_ivar(self, *args: Any, **kwargs: Any) -> Any: ...
    def _setitem_dygraph(self, *args: Any, **kwargs: Any) -> Any: ...
    def _share_buffer_to(self, *args: Any, **kwargs: Any) -> Any: ...
    def _share_underline_tensor_to(self, *args: Any, **kwargs: Any) -> Any: ...
    def _single_element(self, *args: Any, **kwargs: Any) -> Any: ...
    def _slice(self, *args: Any, **kwargs: Any) -> Any: ...
    def _snapshot(self, *args: Any, **kwargs: Any) -> Any: ...
    _stop: Any
    def _to(self, *args: Any, **kwargs: Any) -> Any: ...
    def _to_static_var(self, *args: Any, **kwargs: Any) -> Any: ...
    def _unsafe_share_buffer_to(self, *args: Any, **kwargs: Any) -> Any: ...
    _value: Any
    _version: Any
    def _zero_grads(self, *args: Any, **kwargs: Any) -> Any: ...


class Parameter(Tensor):
    def __deepcopy__(self, memo: _b.dict[Any, Any]) -> Any: ...
    def __init__(self, value: Tensor | None = None, requires_grad: _b.bool = True, name: _b.str | None = None, *, trainable: _b.bool | None = None) -> None: ...
    def __repr__(self) -> _b.str: ...
    def __str__(self) -> _b.str: ...
    @classmethod
    def from_tensor(cls: Any, tensor: Any, **kwargs: Any) -> Any: ...
    def initialize(self) -> Any: ...
    def set_init_func(self, obj: Callable[[Any], Any]) -> Any: ...
    trainable: _b.bool

def tensor_method(attribute: Any) -> Any: ...
def _value_of_data(data: Any, np_dtype: np.dtype | None, place: _a.DeviceLike | None) -> Any: ...
def _is_valid_index(index: _b.tuple[_b.int, ...], array: np.ndarray) -> Any: ...
def init_tensor(t: Any, value: Any, stop_gradient: Any) -> Any: ...
def wrap(value: Any, stop_gradient: _b.bool = True, node: Any = None, idx: _b.int = 0) -> Any: ...
def read_raw(tensor: Tensor) -> Any: ...
def assign_all(tensors: Sequence[Tensor], values: Sequence[Any]) -> Any: ...

class NumberTensor(Tensor):
    ...

def raw_for_trace(tensor: Tensor) -> Any: ...
def host_value(tensor: Tensor, op: _b.str, instead: _b.str = '') -> Any: ...
def host_elements(tensor: Tensor) -> Any: ...
def _unpickle(cls: Any, array: Any, stop_gradient: _b.bool, persistable: _b.bool, name: _b.str | None, attributes: _b.dict[Any, Any]) -> Any: ...
