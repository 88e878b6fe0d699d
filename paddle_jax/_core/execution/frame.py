"""Frames: the ways in which a thread runs Paddle code.

Every operation, and all code that reads or changes a Tensor from outside, calls methods of the innermost
Frame, `local.ctx.frame`. `Frame` itself is eager execution, at once or in the deferred tier. The other ways
are subclasses: `Trace` (a run inside a JAX trace), `Capture` (a run that is repeated as a program,
_program/capture), `Recorder` (a static Program, _program/recorder.py).
"""

from __future__ import annotations

import functools as ft
import operator
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.interrupt_safe import eager_evaluation
from paddle_jax._core.base.state import Context, local
from paddle_jax._core.kernels.dependence import has_loop
from paddle_jax._core.kernels.kernel import Kernel, execute
from paddle_jax._core.kernels.kernel_gradients import linearize
from paddle_jax._core.kernels.value_checks import poll
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import LazyArray, to_lazy
from paddle_jax._core.lazy.recording import configure_context
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES, Symbol
from paddle_jax._core.tape.node import (
    Node,
    PackedNode,
    ResidualNode,
    drop_unread,
    pack_operands,
    source_of,
)
from paddle_jax._core.tensors.tensor import Tensor, raw_for_trace, wrap
from paddle_jax._core.tensors.views import register_view

if TYPE_CHECKING:
    from paddle_jax._core.lazy.stand_ins import StandIns

Tensors = Sequence[Tensor]
Executor = Callable[[Kernel, Sequence[Any]], Any]
Packing = tuple[Callable[..., Any], Callable[..., Any]]
_MAX_UNROLLED_ROWS = 64  # rows of a Tensor that a loop turns into one piece of program each


def is_inexact(value: Any) -> bool:
    """Whether gradients can flow into a value of this dtype."""
    return value.dtype.kind in INEXACT


