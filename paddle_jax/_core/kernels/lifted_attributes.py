"""Float attributes that change from call to call: after two values they become operands of one kernel.

An attribute is compiled in, so a slope, a probability or a temperature that a schedule moves would be
compiled again at each step. The body of the op is traced with a `Number` in its place, which computes with an
operand and compares by its value. The outcomes of comparisons in the body (`p < 0`, `p == 1`) are conditions
for other values. If a body does anything else with the number, it stays an attribute. It also does if a
function keeps the number that runs after the trace: one on the host, or a rule of a gradient.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax._src.lax.lax import (
    _convert_element_type,  # the public one cannot make a number that takes on the dtype of what it meets
)

from paddle_jax._core.base.caller_info import is_unrelated_error, origin
from paddle_jax._core.base.interrupt_safe import preserved_tracing
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.kernels.kernel_families import KernelFamilies

if TYPE_CHECKING:
    from paddle_jax._core.ops.op import Op
    from paddle_jax._core.tensors.tensor import Tensor

_MAX_KNOWN = 4096
# Python's floats have 64 bits.
NUMBER = np.dtype(np.float64)
_VARYING = object()  # stands for a float attribute in a key


class _NumberTrace:
    """What one trace of a body does with its numbers.

    Attributes:
        comparisons: list of (comparison, function, function, result) of all comparisons so far.
        numbers: list of weak references to all Numbers so far.
    """

    def __init__(self) -> None:
        self.comparisons: list[Any] = []
        self.numbers: list[weakref.ref[Number]] = []

    def outlived(self) -> bool:
        """Whether something still holds a number."""
        return any(number() is not None for number in self.numbers)


class Number:
    """A float attribute while the body of an op is traced.

    Attributes:
        value: float, the attribute itself.
        traced: the operand.
        function: function that gives the float from the attributes of another call.
        trace: _NumberTrace, which notes what the body does with it.
    """

    __slots__ = ("__weakref__", "function", "trace", "traced", "value")
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(
        self, value: Any, traced: Any, function: Callable[[Sequence[float]], Any], trace: _NumberTrace
    ) -> None:
        self.value: Any = value
        self.traced: Any = traced
        self.function: Callable[..., Any] = function
        self.trace: _NumberTrace = trace
        trace.numbers.append(weakref.ref(self))

    def __jax_array__(self) -> Any:
        return self.traced

    def _compute(self, operation: Callable[[Any, Any], Any], other: Any, swapped: bool) -> Any:
        # Beside an array the number is an array itself.
        if not isinstance(other, int | float | Number):
            if swapped:
                return operation(other, self.traced)
            return operation(self.traced, other)
        left, right = (other, self) if swapped else (self, other)
        left_function = _function(left)
        right_function = _function(right)
        return Number(
            operation(_value(left), _value(right)),
            operation(_traced(left), _traced(right)),
            lambda values: operation(left_function(values), right_function(values)),
            self.trace,
        )

    def _compare(self, comparison: Callable[[Any, Any], Any], other: Any) -> Any:
        if not isinstance(other, int | float | Number):
            return comparison(self.traced, other)
        result = comparison(self.value, _value(other))
        self.trace.comparisons.append((comparison, self.function, _function(other), result))
        return result

    def __bool__(self) -> bool:
        return self != 0

    def __neg__(self) -> Any:
        return 0.0 - self  # pyright: ignore[reportOperatorIssue]

    def __pos__(self) -> Number:
        return self


def _value(x: Any) -> Any:
    if type(x) is Number:
        return x.value
    return x


def _traced(x: Any) -> Any:
    if type(x) is Number:
        return x.traced
    return x


def _function(x: Any) -> Callable[[Sequence[float]], Any]:
    if type(x) is Number:
        return x.function
    return lambda values: x


def _define_operators() -> None:
    for name in ("add", "sub", "mul", "truediv", "pow"):
        operation = getattr(operator, name)
        setattr(Number, f"__{name}__", _operator_method(operation, swapped=False))
        setattr(Number, f"__r{name}__", _operator_method(operation, swapped=True))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Number, f"__{name}__", _comparison_method(getattr(operator, name)))


def _operator_method(operation: Callable[[Any, Any], Any], swapped: bool) -> Callable[[Number, Any], Any]:
    return lambda self, other: self._compute(operation, other, swapped)


def _comparison_method(comparison: Callable[[Any, Any], Any]) -> Callable[[Number, Any], Any]:
    return lambda self, other: self._compare(comparison, other)


_define_operators()


class LiftedKernel:
    """The kernel of an op with its float attributes as operands.

    These come after the other operands, and before the random key.

    Attributes:
        op: Op.
        layout: layout of the operands.
        attrs: tuple of the attributes of the first call.
        lifted: tuple of int, the attributes that are operands.
        kernel: Kernel.
        replaceable: dict from shapes and dtypes of operands to whether the kernel can stand for the plain
            one.
        comparisons: list of (comparison, function, function, result) that must hold for other numbers.
    """

    def __init__(self, op: Op, layout: Any, attrs: Sequence[Any], lifted: tuple[int, ...]) -> None:
        self.op = op
        self.layout = layout
        self.attrs = attrs
        self.lifted = lifted
        self.replaceable: dict[Any, bool] = {}
        self.comparisons: list[Any] = []
        self.kernel: Kernel = Kernel(op.name, self._function(), nondiff=op.nondiff)
        self.kernel.declare(op, layout, attrs)
        self.kernel.constant_mask = op.constants(layout)

    def _function(self, trace: _NumberTrace | None = None) -> Callable[..., Any]:
        """The function of the kernel, which notes what the body does with its numbers."""
        count = len(self.lifted)
        # The two words of a random key stand last.
        random_count = 2 if self.op.random else 0

        def fn(*flat: Any) -> Any:
            end = len(flat) - random_count
            # The kernel itself keeps no notes of its traces.
            noted = _NumberTrace() if trace is None else trace
            attrs: list[Any] = list(self.attrs)
            for i, (index, operand) in enumerate(zip(self.lifted, flat[end - count : end], strict=True)):
                # As a Python number: it must not widen the operands.
                traced = _convert_element_type(operand, weak_type=True)
                attrs[index] = Number(attrs[index], traced, operator.itemgetter(i), noted)
            return self.op._bind(self.layout, attrs)(*flat[: end - count], *flat[end:])

        return fn

    def can_replace(self, plain: Kernel, flat: Sequence[Tensor], numbers: Sequence[float]) -> bool:
        """Whether the kernel does the same as `plain` for operands like these and these numbers."""
        key = tuple([(tensor._raw.shape, tensor._raw.dtype) for tensor in flat])
        replaceable = self.replaceable.get(key)
        if replaceable is None:
            if len(self.replaceable) >= _MAX_KNOWN:
                self.replaceable.clear()
            structs = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in key]
            replaceable = self.replaceable[key] = self._has_same_results(plain, structs)
        return replaceable and all(
            [
                comparison(left(numbers), right(numbers)) is result
                for comparison, left, right, result in self.comparisons
            ]
        )

    def _has_same_results(self, plain: Kernel, structs: Sequence[Any]) -> bool:
        """Whether shapes and dtypes of the results are those of the plain kernel, and no function keeps a
        number."""
        random_key: list[Any] = []
        if self.op.random:
            random_key = [jax.ShapeDtypeStruct((2,), np.uint32), jax.ShapeDtypeStruct((), np.uint32)]
        numbers = [jax.ShapeDtypeStruct((), NUMBER)] * len(self.lifted)
        trace = _NumberTrace()
        try:
            with preserved_tracing():
                make = jax.make_jaxpr(self._function(trace), return_shape=True)
                # The equations hold the functions that run later, and these what they have taken from the
                # body.
                equations, results = make(*structs, *numbers, *random_key)
                is_kept = trace.outlived()
                del equations
                is_same = not is_kept and results == jax.eval_shape(plain.fn, *structs, *random_key)
        except Exception as error:
            # the body reads the number, or the operands do not fit, about which the plain kernel will
            # complain
            in_body = origin(error) == self.op.fn.__module__  # of an op that is declared elsewhere
            if is_unrelated_error(error) and not in_body:
                raise
            return False
        self.comparisons = [*self.comparisons, *trace.comparisons]
        return is_same


class AttributeLifting:
    """The float attributes that one op was called with.

    Attributes:
        op: Op.
        calls: dict from the other attributes to the float attributes of the first call, or to the
            LiftedKernel after a second one with other values.
        families: KernelFamilies of the kernels with these numbers as attributes.
    """

    def __init__(self, op: Op) -> None:
        self.op = op
        self.families: KernelFamilies = KernelFamilies()
        self.calls: dict[Any, Any] = {}

    def lift_if_varying(self, layout: Any, attrs: Sequence[Any]) -> LiftedKernel | None:
        """The LiftedKernel for these attributes, or None if they had one value so far."""
        lifted = tuple([i for i, attr in enumerate(attrs) if type(attr) is float])
        if not lifted:
            return None
        key = layout, tuple([_VARYING if type(attr) is float else (type(attr), attr) for attr in attrs])
        numbers = tuple([attrs[i] for i in lifted])
        known = self.calls.get(key)
        if type(known) is LiftedKernel:
            return known
        # Most attributes keep their first value, so it is only noted.
        if known is None:
            if len(self.calls) >= _MAX_KNOWN:
                self.calls.clear()
            self.calls[key] = numbers
            return None
        # With the same numbers again the kernel that has them as constants stays.
        if known == numbers:
            return None
        lifted_kernel = self.calls[key] = LiftedKernel(self.op, layout, attrs, lifted)
        self.op.fast.clear()  # the first value is an operand from now on, too
        return lifted_kernel
