"""One compiled form of a function: its operands, its guards, and its calls.

There are two ways of running. Where gradients can flow through a result, the whole function is one
operation on the tape. Where not (a whole training step), it runs directly, and gives the memory of what it
changes to the new values.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.interrupt_safe import set_all
from paddle_jax._core.base.state import LayerVersion, local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.execution.module_protocol import AttributeStore
from paddle_jax._core.execution.python_state import same_objects
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.kernels.value_checks import PendingChecks, poll, raise_if_failed
from paddle_jax._core.lazy.lazy_array import is_zero
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tape.node import Node
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._core.tensors.views import have_relations, relations, relink_views
from paddle_jax._program.capture.capture import grad_kind
from paddle_jax._program.capture.captured import Captured
from paddle_jax._program.capture.captured_checks import CapturedChecks
from paddle_jax._program.capture.direct_program import (
    DirectProgram,
    GuardFailure,
    HostNumbers,
    OtherUpdate,
    ValueUpdate,
    finish,
    fits_shape,
    picker,
)
from paddle_jax._program.capture.flat_buffer import FlatBuffer, Scattered
from paddle_jax._program.capture.result_updates import apply_change, set_grad
from paddle_jax._program.control_flow.effects import silent

if TYPE_CHECKING:
    from paddle_jax._program.guards.closure_scan import ClosureScan
    from paddle_jax._program.guards.state_observer import StateObserver

_GRAD_TEXTS = {"none": "None", "zero": "zero", "array": "there", "rows": "one of some rows"}
_SET_RAW = Tensor._raw.__set__
_RAW, _STOP_GRADIENT, _GRAD, _NODE, _HOOKS, _ALIAS = map(
    operator.attrgetter, ("_raw", "stop_gradient", "_grad", "_node", "_hooks", "_alias")
)


class CompiledFunction:
    """A captured run that is repeated as a program while its guards hold.

    The operands are, in this order: inputs, Tensors that are looked up, fixed Tensors, gradients, numbers.

    Attributes:
        name: str, for messages.
        captured: the Captured run.
        input_count: int, number of inputs.
        order: for each input of the captured run, the index of the operand that it is.
        stores: containers in which each call looks up Tensors.
        keys: the keys of these Tensors in the stores.
        fixed: other Tensors.
        grad_owners: indices of the Tensors whose gradients are operands.
        numbers: HostNumbers.
        scan: ClosureScan. It keeps the Tensors alive whose ids are compared.
        package_guards: PackageGuards of Layers and optimizers.
        guards: GuardSet of what user code read.
        scanned_ids: ids of the Tensors that the scan found.
        outside_ids: ids of the Tensors that the function uses itself.
        input_is_outside: for each input, whether it is one of these.
        outside_inputs: for each input the Tensor if it is one of these, else None.
        has_plain_stores: whether a store does not count its changes in LayerVersion.
        version: LayerVersion at the last check that the operands are distinct.
        stop_gradients: `stop_gradient` of each operand.
        shapes: (shape, dtype) of each operand.
        host_reads: list of (index of the operand, value that the host has read).
        expected_grads: list of (index of the operand, kind of its gradient).
        pick_grads: function that picks these operands.
        hooks: the hooks of these operands, or None where they have none.
        known_grads: (gradients that were checked, what they held or None for gradients that are None).
        grads_unchanged: whether the gradients of the present call are the known ones.
        differentiable: whether gradients can flow through a result.
        precheck: function that checks values of operands before a run, or None.
        value_updates: list of (operand, result, versions) of Tensors that get plain values.
        zero_grads: list of (operand, Change) of gradients that become zero.
        other_updates: list of (operand or None, first result, Change).
        shared: indices of the operands that change together with their views.
        relations: the views among these.
        related: list of (index of the operand, weak reference to the Tensor it must be).
        kernel: Kernel of the whole function.
        spent_node: the tape node of results that backward has used up inside.
        direct: DirectProgram.
    """

    def __init__(
        self,
        name: str,
        captured: Captured,
        scan: ClosureScan,
        observer: StateObserver,
        inputs: list[Tensor],
    ) -> None:
        self.name = name
        self.captured = captured
        self.input_count = len(inputs)
        self.scan = scan
        self.package_guards = scan.package_guards
        self.guards = observer.guards
        self.outside_ids = self.scanned_ids = frozenset(scan.tensors)
        self.input_is_outside = [id(t) in self.outside_ids for t in inputs]
        self.outside_inputs = [t if id(t) in self.outside_ids else None for t in inputs]
        self._arrange_operands(scan)
        self.has_plain_stores = not all([isinstance(store, AttributeStore) for store in self.stores])
        self.version: int | None = None
        tensors = self._tensors(inputs)
        self.stop_gradients = [t.stop_gradient for t in tensors]
        self.shapes = [(t._raw.shape, t._raw.dtype) for t in tensors]
        index_of = {id(t): i for i, t in enumerate(tensors)}
        self._expect_grads(tensors, index_of)
        changes_flow = any(change.flows for change in captured.changes)
        self.differentiable = changes_flow or any(flows for _, flows, _ in captured.results)
        checks = CapturedChecks.of(captured)
        self.precheck = None if checks is None else checks.arrange(captured, self.order, self.differentiable)
        self._plan_updates(index_of)
        self.kernel = Kernel(name, self._call_captured)
        self.has_effects = bool(captured.jaxpr.effects)
        if self.has_effects:
            self.kernel.deferrable = False
            silent(self.kernel)
        self.spent_node = Node(self.kernel, None, (0,), ((wrap(None), 0),), 1)
        self.direct = self._direct_program(FlatBuffer.of(self._packable(), tensors))

    # making it ----------------------------------------------------------------------------------------------

    def _arrange_operands(self, scan: ClosureScan) -> None:
        """Sorts the inputs of the captured run by how a call finds them."""
        captured = self.captured
        by_tensor = {id(entry.tensor): entry for entry in captured.inputs}
        owner_of_grad = {id(t._grad): by_tensor[id(t)] for t, _ in captured.grads if t._grad is not None}
        slots, fixed, grads, numbers = [], [], [], []
        for entry in captured.inputs[self.input_count :]:
            if entry.tensor is None:
                numbers.append(entry)
            elif id(entry.tensor) in scan.slots:
                slots.append(entry)
            elif id(entry.tensor) in owner_of_grad:
                grads.append(entry)
            else:
                fixed.append(entry)
        ordered = [*captured.inputs[: self.input_count], *slots, *fixed, *grads, *numbers]
        index_of = {entry: i for i, entry in enumerate(ordered)}
        self.order = [index_of[entry] for entry in captured.inputs]
        self.stores = [scan.slots[id(entry.tensor)][0] for entry in slots]
        self.keys = [scan.slots[id(entry.tensor)][1] for entry in slots]
        self.fixed = [entry.tensor for entry in fixed]
        self.grad_owners = [index_of[owner_of_grad[id(entry.tensor)]] for entry in grads]
        self.numbers = HostNumbers([entry.get for entry in numbers])
        self.host_reads = [(index_of[entry], value) for entry, value in captured.host_reads]
        captured.results = [
            (stop, flows, None if entry is None else index_of[entry])
            for stop, flows, entry in captured.results
        ]

    def _expect_grads(self, tensors: list[Tensor], index_of: dict[int, int]) -> None:
        """Notes the gradients and hooks of the Tensors whose gradients the run has seen."""
        self.expected_grads = [(index_of[id(t)], kind) for t, kind in self.captured.grads]
        self.pick_grads = picker([i for i, _ in self.expected_grads])
        self.known_grads: tuple[list[Any], list[Any] | None] = ([], [])
        self.grads_unchanged = False
        owners = self.pick_grads(tensors)
        self.hooks = _hooks_of(owners) if any(map(_HOOKS, owners)) else None

    def _plan_updates(self, index_of: dict[int, int]) -> None:
        """Decides where the results go that are no results of the function."""
        captured = self.captured
        self.value_updates: list[ValueUpdate] = []
        self.zero_grads: list[tuple[int, Any]] = []
        self.other_updates: list[OtherUpdate] = []
        result = len(captured.results)
        for change in captured.changes:
            if change.kind in ("attribute", "checks"):
                self.other_updates.append((None, result, change))
            else:
                target = index_of[id(change.target)]
                keeps_flag = change.kind == "value" and change.stop_gradient is self.stop_gradients[target]
                if keeps_flag and not change.flows:
                    self.value_updates.append((target, result, change.steps))
                elif change.kind == "grad" and change.to == "zero" and not change.is_new_object:
                    self.zero_grads.append((target, change))
                else:
                    self.other_updates.append((target, result, change))
            result += change.count
        shared = [c.target for c in captured.changes if c.kind == "value" and c.shares]
        self.shared = [index_of[id(tensor)] for tensor in shared]
        self.relations = relations(shared, _is_outside)
        self.related = [(index_of[id(ref())], ref) for ref, *_ in self.relations if id(ref()) in index_of]

    def _packable(self) -> list[int]:
        """Indices of the operands that a FlatBuffer may hold."""
        if self.differentiable or self.has_effects:
            return []
        return [
            target
            for target, result, _ in self.value_updates
            if fits_shape(self.captured, self.shapes[target], result)
        ]

    def _direct_program(self, pack: FlatBuffer | None) -> DirectProgram:
        return DirectProgram(
            self.name,
            self.captured,
            self._call_captured,
            self.shapes,
            self.value_updates,
            self.other_updates,
            self.numbers,
            pack,
        )

    def _call_captured(self, *values: Any) -> Any:
        """The captured function of the operands in the order of this class."""
        return self.captured.fn(*[values[i] for i in self.order])

    def _tensors(self, inputs: list[Tensor]) -> list[Tensor]:
        tensors = [*inputs, *map(operator.getitem, self.stores, self.keys), *self.fixed]
        if self.grad_owners:
            tensors += [tensors[i]._grad for i in self.grad_owners]
        return tensors

    # guards -------------------------------------------------------------------------------------------------

    def operands(self, inputs: list[Tensor]) -> list[Tensor]:
        """Checks the guards, and returns the Tensors for a call.

        Raises:
            GuardFailure: a guard does not hold; the message says which.
        """
        if inputs:
            self._check_inputs(inputs)
        if not self.package_guards.holds():
            raise GuardFailure(self.package_guards.describe_change())
        if not self.guards.holds():
            raise GuardFailure(self.guards.describe_change())
        if self.captured.host_guards:
            self._check_host_guards()
        try:
            tensors = self._tensors(inputs)
            stop_gradients = list(map(_STOP_GRADIENT, tensors))
        except (KeyError, IndexError, AttributeError):
            raise GuardFailure("a Tensor that the function uses is gone") from None
        if stop_gradients != self.stop_gradients:
            index = list(map(operator.ne, stop_gradients, self.stop_gradients)).index(True)
            raise GuardFailure(f"stop_gradient of {tensors[index].name} is {stop_gradients[index]}")
        self._check_operands(tensors)
        return tensors

    def _check_operands(self, tensors: list[Tensor]) -> None:
        """Checks the guards about operands that were found."""
        if self.has_plain_stores or self.version != LayerVersion.count:
            self._check_distinct(tensors)
        if self.host_reads:
            self._check_host_reads(tensors)
        if self.shared:
            self._check_views(tensors)
        if self.expected_grads:
            self._check_grads(tensors)

    def _check_inputs(self, inputs: list[Tensor]) -> None:
        """Checks that the same inputs as before are Tensors that the function uses itself."""
        if [id(t) in self.outside_ids for t in inputs] == self.input_is_outside:
            pairs = zip(self.outside_inputs, inputs, strict=True)
            if all([before is None or before is now for before, now in pairs]):
                return
        raise GuardFailure("another Tensor that the function also uses itself is passed")

    def _check_host_guards(self) -> None:
        for get, value in self.captured.host_guards:
            now = get()
            if now is not value and now != value:
                raise GuardFailure("a value that the function read on the host has changed")

    def _check_distinct(self, tensors: list[Tensor]) -> None:
        """Checks that no two operands are one Tensor: a store may have got the Tensor of another one."""
        ids = set(map(id, tensors))
        if len(ids) != len(tensors):
            raise GuardFailure("a Tensor is found in two places where two Tensors were")
        input_ids = map(id, tensors[: self.input_count])
        self.outside_ids = frozenset(ids.difference(input_ids).union(self.scanned_ids))
        self.version = LayerVersion.count

    def _check_host_reads(self, tensors: list[Tensor]) -> None:
        for i, value in self.host_reads:
            if not np.array_equal(to_numpy(to_array(tensors[i]._raw)), value):
                raise GuardFailure(
                    f"the value of {tensors[i].name}, which the function looks at on the host, has changed"
                )

    def _check_views(self, tensors: list[Tensor]) -> None:
        shared = [tensors[i] for i in self.shared]
        if not self.relations and not any(map(_ALIAS, shared)):
            return
        is_same = all([tensors[i] is ref() for i, ref in self.related])
        if not is_same or not have_relations(shared, self.relations, _is_outside):
            raise GuardFailure("the Tensors that share elements with what is changed in place are others")

    def _check_grads(self, tensors: list[Tensor]) -> None:
        owners = self.pick_grads(tensors)
        if (self.hooks or any(map(_HOOKS, owners))) and _hooks_of(owners) != self.hooks:
            raise GuardFailure("a Tensor whose gradient is computed has got or lost a hook")
        grads = list(map(_GRAD, owners))
        known, known_raws = self.known_grads
        self.grads_unchanged = same_objects(grads, known) and (
            known_raws is None or all(map(operator.is_, map(_RAW, grads), known_raws))
        )
        if self.grads_unchanged:
            return
        for (i, expected), grad in zip(self.expected_grads, grads, strict=True):
            kind = grad_kind(grad)
            if kind != expected and (expected != "empty" or kind in ("array", "rows")):
                raise GuardFailure(f"the gradient of {tensors[i].name} is {_GRAD_TEXTS[kind]}")
            if tensors[i]._node is not None:
                raise GuardFailure(f"{tensors[i].name} was computed outside, and backward is called inside")
        self._remember_grads(grads)

    def _remember_grads(self, grads: list[Any]) -> None:
        """Keeps gradients that were checked, if that keeps no memory alive."""
        raws = [None if grad is None else grad._raw for grad in grads]
        if all(map(is_zero, raws)):
            self.known_grads = grads, raws
        elif all(grad is None for grad in grads):
            self.known_grads = grads, None
        else:
            self.known_grads = [], []

    # running ------------------------------------------------------------------------------------------------

    def __call__(self, tensors: list[Tensor]) -> Any:
        """Runs it on operands that `operands` returned; returns the result of the function."""
        captured = self.captured
        if PendingChecks.queue:
            poll(False)
        if self.differentiable:
            out = self._run_on_tape(tensors)
            raws = [result._raw for result in out]
        else:
            out = raws = self._run_direct(tensors)
            if local.ctx.frame.executor is not None:
                self._raise_failed_checks(raws)
        results = []
        for (stop, flows, operand), value, raw in zip(captured.results, out, raws, strict=False):
            if operand is not None:
                results.append(tensors[operand])
            elif flows:
                value.stop_gradient = False
                results.append(value)
            else:
                results.append(wrap(raw, stop, None if stop or flows is None else self.spent_node))
        self._apply_updates(tensors, out, raws)
        Counters.steps += captured.steps
        for generator, count in captured.draws:
            generator._offset += count
        for call, owner, args, kwargs in captured.effects:
            call(owner, *args, **kwargs)
        return captured.rebuild(results)

    def _run_on_tape(self, tensors: list[Tensor]) -> list[Tensor]:
        """Runs it as one operation; returns its results as Tensors."""
        for tensor, shape in zip(tensors, self.shapes, strict=True):
            if (tensor._raw.shape, tensor._raw.dtype) != shape:
                raise GuardFailure(f"{tensor.name} is {tensor._raw.dtype.name}{list(tensor._raw.shape)}")
        out = run(self.kernel, [*tensors, *[wrap(get()) for get in self.numbers.getters]])
        if self.has_effects:
            finish(lambda: [result._raw for result in out])
        direct = self.direct
        set_all(_SET_RAW, [tensors[i] for i in direct.donated], [out[i]._raw for i in direct.donated_results])
        return out

    def _run_direct(self, tensors: list[Tensor]) -> list[Any]:
        """Runs it without the tape; returns its results as arrays."""
        if self.precheck is not None:
            self.precheck(tensors)
        direct = self.direct
        if direct.pack is None:
            return direct.run(None, tensors)
        members = direct.members(tensors)
        try:
            flat = direct.pack.take(members)
        except Scattered:
            self.direct = self._direct_program(None)
            return self.direct.run(None, tensors)
        with direct.pack.lock:
            return direct.run(flat, tensors, members)

    def _raise_failed_checks(self, raws: list[Any]) -> None:
        """Raises what the values have shown now, as each operation does under FLAGS_check_nan_inf."""
        checks = CapturedChecks.of(self.captured)
        if checks is not None:
            raise_if_failed(raws[-1], checks.checks)

    def _apply_updates(self, tensors: list[Tensor], out: list[Any], raws: list[Any]) -> None:
        """Stores the other changes of a call, when the Tensors have their new values."""
        direct = self.direct
        replaced = direct.replaced(tensors)
        for tensor, steps in zip(replaced, direct.steps, strict=True):
            tensor._version += steps
        if any(map(_NODE, replaced)):
            for tensor in replaced:
                tensor._node = None
                tensor._idx = 0
        if not self.grads_unchanged:
            for target, change in self.zero_grads:
                set_grad(tensors[target], change)
        for target, result, change in self.other_updates:
            apply_change(change, None if target is None else tensors[target], out, raws, result)
        relink_views(self.captured.relations)


def _is_outside(tensor: Tensor) -> bool:
    """Whether a Tensor is not one that the captured run has left behind."""
    return not isinstance(tensor._raw, jax.core.Tracer)


def _hooks_of(tensors: Any) -> list[tuple]:
    """The gradient hooks of each Tensor."""
    return [tuple(hooks.values()) if hooks else () for hooks in map(_HOOKS, tensors)]
