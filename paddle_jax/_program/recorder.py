"""Recording: every operation that would run becomes an Operation of a Program.

A composite (Python code that calls operations) may look at lengths, which can be unknown. It is then run once
per probe of the unknown lengths. If both runs call the same kernels on the same operands, these are recorded;
else the composite as a whole becomes one operation, which runs its code when the program is compiled and
lengths are known.
"""

import contextlib
import functools as ft
import threading

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base import unique_name
from paddle_jax._core.base.errors import TracedValueError, Unsupported
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.frame import Frame
from paddle_jax._core.execution.python_state import map_tensors, tensors_in
from paddle_jax._core.execution.undo_log import ValueLog
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import INEXACT, aval_of
from paddle_jax._core.lazy.recording import configure_context, run_pending
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.symbol import Symbol, SymbolError, common_avals, probe_avals
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Parameter, Tensor
from paddle_jax._program.composites import OpaqueCall, Random, same
from paddle_jax._program.control_flow.blocks import Block, branched, looped
from paddle_jax._program.custom_gradient import record_layer
from paddle_jax._program.input_spec import InputSpec
from paddle_jax._program.operation import Operation
from paddle_jax._program.parameters import declare_parameter
from paddle_jax._program.program import Program, default_main_program
from paddle_jax._program.rewrite.convert import convert
from paddle_jax._program.shape_inference import full_kernel, infer
from paddle_jax._program.variable import ParameterVariable, PersistentVariable, Variable, persistent, variable