class Frame:
    """A way of running Paddle code.

    Attributes:
        outer: the Frame around this one, or None.
        executor: None, or a function (kernel, values) -> values that runs kernels instead. Nothing is
            deferred then.
        packing: None, or (pack, unpack), functions that keep the operands of recorded calls in another form.
            Nothing is deferred then either.
        stand_ins: None, or the StandIns of a program that is compiled and never run. They stand for
            parameters without values and for states of optimizers.
    """

    eager = True  # whether calls compute values
    recording = False  # whether calls go into a Program
    single_steps = False  # whether a program inside is recorded operation by operation
    deferring = True  # whether the deferred tier goes on
    has_segment = True  # whether operations may be put into a segment
    capture = None  # the Capture that this is, or runs inside
    checks = None  # of values, where they can become results of the program (outcomes.py)
    converted = False  # whether functions with control flow on Tensors are converted on the way
    in_dynamic_code = False  # whether a function of dynamic mode is recorded into a Program
    precision: str | None = None  # dtype of the last guard of mixed precision inside
    probe = None  # which probe of unknown lengths a Program is recorded under
    symbolic = False  # whether unknown lengths are Lengths, numbers with an expression
    assumed: tuple[Any, ...] = ()  # expressions of lengths that are above zero where the code runs
    # what is above zero where an answer about lengths holds, and where not
    implied: Mapping[Any, Any] = MappingProxyType({})
    has_length_texts = False  # whether code that makes numbers of texts has made a text of an unknown length
    for_user = False  # whether a function that the user calls runs; the code that runs does not show it
    # whether `read` and `host_value` give what a Tensor holds; each subclass finds out
    reads_held_values: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        cls.reads_held_values = cls.read is Frame.read and cls.host_value is Frame.host_value

    def __init__(self) -> None:
        self.outer: Any = None
        self.executor: Executor | None = None
        self.packing: Packing | None = None
        self.stand_ins: StandIns | None = None

    def nest_in(self, outer: Frame) -> Self:
        """Takes over the settings of the Frame around this one, and returns this one."""
        self.outer = outer
        self.executor = outer.executor
        self.packing = outer.packing
        self.stand_ins = outer.stand_ins
        return self

    def on_length(self, node: Any, pair: Any) -> None:
        """Called for an expression of unknown lengths. pair: its two values."""

    def on_length_text(self, is_converted: bool) -> None:
        """Called for a text of an unknown length. is_converted: whether the code is converted, so that what
        makes a number of a text is seen."""

    # operations ---------------------------------------------------------------------------------------------

    def call(self, kernel: Kernel, tensors: Tensors) -> Any:
        """Runs a kernel on Tensors and returns Tensors, with a node on the tape if a gradient
        may be asked for."""
        ctx = local.ctx
        values = self.operands(tensors, ctx.segment is not None)
        return self.results(kernel, tensors, values, execute(kernel, values))

    def results(self, kernel: Kernel, tensors: Tensors, values: Sequence[Any], out: Any) -> Any:
        """The results of a kernel for the values of some Tensors, as Tensors."""
        results = self._wrap_results(kernel, tensors, values, out)
        if kernel.view is not None:
            register_view(results, tensors[0], kernel, tuple(tensors[1:]))
        return results

    def _wrap_results(self, kernel: Kernel, tensors: Tensors, values: Sequence[Any], out: Any) -> Any:
        if local.ctx.grad and not kernel.nondiff:
            for t in tensors:
                if not t.stop_gradient:
                    return self._record_on_tape(kernel, tensors, values, out)
        if type(out) is tuple or type(out) is list:
            return type(out)([wrap(o) for o in out])
        return wrap(out)

    def operands(self, tensors: Tensors, deferred: bool = False) -> list[Any]:
        """The values that a kernel gets for Tensors. deferred: whether they may be pending."""
        if deferred:
            return [t._raw if type(t._raw) is LazyArray else _held(t) for t in tensors]
        return [raw_for_trace(t) for t in tensors]

    def _record_on_tape(self, kernel: Kernel, tensors: Tensors, values: Sequence[Any], out: Any) -> Any:
        """The results of a call as Tensors, with a node on the tape if a gradient can flow."""
        constant_mask = kernel.constant_mask
        diff = tuple(
            [
                i
                for i, t in enumerate(tensors)
                if not (t.stop_gradient or constant_mask >> i & 1) and is_inexact(values[i])
            ]
        )
        many = type(out) is tuple or type(out) is list
        if not diff:
            if many:
                return type(out)([wrap(o) for o in out])
            return wrap(out)
        edges = tuple([source_of(tensors[i]) for i in diff])
        count = len(out) if many else 1
        if self.packing is not None:
            node = PackedNode(kernel, pack_operands(self.packing, values), diff, edges, count)
        elif not self.deferring and kernel.deferrable and has_loop(kernel.equations_for(values).structure):
            # of a loop inside a trace the forward part runs once, and keeps what its gradient needs
            out, pull = linearize(kernel, diff, values)
            node = ResidualNode(kernel, values, diff, edges, count)
            node.residuals = out, pull
        else:
            node = Node(kernel, values, diff, edges, count)
            node.recorded_with(out)
            if node.segment is not None and not many:
                signature = kernel.signatures.get(tuple([value.aval for value in values]))
                if signature is not None and signature.unread is not None:
                    drop_unread(node, signature)
        if many:
            return type(out)(
                [wrap(o, False, node, i) if is_inexact(o) else wrap(o) for i, o in enumerate(out)]
            )
        if is_inexact(out):
            return wrap(out, False, node, 0)
        return wrap(out)

    def emit_cond(self, compiled: Callable[[], Any], index: Any, regions: Any, outputs: Any) -> Any:
        """The results of a branch on a Tensor. compiled: function that gives them inside a trace; the other
        arguments are for Frames that record (`_program/control_flow/cond.py`)."""
        return compiled()

    def emit_while(
        self,
        compiled: Callable[[], Any],
        tensors: Sequence[Tensor],
        stops: Any,
        test: Any,
        step: Any,
        picks: Any,
    ) -> Any:
        """The results of a loop on a Tensor; see `emit_cond`."""
        return compiled()

    def run_region(self, region: Any, inputs: Any, carried: Any, indexed: bool, snapshot: Any) -> None:
        """Runs the code of a branch or loop (`_program/control_flow/region.py`)."""
        region.trace(inputs, carried, indexed, snapshot)

    def set_changed(self, tensor: Tensor, new: Tensor, has_gradient: bool) -> None:
        """Gives a Tensor the value that a branch or loop left it with."""
        if has_gradient:
            tensor._adopt(new)
        else:
            tensor._rebind(new._raw)

    def symbol_avals(self, tensor: Tensor) -> Any:
        """The avals of a Tensor's Symbol; None where no Program is recorded."""
        return

    def symbol_count(self) -> int:
        """How many Symbols have numbers, by which expressions of lengths name them."""
        return 0

    def joined_avals(self, pairs: Any) -> Any:
        """The avals that Symbols of different lengths have in common; None where lengths must be the same."""
        return

    def loop(self, code: Any, steps: Any = 0) -> list[Any]:
        """Called before a loop of converted code: [code of its body, steps, whether how many is known only
        when the program runs]."""
        return [None, 0, False]

    def run_and_undo(self, get: Callable[[], Any]) -> Any:
        """What `get()` gives, without the operations that it records."""
        return get()

    def restart_names(self, counts: Any) -> None:
        """Called before code runs once more. counts: of names, before its first run."""

    def on_undefined(self, tensor: Tensor, name: str) -> None:
        """Called for the result of a branch that stands for a variable which may have no value."""

    def on_uncertain_result(self, result: Tensor, tensor: Tensor) -> None:
        """Called for the result of a branch or loop that may be a Tensor from outside."""

    def on_python_number(self, tensor: Tensor) -> None:
        """Called for a Tensor that stands for a number of Python."""

    def custom_gradient(self, layer: Any, forward: Any, inputs: Any, taped: Callable[[], Any]) -> Any:
        """The result of a PyLayer.

        Args:
            layer: the subclass of PyLayer.
            forward: function of Tensors in place of the inputs; it gives (context, result).
            inputs: list of the Tensors among the arguments.
            taped: function that gives the result, with a node on the tape if need be.
        """
        return taped()

    def declare_parameter(
        self, shape: tuple[int, ...], dtype: Any, name: str, trainable: bool, fill: Callable[[], Any]
    ) -> Any:
        """The Parameter that a static program declares; None where Parameters hold arrays. fill: function
        that gives its first value."""
        return

    def on_node_gradient(self, node: Node) -> None:
        """Called before the gradient of a recorded operation is computed."""

    def refuse_tape_use(self, name: str) -> None:
        """Called before a function looks at the tape, which a static program has not. name: its name."""

    def recorded_gradients(
        self, outputs: Tensors, inputs: Tensors, starts: Sequence[Any], create_graph: bool, cut: Tensors
    ) -> list[Any] | None:
        """The gradients of outputs by inputs as recorded operations; None where there is a tape."""
        return None

    def refuse_leaf_change(self, name: str, leaf: Tensor) -> None:
        """Called before an operation changes a leaf in place that needs a gradient. name: its name.

        Raises:
            ValueError: the leaf holds a value, which its gradient is about.
        """
        raise ValueError(
            f"(InvalidArgument) {name}: {leaf.name} is a leaf that needs a gradient and "
            "cannot be changed in place; use no_grad() or a copy"
        )

    def pull_recorded(self, node: Node, kernel: Kernel, cotangents: Tensors) -> Any:
        """The gradient of a recorded operation, itself recorded. kernel: what computes it."""
        return node.pull_recorded(kernel, cotangents)

    # called where a Tensor shares elements with another one: no method, so that it costs no further call
    register_view = staticmethod(register_view)

    # functions ----------------------------------------------------------------------------------------------

    def call_static(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a StaticFunction (`jit/function.py`)."""
        return function.run_compiled(args, kwargs)

    def call_recomputed(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls the function of `recompute` while a program is made. XLA decides what it keeps."""
        return function(*args, **kwargs)

    def call_first(self, op: Any, operands: Any, attrs: Any, key: Callable[[], Any]) -> Any:
        """The first call of an Op with some attributes; see `Op.call_first`."""
        return op.call_first(operands, attrs, key)

    def is_compiled_whole(self) -> bool:
        """Whether the code must not fall back to running eagerly."""
        return False

    def attempt(self, run: Callable[[], Any]) -> Any:
        """Returns `run()`; if it raises, what it has refused does not count."""
        return run()

    # converted code -----------------------------------------------------------------------------------------

    def check_range(self, bounds: tuple[Any, ...]) -> None:
        """Called with the arguments of `range` in converted code."""

    def prints_later(self, is_traced: bool) -> bool:
        """Whether `print` is a part of the program instead of happening now. is_traced: whether a value is
        known to the program only."""
        return is_traced

    def emit_assertion(self, compiled: Callable[[], Any]) -> None:
        """An `assert` on a Tensor. compiled: function that adds it to the program that is traced."""
        compiled()

    def emit_check(self, error: Exception, compiled: Callable[[], Any]) -> None:
        """An exception that is raised depending on a Tensor. compiled: as for `emit_assertion`."""
        compiled()

    def emit_rows(self, plain: Callable[[], Any], rows: Callable[[], Any]) -> Any:
        """`enumerate`, `zip` or `reversed` of Tensors: as it is, or as Rows, of which a Program can take one
        by its number."""
        return plain()

    def unrolls_rows(self, count: int) -> bool:
        """Whether a loop over so many rows of a Tensor is one piece of program for each row."""
        return count <= _MAX_UNROLLED_ROWS

    # Tensors from outside -----------------------------------------------------------------------------------

    def has_value(self, tensor: Tensor) -> bool:
        """Whether a Tensor holds, or will hold, an array outside of any trace: the host may look at it."""
        return not isinstance(tensor._raw, ABSTRACT_TYPES)

    def is_constant(self, array: Any) -> bool:
        """Whether an array that comes from outside is the same at each run of the code."""
        return True

    def poll_checks(self) -> None:
        """Called before a value is read while checks of values are pending; raises what they found."""
        poll(True)

    def read(self, tensor: Tensor) -> Any:
        """The raw value of a Tensor, to compute with it or to hand it on."""
        return tensor._raw

    def host_value(self, tensor: Tensor) -> Any:
        """The value of a Tensor for the host where only this Frame can tell; else None."""
        return

    def value_before(self, tensor: Tensor) -> Any:
        """The value that a Tensor had before this Frame."""
        return tensor._value

    def on_assign(self, tensor: Tensor, shares: bool = True) -> None:
        """Called before a Tensor gets another value in place. shares: whether its views change with it."""

    def on_assign_all(self, tensors: Tensors) -> None:
        """As `on_assign` for several Tensors without their views."""

    def on_grad_access(self, tensor: Tensor, accumulates: bool = False) -> None:
        """Called before the `grad` of a Tensor is read. accumulates: whether only to add to it."""

    def on_grads_access(self, tensors: Callable[[], Tensors]) -> None:
        """As `on_grad_access` for the leaves among the Tensors that a function returns."""

    def on_row_lookup(self, weight: Tensor, ids: Tensor | None, padding: int | None) -> None:
        """Called for rows of a leaf whose gradient is one of these rows; ids None: of all."""

    def on_hook(self, tensor: Tensor) -> None:
        """Called before a hook is put on a Tensor."""

    # the host -----------------------------------------------------------------------------------------------

    def next_random_key(self, generator: Any) -> tuple[Any, Any]:
        """The operands of a random op: (uint32[2] seed words, uint32 offset)."""
        return generator.advance()

    def next_host_key(self, generator: Any) -> tuple[Any, Any]:
        """As `next_random_key` for numbers that the host needs at once."""
        return self.next_random_key(generator)

    def random_key_at(self, generator: Any, offset: int) -> tuple[Any, Any]:
        """Seed words and offset as values for a Frame inside this one."""
        with eager_evaluation():
            return jnp.asarray(generator._words), jnp.asarray(np.uint32(offset & 0xFFFFFFFF))

    def guarded_value(self, get: Callable[[], Any]) -> Any:
        """Returns `get()`, a value on the host that the code depends on."""
        return get()

    def guard_choice(self, make: Callable[[], Callable[[], Any]]) -> None:
        """Called for a choice on the host that the code has made. make: function that returns the getter for
        `guarded_value`."""

    def host_number(self, get: Callable[[], float]) -> Any:
        """Returns `get()`, a number that the host computes for each call, such as a learning rate."""
        return np.float64(get())

    def host_effect(
        self, call: Callable[..., Any], owner: Any, args: tuple[Any, ...], kwargs: dict[Any, Any]
    ) -> Any:
        """Runs `call(owner, ...)`, which changes an object on the host."""
        return call(owner, *args, **kwargs)

    def on_layer_change(self, layer: Any) -> None:
        """Called before an attribute of a Layer changes."""

    def on_state_change(self, owner: Any, get: Callable[[], Any]) -> None:
        """Called before attributes of an object of ours change that the code depends on.

        Args:
            owner: the object.
            get: function that returns what the code depends on.
        """

    def on_precision(self, dtype: str) -> None:
        """Called when a guard of mixed precision begins."""

    def implied_parameters(self) -> list[Any] | None:
        """The parameters of an optimizer that is given none; None where some must be given."""
        return None

    def on_object_change(self, owner: Any) -> None:
        """Called before observed code changes another object of the user, a list or a dict."""

    def on_optimizer_step(self) -> None:
        """Called for a step of an optimizer."""
        Counters.steps += 1

    def on_reseed(self, generator: Any) -> None:
        """Called before a generator gets another state."""

    def on_stream_read(self, what: str) -> None:
        """Called before something is read that is not the same at each call."""

    def on_print(self, tensor: Tensor) -> None:
        """Called before a Tensor that has no value yet is written as text."""

    def on_refusal(self, error: Exception) -> None:
        """Called before an error says that the code cannot be compiled, which the code itself might catch."""


class InnerFrame(Frame):
    """A Frame that leaves to the one around it whatever it does not do itself."""

    capture, converted, in_dynamic_code, probe = (
        property(operator.attrgetter(f"outer.{name}"))
        for name in ("capture", "converted", "in_dynamic_code", "probe")
    )

    def call_static(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return function.run_inline(args, kwargs)

    def has_value(self, tensor: Tensor) -> bool:
        return False

    def poll_checks(self) -> None:
        """Nothing: values in a trace are not those that the checks are about."""

    def on_assign_all(self, tensors: Tensors) -> None:
        for tensor in tensors:
            self.on_assign(tensor, False)

    def on_grads_access(self, tensors: Callable[[], Tensors]) -> None:
        for tensor in tensors():
            if not tensor.stop_gradient:
                self.on_grad_access(tensor)

    def guard_choice(self, make: Callable[[], Callable[[], Any]]) -> None:
        self.guarded_value(make())

    def on_precision(self, dtype: str) -> None:
        self.precision = dtype

    def read(self, tensor: Tensor) -> Any:
        return self.outer.read(tensor)

    def on_row_lookup(self, weight: Tensor, ids: Tensor | None, padding: int | None) -> None:
        self.outer.on_row_lookup(weight, None, padding)


def _left_to_outer(name: str) -> Callable[..., Any]:
    def method(self: InnerFrame, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.outer, name)(*args, **kwargs)

    return ft.wraps(getattr(Frame, name))(method)


for _name in (
    "host_value",
    "value_before",
    "on_grad_access",
    "on_hook",
    "guarded_value",
    "host_number",
    "host_effect",
    "on_layer_change",
    "on_state_change",
    "on_object_change",
    "is_constant",
    "is_compiled_whole",
    "attempt",
    "prints_later",
    "on_optimizer_step",
    "on_reseed",
    "on_stream_read",
    "on_refusal",
    "on_uncertain_result",
    "on_python_number",
):
    setattr(InnerFrame, _name, _left_to_outer(_name))


def _held(tensor: Tensor) -> Any:
    """What a Tensor holds, as a LazyArray where it can be one; the Tensor keeps it for the next time."""
    value = to_lazy(tensor._raw)
    if value is None:
        if type(tensor._raw) is Symbol:
            raise ArgumentError(
                f"{tensor._raw!r} belongs to a static program: operations on it are recorded "
                "after paddle.enable_static(), and run by an Executor"
            )
        return raw_for_trace(tensor)
    tensor._raw = value
    return value


Context.eager_frame_class, local.ctx.frame = Frame, Frame()
configure_context(local.ctx)
