"""One compiled form of a function: its operands, its guards, and its calls.

There are two ways of running. Where gradients can flow through a result, the whole function is one
operation on the tape. Where not (a whole training step), it runs directly, and gives the memory of what it
changes to the new values.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.interrupt_safe import set_all
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.execution.module_protocol import AttributeStore
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.kernels.value_checks import PendingChecks, poll, raise_if_failed
from paddle_jax._core.tape.node import Node
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype, plain_shape, set_slot
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax._core.tensors.views import relink_views
from paddle_jax._program.capture.captured import Captured
from paddle_jax._program.capture.captured_checks import CapturedChecks
from paddle_jax._program.capture.direct_program import (
    DirectProgram,
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
from paddle_jax._program.guards.guard_set import GuardFailure, GuardSet, OperandGuard, StateGuard
from paddle_jax._program.guards.operand_guards import (
    OPERAND_GONE,
    DistinctGuard,
    GradGuard,
    HostReadGuard,
    HostValueGuard,
    InputGuard,
    ShapeGuard,
    StopGradientGuard,
    ViewGuard,
)

if TYPE_CHECKING:
    from paddle_jax._program.guards.closure_scan import ClosureScan
    from paddle_jax._program.guards.state_observer import StateObserver

# One C call per Tensor: this runs at each step.
_NODE = operator.attrgetter("_node")


class CompileRecord(NamedTuple):
    """How one compiled form came to be.

    Attributes:
        seconds: float, the time that running and compiling the code took.
        where: str, `file:line` of the call.
        why: str, the reason for it.
    """

    seconds: float
    where: str
    why: str


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
        reads: ReadGuards of what user code read.
        guards: GuardSet of all guards, `reads` included.
        stop_gradients: StopGradientGuard.
        grads: GradGuard.
        views: ViewGuard.
        shapes: (shape, dtype) of each operand.
        host_reads: list of (index of the operand, value that the host has read).
        differentiable: whether gradients can flow through a result.
        precheck: function that checks values of operands before a run, or None.
        value_updates: list of (operand, result, versions) of Tensors that get plain values.
        zero_grads: list of (operand, Change) of gradients that become zero.
        other_updates: list of (operand or None, first result, Change).
        kernel: Kernel of the whole function.
        has_effects: whether the program prints or asserts.
        spent_node: the tape node of results that backward has used up inside.
        direct: DirectProgram.
        record: CompileRecord, once it has been compiled.
    """

    record: CompileRecord | None = None

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
        self.reads = observer.guards
        self._arrange_operands(scan)
        tensors = self._tensors(inputs)
        self.stop_gradients = StopGradientGuard(tensors)
        self.shapes = [(plain_shape(t), numpy_dtype(t)) for t in tensors]
        index_of = {id(t): i for i, t in enumerate(tensors)}
        # The kind of gradient (none, zero, rows, array) is a part of the program.
        expected_grads = [(index_of[id(t)], kind) for t, kind in captured.grads]
        self.grads = GradGuard(expected_grads, picker([i for i, _ in expected_grads]), tensors)
        changes_flow = any(change.flows for change in captured.changes)
        self.differentiable = changes_flow or any(flows for _, flows, _ in captured.results)
        checks = CapturedChecks.of(captured)
        if checks is None:
            self.precheck = None
        else:
            self.precheck = checks.arrange(captured, self.order, self.differentiable)
        self._plan_updates(index_of)
        shared = [change.target for change in captured.changes if change.kind == "value" and change.shares]
        self.views = ViewGuard(shared, index_of)
        self.guards = self._guard_set(observer, inputs)
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
        # The gradient of a parameter is found through the parameter, as its object changes from step to
        # step.
        owner_of_grad = {id(t._grad): by_tensor[id(t)] for t, _ in captured.grads if t._grad is not None}
        slots = []
        fixed = []
        grads = []
        numbers = []
        for entry in captured.inputs[self.input_count :]:
            # In the order of the class docstring, which the guards and the updates rely on.
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

    def _plan_updates(self, index_of: dict[int, int]) -> None:
        """Decides where the results go that are no results of the function."""
        captured = self.captured
        expected_flags = self.stop_gradients.expected
        self.value_updates: list[ValueUpdate] = []
        self.zero_grads: list[tuple[int, Any]] = []
        self.other_updates: list[OtherUpdate] = []
        result = len(captured.results)
        for change in captured.changes:
            if change.kind in ("attribute", "checks"):
                self.other_updates.append((None, result, change))
            else:
                target = index_of[id(change.target)]
                # The fast way: the new value, nothing else. Everything that needs more is in
                # `other_updates`.
                keeps_flag = change.kind == "value" and change.stop_gradient is expected_flags[target]
                if keeps_flag and not change.flows:
                    self.value_updates.append((target, result, change.steps))
                elif change.kind == "grad" and change.to == "zero" and not change.is_new_object:
                    self.zero_grads.append((target, change))
                else:
                    self.other_updates.append((target, result, change))
            result += change.count

    def _packable(self) -> list[int]:
        """Indices of the operands that a FlatBuffer may hold."""
        # The tape keeps operands, and a failed assertion needs the old ones: both need arrays of their own.
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

    def _guard_set(self, observer: StateObserver, inputs: list[Tensor]) -> GuardSet:
        """The guards: those of Python's state, then those of operands, each kind from cheap to expensive."""
        captured = self.captured
        state_guards: list[StateGuard] = [self.scan.package_guards, observer.guards]
        if captured.host_guards:
            # after the reads, on which the functions of these guards may rest
            state_guards.append(HostValueGuard(captured.host_guards))
        has_plain_stores = not all([isinstance(store, AttributeStore) for store in self.stores])
        distinct = DistinctGuard(len(inputs), frozenset(self.scan.tensors), has_plain_stores)
        operand_guards: list[OperandGuard] = [self.stop_gradients]
        if inputs:
            operand_guards.append(InputGuard(inputs, distinct))
        operand_guards.append(distinct)
        if self.differentiable:  # a DirectProgram compares shapes itself, by their avals
            operand_guards.append(ShapeGuard(self.shapes))
        if self.views.shared:
            operand_guards.append(self.views)
        if self.grads.expected:
            operand_guards.append(self.grads)
        if self.host_reads:  # the last, since it waits for values
            operand_guards.append(HostReadGuard(self.host_reads))
        return GuardSet(state_guards, operand_guards)

    def operands(self, inputs: list[Tensor]) -> list[Tensor]:
        """Checks the guards, and returns the Tensors for a call.

        Raises:
            GuardFailure: a guard does not hold; its Reason says which.
        """
        # Python's state first: without it the operands may not even be found.
        reason = self.guards.check_state()
        if reason is not None:
            raise GuardFailure(reason)
        try:
            tensors = self._tensors(inputs)
        # A sublayer or attribute that the code read has been removed.
        except (KeyError, IndexError, AttributeError):
            raise GuardFailure(OPERAND_GONE) from None
        reason = self.guards.check_operands(tensors)
        if reason is not None:
            raise GuardFailure(reason)
        return tensors

    # running ------------------------------------------------------------------------------------------------

    def __call__(self, tensors: list[Tensor]) -> Any:
        """Runs it on operands that `operands` returned; returns the result of the function."""
        captured = self.captured
        # Checks of earlier calls whose values are there by now.
        if PendingChecks.queue:
            poll(False)
        if self.differentiable:
            out = self._run_on_tape(tensors)
            raws = [held_value(result) for result in out]
        else:
            out = raws = self._run_direct(tensors)
            # Under FLAGS_check_nan_inf errors are raised by the call that makes the value, not later.
            if local.ctx.frame.executor is not None:
                self._raise_failed_checks(raws)
        results = []
        for (stop, flows, operand), value, raw in zip(captured.results, out, raws, strict=False):
            # A result that is an operand is that Tensor itself, as in eager mode.
            if operand is not None:
                results.append(tensors[operand])
            elif flows:
                value.stop_gradient = False
                results.append(value)
            else:
                # Results on which `backward` has been called inside have a node that says so if it is
                # called again.
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
        # Numbers are operands of the tape's node, too.
        out = run(self.kernel, [*tensors, *[wrap(get()) for get in self.numbers.getters]])
        # An assertion must raise in this call.
        if self.has_effects:
            finish(lambda: [held_value(result) for result in out])
        # What the program has changed and gives no gradient: the Tensor takes the array, not the result's
        # Tensor.
        direct = self.direct
        set_all(
            set_slot,
            [tensors[i] for i in direct.donated],
            [held_value(out[i]) for i in direct.donated_results],
        )
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
        # Others read the members so often that one array for all does not pay.
        except Scattered:
            log.flat_buffers["given up"] += 1
            self.direct = self._direct_program(None)
            return self.direct.run(None, tensors)
        # Another thread may read a member while the array is replaced.
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
        # Tensors that were on a tape have left it with their new values.
        if any(map(_NODE, replaced)):
            for tensor in replaced:
                tensor._node = None
                tensor._idx = 0
        # Gradients that are the same as after the last call are zero already.
        if not self.grads.unchanged:
            for target, change in self.zero_grads:
                set_grad(tensors[target], change)
        for target, result, change in self.other_updates:
            apply_change(change, None if target is None else tensors[target], out, raws, result)
        relink_views(self.captured.relations)
