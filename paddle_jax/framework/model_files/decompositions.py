"""Operations that Paddle does not have, as calls of functions that it has: `decompose` of a Lowering."""

from __future__ import annotations

import functools as ft
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import TracedValueError
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.op_record import Record
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.ops.op import Op, freeze
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype
from paddle_jax._program.export_rules import ExportRules
from paddle_jax._program.variable import variable
from paddle_jax.framework.model_files.gradient_rules import RULES
from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import lowering_of

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel
    from paddle_jax._core.tensors.tensor import Tensor


def decomposition_of(kernel: Kernel, attrs: Any, tensors: Sequence[Tensor]) -> Any:
    """A function that gives what a kernel computes by the decomposition of its op, or None where it has none.

    Args:
        kernel: Kernel of an op.
        attrs: tuple of the attributes of the call, which may hold Lengths.
        tensors: list of the operands.
    """
    op, layout, _ = kernel.declaration
    # The record names code where a text is not enough.
    function = lowering_of(op.record.code).decompose
    # Random numbers of other functions would be others.
    if function is None or op.random:
        return None
    attributes = types.SimpleNamespace(**dict(zip(op.attrs, attrs, strict=True)))
    tensors = [
        _as_constant(tensor) if kernel.constant_mask >> i & 1 else tensor for i, tensor in enumerate(tensors)
    ]
    return lambda: function(attributes, *_promoted(op, _grouped(layout, tensors)))


def _as_constant(tensor: Tensor) -> Tensor:
    """A Tensor without a gradient, for an operand whose gradient the op leaves out."""
    if tensor.stop_gradient:
        return tensor
    recorder: Any = local.ctx.frame
    return variable(recorder.symbol(tensor), True, recorder.variable_class)


class OpaqueOp:
    """An operation of Paddle that a composite is recorded as: only its results' dtypes and shapes are known
    here.

    Attributes:
        op: Op, whose operands are one list, and whose attributes the rule for writing gets.
    """

    def __init__(self, name: str, write: Callable[..., Any]) -> None:
        self.op: Op = Op(_never_run, "*tensors")
        self.op.name = name
        self.op.record = Record(write=write)

    def call(self, tensors: Any, settings: Any) -> tuple[Kernel, tuple[tuple[tuple[Any, Any], ...]]]:
        """(kernel, tuple of the attributes) for operands and a dict of settings."""
        attrs = (tuple([(name, freeze(value)) for name, value in settings.items()]),)
        # One kernel for each choice of settings, as ops have.
        return self.op.kernel((len(tensors),), attrs), attrs


def _never_run(tensors: Any, settings: Any = ()) -> NoReturn:
    # Asking for its values makes the code around it be recorded another way.
    raise TracedValueError("a function that is saved")


def is_empty(x: Tensor) -> bool:
    """Whether a Tensor is known to have no elements."""
    return any(not is_length(n) and n == 0 for n in x.shape)


def is_fixed(x: Any) -> bool:
    """Whether all lengths of a Tensor are known."""
    return not any(map(is_length, x.shape))


def _grouped(layout: Sequence[int], tensors: Sequence[Tensor]) -> list[Any]:
    """The operands of an op from those of its kernel: Tensors, lists of them, and None."""
    rest = iter(tensors)
    found = []
    for count in layout:
        # Kernel operands are flat: -1 is None, -2 a Tensor, a number a list of that many.
        if count == -1:
            found.append(None)
        elif count == -2:
            found.append(next(rest))
        else:
            found.append([next(rest) for _ in range(count)])
    return found


def _promoted(op: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """The operands in the dtype in which the op computes."""
    if not op.promote:
        return operands
    if isinstance(op.promote, tuple):
        names = op.promote
    else:
        names = op.tensors
    chosen = [i for i, name in enumerate(op.tensors) if name in names and operands[i] is not None]
    tensors = [t for i in chosen for t in as_list(operands[i])]
    # "wide" and "mixed": a 0-D operand does not raise the dtype of others.
    if isinstance(op.promote, str) and min(t.ndim for t in tensors) == 0:
        common = dtypes.mixed_np(*[held_value(t) for t in tensors], op.promote == "wide")
    else:
        common = ft.reduce(dtypes.promote_np, [numpy_dtype(t) for t in tensors])

    def same(value: Any) -> Any:
        if isinstance(value, list):
            return [same(one) for one in value]
        if numpy_dtype(value) == common:
            return value
        return value.astype(common.name)

    return [same(value) if i in chosen else value for i, value in enumerate(operands)]


def _composite_rule(record: Record) -> Any:
    """The rule that records a composite as one operation of Paddle, or None."""
    return lowering_of(record.code).record_composite


ExportRules.decomposition = decomposition_of
ExportRules.composite_rule = _composite_rule
ExportRules.gradient_rule = RULES.get
ExportRules.ones = P.ones_like

__all__ = ["OpaqueOp", "is_empty", "is_fixed", "decomposition_of"]