class Recorder(Frame):
    """Records what is called into a Program.

    own: the Program it records into; None: the default main program at the time. probe: None, or which probe
    a composite is being run under. converted: whether functions with control flow on Tensors are converted on
    the way. kind: what its Variables are.
    """

    eager, recording, kind = False, True, Variable

    def __init__(self, program=None):
        super().__init__()
        self.own, self.probe, self.depth, self.blocks, self.scope = program, None, 0, [], ""
        self.undo_log = ValueLog()  # Tensors that are changed in place

    # entering -----------------------------------------------------------------------------------------------

    def __enter__(self):
        run_pending("a change of settings")
        self.enter(local.ctx)
        configure_context(local.ctx)
        return self

    def enter(self, ctx):
        """Takes over a Context."""
        ctx.frame = self.nest_in(ctx.frame)

    def __exit__(self, *exc):
        ctx = local.ctx
        ctx.frame = self.outer
        configure_context(ctx)

    @property
    def program(self):
        """The Program that is being recorded."""
        return default_main_program() if self.own is None else self.own

    @property
    def ops(self):
        """Where operations go: the Program's list, or that of the innermost block of control flow."""
        return self.blocks[-1].ops if self.blocks else self.program.ops

    # operations ---------------------------------------------------------------------------------------------

    def call(self, kernel, tensors):
        return self.record(kernel, [self.symbol(t) for t in tensors], [t.stop_gradient for t in tensors])

    def record(self, kernel, symbols, stops):
        """Adds an operation and returns its results as Variables."""
        inferred = infer(kernel, symbols, self.probe)
        stops = tuple([bool(stop or kernel.constant_mask >> i & 1) for i, stop in enumerate(stops)])
        results = self.add(kernel, symbols, stops, inferred, [kernel.nondiff] * len(inferred.avals))
        return inferred.many(results) if inferred.many else results[0]

    def add(self, kernel, symbols, stops, inferred, ends):
        """Adds an operation whose results are known: an Inferred. ends: for each of them whether no gradient
        flows through it. Returns a list of Variables."""
        program = self.program
        operation = Operation(kernel, symbols, stops, inferred.many, self.scope, inferred.host)
        operation.outputs = [
            Symbol(pair, "result", program, value=value, op=operation)
            for pair, value in zip(inferred.avals, inferred.known, strict=True)
        ]
        self.ops.append(operation)
        program.changed()
        flows = local.ctx.grad and any(
            not stop and s.dtype.kind in INEXACT for s, stop in zip(symbols, stops, strict=True)
        )
        return [
            variable(o, end or not flows or o.dtype.kind not in INEXACT, self.kind)
            for o, end in zip(operation.outputs, ends, strict=True)
        ]

    def symbol(self, tensor):
        """The Symbol of an operand."""
        raw = tensor._raw
        if type(raw) is Symbol:
            return self._persistent(tensor) if isinstance(tensor, PersistentVariable) else raw
        taken = self.program.taken
        found = taken.get(id(tensor)) or taken.get(id(raw))
        if found is None or found[1] is not raw:
            found = self.take_in(tensor)
        return found[2]

    def _persistent(self, variable):
        """The Symbol of a persistable Variable, which may be one of another Program: they share what is in
        the Scope by name."""
        known = self.program.vars.get(variable.name, variable)
        if known.avals[0].shape != variable.avals[0].shape:
            shapes = [list(each.avals[0].shape) for each in (variable, known)]
            raise ValueError(
                f"{variable.name}: got the Variable of another program, of shape {shapes[0]}; "
                f"this program has one of that name, of shape {shapes[1]}. "
                "Give one of them another name"
            )
        return self.program.symbol_of(variable)

    def take_in(self, tensor, name=None):
        """Takes in an eager Tensor: a Parameter, or one with a given name, as a Variable of the Program,
        others as a constant."""
        raw, program = tensor._raw, self.program
        aval = aval_of(raw.shape, raw.dtype, getattr(raw, "weak_type", False))
        if name is None and not isinstance(tensor, Parameter):
            found = program.taken[id(tensor)] = (
                tensor,
                raw,
                Symbol((aval, aval), "constant", program, value=raw),
            )
            return found
        name = name or tensor.name
        kind = ParameterVariable if isinstance(tensor, Parameter) else PersistentVariable
        made = persistent(program, name, (aval, aval), tensor.stop_gradient, kind)
        made.__dict__.update({k: v for k, v in vars(tensor).items() if k != "init_func"})
        program.values[name] = raw
        found = program.taken[id(tensor)] = program.taken[id(raw)] = tensor, raw, program.symbol_of(made)
        return found

    @staticmethod
    def holds(values):
        """Whether there are Variables in nested arguments."""
        return any(type(t._raw) is Symbol for t in tensors_in(values))

    def fill(self, shape, value, dtype):
        """A Symbol for an array of one value."""
        return self.record(full_kernel(tuple(shape), np.asarray(value).item(), np.dtype(dtype)), [], [])._raw

    def constant(self, array):
        """A Variable for an array that is known."""
        aval = aval_of(array.shape, array.dtype)
        return variable(Symbol((aval, aval), "constant", self.program, value=array))

    def emit_cond(self, compiled, index, regions, outputs):
        return branched(index, regions, outputs)

    def emit_while(self, compiled, tensors, stops, test, step, picks):
        return looped(tensors, stops, test, step, picks)

    def custom_gradient(self, layer, forward, inputs, taped):
        return record_layer(layer, forward, inputs)

    def declare_parameter(self, shape, dtype, name, trainable, fill):
        if self.own is not None:
            return None  # a function of dynamic mode is recorded: its Parameters hold arrays
        return declare_parameter(self.program, shape, dtype, name, trainable, fill)

    def run_region(self, region, inputs, carried, indexed, snapshot):
        region.record(self, inputs, carried, indexed)

    def set_changed(self, tensor, new, has_gradient):
        self.on_assign(tensor)
        tensor._raw = new._raw
        tensor.stop_gradient = new.stop_gradient and tensor.stop_gradient

    def symbol_avals(self, tensor):
        return self.symbol(tensor).avals

    def joined_avals(self, pairs):
        if self.probe is not None:
            return None  # the recording is for certain lengths
        common = pairs[0]
        for pair in pairs[1:]:
            common = common and common_avals(common, pair)
        return common

    def branch_avals(self, index, yes, no):
        """The avals of a result of a branch, from those in both blocks."""
        return common_avals(yes, no)

    def restart_names(self, counts):
        unique_name.restore_counts(counts)

    # what other Frames do -----------------------------------------------------------------------------------

    def next_random_key(self, generator):
        """The operands of a random op: seed words and number of the draw."""
        program, words, number = self.program, aval_of((2,), np.uint32), aval_of((), np.uint32)
        if program.words is None:
            program.words = Symbol((words, words), "random", program)
        program.draws += 1
        return program.words, Symbol((number, number), "random", program, value=program.draws - 1)

    def host_value(self, tensor):
        """The value of a Tensor for the host; there is none of a Variable."""
        if type(tensor._raw) is Symbol:
            raise SymbolError(tensor._raw.name or "a Variable")

    def on_assign(self, tensor, shares=True):
        self.undo_log.save(tensor)

    # blocks -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def noting(self, keep=False):
        """In the block changes of Tensors are noted apart; with `keep` they are changes of what is
        around it afterwards."""
        around, self.undo_log = self.undo_log, ValueLog()
        try:
            yield self.undo_log
        finally:
            if keep:
                around.merge_later(self.undo_log)
            self.undo_log = around

    @contextlib.contextmanager
    def block(self):
        """What is recorded goes into a Block; Tensors that are changed are what they were afterwards."""
        block = Block()
        with self.noting() as written:
            self.blocks.append(block)
            try:
                yield block
            finally:
                self.blocks.pop()
                written.undo()

    def block_input(self, avals, stop):
        """A Variable for what comes into the innermost block."""
        self.blocks[-1].inputs.append(Symbol(avals, "block", self.program))
        return variable(self.blocks[-1].inputs[-1], stop, self.kind)

    def bind_input(self, tensor, value, stop_gradient):
        """Gives a Tensor the value of an input of a block."""
        tensor._raw = value._raw

    def last_value(self, tensor):
        """What a Tensor holds at the end of a block."""
        return self.symbol(tensor)

    def changed_tensors(self):
        """(Tensor, whether gradients flow to its new value) of Tensors from outside that the innermost block
        has changed."""
        mine = {*self.blocks[-1].inputs, *[o for op in self.ops for o in op.outputs]}
        return [
            (tensor, not tensor.stop_gradient)
            for tensor, (before,) in self.undo_log.changed()
            if not (type(before) is Symbol and before in mine)
        ]

    # composites ---------------------------------------------------------------------------------------------

    def composite(self, op, args, kwargs):
        """Runs a composite and returns its results, as Variables if it is the outermost one."""
        if self.depth:
            return op.fn(*args, **kwargs)
        self.depth += 1
        try:
            if any(type(t._raw) is Symbol and t._raw.is_open for t in tensors_in((args, kwargs))):
                return self._probed(op, args, kwargs)
            return self._lifted(op, args, kwargs)
        finally:
            self.depth -= 1

    def control_flow(self, args, plain, converted):
        """What `plain()` gives, a call of a function that may be converted. Where it asks for values, or
        lengths of its arguments are not known, what `converted()()` gives, which does without."""
        with self.noting(keep=True):
            if self.converted or not any(type(t._raw) is Symbol and t._raw.is_open for t in tensors_in(args)):
                mark = self.mark()
                try:
                    return plain()
                except SymbolError:
                    self.back(mark)
            return self._converted(plain, converted)

    def _converted(self, plain, converted):
        before = self.converted
        try:
            function = converted()
        except Unsupported:  # no source, say
            return plain()
        try:
            self.converted = True
            return function()
        except Unsupported as error:
            raise RuntimeError(
                f"to_static: a function cannot become part of a static program: {error}"
            ) from error
        finally:
            self.converted = before

    def run_and_undo(self, get):
        """What `get()` gives, with what it records taken back."""
        with self.noting():
            mark = self.mark()
            try:
                return get()
            finally:
                self.back(mark)

    def loop(self, code, steps=0):
        """Called before a loop of converted code: [code of its body, steps, whether how many is known only
        when the program runs]."""
        return [code, steps, steps == -1]

    def mark(self):
        """Where the recording is, for `back`."""
        return len(self.ops), self.program.draws

    def back(self, mark):
        """Takes back what was recorded since a mark; returns it with what Tensors that were changed
        in place hold now."""
        ops, program = self.ops, self.program
        recorded = ops[mark[0] :]
        del ops[mark[0] :]
        count, program.draws = program.draws - mark[1], mark[1]
        return recorded, count, self.undo_log.undo()

    def _lifted(self, op, args, kwargs):
        with self.noting(keep=True):
            mark = self.mark()
            try:
                return map_tensors(op.fn(*args, **kwargs), self.lift)
            except (SymbolError, TracedValueError, TypeError, ValueError):
                self.back(mark)  # a value is needed: as a whole, or it is an error there too
                return self.record_opaque(op.name, op.fn, args, kwargs, public=_public(op))

    def lift(self, tensor):
        """A Variable for a result that may be an eager Tensor."""
        if isinstance(tensor, Variable) or self.own is not None:
            return tensor  # eager results stay eager where a dygraph function is recorded
        if type(tensor._raw) is Symbol:
            return variable(tensor._raw, tensor.stop_gradient)
        return self.constant(to_array(tensor._raw))

    def _probed(self, op, args, kwargs):
        mark, runs = self.mark(), []
        with self.noting():
            try:
                for self.probe in (0, 1):
                    out = op.fn(*args, **kwargs)
                    runs.append((out, *self.back(mark)))
            except (
                SymbolError,
                TracedValueError,
                TypeError,
                ValueError,
                AssertionError,
                IndexError,
                RuntimeError,
            ):
                # a value is needed, or a probe does not fit: as a whole, or it is an error there too
                self.back(mark)
            finally:
                self.probe = None
        if len(runs) == 2 and same(*runs):
            (out, ops, count, changed), (_, others, _, _) = runs
            for a, b in zip(ops, others, strict=True):
                for mine, other in zip(a.outputs, b.outputs, strict=True):
                    mine.avals = mine.avals[0], other.avals[1]
            self.ops.extend(ops)
            self.program.draws += count
            self.program.changed()
            for tensor, raw, _ in changed:
                self.on_assign(tensor)
                tensor._raw = raw
            return map_tensors(out, self.lift)
        changed = [t for t, _, _ in runs[0][3]] if runs else ()
        return self.record_opaque(op.name, op.fn, args, kwargs, changed, _public(op))

    def record_opaque(self, name, fn, args, kwargs, changed=(), public=None):
        """Records a function over Tensors as one operation. public: the function that users call."""
        tensors = list(tensors_in((args, kwargs)))
        writes = [i for i, t in enumerate(tensors) if any(t is c for c in changed)]
        symbols, stops = [self.symbol(t) for t in tensors], [t.stop_gradient for t in tensors]
        code = OpaqueCall(fn, args, kwargs, tensors, writes, False, public)
        mark = self.mark()
        try:
            found = self.record(Kernel(name, code), symbols, stops)
        except Random:
            self.back(mark)
            code = OpaqueCall(fn, args, kwargs, tensors, writes, True, public)
            found = self.record(
                Kernel(name, code),
                [*symbols, *self.next_random_key(default_generator())],
                [*stops, True, True],
            )
            self.program.draws += code.draws - 1
        found = list(found)
        for made, stop in zip(found, code.free, strict=True):
            made.stop_gradient = made.stop_gradient or stop
        for at in code.writes[::-1]:
            made = found.pop()
            self.on_assign(tensors[at])
            tensors[at]._raw = made._raw
        return code.rebuild(found)


