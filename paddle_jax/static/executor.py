"""The Executor: compiles what a run of a Program needs, and runs it on the values in a Scope."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.interrupt_safe import (
    InterruptSafeCall,
    call_and_store,
    eager_evaluation,
    interrupt_safe_jit,
)
from paddle_jax._core.base.out_of_memory import as_out_of_memory
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.lazy.signature_cache import evict_if_due
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.lazy.transfer import to_array, to_jax_array, to_numpy
from paddle_jax._core.ops.argument_errors import describe_argument
from paddle_jax._core.runner.new_shapes import NewShapes
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors import random
from paddle_jax._core.tensors.held_values import held_symbol, held_value
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.composites import eager_mode, without_recording
from paddle_jax._program.evaluate import evaluate, random_values, symbols_of
from paddle_jax._program.evaluate_op_by_op import evaluate_op_by_op, runs_op_by_op
from paddle_jax._program.program import Program, default_main_program
from paddle_jax._program.scope import DenseTensor, global_scope, scope_guard
from paddle_jax.static.feeds import c_typed, fed_value, on_place
from paddle_jax.static.memory_details import largest_values

if TYPE_CHECKING:
    from paddle_jax._core.tensors.place import Place
    from paddle_jax._program.operation import Operation
    from paddle_jax._program.scope import Scope

_BAKED = 64  # elements up to which a constant is compiled in; larger ones are passed


class Executor:
    """Runs Programs.

    Args:
        place: where they run. Default: the current device.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = x * 2
        >>> exe = paddle.static.Executor(paddle.CPUPlace())
        >>> exe.run(main, feed={"x": np.ones([1, 2], "float32")}, fetch_list=[y])[0].tolist()
        [[2.0, 2.0]]
        >>> paddle.disable_static()
    """

    def __init__(self, place: Place | None = None) -> None:
        self.place: Place = places.current() if place is None else place
        # Values are put elsewhere only where the user asks for another device: that costs a transfer.
        self._elsewhere = place is not None and str(place) != str(places.current())
        self._closed = False

    def run(
        self,
        program: Any = None,
        feed: Any = None,
        fetch_list: Any = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        use_prune: bool = False,
    ) -> list[Any]:
        """Runs a program: computes what is fetched, and stores new values of parameters and other
        persistable Variables.

        Args:
            program: Program or CompiledProgram. Default: the default main program.
            feed: dict of arrays by name of the inputs. Names the program does not have are ignored.
            fetch_list: list of Variables or names of such, or of lists of them, which are joined. Default:
                nothing is returned.
            feed_var_name, fetch_var_name, use_program_cache: accepted; compiled runs are always kept.
            scope: Scope. Default: the global one.
            return_numpy: False gives DenseTensors instead of NumPy arrays.
            use_prune: True leaves out what is not fetched, even new values of parameters.
        Returns:
            list of arrays.
        Raises:
            KeyError: an input is not fed.
            TypeError: feed holds something else than dicts.
            ValueError: an input has the wrong shape or dtype, or a name is not known.
            RuntimeError: a parameter has no value.
        """
        if self._closed:
            raise RuntimeError("Executor.run: the executor is closed; make a new one")
        # The usual cases need no look: this is the path of every training step.
        if type(program) is not Program:
            program = _chosen_program(program)
        scope = global_scope() if scope is None else scope
        values = scope.values
        if type(feed) is not dict and feed is not None:
            feed = _merge_feeds(feed)
        # A startup program has nothing else to do. A main one may have initializers as well.
        if program.initializers:
            run_startup(program, scope, self.place if self._elsewhere else None)
        # The class is compared, as a `fetch_list` of Variables has no lists in it.
        if fetch_list.__class__ is not list or {list, tuple}.intersection(map(type, fetch_list)):
            fetch_list = _flat_fetch_list(fetch_list)
        # Rows on servers, gradients of several processes: the hook runs the program around that.
        if program.hook is not None:
            out = program.hook.run(program, values, feed or {}, fetch_list, use_prune)
            return list(map(c_typed if return_numpy else _as_dense_tensor, out))
        # By the objects that are fetched: no Symbols are looked up in the usual case.
        entry = program.compiled_runs.get((use_prune, *[f if type(f) is str else id(f) for f in fetch_list]))
        if entry is None:
            entry = compiled_run(program, fetch_list, use_prune)
        out = entry(values, feed or {}, self.place if self._elsewhere else None)
        if not return_numpy:
            return list(map(_as_dense_tensor, out))
        return [c_typed(v) for v in entry.to_numpy(out)]

    def train_from_dataset(
        self,
        program: Any = None,
        dataset: Any = None,
        scope: Scope | None = None,
        thread: int = 0,
        debug: bool = False,
        fetch_list: Any = None,
        fetch_info: Sequence[str] | None = None,
        print_period: int = 100,
        fetch_handler: Any = None,
    ) -> None:
        """Runs a program once for each batch of a dataset, and prints what is fetched now and then.

        Args:
            program: Program or CompiledProgram. Default: the default main program.
            dataset: QueueDataset or InMemoryDataset.
            scope: Scope. Default: the global one.
            thread: accepted; the dataset says how many files are read at once, and one thread computes.
            debug: accepted.
            fetch_list: list of Variables or names. Default: nothing is printed.
            fetch_info: list of str, what they are called. Default: their names.
            print_period: batches from one line to the next.
            fetch_handler: None; there are no others.
        Raises:
            RuntimeError: dataset is None; the command of the dataset has failed.
            NotImplementedError: fetch_handler is given.
            What the dataset and `run` raise.
        Differs from Paddle: it works with the programs of `paddle.enable_static()`; Paddle 3.3.1 raises for
        them. A worker of a job with parameter servers that was started again leaves out the batches that it
        has finished.
        """
        _run_batches(self, program, dataset, scope, (fetch_list, fetch_info, print_period, fetch_handler))

    def infer_from_dataset(
        self,
        program: Any = None,
        dataset: Any = None,
        scope: Scope | None = None,
        thread: int = 0,
        debug: bool = False,
        fetch_list: Any = None,
        fetch_info: Sequence[str] | None = None,
        print_period: int = 100,
        fetch_handler: Any = None,
    ) -> None:
        """As `train_from_dataset`, for a program without updates, such as `clone(for_test=True)`.

        A program runs as it is: one with updates trains here, too, as in Paddle.
        """
        _run_batches(self, program, dataset, scope, (fetch_list, fetch_info, print_period, fetch_handler))

    def close(self) -> None:
        """Ends the executor: it runs nothing any more."""
        self._closed = True

    def flush(self) -> None:
        """Does nothing: nothing is held back."""


def _run_batches(
    executor: Executor, program: Any, dataset: Any, scope: Any, printed: tuple[Any, ...]
) -> None:
    """Runs a program for each batch of a dataset; `printed` says what is shown."""
    fetch_list, fetch_info, print_period, fetch_handler = printed
    if dataset is None:
        raise RuntimeError("dataset is need and should be initialized")
    if fetch_handler is not None:
        raise NotImplementedError("train_from_dataset: fetch_handler: got one; use fetch_list")
    program = _chosen_program(program)
    fetch_list = _flat_fetch_list(fetch_list)
    names = fetch_info or [item if isinstance(item, str) else item.name for item in fetch_list]
    # A worker that was started again has done these batches already.
    for number, feed in enumerate(dataset.feeds(), 1):
        if program.hook is not None and program.hook.leaves_out_batch():
            continue
        out = executor.run(program, feed, fetch_list, scope=scope, return_numpy=False)
        if fetch_list and number % print_period == 0:
            _print_fetched(number, names, [np.asarray(value) for value in out])


def _print_fetched(number: int, names: Sequence[str], values: Sequence[np.ndarray]) -> None:
    shown = [
        f"{name}[{value.size}]:[{','.join(f'{float(one):g}' for one in value.ravel())}]"
        for name, value in zip(names, values, strict=True)
    ]
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    print(f"time: [{now}], batch: [{number}], {', '.join(shown)}", flush=True)


def _chosen_program(program: Any) -> Program:
    """The Program that is meant by what was given to a run."""
    if program is None:
        return default_main_program()
    # A CompiledProgram has its Program in this attribute.
    program = getattr(program, "_program", program)
    if not isinstance(program, Program):
        raise TypeError(
            f"Executor.run: program: got {type(program).__name__}; it must be a Program or a CompiledProgram"
        )
    return program


def _as_dense_tensor(value: Any) -> DenseTensor:
    return DenseTensor({"fetched": value}, "fetched")


def run_startup(program: Program, scope: Any, place: Any = None) -> None:
    """Runs the initialisations of a startup program."""
    before = random._Generators.default
    # `paddle.seed` does not reach a program with a seed of its own.
    if program.random_seed:
        random._Generators.default = random.Generator(seed=program.random_seed)
    try:
        with without_recording(), scope_guard(scope):
            for name, fill in program.initializers.items():
                value = fill()
                # `fill` computes on the current device.
                scope.values[name] = value if place is None else places.put(np.asarray(value), place)
    finally:
        random._Generators.default = before


def compiled_run(program: Program, fetch_list: list[Any], use_prune: bool) -> CompiledRun | FileRun:
    """The compiled run of a program for what is fetched; kept on the program."""
    symbols = [fetched_symbol(program, item) for item in fetch_list]
    # Each value that is fetched must be computed here, or be an input or a Variable.
    computed = {symbol for op in program.ops for symbol in op.outputs}
    for item, symbol in zip(fetch_list, symbols, strict=True):
        if symbol.kind == "result" and symbol not in computed:
            raise ValueError(
                f"Executor.run: fetch_list: {item.name} is a result of another program; run that one"
            )
    key = (use_prune, *symbols)
    entry = program.compiled_runs.get(key)
    if entry is None:
        if FileRun.fits(program, symbols):
            entry = FileRun(program, symbols)
        else:
            entry = CompiledRun(program, symbols, use_prune)
    program.compiled_runs[key] = entry
    # Under the objects as well, for the quick look in `Executor.run`. `fetch_lists` keeps them alive, so
    # that no other object gets one of these ids.
    program.compiled_runs[use_prune, *[f if type(f) is str else id(f) for f in fetch_list]] = entry
    entry.fetch_lists.append(list(fetch_list))
    return entry


def _merge_feeds(feed: Any) -> Mapping[Any, Any]:
    """What is fed, as one dict."""
    if isinstance(feed, Mapping):
        return feed
    if not isinstance(feed, list | tuple) or not all(isinstance(one, Mapping) for one in feed):
        raise TypeError(
            f"Executor.run: feed: got {describe_argument(feed)}; it must be a dict from names of inputs "
            "to arrays, or a list of such dicts"
        )
    return {name: value for one in feed for name, value in one.items()}


def _flat_fetch_list(fetch_list: Any) -> list[Any]:
    """The Variables and names to fetch, of lists in the list too."""
    if fetch_list is None:
        return []
    if isinstance(fetch_list, str | Tensor):
        return [fetch_list]
    if not isinstance(fetch_list, list | tuple):
        raise CheckError(
            f"Executor.run: fetch_list: got {type(fetch_list).__name__}; "
            "it must be a list or tuple of Variables or names"
        )
    # Lists in the list are joined.
    joined = []
    for item in fetch_list:
        if isinstance(item, list | tuple):
            joined += item
        else:
            joined.append(item)
    return joined


def fetched_symbol(program: Program, item: Any) -> Symbol:
    """The Symbol of a Variable or name that is fetched."""
    if isinstance(item, Tensor):
        raw = held_symbol(item)
        if type(raw) is not Symbol:
            raise TypeError(
                "Executor.run: fetch_list: got an eager Tensor; it must hold Variables of the program"
            )
        # A persistable Variable stands for what it was last set to.
        if getattr(item, "persistable", False) and hasattr(item, "avals"):
            return program.symbol_of(item)
        return raw
    if not isinstance(item, str):
        raise TypeError(
            f"Executor.run: fetch_list: got {type(item).__name__}; it must hold Variables or names"
        )
    if program.has_var(item):
        return fetched_symbol(program, program.var(item))
    for op in program.ops:
        for out in op.outputs:
            if out.name == item:
                return out
    raise ValueError(
        f"Executor.run: fetch_list: the program has no Variable {item!r}; fetch the Variable itself"
    )


class FileRun:
    """A run of a program from a file: its Runner compiles the shapes that recur.

    Attributes:
        program: the Program.
        runner: the Runner of the file.
        fetched: list of the positions of the file's results that are fetched.
        fetch_lists: list of what was fetched, so that it lives as long as this.
    """

    def __init__(self, program: Program, fetches: Sequence[Symbol]) -> None:
        self.program = program
        self.runner: Any = program.file_runner
        self.fetch_lists: list[list[Any]] = []
        results = [held_symbol(variable) for variable in program.fetched]
        self.fetched: list[int] = [results.index(symbol) for symbol in fetches]

    @staticmethod
    # As long as the program does exactly what the file says, its Runner may run it.
    def fits(program: Program, fetches: Sequence[Symbol]) -> bool:
        """Whether a run of a program is one of its file."""
        if (
            program.file_runner is None
            or program.file_runner.kernels is None
            or program.writes
            or not fetches
        ):
            return False
        results = {held_symbol(variable) for variable in program.fetched}
        return results.issuperset(fetches)

    def __call__(
        self, values: dict[str, Any], feed: Mapping[str, Any], place: Place | None = None
    ) -> list[Any]:
        fed = [
            fed_value(feed, name, held_symbol(self.program.data[name]))
            for name, *_ in self.runner.program.feeds
        ]
        names = self.runner.program.parameters
        missing = [name for name in names if values.get(name) is None]
        # Missing values are reported by name, not by the operation that wants them.
        if missing:
            raise _no_value(missing[0])
        (fed,) = on_place(place, fed)
        with eager_mode():
            results = self.runner.arrays(values, fed)
        return [results[i] for i in self.fetched]

    def to_numpy(self, out: Sequence[Any]) -> list[np.ndarray]:
        """Results as NumPy arrays."""
        return [to_numpy(value) for value in out]


def _no_value(name: str) -> RuntimeError:
    return RuntimeError(
        f"Executor.run: {name!r} has no value in the scope; run the startup "
        "program first: exe.run(paddle.static.default_startup_program())"
    )


class CompiledRun:
    """One compiled run of a Program.

    Attributes:
        program: the Program.
        fetches: list of the Symbols that are fetched.
        fetch_lists: list of what was fetched, so that it lives as long as this.
        ops: list of the operations that the run needs.
        written: list of the names whose values the run stores.
        read: list of the names whose values it reads only.
        data: list of (name, Symbol) of the inputs.
        random: bool, whether it draws random numbers.
        rates: list of (name, optimizer) of the learning rates that it uses.
        constant_symbols: list of the Symbols of large constants, which are operands.
        constants: list of their arrays.
        fed_shapes: list of the shapes of the inputs in the last call.
        is_empty: bool, whether there is nothing to run.
        host: bool, whether an operation needs values on the host, so that the run is not compiled.
        process_grid: ProcessGrid of the processes that make the run together, or None.
        outputs: list of the Symbols of what the run stores and fetches.
        random_symbols: list of the Symbols of random operands.
        compiled: function of all operands.
        compiled_shapes: set of the shapes of the inputs that it was called with.
        new_shapes: NewShapes, which counts the calls with others; None where each shape is compiled.
        copied: list of the positions of results that share memory with the Scope, and are copied.
    """

    def __init__(
        self,
        program: Program,
        fetches: Sequence[Symbol],
        use_prune: bool,
        writes: dict[str, Symbol] | None = None,
    ) -> None:
        """Plans the run.

        Args:
            program: the Program.
            fetches: what is fetched.
            use_prune: whether operations with effects, such as printing, are left out.
            writes: {name: Symbol} of what is stored. Default: nothing with `use_prune`, else all.
        """
        self.program = program
        self.fetches = fetches
        self.fetch_lists: list[list[Any]] = []
        if writes is None:
            writes = {} if use_prune else program.writes
        # New values are results like those that are fetched; they come first.
        targets = [*fetches, *writes.values()]
        self.ops: list[Operation] = program.pruned(targets, effects=not use_prune)
        used = list(dict.fromkeys([*symbols_of(self.ops), *targets]))
        self.written: list[str] = list(writes)
        # Not written: read only, so their memory cannot be given away.
        self.read: list[str | None] = [s.name for s in used if s.kind == "variable" and s.name not in writes]
        self.data: list[tuple[str | None, Symbol]] = [(s.name, s) for s in used if s.kind == "data"]
        self.random: bool = any(s.kind == "random" for s in used)
        stored = (*self.written, *self.read)
        self.rates: list[tuple[str, Any]] = [
            (name, program.learning_rates[name]) for name in stored if name in program.learning_rates
        ]
        # A large constant in the compiled program would be copied into it, and hashed at each compilation.
        self.constant_symbols: list[Symbol] = [s for s in used if s.kind == "constant" and s.size > _BAKED]
        self.constants: list[Any] = [to_array(s.value) for s in self.constant_symbols]
        self.fed_shapes: list[tuple[int, ...]] = []
        self.is_empty: bool = not targets and not self.ops
        self.host: bool = any(op.host for op in self.ops)
        # A program that exchanges nothing runs alone.
        grid = program.process_grid
        self.process_grid: Any = grid if grid is not None and grid.is_used_by(self.ops) else None
        self.outputs: list[Symbol] = [*writes.values(), *fetches]
        self.random_symbols: list[Symbol] = [s for s in used if s.kind == "random"]
        # Made once: each run has the same function, so that JAX finds its compiled form.
        body = self._body(used, self.outputs)
        self.compiled: Any = self._compiled(body)
        self.compiled_shapes: set[tuple[Any, ...]] = set()
        # Without inputs there are no new shapes.
        by_op = self.process_grid is None and bool(self.data) and runs_op_by_op(self.ops)
        self.new_shapes: NewShapes | None = NewShapes() if by_op else None
        # The Scope has these arrays as well, and the next run gives their memory away.
        self.copied: list[int] = [
            i for i, s in enumerate(fetches) if s.kind == "variable" or s in writes.values()
        ]

    def _body(self, used: Sequence[Symbol], outputs: Sequence[Symbol]) -> Callable[..., list[Any]]:
        """The function of the run, of arrays."""
        homes = self.program.scope_symbols

        def body(written: Any, read: Any, fed: Any, constants: Any, words: Any, offset: Any) -> list[Any]:
            env = {homes[name]: value for name, value in zip(self.written, written, strict=True)}
            env.update((homes[name], value) for name, value in zip(self.read, read, strict=True))
            env.update((s, value) for (_, s), value in zip(self.data, fed, strict=True))
            env.update(zip(self.constant_symbols, constants, strict=True))
            env.update(random_values(self.program, words, offset, used))
            with without_recording():
                evaluate(self.ops, env)
            # A constant that is fetched may be an operand of no operation.
            return [env[s] if s in env else to_array(s.value) for s in outputs]

        return body

    def _compiled(self, body: Callable[..., list[Any]]) -> Any:
        """The function of the run in the form in which it is called."""
        if self.process_grid is not None:
            if self.host:
                raise NotImplementedError(
                    "Executor.run: the program exchanges values between processes, and has an operation "
                    "whose result has a shape that depends on values; leave one of the two out"
                )
            return self.process_grid.compiled(body)
        # Shapes depend on values: operations run one by one, outside of any trace.
        if self.host:
            return body
        # The arrays in the Scope that are written are given away: their new values take the memory.
        # Mostly the results are read at once, so this thread would wait for another one.
        return InterruptSafeCall(interrupt_safe_jit(body, donate_argnums=0), "executor", is_inline=True)

    def __call__(
        self, values: dict[str, Any], feed: Mapping[str, Any], place: Place | None = None
    ) -> list[Any]:
        if self.is_empty:
            return []
        for name, optimizer in self.rates:
            # The learning rate is a value of the Scope that the host sets before each run.
            values[name] = optimizer.rate_now(values.get(name))
        fed = [fed_value(feed, name, symbol) for name, symbol in self.data]
        words = offset = None
        if self.random:
            words, offset = self._next_random_key()
        try:
            written = list(map(values.__getitem__, self.written))
            read = list(map(values.__getitem__, self.read))
        # A value is missing: it may have come along with the program.
        except KeyError:
            written, read = self._complete_values(values)
        written, read, fed = on_place(place, written, read, fed)
        arguments = written, read, fed, self.constants, words, offset
        self.fed_shapes = [value.shape for value in fed]
        out = []

        # Storing is one step that no interrupt can divide: the old arrays are gone by then.
        def take(results: Any) -> Any:
            return itertools.chain(map(values.__setitem__, self.written, results), map(out.append, results))

        if self.host or self.process_grid is not None:
            call_and_store(self.compiled, arguments, take)
        elif self._runs_op_by_op():
            call_and_store(self._op_by_op, arguments, take)
        else:
            self._run_compiled(arguments, take)
        # Steps of optimizers: one per learning rate.
        Counters.steps += len(self.rates)
        # A view of the Scope's array would change with the next run.
        if self.copied:
            arrays = self.to_numpy([out[i] for i in self.copied])
            for i, array in zip(self.copied, arrays, strict=True):
                out[i] = np.array(array)
        return out

    def _run_compiled(self, arguments: tuple[Any, ...], take: Callable[..., Any]) -> None:
        """Calls the compiled function, and hands its results to `take`."""
        self.compiled_shapes.add(tuple(self.fed_shapes))
        written, read, fed, *_ = arguments
        # None: a NumPy array
        known = [getattr(value, "_committed", None) for value in (*written, *read, *fed)]
        try:
            self.compiled(arguments, take, None, (*known, *self.fed_shapes))
        except (jax.errors.JaxRuntimeError, ValueError) as error:
            raise self._as_memory_error(error) from None
        evict_if_due()

    def _runs_op_by_op(self) -> bool:
        # The first shapes are compiled at once; new ones run op by op until they come often.
        """Whether this call runs operation by operation: its shapes are new, and others are compiled."""
        shapes = tuple(self.fed_shapes)
        if self.new_shapes is None or not self.compiled_shapes or shapes in self.compiled_shapes:
            return False
        # Arrays of several devices have compiled programs alone.
        if MultiDevice.in_use:
            return False
        with eager_mode():
            return self.new_shapes.runs_op_by_op(shapes)

    def _op_by_op(
        self,
        written: list[Any],
        read: list[Any],
        fed: list[Any],
        constants: list[Any],
        words: Any,
        offset: Any,
    ) -> list[Any]:
        """The results of the run, operation by operation. Arguments as for the compiled function."""
        homes = self.program.scope_symbols
        env = {homes[name]: value for name, value in zip(self.written, written, strict=True)}
        env.update((homes[name], value) for name, value in zip(self.read, read, strict=True))
        env.update((s, value) for (_, s), value in zip(self.data, fed, strict=True))
        env.update(zip(self.constant_symbols, constants, strict=True))
        env.update(random_values(self.program, words, offset, self.random_symbols))

        with eager_mode():
            tensors = self.new_shapes.run(
                tuple(self.fed_shapes), lambda: evaluate_op_by_op(self.ops, env, self.outputs)
            )
            return [to_jax_array(held_value(tensor)) for tensor in tensors]

    def to_numpy(self, out: Sequence[Any]) -> list[np.ndarray]:
        """Results as NumPy arrays. A device computes in the background: what has failed
        there comes up here."""
        try:
            for value in out:
                jax.block_until_ready(value)
        except (jax.errors.JaxRuntimeError, ValueError) as error:
            raise self._as_memory_error(error) from None
        return [to_numpy(v) for v in out]

    def _as_memory_error(self, error: Exception) -> Exception:
        """The error to raise for one of XLA: with what takes memory, where it ran out."""
        return as_out_of_memory(error, "Executor.run", (), self._memory_details())

    def _memory_details(self) -> Iterator[str]:
        """Lines on what takes memory in the run that failed, and on what was lost in it."""
        homes = self.program.scope_symbols
        env = {homes[name]: homes[name].avals[0] for name in (*self.written, *self.read)}
        env.update(
            (s, jax.ShapeDtypeStruct(shape, s.dtype))
            for (_, s), shape in zip(self.data, self.fed_shapes, strict=True)
        )
        # For the message alone: shapes, and no values.
        env.update((s, s.value) for s in self.constant_symbols)
        env.update(random_values(self.program, np.zeros(2, np.uint32), np.uint32(0), symbols_of(self.ops)))
        yield from largest_values(self.ops, env)
        if self.written:
            yield (
                f"The run had taken over the memory of {', '.join(self.written[:3])} and what else it "
                "writes: load their values again, or run the startup program."
            )

    def _next_random_key(self) -> tuple[Any, Any]:
        """Seed words and offset of the random numbers of this run."""
        program = self.program
        # With a seed of its own each run goes on where the last one ended; `& 0xFFFFFFFF` as counters have
        # 32 bits.
        if program.random_seed:
            offset = np.uint32(program.runs * program.draws & 0xFFFFFFFF)
            program.runs += 1
            return np.array([program.random_seed >> 32, program.random_seed & 0xFFFFFFFF], np.uint32), offset
        generator = random.default_generator()
        offset = np.uint32(generator._offset & 0xFFFFFFFF)
        # Other code that draws goes on behind these numbers.
        generator._offset += program.draws
        return generator._words, offset

    def _complete_values(self, values: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        """The values of the Scope; those that came along with the program are put there first."""
        for name in (*self.written, *self.read):
            if values.get(name) is None:
                if name not in self.program.values:
                    raise _no_value(name)
                # A copy: the program's own array must outlive the run, which may give this one away.
                with eager_evaluation():
                    values[name] = jax.numpy.array(to_array(self.program.values[name]))
        return [values[name] for name in self.written], [values[name] for name in self.read]


__all__ = ["Executor"]
