"""StaticFunction: a function that is run once to see what it does, and from then on as a compiled program."""

from __future__ import annotations

import collections
import contextlib
import functools as ft
import inspect
import threading
import time
import types
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.caller_info import is_ours, is_users, line_name, package_of, user_line
from paddle_jax._core.base.errors import TRACING, Unsupported, concerns_lengths, first_line
from paddle_jax._core.base.event_log import compile_listeners, log
from paddle_jax._core.base.interrupt_safe import run_within, swapped_attributes, without_collection
from paddle_jax._core.base.state import LayerVersion, Observing, local
from paddle_jax._core.execution.python_state import Snapshot
from paddle_jax._core.kernels.op_checks import NotFinite, run_checked
from paddle_jax._core.lazy.signature_cache import evict_if_due
from paddle_jax._core.runner.new_shapes import NewShapes
from paddle_jax._core.tensors.held_values import holds_tracer
from paddle_jax._program.capture.capture_run import capture
from paddle_jax._program.capture.compiled_function import CompiledFunction, CompileRecord
from paddle_jax._program.capture.unobserved_code import CodeRecorder
from paddle_jax._program.guards.call_signature import (
    call_signature,
    describe_differences,
    signature_structure,
    signature_texts,
    tensors_of_arguments,
)
from paddle_jax._program.guards.closure_scan import ClosureScan
from paddle_jax._program.guards.guard_set import GuardFailure
from paddle_jax._program.guards.state_observer import STREAM, StateObserver
from paddle_jax._program.input_spec import InputSpec, add_mismatches
from paddle_jax._program.rewrite.convert import convert
from paddle_jax.jit.arguments import arguments_of
from paddle_jax.jit.concrete import ConcreteProgram, ProgramCache, bound, require_dynamic
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax._program.capture.captured import Captured
    from paddle_jax._program.guards.guard_set import Reason
    from paddle_jax.base.framework import Program
    from paddle_jax.jit.arguments import Arguments


_MAX_PROGRAMS = 32
_MANY_SHAPES = 9
# programs for one signature, before a value that keeps changing sends it back to eager execution
_MAX_STALE = 6
_EAGER = object()
# executors with which functions are compiled; another one looks at each operation
_CAPTURED = (None, run_checked)


class CompileSwitch:
    """on: whether functions are compiled at all (paddle.jit.enable_to_static). lock: held while a function is
    captured, when the Tensors it uses hold no values; busy: whether one is."""

    on = True
    busy = False
    lock: threading.RLock = threading.RLock()


