"""Recording: every operation that would run becomes an Operation of a Program.

A composite (Python code that calls operations) may ask for lengths, which can be unknown. It is then run once
per probe of the unknown lengths. If both runs call the same kernels on the same operands, these are recorded.
Otherwise the composite becomes one operation, which runs its code when the program is compiled and lengths
are known.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base import unique_name
from paddle_jax._core.base.errors import TracedValueError, Unsupported
from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.frame import Frame
from paddle_jax._core.execution.python_state import map_tensors, tensors_in
from paddle_jax._core.execution.undo_log import ValueLog
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import INEXACT, aval_of
from paddle_jax._core.lazy.recording import configure_context, run_pending
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.symbol import Symbol, SymbolError, common_avals, probe_avals
from paddle_jax._core.tensors.held_values import (
    computed_array,
    held_symbol,
    held_value,
    holds_symbol,
    replace_held,
)
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Parameter, Tensor
from paddle_jax._program.composites import NeedsRandomNumbers, OpaqueCall, ProbeRun
from paddle_jax._program.control_flow.blocks import Block, branched, looped
from paddle_jax._program.custom_gradient import record_layer
from paddle_jax._program.operation import Operation
from paddle_jax._program.parameters import declare_parameter
from paddle_jax._program.program import Program, default_main_program, default_startup_program
from paddle_jax._program.shape_inference import Inferred, infer
from paddle_jax._program.variable import ParameterVariable, PersistentVariable, Variable, persistent, variable
from paddle_jax.tensor.creation import assign

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike

# what a composite raises that needs a value, or that a probe does not fit
_NEEDS_VALUE = (SymbolError, TracedValueError, TypeError, ValueError)
_PROBE_FAILED = (*_NEEDS_VALUE, AssertionError, IndexError, RuntimeError)


class Recorder(Frame):
    """Records what is called into a Program.

    Attributes:
        fixed_program: the Program it records into; None for the default main program at the time.
        probe: int, which probe of the unknown lengths a composite is run under; None outside.
        converted: bool, whether functions with control flow on Tensors are converted on the way.
        in_dynamic_code: bool, whether it records a function of dynamic mode, which computes with lengths.
        composite_depth: int, how many composites the code is in.
        blocks: list of the open Blocks of control flow, the innermost one last.
        name_scope: str, the prefix of `name_scope` that operations get.
        device: str, the device of `device_guard` that operations get.
        undo_log: ValueLog of the Tensors that are changed in place.
        variable_class: the class of its Variables.
    """

    eager = False
    recording = True
    has_segment = False
    variable_class = Variable

    def __init__(self, program: Program | None = None) -> None:
        super().__init__()
        self.fixed_program = program
        self.probe = None
        self.composite_depth = 0
        self.blocks: list[Block] = []
        self.name_scope = ""
        self.device = ""
        self.undo_log = ValueLog()

    # entering -----------------------------------------------------------------------------------------------

    def __enter__(self) -> Recorder:
        # Operations that are still pending belong to the segment of the frame that is left.
        run_pending("a change of settings")
        self.enter(local.ctx)
        configure_context(local.ctx)
        return self

    def enter(self, ctx: Any) -> None:
        """Takes over a Context."""
        ctx.frame = self.nest_in(ctx.frame)

    def __exit__(self, *exc: Any) -> None:
        ctx = local.ctx
        ctx.frame = self.outer
        configure_context(ctx)

    @property
    def program(self) -> Program:
        """The Program that is being recorded."""
        if self.fixed_program is None:
            return default_main_program()
        return self.fixed_program

    @property
    def ops(self) -> list[Operation]:
        """Where operations go: the Program's list, or that of the innermost block of control flow."""
        if self.blocks:
            return self.blocks[-1].ops
        return self.program.ops

    # operations ---------------------------------------------------------------------------------------------

    def call(self, kernel: Kernel, tensors: Sequence[Tensor]) -> Any:
        return self.record(kernel, [self.symbol(t) for t in tensors], [t.stop_gradient for t in tensors])

    def record(self, kernel: Kernel, symbols: list[Symbol], stops: Sequence[bool]) -> Any:
        """Adds an operation and returns its results as Variables."""
        inferred = infer(kernel, symbols, self.probe)
        # Labels, indices and boxes get no gradient, whatever their stop_gradient says: the mask of the
        # kernel marks them.
        stops = tuple([bool(stop or kernel.constant_mask >> i & 1) for i, stop in enumerate(stops)])
        results = self.add(kernel, symbols, stops, inferred, [kernel.nondiff] * len(inferred.avals))
        if inferred.many:
            return inferred.many(results)
        return results[0]

    def add(
        self,
        kernel: Kernel,
        symbols: list[Symbol],
        stops: tuple[bool, ...],
        inferred: Inferred,
        result_stops: Sequence[bool],
    ) -> list[Variable]:
        """Adds an operation whose results are known.

        Args:
            kernel: Kernel.
            symbols: list of the Symbols of the operands.
            stops: for each operand whether gradients end there.
            inferred: shapes and dtypes of the results.
            result_stops: for each result whether no gradient flows through it.
        """
        program = self.program
        operation = Operation(kernel, symbols, stops, inferred.many, self.name_scope, inferred.host)
        operation.device = self.device
        operation.outputs = [
            Symbol(pair, "result", program, value=value, op=operation)
            for pair, value in zip(inferred.avals, inferred.known, strict=True)
        ]
        self.ops.append(operation)
        program.changed()
        # As on the tape: a result may have a gradient if an operand may, and only numbers that are not
        # whole have one.
        has_gradient = local.ctx.grad and any(
            not stop and s.dtype.kind in INEXACT for s, stop in zip(symbols, stops, strict=True)
        )
        return [
            variable(
                symbol, stop or not has_gradient or symbol.dtype.kind not in INEXACT, self.variable_class
            )
            for symbol, stop in zip(operation.outputs, result_stops, strict=True)
        ]

    def symbol(self, tensor: Tensor) -> Symbol:
        """The Symbol of an operand."""
        raw = held_value(tensor)
        if type(raw) is Symbol:
            if isinstance(tensor, PersistentVariable):
                return self._persistent_symbol(tensor)
            return raw
        captured = self.program.captured
        # A Parameter is also found by its array. A Tensor that shares it (`detach`) is then read from the
        # Scope at each run, not fixed as a constant.
        entry = captured.get(id(tensor)) or captured.get(id(raw))
        # An assignment to the Tensor since then has replaced what it holds: the new value is another
        # operand.
        if entry is None or entry[1] is not raw:
            entry = self.capture_tensor(tensor)
        return entry[2]

    def _persistent_symbol(self, variable: PersistentVariable) -> Symbol:
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

    def capture_tensor(self, tensor: Tensor, name: str | None = None) -> tuple[Tensor, Any, Symbol]:
        """Takes an eager Tensor into the Program; gives its entry in `program.captured`.

        A Parameter, or a Tensor with a given name, becomes a Variable, another Tensor a constant.
        """
        raw = held_value(tensor)
        program = self.program
        # A weak dtype, that of a Python number, gives way to the dtype of the other operand. Results would
        # change their dtype without it.
        aval = aval_of(raw.shape, raw.dtype, getattr(raw, "weak_type", False))
        if name is None and not isinstance(tensor, Parameter):
            symbol = Symbol((aval, aval), "constant", program, value=raw)
            program.captured[id(tensor)] = tensor, raw, symbol
            return program.captured[id(tensor)]
        name = name or tensor.name
        if isinstance(tensor, Parameter):
            kind = ParameterVariable
        else:
            kind = PersistentVariable
        declared = persistent(program, name, (aval, aval), tensor.stop_gradient, kind)
        # What users have set on the Parameter holds for the Variable, such as its learning rate.
        # `init_func` does not: the value is here already.
        declared.__dict__.update({k: v for k, v in vars(tensor).items() if k != "init_func"})
        program.values[name] = raw
        entry = tensor, raw, program.symbol_of(declared)
        program.captured[id(tensor)] = entry
        program.captured[id(raw)] = entry
        return entry

    @staticmethod
    def has_variables(values: Any) -> bool:
        """Whether there are Variables in nested arguments."""
        return any(holds_symbol(t) for t in tensors_in(values))

    def constant(self, array: Any) -> Variable:
        """A Variable for an array that is known."""
        aval = aval_of(array.shape, array.dtype)
        return variable(Symbol((aval, aval), "constant", self.program, value=array))

    def custom_gradient(self, layer: Any, forward: Any, inputs: Any, taped: Any) -> Any:
        return record_layer(layer, forward, inputs)

    def declare_parameter(
        self, shape: tuple[int, ...], dtype: Any, name: str, trainable: bool, fill: Callable[[], Any]
    ) -> Any:
        if self.fixed_program is not None:
            return None  # a function of dynamic mode is recorded: its Parameters hold arrays
        return declare_parameter(self.program, shape, dtype, name, trainable, fill)

    def copy_parameter(self, parameter: Any) -> Any:
        """Another Parameter with a name of its own and the same initialisation, for `copy.deepcopy`."""
        initializers = default_startup_program().initializers
        if parameter.name not in initializers:
            raise RuntimeError(
                f"deepcopy: {parameter.name}: the startup program does not initialize it; "
                "copy the layer below the program_guard in which it was made"
            )
        return declare_parameter(
            self.program,
            tuple(parameter.shape),
            parameter.dtype.np,
            unique_name.generate(parameter.name),
            not parameter.stop_gradient,
            initializers[parameter.name],
        )

    def refuse_tape_use(self, name: str) -> None:
        raise AssertionError(
            f"{name}: it follows operations that have run; in a static program use paddle.static.gradients"
        )

    def refuse_leaf_change(self, name: str, leaf: Tensor) -> None:
        """Nothing: a leaf has no value yet."""

    @staticmethod
    def register_view(
        view: Tensor, base: Tensor, kernel: Kernel | None = None, rest: tuple[Any, ...] = ()
    ) -> None:
        """Nothing: Variables hold no elements that could be shared."""

    def pull_recorded(self, node: Any, kernel: Kernel, cotangents: Sequence[Tensor]) -> Any:
        return self.call(kernel, [*node.operand_tensors(), *cotangents])

    def implied_parameters(self) -> list[Any]:
        return []  # those that the loss depends on

    # values -------------------------------------------------------------------------------------------------

    def has_value(self, tensor: Tensor) -> bool:
        return False

    def poll_checks(self) -> None:
        """Nothing: no value is read."""

    def next_host_key(self, generator: Any) -> tuple[Any, Any]:
        return generator.advance()

    def on_assign_all(self, tensors: Sequence[Tensor]) -> None:
        for tensor in tensors:
            self.on_assign(tensor, False)

    def on_precision(self, dtype: str) -> None:
        self.precision = dtype

    def next_random_key(self, generator: Any) -> tuple[Symbol, Symbol]:
        """The operands of a random op: seed words and number of the draw."""
        program = self.program
        words = aval_of((2,), np.uint32)
        number = aval_of((), np.uint32)
        # The seed is an operand, so that one compiled program serves every seed. Draws are numbered from 0
        # in the program, and a run adds the position of the generator.
        if program.seed_words is None:
            program.seed_words = Symbol((words, words), "random", program)
        program.draws += 1
        return program.seed_words, Symbol((number, number), "random", program, value=program.draws - 1)

    def host_value(self, tensor: Tensor) -> None:
        """The value of a Tensor for the host; there is none of a Variable."""
        if holds_symbol(tensor):
            raise SymbolError(held_symbol(tensor).name or "a Variable")

    def on_assign(self, tensor: Tensor, shares: bool = True) -> None:
        self.undo_log.save(tensor)

    # branches and loops -------------------------------------------------------------------------------------

    def emit_cond(self, compiled: Any, index: Any, regions: Any, outputs: Any) -> list[Variable]:
        return branched(index, regions, outputs)

    def emit_while(
        self, compiled: Any, tensors: Any, stops: Any, test: Any, step: Any, picks: Any
    ) -> list[Variable]:
        return looped(tensors, stops, test, step, picks)

    def emit_assertion(self, compiled: Callable[[], Any]) -> None:
        """Nothing: recorded programs have no assertions, as in Paddle."""

    def emit_check(self, error: Exception, compiled: Callable[[], Any]) -> None:
        raise Unsupported(
            f"{type(error).__name__} ({error}) is raised depending on a tensor, "
            "which a recorded program cannot do; take that out"
        )

    def emit_rows(self, plain: Callable[[], Any], rows: Callable[[], Any]) -> Any:
        return rows()

    def unrolls_rows(self, count: int) -> bool:
        return True

    def prints_later(self, is_traced: bool) -> bool:
        return False

    def check_range(self, bounds: tuple[Any, ...]) -> None:
        # `range(-1)` is empty, so the loop would disappear silently. With a step below zero, -1 is the
        # usual end.
        is_unknown = self.probe is None and any(type(bound) is int and bound == -1 for bound in bounds[:2])
        if is_unknown and (len(bounds) < 3 or bounds[2] > 0):
            raise Unsupported(
                "range() of -1, which a length that is not known is here; "
                "use range(paddle.shape(x)[0]), or loop over the tensor"
            )

    def run_region(self, region: Any, inputs: Any, carried: Any, indexed: bool, snapshot: Any) -> None:
        region.record(self, inputs, carried, indexed)

    def set_changed(self, tensor: Tensor, new: Tensor, has_gradient: bool) -> None:
        self.on_assign(tensor)
        replace_held(tensor, held_value(new))
        tensor.stop_gradient = new.stop_gradient and tensor.stop_gradient

    def symbol_avals(self, tensor: Tensor) -> Any:
        return self.symbol(tensor).avals

    def joined_avals(self, pairs: Sequence[Any]) -> Any:
        if self.probe is not None:
            return None  # the recording is for certain lengths
        common = pairs[0]
        for pair in pairs[1:]:
            common = common and common_avals(common, pair)
        return common

    def branch_avals(self, index: Any, yes: Any, no: Any) -> Any:
        """The avals of a result of a branch, from those in both blocks."""
        return common_avals(yes, no)

    def restart_names(self, counts: Any) -> None:
        unique_name.restore_counts(counts)

    def loop(self, code: Any, steps: Any = 0) -> list[Any]:
        return [code, steps, steps == -1]

    @contextlib.contextmanager
    def separate_changes(self, keep: bool = False) -> Iterator[ValueLog]:
        """In the block changes of Tensors are noted apart; with `keep` they are changes of what is
        around it afterwards."""
        around = self.undo_log
        self.undo_log = ValueLog()
        try:
            yield self.undo_log
        finally:
            if keep:
                around.merge_later(self.undo_log)
            self.undo_log = around

    @contextlib.contextmanager
    def block(self) -> Iterator[Block]:
        """What is recorded goes into a Block; Tensors that are changed are what they were afterwards."""
        block = Block()
        with self.separate_changes() as changes:
            self.blocks.append(block)
            try:
                yield block
            finally:
                self.blocks.pop()
                changes.undo()

    def block_input(self, avals: Any, stop_gradient: bool) -> Variable:
        """A Variable for an input of the innermost block."""
        symbol = Symbol(avals, "block", self.program)
        self.blocks[-1].inputs.append(symbol)
        return variable(symbol, stop_gradient, self.variable_class)

    def bind_input(self, tensor: Tensor, value: Tensor, stop_gradient: bool) -> None:
        """Gives a Tensor the value of an input of a block."""
        replace_held(tensor, held_value(value))

    def last_value(self, tensor: Tensor) -> Symbol:
        """What a Tensor holds at the end of a block."""
        symbol = self.symbol(tensor)
        if tensor.stop_gradient and symbol.dtype.kind in INEXACT and _has_gradient_path(tensor, symbol):
            # Gradients of another branch or step must not go on here.
            return self.symbol(assign(tensor))
        return symbol

    def changed_tensors(self) -> list[tuple[Tensor, bool]]:
        """(Tensor, whether gradients flow to its new value) of Tensors from outside that the innermost block
        has changed."""
        # A Tensor that the block itself has made is known by what it held before it was changed: no code
        # outside has it.
        own_symbols = {*self.blocks[-1].inputs, *[o for op in self.ops for o in op.outputs]}
        return [
            (tensor, not tensor.stop_gradient)
            for tensor, (before,) in self.undo_log.changed()
            if not (type(before) is Symbol and before in own_symbols)
        ]

    # positions in the recording -----------------------------------------------------------------------------

    def position(self) -> tuple[int, int]:
        """Where the recording is, for `roll_back`."""
        return len(self.ops), self.program.draws

    def roll_back(self, position: tuple[int, int]) -> tuple[list[Operation], int, list[tuple[Any, ...]]]:
        """Takes back what was recorded since a position.

        Returns:
            (list of the operations, number of random numbers drawn, changes of Tensors as `ValueLog.undo`
            gives them).
        """
        # Operations are known by their index, so going back means to cut the list.
        op_count, draws = position
        recorded = self.ops[op_count:]
        del self.ops[op_count:]
        drawn = self.program.draws - draws
        self.program.draws = draws
        return recorded, drawn, self.undo_log.undo()

    def run_and_undo(self, get: Callable[[], Any]) -> Any:
        with self.separate_changes():
            position = self.position()
            try:
                return get()
            finally:
                self.roll_back(position)

    # functions and composites -------------------------------------------------------------------------------

    def call_static(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return function.run_recorded(self, args, kwargs)

    def call_first(self, op: Any, operands: Any, attrs: Any, key: Callable[[], Any]) -> Any:
        return op.call(operands, attrs)

    def is_compiled_whole(self) -> bool:
        return True

    def composite(self, op: Any, args: Any, kwargs: Any) -> Any:
        """Runs a composite and returns its results, as Variables if it is the outermost one."""
        # A composite inside of another one is a part of it, and is recorded or run together with it.
        if self.composite_depth:
            return op.fn(*args, **kwargs)
        self.composite_depth += 1
        try:
            if _has_unknown_lengths((args, kwargs)):
                return self._run_under_probes(op, args, kwargs)
            return self._run_once(op, args, kwargs)
        finally:
            self.composite_depth -= 1

    def control_flow(
        self, args: Any, plain: Callable[[], Any], converted: Callable[[], Callable[[], Any]]
    ) -> Any:
        """The result of a function of dynamic mode.

        Args:
            args: its arguments.
            plain: function that calls it as it is.
            converted: function that gives a function which calls it with its control flow converted. This
                is called where the plain one asks for values, or lengths of arguments are unknown.
        """
        with (
            self.separate_changes(keep=True),
            swapped_attributes(self, in_dynamic_code=self.probe is None),
        ):
            # Converting takes long and may fail, so code of known lengths is run as it is first. With
            # unknown lengths Python would decide `if x.shape[0] > 1` by -1 and record one branch for good.
            if self.converted or not _has_unknown_lengths(args):
                position = self.position()
                try:
                    return plain()
                except SymbolError:
                    self.roll_back(position)
            return self._run_converted(plain, converted)

    def _run_converted(self, plain: Callable[[], Any], converted: Callable[[], Callable[[], Any]]) -> Any:
        before = self.converted
        try:
            function = converted()
        except Unsupported:  # for instance a function without source
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

    def _run_once(self, op: Any, args: Any, kwargs: Any) -> Any:
        """A composite of known lengths."""
        with self.separate_changes(keep=True):
            position = self.position()
            try:
                return map_tensors(op.fn(*args, **kwargs), self.as_variable)
            except _NEEDS_VALUE:
                # as one operation it has values; if not, the error is raised there too
                self.roll_back(position)
                return self.record_opaque(op.name, op.fn, args, kwargs, public=_public(op))

    def as_variable(self, tensor: Tensor) -> Tensor:
        """A Variable for a result that may be an eager Tensor."""
        if isinstance(tensor, Variable) or self.fixed_program is not None:
            return tensor  # eager results stay eager where a dygraph function is recorded
        if holds_symbol(tensor):
            return variable(held_value(tensor), tensor.stop_gradient)
        return self.constant(computed_array(tensor))

    def _run_under_probes(self, op: Any, args: Any, kwargs: Any) -> Any:
        """A composite of unknown lengths."""
        position = self.position()
        runs: list[ProbeRun] = []
        # The runs must leave nothing behind: one of them may be thrown away, and the other one is added by
        # `_merge_runs`.
        with self.separate_changes():
            try:
                # Each run takes one length for all unknown ones. What is equal in both runs does not depend
                # on lengths.
                for self.probe in (0, 1):
                    result = op.fn(*args, **kwargs)
                    runs.append(ProbeRun(result, *self.roll_back(position)))
            except _PROBE_FAILED:
                # as one operation it has values; if not, the error is raised there too
                self.roll_back(position)
            finally:
                self.probe = None
        if len(runs) == 2 and runs[0].is_same_as(runs[1]):
            return self._merge_runs(*runs)
        if runs:
            changed = [tensor for tensor, _, _ in runs[0].changes]
        else:
            changed = ()
        return self.record_opaque(op.name, op.fn, args, kwargs, changed, _public(op))

    def _merge_runs(self, first: ProbeRun, second: ProbeRun) -> Any:
        """Records the operations of two equal runs; their results have the shapes of both."""
        # The first run is kept. Its Symbols get the shapes of the second run as those for the second probe,
        # so that a length which differs counts as unknown.
        for op, twin in zip(first.ops, second.ops, strict=True):
            for symbol, other in zip(op.outputs, twin.outputs, strict=True):
                symbol.avals = symbol.avals[0], other.avals[1]
        self.ops.extend(first.ops)
        self.program.draws += first.draws
        self.program.changed()
        for tensor, raw, _ in first.changes:
            self.on_assign(tensor)
            replace_held(tensor, raw)
        return map_tensors(first.result, self.as_variable)

    def record_opaque(
        self,
        name: str,
        fn: Callable[..., Any],
        args: Any,
        kwargs: Any,
        changed: Sequence[Tensor] = (),
        public: Callable[..., Any] | None = None,
    ) -> Any:
        """Records a function over Tensors as one operation.

        Args:
            name: name of the operation.
            fn: the function.
            args, kwargs: its arguments.
            changed: Tensors among them that it changes in place.
            public: the function that users call for it.
        """
        tensors = list(tensors_in((args, kwargs)))
        # Values that are changed in place are further results, as a kernel has no side effects.
        written = [i for i, t in enumerate(tensors) if any(t is c for c in changed)]
        symbols = [self.symbol(t) for t in tensors]
        stops = [t.stop_gradient for t in tensors]
        # Most composites draw no random numbers, and only the trace shows it. Those that do are recorded
        # again, with seed and number of the draw as operands.
        code = OpaqueCall(fn, args, kwargs, tensors, written, False, public)
        position = self.position()
        try:
            out = self.record(Kernel(name, code), symbols, stops)
        except NeedsRandomNumbers:
            self.roll_back(position)
            code = OpaqueCall(fn, args, kwargs, tensors, written, True, public)
            key = self.next_random_key(default_generator())
            out = self.record(Kernel(name, code), [*symbols, *key], [*stops, True, True])
            # `next_random_key` has counted one draw already.
            self.program.draws += code.draws - 1
        results = list(out)
        for result, stop in zip(results, code.result_stops, strict=True):
            result.stop_gradient = result.stop_gradient or stop
        # The new values of changed operands come last, so they are taken off from the end.
        for i in reversed(code.written):
            self.on_assign(tensors[i])
            replace_held(tensors[i], held_value(results.pop()))
        return code.rebuild(results)


def _has_gradient_path(tensor: Tensor, symbol: Symbol) -> bool:
    """Whether gradients flow into a Symbol, though they end at this Tensor of it."""
    if symbol.op is None:
        return isinstance(tensor, Variable) and tensor._is_detached
    return not symbol.op.kernel.nondiff and not all(symbol.op.stops)


def _has_unknown_lengths(values: Any) -> bool:
    """Whether there are Variables of unknown lengths in nested arguments."""
    return any(holds_symbol(t) and held_symbol(t).is_open for t in tensors_in(values))


def _public(op: Any) -> Callable[..., Any] | None:
    """The function that users call for a composite; None for code of a recorder."""
    return getattr(op, "public", None)


# modes and inputs -------------------------------------------------------------------------------------------


def start() -> None:
    """Switches this thread to static mode; the main one also those that begin later."""
    # Paddle's mode belongs to the process, and a thread has a Frame of its own. Threads that begin later
    # take their Frame from `settings.enter`.
    is_main = threading.current_thread() is threading.main_thread()
    was_dynamic = not local.ctx.frame.recording
    if was_dynamic:
        Recorder().__enter__()
    if is_main:
        settings.enter = lambda ctx: Recorder().enter(ctx)
    if is_main and was_dynamic:
        unique_name.enter_static()


def data(
    name: str, shape: Sequence[int | None], dtype: DTypeLike | None = None, lod_level: int = 0
) -> Variable:
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
        if isinstance(shape, list | tuple):
            got = list(shape)
        else:
            got = type(shape).__name__
        raise TypeError(
            f"data: shape: got {got}; it must be a list or tuple of ints, with None for a length "
            "that is not known yet"
        )
    # An input has two shapes, one for each probe of its unknown lengths.
    if dtype is None:
        np_dtype = dtypes.default().np
    else:
        np_dtype = dtypes.convert(dtype).np
    program = recorder.program
    declared = variable(Symbol(probe_avals(shape, np_dtype), "data", program, name))
    program.data[name] = declared
    program.changed()
    return declared


__all__ = ["Recorder", "data", "start"]
