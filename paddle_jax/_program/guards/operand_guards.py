"""Guards for the Tensors of a call of a compiled form, and for values that the host has read of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.base.state import LayerVersion
from paddle_jax._core.execution.python_state import same_objects, same_value
from paddle_jax._core.lazy.lazy_array import is_zero
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.tensors.held_values import computed_array, held_value, holds_tracer
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._core.tensors.views import have_relations, relations
from paddle_jax._program.capture.capture import grad_kind
from paddle_jax._program.guards.guard_set import Reason

_GRAD_TEXTS = {"none": "None", "zero": "zero", "array": "there", "rows": "one of some rows"}
_STOP_GRADIENT, _GRAD, _HOOKS, _ALIAS = map(
    operator.attrgetter, ("stop_gradient", "_grad", "_hooks", "_alias")
)

OPERAND_GONE = Reason("operand", "a Tensor that the function uses is gone")


class HostValueGuard:
    """Values that code of this package has read on the host, such as settings of the process.

    Attributes:
        values: list of (function without arguments, its value in the run).
    """

    def __init__(self, values: list[tuple[Callable[[], Any], Any]]) -> None:
        self.values = values

    def check(self) -> Reason | None:
        """None while all values are equal to those of the run."""
        for get, value in self.values:
            if not _is_same_host_value(get(), value):
                return Reason("host value", "a value that the function read on the host has changed")
        return None


def _is_same_host_value(now: Any, before: Any) -> bool:
    """Whether a value of the host is as it was. Arrays are compared by their elements."""
    if same_value(now, before):
        return True
    if type(now) is not type(before) or isinstance(now, float | list | tuple | dict):
        return False
    if isinstance(now, np.ndarray):
        # By bits, so that NaN is the same as NaN.
        return now.dtype == before.dtype and now.shape == before.shape and now.tobytes() == before.tobytes()
    try:
        # A number of a class that is not known here, as a scheduler of a user may give.
        return bool(now == before)
    except (TypeError, ValueError):
        return False


class DistinctGuard:
    """No two operands are one Tensor: a store may have got the Tensor of another one.

    Attributes:
        input_count: int, number of inputs, which come first among the operands.
        scanned_ids: ids of the Tensors that the scan found.
        outside_ids: ids of the Tensors that the function uses itself.
        has_plain_stores: whether a store does not count its changes in LayerVersion.
        version: LayerVersion at the last comparison.
    """

    def __init__(self, input_count: int, scanned_ids: frozenset[int], has_plain_stores: bool) -> None:
        self.input_count = input_count
        self.scanned_ids = scanned_ids
        self.outside_ids = scanned_ids
        self.has_plain_stores = has_plain_stores
        self.version: int | None = None

    def check(self, tensors: list[Tensor]) -> Reason | None:
        """None while the operands are different Tensors; compared when a store may have changed."""
        # Nothing in a Layer has changed, so the operands are the same objects as at the last check.
        if self.version == LayerVersion.count and not self.has_plain_stores:
            return None
        ids = set(map(id, tensors))
        if len(ids) != len(tensors):
            return Reason("distinct operands", "a Tensor is found in two places where two Tensors were")
        input_ids = map(id, tensors[: self.input_count])
        self.outside_ids = frozenset(ids.difference(input_ids).union(self.scanned_ids))
        self.version = LayerVersion.count
        return None


class InputGuard:
    """The same inputs as in the run are Tensors that the function also uses itself.

    Attributes:
        distinct: DistinctGuard, which knows the Tensors that the function uses itself.
        is_outside: for each input of the run, whether it is one of these.
        outside_inputs: for each input the Tensor if it is one of these, else None.
    """

    def __init__(self, inputs: list[Tensor], distinct: DistinctGuard) -> None:
        self.distinct = distinct
        self.is_outside = [id(t) in distinct.scanned_ids for t in inputs]
        self.outside_inputs = [t if id(t) in distinct.scanned_ids else None for t in inputs]

    def check(self, tensors: list[Tensor]) -> Reason | None:
        """None while the inputs, which come first among the operands, are as in the run."""
        # An input that is also found in a store is one Tensor in the program; another one would be two.
        outside_ids = self.distinct.outside_ids
        inputs = tensors[: len(self.is_outside)]
        if [id(t) in outside_ids for t in inputs] == self.is_outside:
            pairs = zip(self.outside_inputs, inputs, strict=True)
            if all([before is None or before is now for before, now in pairs]):
                return None
        return Reason("inputs", "another Tensor that the function also uses itself is passed")


class StopGradientGuard:
    """`stop_gradient` of each operand.

    Attributes:
        expected: list of bool, as in the run.
    """

    def __init__(self, tensors: list[Tensor]) -> None:
        self.expected = list(map(_STOP_GRADIENT, tensors))

    def check(self, tensors: list[Tensor]) -> Reason | None:
        """None while the flags are equal; also finds out whether something that is no Tensor took a place."""
        # An attribute of all Tensors, so an object of another kind is found, too.
        try:
            present = list(map(_STOP_GRADIENT, tensors))
        except AttributeError:
            return OPERAND_GONE
        if present == self.expected:
            return None
        index = list(map(operator.ne, present, self.expected)).index(True)
        return Reason("stop_gradient", f"stop_gradient of {tensors[index].name} is {present[index]}")


class HostReadGuard:
    """Values of operands that the host has read in the run, such as a size that a Tensor holds.

    Attributes:
        reads: list of (index of the operand, value).
    """

    def __init__(self, reads: list[tuple[int, Any]]) -> None:
        self.reads = reads

    def check(self, tensors: list[Tensor]) -> Reason | None:
        """None while the operands have these values; waits for them."""
        for index, value in self.reads:
            tensor = tensors[index]
            # Waits for the value.
            if not np.array_equal(to_numpy(computed_array(tensor)), value):
                text = f"the value of {tensor.name}, which the function looks at on the host, has changed"
                return Reason("value on the host", text)
        return None


class ViewGuard:
    """The Tensors that share elements with operands that are changed in place.

    Attributes:
        shared: indices of the operands that change together with their views.
        relations: the views among these in the run.
        related: list of (index of the operand, weak reference to the Tensor it must be).
    """

    def __init__(self, shared: list[Tensor], index_of: dict[int, int]) -> None:
        self.shared = [index_of[id(tensor)] for tensor in shared]
        self.relations = relations(shared, _is_outside)
        self.related = [(index_of[id(ref())], ref) for ref, *_ in self.relations if id(ref()) in index_of]

    def check(self, tensors: list[Tensor]) -> Reason | None:
        """None while the same Tensors share in the same way."""
        shared = [tensors[i] for i in self.shared]
        # Without views in the run and now there is nothing to compare: the usual case.
        if not self.relations and not any(map(_ALIAS, shared)):
            return None
        is_same = all([tensors[i] is ref() for i, ref in self.related])
        if is_same and have_relations(shared, self.relations, _is_outside):
            return None
        return Reason("views", "the Tensors that share elements with what is changed in place are others")


class GradGuard:
    """Gradients and hooks of the operands whose gradients the run has seen.

    Attributes:
        expected: list of (index of the operand, kind of its gradient).
        pick: function that picks these operands.
        hooks: the hooks of these operands, or None where they have none.
        known_grads: (gradients that were checked, what they held or None for gradients that are None).
        unchanged: whether the gradients of the present call are the known ones.
    """

    def __init__(
        self,
        expected: list[tuple[int, str]],
        pick: Callable[[Sequence[Any]], Sequence[Any]],
        tensors: list[Tensor],
    ) -> None:
        self.expected = expected
        self.pick = pick
        self.known_grads: tuple[list[Any], list[Any] | None] = ([], [])
        self.unchanged = False
        owners = pick(tensors)
        if any(map(_HOOKS, owners)):
            self.hooks = _hooks_of(owners)
        else:
            self.hooks = None

    def check(self, tensors: list[Tensor]) -> Reason | None:
        """None while gradients are of the same kind, and hooks are the same."""
        owners = self.pick(tensors)
        # A hook is a part of the backward pass, and so of the program.
        if (self.hooks or any(map(_HOOKS, owners))) and _hooks_of(owners) != self.hooks:
            return Reason("gradient hooks", "a Tensor whose gradient is computed has got or lost a hook")
        grads = list(map(_GRAD, owners))
        known, known_raws = self.known_grads
        self.unchanged = same_objects(grads, known) and (
            known_raws is None or all(map(operator.is_, map(held_value, grads), known_raws))
        )
        if self.unchanged:
            return None
        return self._check_kinds(tensors, grads)

    def _check_kinds(self, tensors: list[Tensor], grads: list[Any]) -> Reason | None:
        """None if the gradients, which are other objects than at the last call, are of the expected kinds."""
        for (index, expected), grad in zip(self.expected, grads, strict=True):
            tensor = tensors[index]
            kind = grad_kind(grad)
            # "empty": None and zero are one to code that only adds to the gradient.
            if kind != expected and (expected != "empty" or kind in ("array", "rows")):
                return Reason("gradients", f"the gradient of {tensor.name} is {_GRAD_TEXTS[kind]}")
            if tensor._node is not None:
                text = f"{tensor.name} was computed outside, and backward is called inside"
                return Reason("gradients", text)
        self._remember(grads)
        return None

    def _remember(self, grads: list[Any]) -> None:
        """Keeps gradients that were checked, if that keeps no memory alive."""
        raws = [None if grad is None else held_value(grad) for grad in grads]
        # Zeros and None hold no memory. A gradient of values would be kept alive by this reference.
        if all(map(is_zero, raws)):
            self.known_grads = grads, raws
        elif all(grad is None for grad in grads):
            self.known_grads = grads, None
        else:
            self.known_grads = [], []


class ShapeGuard:
    """Shape and dtype of each operand.

    Attributes:
        shapes: list of (shape, dtype), as in the run.
    """

    def __init__(self, shapes: list[tuple[Any, Any]]) -> None:
        self.shapes = shapes

    def check(self, tensors: list[Tensor]) -> Reason | None:
        """None while shapes and dtypes are equal."""
        for tensor, shape in zip(tensors, self.shapes, strict=True):
            # What a Tensor holds has shape and dtype also while it is pending.
            raw = held_value(tensor)
            if (raw.shape, raw.dtype) != shape:
                return shape_reason(tensor, raw, shape)
        return None


def shape_reason(tensor: Tensor, array: Any, expected: tuple[Any, Any]) -> Reason:
    """The Reason for an operand of another shape or dtype.

    Args:
        tensor: the operand.
        array: what it holds.
        expected: (shape, dtype) in the run.
    """
    shape, dtype = expected
    now = f"{array.dtype.name}{list(array.shape)}"
    return Reason("shapes", f"{tensor.name} is {now}, before {dtype.name}{list(shape)}")


def _is_outside(tensor: Tensor) -> bool:
    """Whether a Tensor is not one that the captured run has left behind."""
    # What a run has left behind holds a tracer that is dead.
    return not holds_tracer(tensor)


def _hooks_of(tensors: Any) -> list[tuple[Any, ...]]:
    """The gradient hooks of each Tensor."""
    return [tuple(hooks.values()) if hooks else () for hooks in map(_HOOKS, tensors)]