class StaticFunction:
    """A function compiled by XLA: what `paddle.jit.to_static` returns.

    It is run in Python once per signature (shapes, dtypes, stop_gradient and other arguments; training mode
    and plain attributes of the Layers it uses; variables it sees), inside a JAX trace. Parameters, buffers,
    optimizer state, gradients and the random generator are found while it runs, and go in and out of the
    compiled program with their present values.

    Args:
        function: function or method.
        input_spec: InputSpecs of its arguments.
        full_graph: an error where it cannot be compiled, instead of running it eagerly with a warning. Where
            lengths depend on values, it runs eagerly all the same.
        instance: the object it is bound to.
    Attributes:
        _function, _instance, _input_spec, _full_graph: as given.
        _programs: OrderedDict of the compiled forms by signature.
        _bound: dict of the StaticFunctions of methods, by the id of the object.
        _advised: bool, whether advice on too many forms was printed.
        _converted: the function with its control flow converted, or None.
        _latest: key of the arguments of the last call, or None.
        _concrete: dict from such keys to ConcretePrograms.
        _training: bool, what `train` and `eval` have set.
        _new_shapes: dict from signatures without lengths to NewShapes.
        _owner: the object it is bound to, where this reference keeps it alive.
    """

    __slots__ = ("__dict__", "__weakref__", "_owner")

    def __init__(
        self, function: Any, input_spec: Any = None, full_graph: bool = False, instance: Any = None
    ) -> None:
        # A method: the function and its object, of which several may share the class.
        if isinstance(function, types.MethodType):
            function, instance = function.__func__, function.__self__
        self._function = function
        self._instance = instance
        self._input_spec = input_spec
        self._full_graph = full_graph
        self._programs = collections.OrderedDict()
        self._bound = {}
        self._advised = False
        self._converted = None
        self._latest = None
        self._concrete = {}
        self._training = True
        self._new_shapes = {}
        ft.update_wrapper(self, function)
        self.__dict__.pop("__wrapped__", None)

    def __paddle_jax_function__(self) -> Callable[..., Any]:
        return self.dygraph_function

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """The function bound to an object, with programs of its own."""
        if instance is None:
            return self
        entry = self._bound.get(id(instance))
        # The id may be that of another object by now.
        if entry is None or entry[0]() is not instance:
            try:
                key = id(instance)
                ref = weakref.ref(instance, lambda _, bound=self._bound: bound.pop(key, None))
            # Kept alive with the StaticFunction, which the object does not hold then.
            except TypeError:  # an object without weak references is kept alive
                ref = ft.partial(_same, instance)
            entry = self._bound[id(instance)] = [
                ref,
                StaticFunction(self._function, self._input_spec, self._full_graph),
                _nothing,
            ]
            # not the instance, which holds this object, directly or through its class
            entry[1]._instance = ref
        bound = entry[2]()
        if bound is None:  # the same in all but that it keeps the instance alive: `Net().method(x)`
            bound = StaticFunction.__new__(StaticFunction)
            # One `__dict__` for both: programs that one of them makes are known to the other.
            bound.__dict__ = entry[1].__dict__
            bound._owner = instance
            entry[2] = weakref.ref(bound)
        return bound

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        if self._instance is None:  # as Paddle: a copy is the function as it was written
            return self._function
        instance = self.class_instance
        return StaticFunction(
            self._function, self._input_spec, self._full_graph, memo.get(id(instance), instance)
        )

    def __repr__(self) -> str:
        return f"<StaticFunction {self.__dict__.get('__qualname__', self._function)}>"

    # calling ------------------------------------------------------------------------------------------------

    @property
    def class_instance(self) -> Any:
        """The object the function is bound to, or None."""
        # A weak reference, or a function in its place.
        if isinstance(self._instance, weakref.ref | ft.partial):
            return self._instance()
        return self._instance

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The function as it was written."""
        if self._instance is None:
            return self._function
        return types.MethodType(self._function, self.class_instance)

    @property
    def input_spec(self) -> Any:
        """The InputSpecs it was given, or None."""
        return self._input_spec

    @property
    def program_cache(self) -> ProgramCache:
        """The compiled programs, a list; `last()` and `concrete_programs()` give them as static
        programs."""
        compiled = [
            program for programs in self._programs.values() if programs is not _EAGER for program in programs
        ]
        # Signatures with a program have a static program as well, which is not counted twice.
        called = {key[-1] for key in self._programs}
        asked = [
            each
            for key, each in self._concrete.items()
            if key not in called and not (compiled and key[:1] == ("spec",))
        ]
        return ProgramCache(compiled, asked, self._latest_concrete, self._concrete)

    def compiled_forms(self) -> list[tuple[list[str], list[CompiledFunction] | None]]:
        """For each signature its arguments in words and its compiled forms, the newest first.

        None stands for a signature whose calls run op by op.
        """
        return [
            (signature_texts(key[-1]), None if programs is _EAGER else list(programs))
            for key, programs in self._programs.items()
        ]

    def get_traced_count(self) -> int:
        """How often the function has been run to be compiled."""
        return len(self.program_cache)

    @property
    def code(self) -> str:
        """The source of the function."""
        return inspect.getsource(self._function)

    @property
    def concrete_program(self) -> ConcreteProgram:
        """The function as a static program (`inputs`, `outputs`, `parameters`, `main_program`), for its
        InputSpecs or its last call.

        Raises:
            ValueError: it has no InputSpecs and has not been called. RuntimeError: static mode is on.
        """
        return self._latest_concrete()[1]

    def get_concrete_program(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The function as a static program for some arguments.

        Args:
            args, kwargs: the arguments, with InputSpecs or Tensors for Tensors.
        Returns:
            (ConcreteProgram, function that runs it).
        Raises:
            TypeError: an argument is not known. ValueError: one is missing. RuntimeError: static mode is on.
        """
        require_dynamic("get_concrete_program")
        concrete = self._as_concrete(*bound(self.dygraph_function, args, kwargs))
        return concrete, concrete.function

    def _latest_concrete(self) -> tuple[Any, ...]:
        """(key, ConcreteProgram) of its InputSpecs or its last call."""
        require_dynamic("concrete_program")
        given = arguments_of(self.dygraph_function, self._input_spec, self._latest, "concrete_program")
        if self._input_spec is None:
            key = self._latest
        else:
            key = ("spec", *map(id, self._input_spec))
        return key, self._as_concrete(key, given)

    def _as_concrete(self, key: Sequence[Any], given: Arguments) -> ConcreteProgram:
        """The ConcreteProgram of arguments, made once."""
        if key not in self._concrete:
            self._concrete[key] = ConcreteProgram(self.dygraph_function, given)
        return self._concrete[key]

    @property
    def inputs(self) -> Any:
        """The inputs of the static program."""
        return self.concrete_program.inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The outputs of the static program."""
        return self.concrete_program.outputs

    @property
    def main_program(self) -> Program:
        """The static program."""
        return self.concrete_program.main_program

    def rollback(self) -> Callable[..., Any]:
        """Gives the function as it was written; a Layer gets it back as its method."""
        instance = self.class_instance
        if instance is None:
            return self.dygraph_function
        if instance.__dict__.get(self.__name__) is self:
            del instance.__dict__[self.__name__]
        # The class has a StaticFunction: the object gets the plain method, which hides it.
        if isinstance(inspect.getattr_static(type(instance), self.__name__, None), StaticFunction):
            object.__setattr__(instance, self.__name__, self.dygraph_function)  # decorated in the class
            LayerVersion.count += 1
        return self.dygraph_function

    def train(self) -> None:
        """Notes that the function is to train; of a Layer that is a matter of the Layer.

        Raises:
            RuntimeError: it is a method of a Layer.
        """
        self._set_training(True)

    def eval(self) -> None:
        """Notes that the function is not to train; of a Layer that is a matter of the Layer.

        Raises:
            RuntimeError: it is a method of a Layer.
        """
        self._set_training(False)

    def _set_training(self, training: Any) -> None:
        if isinstance(self.class_instance, Layer):
            name = "train" if training else "eval"
            raise RuntimeError(f"{self._name()}: {name} is a method of the Layer; call layer.{name}()")
        self._training = training

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # The usual case pays for no `try`.
        if not self._input_spec:
            return local.ctx.frame.call_static(self, args, kwargs)
        try:
            return local.ctx.frame.call_static(self, args, kwargs)
        except Exception as error:
            add_mismatches(error, self._name(), self._specs_of_arguments(args))
            raise

    def _specs_of_arguments(self, args: Sequence[Any]) -> list[tuple[str, Any, Any]]:
        """(name of the parameter, its InputSpec, the argument) of the arguments with an InputSpec."""
        names = inspect.signature(self.dygraph_function).parameters
        return list(zip(names, self._input_spec or (), args, strict=False))

    def run_compiled(self, args: Any, kwargs: dict[str, Any]) -> Any:
        """A call in eager mode: by a compiled program, once there is one."""
        ctx = local.ctx
        # Another executor, such as the profiler's, looks at each operation.
        if ctx.frame.executor not in _CAPTURED or not CompileSwitch.on:
            return self.dygraph_function(*args, **kwargs)
        # The Tensors of a capture hold no values while it lasts: wait for its end.
        if CompileSwitch.busy:  # in another thread, since there is no trace in this one
            with CompileSwitch.lock:
                pass
        tensors, key = call_signature(args, kwargs)
        # Within a trace: it becomes a part of what is compiled there.
        if any([holds_tracer(t) for t in tensors]):
            return self.run_inline(args, kwargs)
        self._latest = key
        # All that decides how the code computes, besides the arguments.
        key = (ctx.grad, dtypes.default(), ctx.amp, ctx.product_precision, ctx.frame.executor, key)
        programs = self._programs.get(key)
        if programs is _EAGER:
            return self.dygraph_function(*args, **kwargs)
        # Recently used forms stay, when the number of forms has a limit.
        if len(self._programs) > _MANY_SHAPES:
            with contextlib.suppress(KeyError):  # not there yet
                self._programs.move_to_end(key)
        why = None
        for program in programs or ():
            try:
                return program(program.operands(tensors))
            # The newest form is tried first, so its reason says best what has changed.
            except GuardFailure as stale:
                why = why or stale.reason
            # Under FLAGS_check_nan_inf: run op by op, the call shows the operation that is at fault.
            except NotFinite:
                return self.dygraph_function(*args, **kwargs)
        return self._without_program(key, programs, args, kwargs, why)

    def _without_program(
        self,
        key: Sequence[Any],
        programs: Sequence[CompiledFunction] | None,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        why: Reason | None,
    ) -> Any:
        """A call for which no compiled program holds.

        Args:
            key: the signature of the call.
            programs: list of the programs for it, whose guards do not hold, or None for a new signature.
            args, kwargs: the arguments.
            why: Reason of the newest program, whose guard does not hold, or None.
        """
        if programs is None:
            # A new shape of a known function: it runs op by op until it has come often enough.
            new_shapes = self._shapes_beside(key)
            if new_shapes is not None and new_shapes.runs_op_by_op(key):
                return new_shapes.run(key, lambda: self.dygraph_function(*args, **kwargs))
        with CompileSwitch.lock:
            # Waiting for the lock may have taken seconds.
            if programs is None and key in self._programs:  # compiled by another thread in the meantime
                return self(*args, **kwargs)
            return self._first(key, args, kwargs, why)

    def _shapes_beside(self, key: Sequence[Any]) -> NewShapes | None:
        """The calls with new shapes or numbers, where it has been compiled for calls like this one."""
        *modes, arguments = key
        alike = (*modes, signature_structure(arguments))
        found = self._new_shapes.get(alike)
        if found is None:
            if len(self._new_shapes) >= _MAX_PROGRAMS:
                self._new_shapes.clear()
            self._new_shapes[alike] = NewShapes()
        return found

    def run_inline(self, args: Sequence[Tensor], kwargs: dict[str, Any]) -> Tensor:
        """A call as a part of what is being traced."""
        # Converted code around it: what it calls is converted as well.
        function = self._conversion() if local.ctx.frame.converted else self.dygraph_function
        return function(*args, **kwargs)

    def run_recorded(self, recorder: Any, args: Any, kwargs: Any) -> Any:
        """A call as a part of the Program that a Recorder records."""
        # In static mode. A function that is recorded has a Program of its own.
        if recorder.fixed_program is None:
            raise RuntimeError(
                f"to_static: {self._name()} was called in static mode; call paddle.disable_static() first, "
                "or use the function without to_static"
            )
        if recorder.converted:
            return self._conversion()(*args, **kwargs)
        plain = ft.partial(self.dygraph_function, *args, **kwargs)
        return recorder.control_flow(
            (args, kwargs), plain, lambda: ft.partial(self._conversion(), *args, **kwargs)
        )

    def _conversion(self) -> Callable[..., Any]:
        """The function with control flow on Tensors converted."""
        if self._converted is None:
            self._converted = convert(self._function)
        # While a run is observed the converted code has to be the observed form, which is made per run.
        if Observing.observer is None:
            converted = self._converted
        else:
            converted = convert(self._function)
        if self._instance is None:
            return converted
        return types.MethodType(converted, self.class_instance)

    def _first(
        self, key: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any], why: Reason | None
    ) -> Any:
        """The first call with a signature: captures, compiles, runs. The lock is held."""
        programs = self._programs.setdefault(key, [])
        self._programs.move_to_end(key)
        if len(self._programs) > _MAX_PROGRAMS:
            # The oldest one is given up.
            self._programs.popitem(last=False)
        # A guard fails at each call: compiling again would cost seconds each time.
        if why is not None and len(programs) >= _MAX_STALE:
            return self._give_up(
                key,
                args,
                kwargs,
                Unsupported(f"it was compiled {len(programs)} times and something changes each time: {why}"),
            )
        self._check(args, kwargs)
        start = time.perf_counter()
        try:
            program, tensors = self._capture(args, kwargs)
        except (Unsupported, *TRACING) as error:
            return self._give_up(key, args, kwargs, error)
        for listen in compile_listeners:
            listen("to_static", self, (args, kwargs))
        # A new signature, and not a guard that failed.
        if why is None:
            self._advise()
        else:
            log.guard_failures[why.guard] += 1
        # its gradients would be looked at as a whole
        if local.ctx.frame.executor is not None and program.differentiable:
            self._programs[key] = _EAGER
            return self.dygraph_function(*args, **kwargs)
        # The newest first: it fits the present state.
        programs.insert(0, program)
        try:
            out = program(program.operands(tensors))
        except (GuardFailure, NotFinite):
            # the first: another thread or a signal handler has changed something since
            return self.dygraph_function(*args, **kwargs)
        # Programs take memory, which flags limit.
        evict_if_due()
        record = CompileRecord(time.perf_counter() - start, user_line(), str(why or self._news()))
        program.record = record
        log.add(
            f"to_static: compiled {self._name()} in {record.seconds:.2f} s at {record.where}: {record.why}; "
            f"it rests on {len(program.reads)} values that it has read{_runs(program.captured.again)}"
        )
        return out

    def _check(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Raises what Paddle raises for arguments that do not fit."""
        # Python's TypeError becomes Paddle's ValueError.
        try:
            inspect.signature(self.dygraph_function).bind(*args, **kwargs)
        except TypeError as error:
            raise ValueError(f"{self._name()}: {error}") from None
        specs = self._input_spec or ()
        if len(specs) > len(args) + len(kwargs):
            raise ValueError(
                f"{self._name()}: got {len(args) + len(kwargs)} arguments and {len(specs)} "
                "InputSpecs; give at most one for each"
            )
        for name, spec, arg in self._specs_of_arguments(args):
            if isinstance(spec, InputSpec) and isinstance(arg, bool | int | float | str):
                raise RuntimeError(
                    f"{self._name()}: {name}: got {arg!r} where input_spec has {spec}; pass a Tensor"
                )

    def _capture(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[CompiledFunction, Any]:
        """The Program for a call, and the Tensors to call it with."""
        args, kwargs, inputs, others, containers = tensors_of_arguments(args, kwargs)
        for value in others:
            if isinstance(value, collections.abc.Iterator):
                raise Unsupported(STREAM.format(type(value).__name__))
        scan = ClosureScan(self.dygraph_function, others)
        # Arguments come first and are operands anyhow.
        passed = set(map(id, inputs))
        run = ft.partial(
            self._observed_run,
            args,
            kwargs,
            scan,
            containers,
            inputs=inputs,
            start=[t for t in scan.tensors.values() if id(t) not in passed],
            objects=[*scan.objects, *containers],
            full_graph=self._full_graph,
            generators=scan.generators,
        )
        # Other threads wait, see `run_compiled`.
        with swapped_attributes(CompileSwitch, busy=True):
            captured, observer = self._captured(run)
            program = CompiledFunction(self._name(), captured, scan, observer, inputs)
            # They hold objects of the user, which a compiled form must not keep alive.
            scan.objects, scan.snapshot = [], Snapshot()
            return program, inputs

    def _captured(self, run: Callable[..., Any]) -> tuple[Captured | StateObserver, ...]:
        """The run of the function: as it is; with its control flow converted; with integers
        counted as constant."""
        # First as it is: conversion takes long, and most code does not decide by values of Tensors.
        try:
            return run()
        except TRACING as error:
            first = error
            since = f"since {user_line_of(error, self._function)} looks at a value"
        try:
            self._conversion()
        except Unsupported as error:
            text = f"{_text(first)}; {_text(error)}"
            problem = Unsupported(text, concerns_lengths(first)).with_traceback(first.__traceback__)
        else:
            try:
                return run(converted=True, reason=f"with its control flow converted, {since}")
            # The refusal of the converted form says more than that a value was asked for.
            except Unsupported as error:
                problem = error
            except TRACING as error:
                # Lengths that depend on values: Paddle compiles that, so the user gets no error for it.
                problem = error if concerns_lengths(error) else first
        # As a last resort numbers that the code reads count as constants, each with a program of its own.
        try:
            return run(fixed=True, reason=f"with integers counted as constant, {since}")
        except (Unsupported, *TRACING):
            raise problem from None

    def _observed_run(
        self,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        scan: ClosureScan,
        containers: Sequence[Any],
        converted: bool = False,
        reason: str | None = None,
        **options: Any,
    ) -> tuple[Any, StateObserver]:
        """One run of the code, as it is or converted, and what it has read. What it assigned outside is
        put back. reason: why it is not the first run. options: of `capture`."""
        usage = CodeRecorder()
        observer = StateObserver(
            scan.has_slot, scan.seen, containers, converted, scan.package_guards.new_forwards()
        )

        def body() -> Captured:
            observed = observer.observed_form(self.dygraph_function)
            # `observed_form` guards the code of the function also where it runs converted.
            called = self._conversion() if converted else observed
            return capture(lambda: called(*args, **kwargs), converted=converted, **options)

        try:
            # it would run code of objects that have nothing to do with the function
            with without_collection():
                captured = run_within(usage, lambda: run_within(observer, body))
            # Assignments to global variables, which a program could not repeat.
            changed = scan.snapshot.restore_variables()
        except BaseException:
            scan.snapshot.restore_variables()
            raise
        if changed:
            raise Unsupported(
                f"{changed[0]} outside the function is assigned, which would happen while "
                "compiling only; return its value"
            )
        observer.finish(usage)
        if observer.reason is not None:
            self._not_observed(observer.reason)
        if reason is not None:
            # Shown by `paddle_jax.explain()`.
            captured.again.insert(0, reason)
        return captured, observer

    def _not_observed(self, reason: str) -> None:
        """Some reads are not known: the function is not compiled, or, where the user wants it compiled whole,
        is told not to notice changes."""
        text = f"not all that it reads can be observed: {reason}"
        if not self._full_graph:
            raise Unsupported(text)
        warnings.warn(
            f"{self._name()} is compiled whole as asked for (full_graph=True), and may not notice "
            f"changes around it: {text}. Pass what changes as arguments",
            stacklevel=_stacklevel(),
        )

    def _give_up(
        self, key: Sequence[Any], args: Sequence[Any], kwargs: dict[str, Any], error: BaseException
    ) -> Tensor | list[type]:
        """What cannot be compiled runs as it is, or is an error where the user wants it compiled whole.

        Where lengths depend on values, it is one program for Paddle, but none for XLA: it runs as it is.
        """
        where = user_line_of(error, self._function)
        # A function that Paddle compiles, and XLA cannot, is no mistake of the user.
        if self._full_graph and not concerns_lengths(error):
            # It keeps the frames: two tracebacks in a chain would be twice as long.
            problem = RuntimeError(f"to_static: {self._name()} cannot be compiled: {_text(error)} ({where})")
            raise problem.with_traceback(error.__traceback__) from None
        self._programs[key] = _EAGER
        text = (
            f"{self._name()} runs op by op, since it cannot be compiled: {_text(error)} ({where}). "
            "To compile it, change that line, or leave it out of to_static with paddle.jit.not_to_static"
        )
        log.add("to_static: " + text)
        warnings.warn(text, stacklevel=_stacklevel())
        return self.dygraph_function(*args, **kwargs)

    def _advise(self) -> None:
        """Says once that signatures keep changing, and in what."""
        if len(self._programs) != _MANY_SHAPES or self._advised:
            return
        self._advised = True
        warnings.warn(
            f"{self._name()} has been compiled for {_MANY_SHAPES} signatures; {self._news()}. "
            "Pad shapes to a few sizes and pass numbers as Tensors, or leave the function eager",
            stacklevel=_stacklevel(),
        )

    def _news(self) -> str:
        # Two signatures are needed to compare.
        """What is new in the last signature."""
        if len(self._programs) < 2:
            return "the first call"
        old, new = list(self._programs)[-2:]
        # All but the arguments, see the key in `run_compiled`.
        if old[:-1] != new[:-1]:
            return "gradient recording, the default dtype, mixed precision or FLAGS_check_nan_inf is switched"
        return ", ".join(describe_differences(old[-1], new[-1])[:3])

    def _name(self) -> str:
        return getattr(self._function, "__qualname__", type(self._function).__name__)


def _nothing() -> None:
    """What a weak reference to nothing gives."""


def _same(value: Any) -> Any:
    return value


def _stacklevel() -> int:
    """The level of the caller outside the package, for a warning."""
    frame = inspect.currentframe()
    level = 0
    while frame is not None and is_ours(frame.f_globals):
        frame = frame.f_back
        level = level + 1
    return level


def _runs(again: Sequence[str]) -> str:
    """How often the code was run to be compiled, and why, where that was more than once."""
    if again:
        return f"; its code was run {len(again) + 1} times: {'; '.join(again)}"
    return ""


def _text(error: BaseException) -> str:
    return first_line(error).rstrip(".")


def user_line_of(error: Any, function: Callable[..., Any]) -> str:
    """file:line in the user's code where an error came up."""
    code = getattr(function, "__code__", None)
    frame = error.__traceback__
    if code is None:
        line = "unknown place"
    else:
        line = line_name(code.co_filename, code.co_firstlineno)
    while frame is not None:
        # The last frame of the user's in the traceback: engine, wrappers, NumPy and Python do not count.
        scope = frame.tb_frame.f_globals
        if package_of(scope) != "malt" and is_users(scope):
            line = line_name(frame.tb_frame.f_code.co_filename, frame.tb_lineno)
        frame = frame.tb_next
    return line
