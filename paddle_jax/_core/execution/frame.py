"""How a thread runs Paddle code: its Frame, which every operation and everything that reads or changes a
Tensor from outside asks.

`Frame` itself is eager execution, at once or in the deferred tier. Every other way is a subclass that
overrides some of its methods: `Trace` (a run inside a JAX trace, tracing.py), `Capture` (one that is repeated
as a program, capture.py), `Recorder` (a static Program, _program/recorder.py). Frames nest; `local.ctx.frame`
is the innermost one.
"""

import functools as ft
import operator

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.interrupt_safe import eager_evaluation
from paddle_jax._core.base.state import Context, local
from paddle_jax._core.kernels.kernel import execute, has_loop
from paddle_jax._core.kernels.kernel_gradients import linearize
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import LazyArray, to_lazy
from paddle_jax._core.lazy.recording import configure_context
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tape.node import Node, PackedNode, ResidualNode, packed, source_of
from paddle_jax._core.tensors.tensor import raw_for_trace, wrap
from paddle_jax._core.tensors.views import register_view


def is_inexact(value) -> bool:
    """Whether gradients can flow into a value of this dtype."""
    return value.dtype.kind in INEXACT


class Frame:
    """A way of running Paddle code.

    executor: None, or a callable `(kernel, values) -> values` that takes over running a kernel; nothing is
    deferred then. packing: None, or (pack, unpack), functions that keep the operands of recorded calls in
    another form; nothing is deferred then either.
    """

    eager = True  # whether calls compute values
    recording = False  # whether calls go into a Program
    single_steps = False  # whether a program inside is recorded operation by operation
    deferring = True  # whether the deferred tier goes on
    capture = None  # the Capture that this is, or runs inside
    checks = None  # of values, where they can become results of the program (outcomes.py)
    converted = False  # whether functions with control flow on Tensors are converted on the way
    region = False  # whether it is a branch or loop, whose gradients JAX derives
    precision = None  # dtype of the last guard of mixed precision inside
    probe = None  # which probe of unknown lengths a Program is recorded under
    symbolic = False  # whether unknown lengths are Lengths, numbers with an expression
    for_user = False  # whether a function that the user calls runs; the code that runs does not show it

    def __init__(self):
        self.outer = self.executor = self.packing = None

    def nest_in(self, outer):
        """Makes this the Frame that is entered next, inside another one."""
        self.outer, self.executor, self.packing = outer, outer.executor, outer.packing
        return self

    def on_constant_length(self, node, value):
        """Notes the value of an expression of unknown lengths that is the same for two of them."""

    # operations ---------------------------------------------------------------------------------------------

    def call(self, kernel, tensors):
        """Runs a kernel on Tensors and returns Tensors, with a node on the tape if a gradient
        may be asked for."""
        ctx = local.ctx
        values = self.operands(tensors, ctx.segment is not None)
        return self.results(kernel, tensors, values, execute(kernel, values))

    def results(self, kernel, tensors, values, out):
        """Tensors of what a kernel gave for the values of some Tensors."""
        results = self._wrapped(kernel, tensors, values, out)
        if kernel.view is not None:
            register_view(results, tensors[0], kernel, tuple(tensors[1:]))
        return results

    def _wrapped(self, kernel, tensors, values, out):
        if local.ctx.grad and not kernel.nondiff:
            for t in tensors:
                if not t.stop_gradient:
                    return self._taped(kernel, tensors, values, out)
        if type(out) is tuple or type(out) is list:
            return type(out)([wrap(o) for o in out])
        return wrap(out)

    def operands(self, tensors, deferred=False):
        """What a kernel gets for Tensors. deferred: whether values may be pending."""
        if deferred:
            return [t._raw if type(t._raw) is LazyArray else _held(t) for t in tensors]
        return [raw_for_trace(t) for t in tensors]

    def _taped(self, kernel, tensors, values, out):
        fixed = kernel.constant_mask
        diff = tuple(
            [
                i
                for i, t in enumerate(tensors)
                if not (t.stop_gradient or fixed >> i & 1) and is_inexact(values[i])
            ]
        )
        many = type(out) is tuple or type(out) is list
        if not diff:
            return type(out)([wrap(o) for o in out]) if many else wrap(out)
        edges = tuple([source_of(tensors[i]) for i in diff])
        kind, kept = (Node, values) if self.packing is None else (PackedNode, packed(self.packing, values))
        if (
            not self.deferring
            and self.packing is None
            and kernel.deferrable
            and has_loop(kernel.equations_for(values))
        ):
            kind, (out, pull) = ResidualNode, linearize(kernel, diff, values)
        node = kind(kernel, kept, diff, edges, len(out) if many else 1)
        if kind is ResidualNode:
            node.made = out, pull
        elif kind is Node:
            node.of(out)
        if many:
            return type(out)(
                [wrap(o, False, node, i) if is_inexact(o) else wrap(o) for i, o in enumerate(out)]
            )
        return wrap(out, False, node, 0) if is_inexact(out) else wrap(out)

    def emit_cond(self, compiled, index, regions, outputs):
        """The results of a branch on a Tensor. compiled: function that gives them inside a trace; the other
        arguments are for Frames that record (`_program/control_flow/cond.py`)."""
        return compiled()

    def emit_while(self, compiled, tensors, stops, test, step, picks):
        """The results of a loop on a Tensor; see `emit_cond`."""
        return compiled()

    def run_region(self, region, inputs, carried, indexed, snapshot):
        """Runs the code of a branch or loop (`_program/control_flow/region.py`)."""
        region.trace(inputs, carried, indexed, snapshot)

    def set_changed(self, tensor, new, has_gradient):
        """Gives a Tensor the value that a branch or loop left it with."""
        if has_gradient:
            tensor._adopt(new)
        else:
            tensor._rebind(new._raw)

    def symbol_avals(self, tensor):
        """The avals of a Tensor's Symbol; None where no Program is recorded."""
        return

    def joined_avals(self, pairs):
        """The avals that Symbols of different lengths have in common; None where lengths must be the same."""
        return

    def loop(self, code, steps=0):
        """Called before a loop of converted code: [code of its body, steps, whether how many is known only
        when the program runs]."""
        return [None, 0, False]

    def run_and_undo(self, get):
        """What `get()` gives, without the operations that it records."""
        return get()

    def restart_names(self, counts):
        """Called before code runs once more. counts: of names, before its first run."""

    def on_undefined(self, tensor, name):
        """Called for the result of a branch that stands for a variable which may have no value."""

    def on_uncertain_result(self, result, tensor):
        """Called for the result of a branch or loop that may be a Tensor from outside."""

    def on_python_number(self, tensor):
        """Called for a Tensor that stands for a number of Python."""

    def custom_gradient(self, layer, forward, inputs, taped):
        """The result of a PyLayer.

        Args:
            layer: the subclass of PyLayer.
            forward: function of Tensors in place of the inputs; it gives (context, result).
            inputs: list of the Tensors among the arguments.
            taped: function that gives the result, with a node on the tape if need be.
        """
        return taped()

    def declare_parameter(self, shape, dtype, name, trainable, fill):
        """The Parameter that a static program declares; None where Parameters hold arrays. fill: function
        that gives its first value."""
        return

    def on_node_gradient(self, node):
        """Called before the gradient of a recorded operation is computed."""

    # Tensors from outside -----------------------------------------------------------------------------------

    def read(self, tensor):
        """What a Tensor holds, to compute with it or to hand it on."""
        return tensor._raw

    def host_value(self, tensor):
        """The value of a Tensor for the host where only this Frame can tell; else None."""
        return

    def value_before(self, tensor):
        """The value that a Tensor had before this Frame."""
        return tensor._value

    def on_assign(self, tensor, shares=True):
        """Called before a Tensor gets another value in place. shares: its views get theirs, too."""

    def on_grad_access(self, tensor, accumulates=False):
        """Called before the `grad` of a Tensor is looked at; `accumulates`: only to add to it."""

    def on_row_lookup(self, weight, ids, padding):
        """Called for rows of a leaf whose gradient is one of these rows; ids None: of all."""

    def on_hook(self, tensor):
        """Called before a hook is put on a Tensor."""

    # the host -----------------------------------------------------------------------------------------------

    def next_random_key(self, generator):
        """The operands of a random op: (uint32[2] seed words, uint32 offset)."""
        return generator.advance()

    def random_key_at(self, generator, offset):
        """Seed words and offset as values for a Frame inside this one."""
        with eager_evaluation():
            return jnp.asarray(generator._words), jnp.asarray(np.uint32(offset & 0xFFFFFFFF))

    def guarded_value(self, get):
        """What `get()` gives: something on the host that the code depends on."""
        return get()

    def host_number(self, get):
        """A number that the host knows at each call, such as a learning rate."""
        return np.float64(get())

    def host_effect(self, call, owner, args, kwargs):
        """Lets `call` change an object on the host."""
        return call(owner, *args, **kwargs)

    def on_layer_change(self, layer):
        """Called before an attribute of a Layer changes."""

    def on_object_change(self, owner):
        """Called before another object of the user's, a list or a dict changes in code that is observed."""

    def on_optimizer_step(self):
        """Called for a step of an optimizer."""
        Counters.steps += 1

    def on_reseed(self, generator):
        """Called before a generator gets another state."""

    def on_stream_read(self, what):
        """Called before something is read that is not the same at each call."""

    def on_print(self, tensor):
        """Called before a Tensor that has no value yet is written as text."""

    def on_refusal(self, error):
        """Called before an error says that the code cannot be compiled, which the code itself might catch."""


class InnerFrame(Frame):
    """A Frame that leaves to the one around it whatever it does not do itself."""

    capture, converted, probe = (
        property(operator.attrgetter(f"outer.{name}")) for name in ("capture", "converted", "probe")
    )

    def read(self, tensor):
        return self.outer.read(tensor)

    def on_row_lookup(self, weight, ids, padding):
        self.outer.on_row_lookup(weight, None, padding)


def _left_to_outer(name):
    def method(self, *args, **kwargs):
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
    "on_object_change",
    "on_optimizer_step",
    "on_reseed",
    "on_stream_read",
    "on_refusal",
    "on_uncertain_result",
    "on_python_number",
):
    setattr(InnerFrame, _name, _left_to_outer(_name))


def _held(tensor):
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
