"""Kernels of one operation that differ in whole numbers alone.

A length may be an attribute: of `reshape`, `expand`, a slice or a padding. With another length in every batch
each of these calls has a kernel of its own, which would be traced. The equations of such kernels come from
templates in which the numbers are symbolic, as lengths of operands are (shape_templates.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax

from paddle_jax._core.kernels.kernel_gradients import backward_function
from paddle_jax._core.kernels.product_precision import ProductPrecision
from paddle_jax._core.kernels.shape_templates import ShapeTemplates, symbolic_equations

if TYPE_CHECKING:
    from paddle_jax._core.kernels.jaxpr_tracing import Equations
    from paddle_jax._core.kernels.kernel import Derivation

_MAX_FAMILIES = 64  # of one operation
_NUMBER = object()  # stands for a whole number in a pattern


class KernelFamily:
    """What kernels share that differ in whole numbers.

    Attributes:
        name: str, that of the kernels.
        shape_templates: dict from dtypes and ranks of operands to ShapeTemplates, whose lengths begin with
            the numbers.
        product_precision: ProductPrecision of the kernels, or None.
    """

    __slots__ = ("_function_of", "_gradients", "name", "product_precision", "shape_templates")

    def __init__(
        self,
        name: str,
        function_of: Callable[[Sequence[Any]], Callable[..., Any]],
        product_precision: ProductPrecision | None,
    ) -> None:
        """
        Args:
            name: that of the kernels.
            function_of: gives the function of a kernel from its numbers.
            product_precision: that of the kernels.
        """
        self.name: str = name
        self.shape_templates: dict[tuple[Any, ...], ShapeTemplates] = {}
        self.product_precision: ProductPrecision | None = product_precision
        self._function_of = function_of
        self._gradients: dict[Any, KernelFamily] = {}

    def function_for(self, numbers: Sequence[Any]) -> Callable[..., Any]:
        """The function of the kernel with these numbers, which may be symbolic."""
        fn = self._function_of(numbers)
        if self.product_precision is None:
            return fn
        return self.product_precision.applied_to(fn)

    def gradient(self, derivation: Derivation) -> KernelFamily:
        """The family of the gradients of its kernels."""
        _, argnums, has_cotangent, operand_count = derivation
        key = argnums, has_cotangent, operand_count
        family = self._gradients.get(key)
        if family is None:

            def function_of(numbers: Sequence[Any]) -> Callable[..., Any]:
                kernel: Any = _KernelForNumbers(self, numbers)
                return backward_function(kernel, argnums, has_cotangent, operand_count)

            family = KernelFamily(f"{self.name}_grad", function_of, self.product_precision)
            self._gradients[key] = family
        return family


class _KernelForNumbers:
    """Stands for a kernel while its gradient is traced with symbolic numbers.

    Attributes:
        name: str, that of the kernel.
        fn: function of the kernel.
    """

    deferrable = True

    def __init__(self, family: KernelFamily, numbers: Sequence[Any]) -> None:
        self.name: str = family.name
        self.fn: Callable[..., Any] = family.function_for(numbers)

    def equations_for(self, operands: Sequence[Any]) -> Equations:
        """The equations for operands of a trace. They are not kept: the numbers are symbolic."""
        return symbolic_equations(self, [jax.typeof(operand) for operand in operands])


class KernelFamilies:
    """The families of one operation.

    Attributes:
        families: dict from a layout, the attributes without their whole numbers and the precision of products
            to a KernelFamily.
    """

    def __init__(self) -> None:
        self.families: dict[Any, KernelFamily] = {}

    def family_of(
        self,
        name: str,
        bind: Callable[[Any, Sequence[Any]], Callable[..., Any]],
        layout: Any,
        attributes: Sequence[Any],
        product_precision: ProductPrecision | None,
    ) -> tuple[KernelFamily | None, tuple[int, ...]]:
        """The family of a kernel and its numbers; None and no numbers if its attributes have none.

        Args:
            name: that of the kernel.
            bind: gives the function of a kernel from the layout of its operands and its attributes.
            layout: the layout of the operands.
            attributes: the values of the attributes.
            product_precision: that of the kernel.
        """
        numbers: list[int] = []
        pattern = _without_numbers(tuple(attributes), numbers)
        if not numbers:
            return None, ()
        key = layout, pattern, product_precision
        family = self.families.get(key)
        if family is None:
            if len(self.families) >= _MAX_FAMILIES:
                self.families.clear()

            def function_of(numbers: Sequence[Any]) -> Callable[..., Any]:
                return bind(layout, _with_numbers(attributes, iter(numbers)))

            family = self.families[key] = KernelFamily(name, function_of, product_precision)
        return family, tuple(numbers)


def _without_numbers(value: Any, numbers: list[int]) -> Any:
    """The pattern of a value: equal for values that differ in whole numbers alone. These are appended."""
    if type(value) is int:
        numbers.append(value)
        return _NUMBER
    if type(value) is tuple:
        return tuple([_without_numbers(item, numbers) for item in value])
    # The type and the text tell 1.0 from True, and 0.0 from -0.0, which are equal.
    return type(value), str(value), value


def _with_numbers(value: Any, numbers: Iterator[Any]) -> Any:
    """A value with other whole numbers, in their order."""
    if type(value) is int:
        return next(numbers)
    if type(value) is tuple:
        return tuple([_with_numbers(item, numbers) for item in value])
    return value