def _public(op):
    """The function that users call for a composite; None for code of a recorder."""
    return getattr(op, "public", None)


# modes and inputs -------------------------------------------------------------------------------------------


def start():
    """Switches this thread to static mode; the main one also those that begin later."""
    main, dynamic = threading.current_thread() is threading.main_thread(), not local.ctx.frame.recording
    if dynamic:
        Recorder().__enter__()
    if main:
        settings.enter = lambda ctx: Recorder().enter(ctx)
    if main and dynamic:
        unique_name.enter_static()


def data(name, shape, dtype=None, lod_level=0):
    """Declares an input of the program, to be fed by its name.

    Args:
        name: str.
        shape: list or tuple of ints; None or -1 for a length that is known when the program runs.
        dtype: Default: the default floating dtype.
        lod_level: 0; there are no other levels.
    Returns:
        Variable with stop_gradient=True.
    Raises:
        AssertionError: not in static mode.
        TypeError: name or shape is of the wrong type.
    Example:
        >>> paddle.enable_static()
        >>> x = paddle.static.data("x", [None, 3])
        >>> x.shape, x.stop_gradient
        (paddle.Size([-1, 3]), True)
        >>> paddle.disable_static()
    """
    recorder = local.ctx.frame
    if not recorder.recording:
        raise AssertionError(
            "data: it declares an input of a static program; call paddle.enable_static() first"
        )
    if not isinstance(name, str):
        raise TypeError(f"data: name: got {type(name).__name__}; it must be a str")
    if not isinstance(shape, list | tuple) or any(isinstance(length, str) for length in shape):
        got = list(shape) if isinstance(shape, list | tuple) else type(shape).__name__
        raise TypeError(
            f"data: shape: got {got}; it must be a list or tuple of ints, with None for a length "
            "that is not known yet"
        )
    kind = (dtypes.default() if dtype is None else dtypes.convert(dtype)).np
    program = recorder.program
    found = variable(Symbol(probe_avals(shape, kind), "data", program, name))
    program.data[name] = found
    program.changed()
    return found


