"""Float attributes that change from call to call: seen with two values, they become operands of one kernel.

An attribute is compiled in, so a slope, a probability or a temperature that a schedule moves would be
compiled anew at each step. The body of the op is traced with a `Number` in its place, which computes with an
operand and compares by its value: what the body finds in comparisons (`p < 0`, `p == 1`) is a condition for
other values. A body that does anything else with the number keeps it as an attribute.
"""

import operator

import jax
import numpy as np
from jax._src.lax.lax import (
    _convert_element_type,  # the public one cannot make a number that takes on the dtype of what it meets
)

from paddle_jax._core.base.caller_info import is_unrelated_error, origin
from paddle_jax._core.base.interrupt_safe import preserved_tracing
from paddle_jax._core.kernels.kernel import Kernel

_MAX_KNOWN = 4096
NUMBER = np.dtype(np.float64)
_PLACE = object()


class Number:
    """A float attribute while the body of an op is traced.

    value: the float itself. traced: the operand. of: a function that gives the float from those of another
    call. comparisons: what they gave, a list of (comparison, function, function, result).
    """

    __slots__ = ("comparisons", "of", "traced", "value")
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, value, traced, of, comparisons):
        self.value, self.traced, self.of, self.comparisons = value, traced, of, comparisons

    def __jax_array__(self):
        return self.traced

    def _computed(self, compute, other, swapped):
        if not isinstance(other, int | float | Number):
            return compute(other, self.traced) if swapped else compute(self.traced, other)
        first, second = (other, self) if swapped else (self, other)
        one, two = _of(first), _of(second)
        return Number(
            compute(_value(first), _value(second)),
            compute(_traced(first), _traced(second)),
            lambda v: compute(one(v), two(v)),
            self.comparisons,
        )

    def _compared(self, compare, other):
        if not isinstance(other, int | float | Number):
            return compare(self.traced, other)
        result = compare(self.value, _value(other))
        self.comparisons.append((compare, self.of, _of(other), result))
        return result

    def __bool__(self):
        return self != 0

    def __neg__(self):
        return 0.0 - self

    def __pos__(self):
        return self


def _value(x):
    return x.value if type(x) is Number else x


def _traced(x):
    return x.traced if type(x) is Number else x


def _of(x):
    return x.of if type(x) is Number else lambda values: x


def _operators():
    for name in ("add", "sub", "mul", "truediv", "pow"):
        compute = getattr(operator, name)
        setattr(
            Number, f"__{name}__", lambda self, other, compute=compute: self._computed(compute, other, False)
        )
        setattr(
            Number, f"__r{name}__", lambda self, other, compute=compute: self._computed(compute, other, True)
        )
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        compare = getattr(operator, name)
        setattr(Number, f"__{name}__", lambda self, other, compare=compare: self._compared(compare, other))


_operators()


class LiftedKernel:
    """The kernel of an op with its float attributes as operands, which come after the others (and before
    the random key).

    where: which attributes they are. fits: whether it can stand for the plain kernel, by shapes and dtypes of
    the operands. comparisons: what they must give for other numbers.
    """

    def __init__(self, op, layout, attrs, where):
        self.op, self.layout, self.attrs, self.where = op, layout, attrs, where
        self.fits, self.comparisons = {}, []
        self.kernel = Kernel(op.name, self._function([]), nondiff=op.nondiff)
        self.kernel.declaration, self.kernel.constant_mask = (op, layout, attrs), op.constants(layout)

    def _function(self, comparisons):
        count, last = len(self.where), 2 if self.op.random else 0

        def fn(*flat):
            end = len(flat) - last
            full = list(self.attrs)
            for i, (place, operand) in enumerate(zip(self.where, flat[end - count : end], strict=True)):
                traced = _convert_element_type(operand, weak_type=True)
                full[place] = Number(full[place], traced, operator.itemgetter(i), comparisons)
            return self.op._bind(self.layout, full)(*flat[: end - count], *flat[end:])

        return fn

    def fitting(self, plain, flat, numbers):
        """Whether the kernel does what `plain` does for operands like these and these numbers."""
        key = tuple([(t._raw.shape, t._raw.dtype) for t in flat])
        fits = self.fits.get(key)
        if fits is None:
            if len(self.fits) >= _MAX_KNOWN:
                self.fits.clear()
            fits = self.fits[key] = self._alike(plain, [jax.ShapeDtypeStruct(*each) for each in key])
        return fits and all(
            [compare(one(numbers), two(numbers)) is result for compare, one, two, result in self.comparisons]
        )

    def _alike(self, plain, structs):
        draw = (
            [jax.ShapeDtypeStruct((2,), np.uint32), jax.ShapeDtypeStruct((), np.uint32)]
            if self.op.random
            else []
        )
        numbers, comparisons = [jax.ShapeDtypeStruct((), NUMBER)] * len(self.where), []
        try:
            with preserved_tracing():
                mine = jax.eval_shape(self._function(comparisons), *structs, *numbers, *draw)
                same = mine == jax.eval_shape(plain.fn, *structs, *draw)
        except Exception as error:
            # it looks at the number, or the operands do not fit, which the plain kernel will say
            in_body = origin(error) == self.op.fn.__module__  # of an op that is declared elsewhere
            if is_unrelated_error(error) and not in_body:
                raise
            return False
        self.comparisons = [*self.comparisons, *comparisons]
        return same


class AttributeLifting:
    """What one op knows of its float attributes.

    seen: by the other attributes, their values; or the Lifted kernel once there were two.
    """

    def __init__(self, op):
        self.op, self.seen = op, {}

    def look(self, layout, attrs):
        """The Lifted kernel for these attributes, or None."""
        where = tuple([i for i, a in enumerate(attrs) if type(a) is float])
        if not where:
            return None
        key = layout, tuple([_PLACE if type(a) is float else (type(a), a) for a in attrs])
        numbers, before = tuple([attrs[i] for i in where]), self.seen.get(key)
        if type(before) is LiftedKernel:
            return before
        if before is None:
            if len(self.seen) >= _MAX_KNOWN:
                self.seen.clear()
            self.seen[key] = numbers
        if before is None or before == numbers:
            return None
        lifted = self.seen[key] = LiftedKernel(self.op, layout, attrs, where)
        self.op.fast.clear()  # the first value is an operand from now on, too
        return lifted
