"""A run of Paddle code inside a JAX trace that is repeated as one program.

Everything that the code reads from outside becomes an operand. It is known by the Tensor object, not by its
array, which two Tensors may share. Everything that the code changes outside becomes a result. Effects on the
host, such as the step of a scheduler, are repeated after each call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax._src.core import get_opaque_trace_state  # jax.extend takes 0.05 s to import

from paddle_jax._core.base.errors import TracedValueError, Unsupported
from paddle_jax._core.base.interrupt_safe import (
    eager_evaluation,
    swapped_attributes,
)
from paddle_jax._core.base.state import Observing, local
from paddle_jax._core.base.uninitialized import Uninitialized
from paddle_jax._core.execution.python_state import (
    copy_contents,
    restore_contents,
)
from paddle_jax._core.execution.trace import Trace, alias_array, is_tensor
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import LazyArray, is_zero
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tape.node import Node
from paddle_jax._core.tape.sparse_rows import RowsGrad, either, marks_of
from paddle_jax._core.tensors.held_values import (
    held_value,
    holds_tracer,
    holds_uninitialized,
    plain_shape,
    replace_held,
)
from paddle_jax._core.tensors.tensor import NumberTensor, Tensor
from paddle_jax._program.capture.recomputation import call_with_marks

if TYPE_CHECKING:
    from paddle_jax._core.lazy.stand_ins import StandIns

_SMALL = 64  # elements of an integer Tensor that the host may look at; its value is compared at each call


class CapturedInput:
    """A value from outside: a Tensor, or a number or array that `get` returns for each call.

    Attributes:
        tensor: the Tensor, or None.
        get: function that returns the number or array, or None.
        value: the value at the beginning, as an array.
        own: an array object of its own, by which the constant of the jaxpr is recognised.
        tracer: the value in the run, or None.
    """

    __slots__ = ("get", "own", "tensor", "tracer", "value")

    def __init__(
        self, value: Any, tensor: Tensor | None = None, get: Callable[[], Any] | None = None
    ) -> None:
        # The caller may be inside a trace of JAX; the value outside of it must be an array all the same.
        with eager_evaluation():
            if type(value) is Uninitialized:
                raise value.error("to_static")
            self.value = jnp.asarray(to_array(value))
        self.tensor = tensor
        self.get = get
        # The same array in another Python object: two Tensors may hold one array, and each is an operand of
        # its own.
        self.own = alias_array(self.value)
        self.tracer: Any = None


class Capture(Trace):
    """The Trace of a run that is to be repeated.

    Attributes:
        known_tensors: Tensors that the run may read, made operands before it.
        converted: whether functions with control flow on Tensors are converted on the way.
        variable_count: number of the first inputs, whose values the host may not read.
        full_graph: whether the function must be compiled whole: lists and dicts may then change in the run.
        inputs: list of CapturedInput, in the order in which the run met them.
        known_count: number of the first inputs that were known before the run.
        tensors: {id: CapturedInput} of those that are Tensors.
        arrays: {id of its array: CapturedInput}.
        used_ids: ids of the Tensors that operations were given, or whose properties were read.
        host_reads: {CapturedInput: value that the host has read, which must stay the same}.
        host_guards: list of (function without arguments, its value, which must stay the same).
        effects: list of (function, object, arguments, named arguments) to repeat after each call.
        outputs: the same for what is printed or logged.
        grads: {id: (Tensor, its gradient, what that held, kind)} of gradients that were read.
        attributes: {id: (Layer, its contents before)} of Layers that get attributes.
        contents: {id: (object, its contents before)} of lists, dicts and objects that may change.
        objects: {id: (object, its contents before)} of those that effects change.
        kept_containers: ids of containers whose changes stay.
        ids_shared_with_views: ids of Tensors that change together with their views.
        uncertain_results: {id: Tensor} of results of branches and loops that may be Tensors from outside.
        python_numbers: {id: Tensor} of Tensors that stand for Python numbers.
        undefined_variables: {id: (Tensor, name)} of variables that may have no value.
        row_lookups: {id: (table, marks of its used rows, or None for all)}.
        checks: list of checks of values (value_checks.py).
        level: the trace of JAX in which checks can be made.
        optimizer_steps: int, number of steps of optimizers.
        has_hooks: whether a hook was put on a Tensor.
        inside_effect: whether a call runs that is part of an effect.
        refusal: why the code cannot be compiled, though it may have caught that, or None.
        begun: whether `begin` has run.
        finished: whether the code has run to its end.
    """

    # The run computes with tracers at once; a segment would record them beyond the end of the trace.
    deferring = False
    has_segment = False
    converted = False
    capture = property(lambda self: self)

    def __init__(
        self,
        known_tensors: Sequence[Tensor],
        converted: bool = False,
        variable_count: int = 0,
        objects: Iterable[Any] = (),
        full_graph: bool = False,
    ) -> None:
        super().__init__()
        self.known_tensors = known_tensors
        self.converted = converted
        self.variable_count = variable_count
        self.full_graph = full_graph
        self.inputs: list[CapturedInput] = []
        self.known_count = 0
        self.tensors: dict[int, CapturedInput] = {}
        self.arrays: dict[int, CapturedInput] = {}
        self.used_ids: set[int] = set()
        self.host_reads: dict[CapturedInput, Any] = {}
        self.host_guards: list[tuple[Callable[[], Any], Any]] = []
        self.effects: list[tuple[Callable[..., Any], Any, tuple[Any, ...], dict[Any, Any]]] = []
        self.outputs: list[tuple[Callable[..., Any], Any, tuple[Any, ...], dict[Any, Any]]] = []
        self.grads: dict[int, tuple[Tensor, Any, Any, str]] = {}
        self.attributes: dict[int, tuple[Any, list[Any]]] = {}
        self.contents = {id(owner): (owner, copy_contents(owner)) for owner in objects}
        self.objects: dict[int, tuple[Any, list[Any]]] = {}
        self.kept_containers: set[int] = set()
        self.ids_shared_with_views: set[int] = set()
        self.uncertain_results: dict[int, Any] = {}
        self.python_numbers: dict[int, Any] = {}
        self.undefined_variables: dict[int, tuple[Tensor, str]] = {}
        self.row_lookups: dict[int, tuple[Tensor, Any]] = {}
        self.checks: list[Any] = []
        self.level: Any = None
        self.optimizer_steps = 0
        self.has_hooks = False
        self.inside_effect = False
        self.refusal: Exception | None = None
        self.begun = False
        self.finished = False

    def begin(self) -> None:
        """Enters the run, and makes operands of the Tensors that are known."""
        ctx = local.ctx
        self.nest_in(ctx.frame)
        # Pending operations of the caller wait until the run is over.
        self.segment = ctx.segment
        self.begun = True
        if Observing.observer is not None:
            Observing.observer.capture = self
        ctx.frame = self
        ctx.segment = None
        # Now, at the outermost level: a Tensor that is first read inside a branch or loop could not become
        # an operand.
        for tensor in self.known_tensors:
            if id(tensor) not in self.tensors:
                self._lifted(self._meet(tensor))
        self.known_count = len(self.inputs)

    def end(self) -> None:
        """Leaves the run, and restores everything.

        After a run that has failed this includes the lists and dicts whose changes would stay.
        """
        if not self.begun:
            return
        local.ctx.frame = self.outer
        local.ctx.segment = self.segment
        # Backwards in time: values first, then gradients, generators and what objects hold.
        self.undo_log.undo()
        for _, grad, raw, _ in self.grads.values():
            # A gradient that is an operand has been restored by the log above.
            if grad is not None and id(grad) not in self.tensors:
                replace_held(grad, raw)
        # The run's draws do not count: each call makes them, see `Captured.draws`.
        for generator, (_, words, offset) in self.drawn.items():
            generator._words = words
            generator._offset = offset
        for owner, before in (*self.attributes.values(), *self.objects.values(), *self.contents.values()):
            # With `full_graph` a change that does not depend on the run happens now, once.
            if not (self.finished and id(owner) in self.kept_containers):
                restore_contents(owner, before)

    # reading ------------------------------------------------------------------------------------------------

    def operands(self, tensors: Any, deferred: bool = False) -> list[Any]:
        """What a kernel gets for Tensors."""
        self.used_ids.update(map(id, tensors))
        return [self._operand(t) for t in tensors]

    def call(self, kernel: Kernel, tensors: Any) -> Any:
        """Runs a kernel on Tensors. Branches and loops may be handed what none of them uses."""
        # Only a later use needs a value. A branch hands on variables that it may not have set.
        if self.undefined_variables and kernel.name not in ("cond", "while"):
            self.defined(tensors)
        return super().call(kernel, tensors)

    def on_undefined(self, tensor: Tensor, name: str) -> None:
        # Such a function may run eagerly instead, where Python itself says that the variable has no value.
        if not self.full_graph:  # a function that need not be compiled whole runs eagerly then
            self.undefined_variables[id(tensor)] = tensor, name

    def on_uncertain_result(self, result: Tensor, tensor: Tensor) -> None:
        # The result may be that Tensor itself, so that a change of it would have to change the Tensor.
        if self.is_outside(tensor):
            self.uncertain_results[id(result)] = result

    def on_python_number(self, tensor: Tensor) -> None:
        if not self.full_graph:
            self.python_numbers[id(tensor)] = tensor

    def defined(self, tensors: Any) -> Any:
        """The Tensors; refuses those of variables that no value may have been given to."""
        for tensor in tensors:
            if id(tensor) in self.undefined_variables:
                error = Unsupported(
                    f"the variable {self.undefined_variables[id(tensor)][1]!r} has no value after one "
                    "branch of a condition on a tensor, and is used"
                )
                self.on_refusal(error)
                raise error
        return tensors

    def _operand(self, tensor: Tensor) -> Any:
        value = self.read(tensor)
        # As on the tape: JAX's derivatives, too, end where Paddle's do.
        if tensor.stop_gradient and value.dtype.kind in INEXACT:
            return jax.lax.stop_gradient_p.bind(value)
        return value

    def read(self, tensor: Tensor) -> Any:
        """The value to compute with."""
        raw = held_value(tensor)
        if type(raw) is LazyArray:
            # A few numbers of the host: they fill a shape and are no operand.
            if type(raw.array) is tuple:
                return constant_value(raw)
            raw = to_array(raw)
        if isinstance(raw, jax.core.Tracer | np.ndarray | np.generic):
            return raw  # NumPy arrays are constants that an operation made
        # By the array in the slot of the Tensor, which `_meet` has made one of its own.
        entry = self.arrays.get(id(raw))
        if entry is None:
            # A Python number that became a Tensor, such as an operand of `x + 2`: a constant of the code.
            if type(tensor) is NumberTensor:
                return raw
            entry = self._meet(tensor)
        return self._lifted(entry)

    def _meet(self, tensor: Tensor) -> CapturedInput:
        if self.stand_ins is not None:
            self._give_stand_in(tensor, self.stand_ins)
        entry = self.tensors[id(tensor)] = CapturedInput(held_value(tensor), tensor)
        # `end` gives the Tensor its own array and its place on the tape again.
        self.undo_log.save(tensor)
        replace_held(tensor, entry.own)
        # In the run it is a leaf: gradients end at operands.
        tensor._node = None
        tensor._idx = 0
        return self._keep(entry)

    def _give_stand_in(self, tensor: Tensor, stand_ins: StandIns) -> None:
        """Gives a parameter made under LazyGuard an array, for a program that is compiled and never run.

        Whole numbers get none, since the host may read their values.
        """
        value = held_value(tensor)
        if type(value) is Uninitialized and value.dtype.kind in INEXACT:
            replace_held(tensor, stand_ins.array(value.shape, value.dtype, value.sharding))
            stand_ins.undo.append(partial(replace_held, tensor, value))

    def _keep(self, entry: CapturedInput) -> CapturedInput:
        self.arrays[id(entry.own)] = entry
        self.inputs.append(entry)
        return entry

    def _lifted(self, entry: CapturedInput) -> Any:
        """The value in this run; inside a trace within it the array, which that trace hands
        on as an operand."""
        # An inner trace (a branch, a loop) would keep a tracer of this level as a constant of its own.
        if local.ctx.frame is not self:
            return entry.own
        if entry.tracer is None:
            # The barrier makes a tracer of the array. `_open` takes it out again, when the array has become
            # an operand.
            entry.tracer = jax.lax.optimization_barrier(entry.own)
        # The Tensor may have been assigned to since it was first read.
        if entry.tensor is not None and held_value(entry.tensor) is entry.own:
            replace_held(entry.tensor, entry.tracer)
        return entry.tracer

    def call_recomputed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        # The equations of a branch or loop are no part of the program itself.
        if local.ctx.frame is not self:
            return function(*args, **kwargs)
        return call_with_marks(function, args, kwargs)

    def host_number(self, get: Callable[[], Any]) -> Any:
        """A number that the host knows at each call, such as a learning rate."""
        # Effects are repeated after the program, so the rate in it would be the one from before the step.
        if self.effects:
            raise Unsupported(
                "a learning rate is used after scheduler.step(); "
                "call scheduler.step() at the end of the function"
            )
        with swapped_attributes(self, inside_effect=True):
            # float64, as the host computes it. A float would be a weak number with another dtype for
            # results.
            return self._lifted(self._keep(CapturedInput(np.float64(get()), get=lambda: np.float64(get()))))

    def host_value(self, tensor: Tensor) -> Any:
        """The value of a Tensor for the host, where it may count as constant: a few integers from
        outside. Else None."""
        raw = held_value(tensor)
        # NumPy arrays and numbers of the code are constants: their values are known.
        if (
            isinstance(raw, np.ndarray | np.generic)
            or type(raw) is LazyArray
            and type(raw.array) is tuple
            or type(tensor) is NumberTensor
        ):
            return to_numpy(to_array(raw))
        # The arguments come first and are no constants; others may be, and are compared at each call.
        entry = next((e for e in self.inputs[self.variable_count :] if _holds(e, tensor)), None)
        # Large or not whole: the value is likely to change, and each change would compile the function
        # again.
        if entry is None or entry.value.dtype.kind not in "biu" or entry.value.size > _SMALL:
            if local.ctx.frame is not self and not isinstance(raw, jax.core.Tracer):
                self.read(tensor)
                # a trace within this one holds the array, which is another one at the next call
                raise TracedValueError("host")
            return None
        self.host_reads[entry] = value = to_numpy(entry.value)
        return value

    def on_node_gradient(self, node: Node) -> None:
        # Nodes keep arrays for the backward pass, which for operations of the run are tracers.
        """Nothing to do: what operations of the run keep is from the run."""

    def on_refusal(self, error: Exception) -> None:
        """Called before an error says that the code cannot be compiled, which the code itself might catch."""
        self.refusal = self.refusal or error

    def on_reseed(self, generator: Any) -> None:
        """Called before a generator gets another state."""
        raise Unsupported(
            "the state of the random generator is set inside the function (paddle.seed, "
            "set_rng_state); set it outside"
        )

    def on_stream_read(self, what: str) -> None:
        """Called before something is read that is not the same at each call."""
        raise Unsupported(
            # Iterators go on with each item, and a program would repeat the items of the first run.
            f"{what} is iterated over inside the function, which would happen while compiling "
            "only; pass in what is taken from it"
        )

    def guarded_value(self, get: Callable[[], Any]) -> Any:
        """What `get()` gives, compared again at each call."""
        value = get()
        # An effect is a call as a whole, repeated with what it reads.
        if not self.inside_effect:
            self.host_guards.append((get, value))
        return value

    def value_before(self, tensor: Tensor) -> Any:
        """The value that a Tensor has had since before the run, for state that is made of it and lives on."""
        # Assigned to in the run: the array from before is no longer what the Tensor stands for.
        self.read(tensor)
        entry = self.tensors.get(id(tensor))
        if entry is None or not _holds(entry, tensor):
            raise Unsupported(
                "the state of an optimizer is made, or arranged again, after a change of "
                f"{tensor.name} in the same function; run one step before compiling it, "
                "and change settings of parameters outside"
            )
        return entry.value

    # changing -----------------------------------------------------------------------------------------------

    def used(self, tensor: Tensor) -> None:
        """Called before the shape or another property of a Tensor is looked at, which then has to be the
        same at each call."""
        self._hold(tensor)
        self.used_ids.add(id(tensor))

    def on_assign(self, tensor: Tensor, shares: bool = True) -> None:
        """Called before a Tensor gets another value in place. shares: its views get theirs, too."""
        if shares:
            self.ids_shared_with_views.add(id(tensor))
        refuse_possible_outside(tensor, self)
        self._hold(tensor)

    def _hold(self, tensor: Tensor) -> None:
        """Takes up a Tensor from outside, if it is one."""
        if holds_uninitialized(tensor):
            raise Unsupported("a parameter gets its first value inside the function; make Layers outside")
        if id(tensor) not in self.tensors:
            self.read(tensor)

    def is_outside(self, tensor: Tensor) -> bool:
        """Whether a Tensor is not one that the run has made."""
        return id(tensor) in self.tensors or not holds_tracer(tensor)

    def on_grad_access(self, tensor: Tensor, accumulates: bool = False) -> None:
        """Called before the `grad` of a Tensor is looked at; `accumulates`: only to add to it."""
        # Only the first look counts: later ones see what the run itself has set.
        if id(tensor) in self.grads:
            return
        self.read(tensor)
        if id(tensor) not in self.tensors:
            return  # made by the run itself
        # It was computed before the run. The backward pass would have to go on there, which a call of the
        # program cannot do.
        if accumulates and self.undo_log.saved_state(tensor)[1] is not None:
            raise Unsupported(
                f"backward reaches {tensor.name}, which was computed outside; "
                "call backward outside, or compute it inside"
            )
        grad = tensor._grad
        if type(grad) is RowsGrad:
            raise Unsupported(
                f"the gradient of {tensor.name}, a table of Embedding(sparse=True), is from "
                "outside; call backward and the step of the optimizer in one function, "
                "or both outside"
            )
        kind = grad_kind(grad)
        # "empty": to add to None and to add to zeros gives the same, so one program serves both.
        self.grads[id(tensor)] = (
            tensor,
            grad,
            None if grad is None else held_value(grad),
            "empty" if accumulates and kind != "array" else kind,
        )
        # An array that is there is read, and becomes an operand.
        if kind == "array" and grad is not None:
            self.read(grad)

    def on_row_lookup(self, weight: Tensor, ids: Any, padding: Any) -> None:
        """Called for rows of a leaf whose gradient is one of these rows; ids None: of all."""
        marks: Any = None
        # At the outermost level alone: marks of a branch would be tracers of an inner trace.
        if ids is not None and get_opaque_trace_state(convention="flax") == self.level:
            marks = marks_of(self.read(ids), plain_shape(weight)[0], padding)
        # Rows may be looked up several times; the gradient has the rows of all lookups.
        before = self.row_lookups.get(id(weight))
        if before is not None:
            marks = either(before[1], marks)
        self.row_lookups[id(weight)] = weight, marks

    def on_layer_change(self, layer: Any) -> None:
        """Called before an attribute of a Layer is set or deleted."""
        _note(self.attributes, layer)

    def on_object_change(self, owner: Any) -> None:
        """Called before an object, a list or a dict changes, or may change."""
        # What the run itself made needs no restoring.
        if Observing.observer is None or Observing.observer.is_outside(owner):
            _note(self.contents, owner)

    def on_state_change(self, owner: Any, get: Callable[[], Any]) -> None:
        # Compared at each call: another state means another program.
        if id(owner) not in self.attributes:
            self.guarded_value(get)
            self.on_layer_change(owner)

    def is_constant(self, array: Any) -> bool:
        return False  # it is an operand, or becomes one

    def is_compiled_whole(self) -> bool:
        return self.full_graph

    def prints_later(self, is_traced: bool) -> bool:
        return True  # in the order of what the program writes

    def attempt(self, run: Callable[[], Any]) -> Any:
        # A refusal within code that is only tried does not count.
        refusal = self.refusal
        try:
            return run()
        except BaseException:
            self.refusal = refusal
            raise

    def on_hook(self, tensor: Tensor) -> None:
        """Called before a hook is put on a Tensor."""
        # A hook of a run would be put on once more at each call.
        if id(tensor) in self.tensors:
            raise Unsupported(
                f"register_hook is called inside the function on {tensor.name} from outside; "
                "register the hook outside"
            )
        self.has_hooks = True

    def on_optimizer_step(self) -> None:
        """Called for a step of an optimizer, which each call of the program will make."""
        self.optimizer_steps += 1

    def host_effect(self, call: Callable[..., Any], owner: Any, args: Any, kwargs: Any) -> Any:
        """Lets `call` change an object on the host; it will do so again after each call of the program."""
        # Such as `scheduler.step()` inside of `optimizer.step()`.
        if self.inside_effect:  # the call is part of one that is noted already
            return call(owner, *args, **kwargs)
        # Its value is a tracer, which an object on the host must not keep.
        if any(map(is_tensor, (*args, *kwargs.values()))):
            raise Unsupported(
                f"{type(owner).__name__}.{call.__name__} is given a Tensor inside the "
                "function; call it outside"
            )
        _note(self.objects, owner)
        self.effects.append((call, owner, args, kwargs))
        # It runs now as well, so that the rest of the code sees its result. `end` takes that back.
        with swapped_attributes(self, inside_effect=True):
            return call(owner, *args, **kwargs)

    def on_print(self, tensor: Tensor) -> None:
        """Called before a Tensor is written as text, which each call has to do with the values it has."""
        # Then the function runs eagerly, and prints its values at that moment.
        if not self.full_graph:
            error = TracedValueError("str")
            self.on_refusal(error)
            raise error

    def writes(self, call: Callable[..., Any], args: Any, kwargs: Any) -> None:
        """Lets `call` write something after each call of the program."""
        self.outputs.append((_written, call, args, kwargs))

    def _base(self, generator: Any) -> tuple[Any, ...]:
        if generator not in self.drawn:
            # The state of the generator is an operand: other numbers at each call from one program.
            words = CapturedInput(generator._words, get=lambda: generator._words)
            start = CapturedInput(
                np.uint32(generator._offset & 0xFFFFFFFF),
                get=lambda: np.uint32(generator._offset & 0xFFFFFFFF),
            )
            self.drawn[generator] = (
                (self._keep(words), self._keep(start)),
                generator._words,
                generator._offset,
            )
        base, _, start = self.drawn[generator]
        return *map(self._lifted, base), start


def _note(owners: dict[int, tuple[Any, list[Any]]], owner: Any) -> None:
    """Keeps what an object or container has now, unless that is kept already."""
    if id(owner) not in owners:
        owners[id(owner)] = owner, copy_contents(owner)


def _written(call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    call(*args, **kwargs)


def refuse_possible_outside(tensor: Tensor, capture: Capture | None) -> None:
    """Refuses to change what may be a Tensor from outside or another one, after a branch or loop."""
    if capture is not None and id(tensor) in capture.uncertain_results:
        raise Unsupported(
            "what a branch or loop gives is changed, and may be a Tensor from outside the "
            "function, which would change too; work on clone()"
        )


def constant_value(raw: Any) -> Any:
    """The value of a few host numbers, or of one number that fills a shape, inside a trace."""
    # One number for many elements: filled in by the program and not copied.
    if len(raw.array) == 1 != raw.aval.size:
        return jnp.full(raw.aval.shape, raw.array[0], raw.aval.dtype)
    return to_array(raw)


def _holds(entry: CapturedInput, tensor: Tensor) -> bool:
    return entry.tensor is not None and (
        # The tracer takes the place of the array when the input is first read.
        held_value(tensor) is entry.own or held_value(tensor) is entry.tracer
    )


def grad_kind(grad: Any) -> str:
    """The kind of the `grad` of a Tensor: "none", "zero", "rows" or "array"."""
    if type(grad) is RowsGrad:
        return "rows"
    if grad is None:
        return "none"
    if is_zero(held_value(grad)):
        return "zero"
    return "array"