def record(function, input_specs, named=None):
    """Records a function or a Layer of dynamic mode into a Program.

    Args:
        function: callable on Tensors, or a Layer (its `forward`).
        input_specs: list of InputSpecs, Tensors (their shape and dtype are taken), or other values, which are
            passed as they are; nested lists and dicts are allowed.
        named: dict of such, for keyword arguments.
    Returns:
        (Program, list of input Variables, what the function returned with Variables for Tensors). The
        Parameters and buffers of the Layer are the Program's `vars`, under their own names, with `values`;
        other eager Tensors are constants.
    """
    program, inputs = Program(), []

    def taken(spec):
        if isinstance(spec, Tensor):
            spec = InputSpec.from_tensor(spec, spec._name or f"x_{len(inputs)}")
        made = data(spec.name or f"x_{len(inputs)}", spec.shape, spec.dtype)
        made.stop_gradient = spec.stop_gradient
        inputs.append(made)
        return made

    with Recorder(program) as recorder:
        try:
            for tensor in _state_of(function):
                recorder.take_in(tensor, tensor.name)
            given, named = map_tensors((list(input_specs), named or {}), taken, Tensor | InputSpec)
            out = recorder.control_flow(
                (given, named),
                lambda: function(*given, **named),
                lambda: ft.partial(convert(function), *given, **named),
            )
            out = map_tensors(
                out, lambda t: t if isinstance(t, Variable) else variable(recorder.symbol(t), t.stop_gradient)
            )
        finally:
            for tensor, (before,) in recorder.undo_log.changed():
                if type(before) is not Symbol:
                    known = program.taken.get(id(tensor))
                    if known is not None and known[2].kind == "variable" and type(tensor._raw) is Symbol:
                        program.current[known[2].name] = tensor._raw
                    tensor._raw = before
    return program, inputs, out


def _state_of(function):
    """Parameters and buffers of a Layer, or of the Layer a method belongs to."""
    owner = function if hasattr(function, "named_buffers") else getattr(function, "__self__", None)
    if not hasattr(owner, "named_buffers"):
        return []
    return [*owner.parameters(), *[b for _, b in owner.named_buffers()]]


__all__ = ["Recorder", "data", "record", "start"]
