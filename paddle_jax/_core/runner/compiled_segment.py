"""Compiled segments: a bounded cache of programs.

Their key is the recorded operations, the results that are needed, and the host numbers and constants among
the leaves.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import functools as ft
import hashlib
import math
import operator
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.compiler import quick_options
from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.errors import first_line
from paddle_jax._core.base.event_log import compile_listeners, log
from paddle_jax._core.base.interrupt_safe import InterruptSafeCall, preserved_tracing
from paddle_jax._core.kernels.kernel_gradients import linearize, pull_back
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.devices import default_device, may_interpret
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.positions import OP_MASK, aval_at, needed_ops
from paddle_jax._core.lazy.reference_counts import is_unreferenced
from paddle_jax._core.lazy.segment import VALUE_READ, Segment
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.signature_cache import evict_if_due, register_cache
from paddle_jax._core.lazy.transfer import donatable_jax_array, stored_jax_array
from paddle_jax._core.runner import compile_history, stored_programs
from paddle_jax._core.runner.background_compiler import (
    compile_ahead,
    compiles_in_background,
    submit_segment,
)
from paddle_jax._core.runner.compile_history import NO_RUNS, EarlierRuns
from paddle_jax._core.runner.explain import reason
from paddle_jax._core.runner.first_product import compute_first_product
from paddle_jax._core.runner.loaded_programs import LoadedProgram, may_call
from paddle_jax._core.runner.loop_pairs import loops_with_gradient
from paddle_jax._core.runner.loop_rolling import LoopTracer, RepeatedOps, find_repetitions
from paddle_jax._core.runner.program_digest import digest_of
from paddle_jax._core.runner.run_times import RunTimes
from paddle_jax._core.runner.stored_programs import PlainProgram, StoredProgram
from paddle_jax._core.runner.tiering import (
    compile_seconds,
    has_products,
    load_seconds,
    runs_before_compiling,
)
from paddle_jax._core.runner.traced_leaves import TracedLeaves

if TYPE_CHECKING:
    from paddle_jax._core.lazy.aval import Aval

_MAX_PROGRAMS = 256
_MAX_COUNTED_KEYS = 1 << 16
# compiled forms of one sequence of ops with different shapes or live results, before more need more repeats
_MAX_VARIANTS = 8
# intermediate results that the program also returns. XLA computes each again from the start: 256 in a row
# compile for minutes
_MAX_INTERMEDIATE_RESULTS = 32
_MIN_DONATED_BYTES = 4096  # smaller operands are not worth the bookkeeping
_RUN_PER_COMPILATION = 10  # times of compiling a quick program, after which a better one is compiled
_MAX_UNKNOWN = 8  # segments without a program of earlier processes, before new ones are not searched for
_RUNS_TO_WAIT = 2  # in NumPy: a program that takes as long to load is waited for
_RUNS_AFTER_FAILURE = 64  # before a program that failed is compiled again


class Key(NamedTuple):
    """What a compiled segment depends on.

    Attributes:
        ops: tuple of the recorded operations.
        live: tuple of the positions of the results that are needed.
        hosts: tuple with an entry for each leaf: None for an array, the count of its host numbers, or the
            host numbers of a constant.
        device: the device that it runs on, or a frozenset of several.
    """

    ops: tuple[tuple[Any, ...], ...]
    live: tuple[int, ...]
    hosts: tuple[Any, ...]
    device: Any


class Choice(NamedTuple):
    """How a segment runs.

    Attributes:
        program: CompiledSegment to call; None: it runs op by op.
        is_recurring: bool, whether it has come again and will be compiled if it goes on so.
        times: RunTimes that measure its runs, or None.
    """

    program: CompiledSegment | None
    is_recurring: bool
    times: RunTimes | None = None


class _Cache:
    """The programs of the process.

    Attributes:
        programs: dict from Key to CompiledSegment, least recently used first.
        run_counts: dict from the hash of a Key to the number of its runs so far.
        thresholds: dict from (hash of a Key, device, interpreter setting) to the run at which it is compiled.
        left_alone: set of the hashes of Keys that are not compiled although they have come often enough.
        variant_counts: dict from the hash of a sequence of kernels to the number of its compiled forms.
        last: CompiledSegment that was called last.
        histories: dict from the hash of a Key to (its name in the history, EarlierRuns).
        times: dict from the hash of a Key to its RunTimes.
        unknown_count: int, number of segments without a program of earlier processes.
        process: int, id of the process that counts the runs.
        lock: held while a program is made.
    """

    programs: collections.OrderedDict[Key, CompiledSegment] = collections.OrderedDict()
    run_counts: dict[int, int] = {}
    thresholds: dict[Any, float] = {}
    left_alone: set[int] = set()
    variant_counts: dict[int, int] = {}
    last: CompiledSegment | None = None
    histories: dict[int, tuple[str, EarlierRuns]] = {}
    times: dict[int, RunTimes] = {}
    unknown_count = 0
    process = 0
    lock = threading.Lock()


def clear() -> None:
    """Forgets all compiled segments."""
    _Cache.programs.clear()
    _Cache.run_counts.clear()
    _Cache.thresholds.clear()
    _Cache.left_alone.clear()
    _Cache.variant_counts.clear()
    _Cache.histories.clear()
    _Cache.times.clear()
    _Cache.unknown_count = 0
    _Cache.last = None


def programs_by_use() -> list[tuple[int, Callable[[], object]]]:
    """(number of programs compiled at its last use, function that drops it) of each compiled segment."""
    return [
        (program.used, ft.partial(_Cache.programs.pop, key, None))
        for key, program in _Cache.programs.copy().items()
    ]


register_cache(clear, programs_by_use)


def program_for(
    ops: Sequence[tuple[Any, ...]],
    leaves: Sequence[LazyArray],
    live: tuple[int, ...],
    cause: str,
    device: Any,
) -> Choice:
    """The compiled form of a segment on a device, if there is one or it is time to make one."""
    hosts = tuple(
        [
            None if type(v.array) is not tuple else len(v.array) if v.device is None else v.array
            for v in leaves
        ]
    )
    key = Key(tuple(ops), live, hosts, device)
    program = _Cache.programs.get(key)
    if program is not None:
        program.runs += 1
        if not program.is_ready():
            return Choice(None, True, program.times)
        if program.background_job is not None and program.background_job.error is not None:
            drop_failed(program, program.background_job.error)
            return Choice(None, False)
        log.compiled_runs += 1
        return Choice(program, True, program.times)
    with _Cache.lock:
        # None where another thread has just made it
        if key in _Cache.programs:
            return Choice(None, True)
        key_hash = hash(key)  # takes a while for many operations
        program = _new_program(key, key_hash, leaves, cause, device)
        is_recurring = _is_recurring(key_hash)
        times = _Cache.times.get(key_hash)
    if program is not None and program.background_job is not None:
        if _wait_for_load(program, key_hash):
            log.compiled_runs += 1
        else:
            program = None
    return Choice(program, is_recurring, times)


def _wait_for_load(program: CompiledSegment, key_hash: int) -> bool:
    """Waits for a new program if it is loaded in about the time of one run in NumPy.

    Such a run would hold more memory than the program, and slow down its loading.

    Returns:
        Whether it can be called now.
    """
    _, earlier = _Cache.histories.get(key_hash, ("", NO_RUNS))
    seconds = load_seconds(program.key.ops, earlier)
    if seconds > _RUNS_TO_WAIT * earlier.times.interpreted or not program.program.is_in_cache():
        return False
    job = program.background_job
    try:
        job.wait()
    except Exception as error:
        if error is not job.error:  # from a handler of a signal
            raise
        return False
    return True


def _is_recurring(key_hash: int) -> bool:
    """Whether a segment has come again and will be compiled some time."""
    return _Cache.run_counts.get(key_hash, 0) > 1 and key_hash not in _Cache.left_alone


def _new_program(
    key: Key, key_hash: int, leaves: Sequence[LazyArray], cause: str, device: Any
) -> CompiledSegment | None:
    """Counts a run of a segment; compiles it if it is time to."""
    count = _Cache.run_counts[key_hash] = _Cache.run_counts.get(key_hash, 0) + 1
    if len(_Cache.run_counts) > _MAX_COUNTED_KEYS:
        _Cache.run_counts.clear()
        _Cache.thresholds.clear()
        _Cache.left_alone.clear()
        _Cache.times.clear()
    if count == 1 and not settings.min_repeats and may_interpret(device) and not _is_known(key, device):
        return None  # most segments never come again, and the decision costs time
    threshold_key = key_hash, device, settings.interpreter
    threshold = settings.min_repeats or _threshold(threshold_key, key, leaves, device)
    if count < threshold:
        return None
    reason_not_to = _reason_not_to_compile(key, leaves)
    if reason_not_to is not None:
        if count == threshold:
            log.add(f"left to run op by op: {len(key.ops)} ops at {user_line()}, {reason_not_to}")
        _Cache.thresholds[threshold_key] = math.inf
        _Cache.left_alone.add(key_hash)
        return None
    kernels_hash = hash(tuple([entry[0].kernel for entry in key.ops]))
    variants = _Cache.variant_counts.get(kernels_hash, 0)
    if variants >= _MAX_VARIANTS and count < threshold << min(variants - _MAX_VARIANTS + 1, 20):
        _Cache.left_alone.add(key_hash)
        if variants == _MAX_VARIANTS and count == threshold:
            log.add(
                f"left to run op by op: {len(key.ops)} ops at {user_line()} have been compiled "
                f"for {variants} sets of shapes and live results already"
            )
        return None
    _Cache.variant_counts[kernels_hash] = variants + 1
    evict_if_due()
    in_background = compiles_in_background(device)
    times = _run_times(key_hash) if in_background else None
    program = CompiledSegment(key, leaves, cause, in_background, times)
    _Cache.programs[key] = program
    if len(_Cache.programs) > _MAX_PROGRAMS:
        _Cache.programs.popitem(last=False)
    if in_background:
        program.compile_in_background(leaves)
    return program


def _run_times(key_hash: int) -> RunTimes | None:
    """What measures the runs of a segment; None without a directory for its times."""
    if not compile_history.has_directory():
        return None
    return _Cache.times.setdefault(key_hash, RunTimes())


def _is_known(key: Key, device: Any) -> bool:
    """Whether an earlier process compiled a segment, which runs in this one for the first time.

    A program that earlier processes did not run has none of these. So after some others no more are named.
    """
    if _Cache.unknown_count >= _MAX_UNKNOWN:
        return False
    if not (compiles_in_background(device) and compile_history.has_directory()):
        return False
    name = compile_history.name_of(key.ops, key.live)
    if compile_history.earlier_runs(name).has_program:
        return True
    _Cache.unknown_count += 1
    return False


def _threshold(threshold_key: Any, key: Key, leaves: Sequence[LazyArray], device: Any) -> Any:
    """The run at which a segment is compiled."""
    threshold = _Cache.thresholds.get(threshold_key)
    if threshold is None:
        earlier = NO_RUNS
        # without the thread, a program compiles at the same step in every run: docs/determinism.md
        if compiles_in_background(device) and compile_history.has_directory():
            name = compile_history.name_of(key.ops, key.live)
            earlier = compile_history.earlier_runs(name)
            _remember_history(threshold_key[0], name, earlier)
            _run_times(threshold_key[0])
        repetitions = ()
        # What is loaded has been compiled already. Searching for loops takes milliseconds.
        if not earlier.has_program:
            repetitions = _repetitions(key, [leaf.aval for leaf in leaves])
        threshold = runs_before_compiling(key.ops, device, repetitions, earlier)
        _Cache.thresholds[threshold_key] = threshold
    return threshold


def _repetitions(
    key: Key, avals: Sequence[Aval], loops: Mapping[int, int] | None = None
) -> list[RepeatedOps]:
    """The operations of a segment that are compiled as loops.

    Args:
        key: Key of the segment.
        avals: Avals of its leaves.
        loops: operations with a loop inside, with their gradients; None: they are searched for.
    """
    if loops is None:
        loops = loops_with_gradient(key.ops, [i for i, _ in needed_ops(key.ops, key.live)])
    # These pairs are traced together.
    pairs = {*loops, *loops.values()}
    return find_repetitions(key.ops, key.live, avals, key.hosts, pairs)


def _remember_history(key_hash: int, name: str, earlier: EarlierRuns) -> None:
    """Has the end of the process add the runs of a segment to those of earlier processes."""
    if _Cache.process != os.getpid():
        _Cache.process = os.getpid()
        _Cache.histories.clear()
        atexit.register(_write_runs)
    _Cache.histories.setdefault(key_hash, (name, earlier))


def _write_runs() -> None:
    if _Cache.process != os.getpid():  # a forked child
        return
    programs = {hash(key): program for key, program in _Cache.programs.items()}
    compile_history.write_runs(
        (name, _runs_by_now(key_hash, programs.get(key_hash), earlier))
        for key_hash, (name, earlier) in _Cache.histories.items()
    )


def _runs_by_now(key_hash: int, program: CompiledSegment | None, earlier: EarlierRuns) -> EarlierRuns:
    """What the next process is to know of a segment."""
    count = _Cache.run_counts.get(key_hash, 0)
    measured = _Cache.times.get(key_hash)
    times = earlier.times if measured is None else earlier.times.least(measured.times())
    if program is not None:
        return EarlierRuns(count + program.runs, not program.is_new, times)
    if earlier.has_program:
        return EarlierRuns(count, True, times)
    return EarlierRuns(count + earlier.runs, False)


def _reason_not_to_compile(key: Key, leaves: Sequence[LazyArray]) -> str | None:
    """Why a segment is not compiled as one program; None if it is."""
    dependent = sum(any(position >= 0 for position in entry[1:]) for entry in key.ops)
    if 4 * dependent < len(key.ops):
        return "few of which use each other's results"
    read = {position for entry in key.ops for position in entry[1:] if position >= 0}
    intermediate = read.intersection(key.live)
    if len(intermediate) > _MAX_INTERMEDIATE_RESULTS:
        # A loop computes its results once, however many of them are read.
        for repetition in _repetitions(key, [leaf.aval for leaf in leaves]):
            intermediate = {p for p in intermediate if p & OP_MASK not in repetition.op_range}
    if len(intermediate) > _MAX_INTERMEDIATE_RESULTS:
        return f"more than {_MAX_INTERMEDIATE_RESULTS} of whose intermediate results are kept"
    return None


def drop_failed(program: CompiledSegment, error: BaseException) -> None:
    """Forgets a program that failed. Its segment runs op by op until it has come often again."""
    _Cache.programs.pop(program.key, None)
    _Cache.run_counts[hash(program.key)] = -_RUNS_AFTER_FAILURE
    log.add(
        f"failed as a compiled program, now op by op: {len(program.key[0])} ops at {program.where}: "
        f"{first_line(error)}"
    )


class CompiledSegment:
    """The compiled form of a segment.

    Args:
        key: Key of the segment.
        leaves: its leaves.
        cause: the reason for the run that compiles it.
        quick: whether its first program is one that is compiled quickly.
        times: RunTimes that measure its runs, or None.

    Attributes:
        key: Key of the segment.
        times: as given.
        cause: str, the reason for the run that compiled it.
        where: str, the user's line that it was compiled at.
        donated: tuple of int, the leaves whose memory the program reuses.
        kept: list of int, the other leaves that are arrays.
        groups: list of (dtype, leaves with host numbers of it).
        avals: list of the Avals of the leaves.
        packed: list with an entry for each group: (bytes of the host numbers of the last call, None or the
            jax array of them).
        is_new: bool, whether it has not been compiled yet.
        runs: int, number of runs of its segment since it was made.
        background_job: Task that compiles it in another thread, or None.
        used: int, number of programs compiled in the process at its last use.
        program: StoredProgram or PlainProgram that is compiled.
        call: InterruptSafeCall of its function.
        loaded: LoadedProgram that is called in place of it where that is possible, or None.
        lock: held during the first call.
        better: _BetterProgram that is to take its place, or None.
        is_inline: bool, whether it is to run in the thread that calls it.
    """

    def __init__(
        self,
        key: Key,
        leaves: Sequence[LazyArray],
        cause: str,
        quick: bool = False,
        times: RunTimes | None = None,
    ) -> None:
        self.key = key
        self.times = times
        self.cause = cause
        self.where: str = user_line()
        self.donated: tuple[int, ...] = _donatable(key, leaves)
        self.kept: list[int] = [
            i for i, numbers in enumerate(key.hosts) if numbers is None and i not in self.donated
        ]
        groups: dict[np.dtype, list[int]] = {}
        for i, numbers in enumerate(key.hosts):
            if type(numbers) is int:
                groups.setdefault(leaves[i].aval.dtype, []).append(i)
        self.groups: list[tuple[np.dtype, list[int]]] = list(groups.items())
        self.avals: list[Aval] = [leaf.aval for leaf in leaves]
        self.packed: list[tuple[bytes | None, Any]] = [(None, None)] * len(self.groups)
        self.is_new: bool = True
        self.runs: int = 0
        self.background_job: Any = None
        self.used: int = Counters.compiled
        self.lock: Any = threading.Lock()
        # Where nothing is read, the next step is recorded while another thread runs this one.
        self.is_inline: bool = cause == VALUE_READ
        self._digest: str | None = self._find_digest()
        program = self._program({})
        self.better: _BetterProgram | None = None
        options = quick_options()
        if quick and options and not program.is_in_cache():
            self.better = _BetterProgram(program, key.device, self.is_inline)
            program = self._program(options)
        self._use(program, None)
        for listen in compile_listeners:
            listen("segment", self, leaves)

    def trace_for_target(self, structs: Sequence[Any]) -> Any:
        """What `jax.jit(...).trace` gives for the platform of `traced_for`.

        Args:
            structs: the arguments as `argument_structs` gives them.
        """
        return jax.jit(self._trace, donate_argnums=0).trace(*structs)

    def _find_digest(self) -> str | None:
        """The digest of what it computes from which arguments; None where it has none, or no use."""
        device = self.key.device
        # On several devices the program depends on the parts of the arguments that each of them has.
        is_on_host = device is default_device() and device.platform == "cpu"
        if not is_on_host or not stored_programs.is_possible():
            return None
        groups = [(dtype.str, members) for dtype, members in self.groups]
        parts = (self.donated, self.kept, groups, self.key.hosts, self.key.live)
        return digest_of(parts, self.key.ops, self.avals)

    def _program(self, options: dict[str, Any]) -> StoredProgram | PlainProgram:
        """The program to compile with options of XLA."""
        results = [aval_at(position, (), self.key.ops) for position in self.key.live]
        if self._digest is None or any(aval.weak for aval in results):
            return PlainProgram(self._trace, options or None)
        digest = hashlib.sha256(f"{self._digest} {sorted(options.items())}".encode()).hexdigest()[:32]
        return StoredProgram(self._trace, digest, [aval.struct for aval in results], options or None)

    def _use(self, program: StoredProgram | PlainProgram, loaded: LoadedProgram | None) -> None:
        self.program = program
        self.loaded: LoadedProgram | None = loaded
        self.call: InterruptSafeCall = InterruptSafeCall(program.function, "segment", self.is_inline)

    def compile_in_background(self, leaves: Sequence[LazyArray]) -> None:
        """Has its first program compiled in another thread."""
        if has_products(self.key.ops):
            compute_first_product()
        structs = self.argument_structs(leaves)
        self.background_job = submit_segment(ft.partial(self._compile_first, structs))

    def _compile_first(self, structs: Sequence[Any]) -> None:
        start = time.perf_counter()
        is_in_cache = self.program.is_in_cache()
        self.loaded = _load_or_compile(self.program, structs, is_in_cache, self.key.device, self.is_inline)
        seconds = time.perf_counter() - start
        if self.better is not None:
            self.better.structs = structs
            # What loading it took says nothing about the time to compile a better one.
            cost = max(seconds, compile_seconds(self.key.ops)) if is_in_cache else seconds
            self.better.start_time = start + _RUN_PER_COMPILATION * cost
        if is_in_cache and self.times is not None:
            self.times.load = seconds
        log.background_seconds += seconds
        self._log_compilation(seconds)

    def is_ready(self) -> bool:
        """Whether it can be called without waiting for a compilation. Counts as a use."""
        self.used = Counters.compiled
        if self is not _Cache.last:
            _Cache.last = self
            with contextlib.suppress(KeyError):  # another thread may have dropped it
                _Cache.programs.move_to_end(self.key)
        return self.background_job is None or self.background_job.done

    def _trace(self, donated: Sequence[Any], kept: Sequence[Any], packed: Sequence[Any]) -> list[Any]:
        """The function that JAX compiles."""
        ops, live = self.key[:2]
        leaves = TracedLeaves(self, donated, kept, packed)
        env: dict[int, Any] = {}
        pulls: dict[int, Callable[..., Any]] = {}

        needed = [i for i, _ in needed_ops(ops, live)]
        loops = loops_with_gradient(ops, needed)
        # XLA cannot merge a loop with the same loop in its gradient, which computes it again. Such a pair is
        # traced as one `jax.vjp`: the loop runs once and passes its intermediate values to the gradient.
        loop_of_gradient = {gradient: loop for loop, gradient in loops.items()}
        tracer = LoopTracer(_repetitions(self.key, self.avals, loops), ops, leaves, env)
        value_of = tracer.value_of
        for i in needed:
            if tracer.trace_if_repeated(i):
                continue
            signature, *positions = ops[i]
            operands = [value_of(position) for position in positions]
            if i in loops:
                derivation = ops[loops[i]][0].kernel.derived_from
                env[i], pulls[i] = linearize(signature.kernel, derivation.argnums, operands)
            elif i in loop_of_gradient:
                loop = loop_of_gradient[i]
                derivation = signature.kernel.derived_from
                cotangents = operands[derivation.operand_count :]
                env[i] = pull_back(env[loop], pulls[loop], derivation.has_cotangent, cotangents)
            else:
                env[i] = signature.traced_equations(i)(*operands)
        return [value_of(position) for position in live]

    def argument_structs(self, leaves: Sequence[LazyArray]) -> tuple[list[Any], list[Any], list[Any]]:
        """Shapes and dtypes to lower the function with. They hold no memory while it is compiled."""
        packed = [
            jax.ShapeDtypeStruct((sum(len(leaves[i].array) for i in members),), dtype)
            for dtype, members in self.groups
        ]
        donated = [_argument_struct(leaves[i]) for i in self.donated]
        kept = [_argument_struct(leaves[i]) for i in self.kept]
        return donated, kept, packed

    def _log_compilation(self, seconds: float) -> None:
        self.is_new = False
        if compile_history.has_directory():
            name = compile_history.name_of(self.key.ops, self.key.live)
            compile_history.mark_compiled(name)
            _remember_history(hash(self.key), name, NO_RUNS)
        log.compiles += 1
        log.compile_seconds += seconds
        log.add(
            f"compiled {len(self.key[0])} ops in {seconds:.2f} s at {self.where} ({self.cause}): "
            f"{reason(self, _Cache.programs.values())}"
        )

    def _pack(self, slot: int, leaves: Sequence[LazyArray]) -> Any:
        """The host numbers of one dtype in one array. Numbers that stay the same from call to call stay on
        the device."""
        dtype, members = self.groups[slot]
        vector = np.array([number for i in members for number in leaves[i].array], dtype)
        content = vector.tobytes()
        last_content, array = self.packed[slot]
        if content != last_content:
            self.packed[slot] = (content, None)
            return vector
        if array is None:
            array = put(vector)
            self.packed[slot] = (content, array)
        return array

    def __call__(self, segment: Segment, may_donate: bool, results: Iterable[LazyArray]) -> None:
        """Gives the results of a segment their arrays.

        Args:
            segment: the segment.
            may_donate: whether leaves may give their memory away.
            results: the LazyArrays of `key.live`.
        """
        better = self.better  # another thread may call it, too, and forget it
        if better is not None and better.takes_over():
            self._use(better.program, better.loaded)
            self.better = None
        leaves = segment.leaves
        donated = [
            donatable_jax_array(leaves[i])
            if may_donate and is_unreferenced(leaves, i)
            else jnp.array(leaves[i].array)
            for i in self.donated
        ]
        kept = [
            v.array if type(v.array) is not np.ndarray else stored_jax_array(v)
            for v in map(leaves.__getitem__, self.kept)
        ]
        packed = [self._pack(slot, leaves) for slot in range(len(self.groups))]
        arguments = (donated, kept, packed)
        is_committed = [*map(_is_committed, donated), *map(_is_committed, kept)]
        loaded = self.loaded
        # JAX decides what committed arguments mean.
        if loaded is not None and not any(is_committed) and may_call():
            loaded(arguments, lambda arrays: map(_set_array, results, arrays))
            return
        kind = (*map(type, packed), *is_committed)
        if not self.is_new:
            self.call(arguments, lambda arrays: map(_set_array, results, arrays), None, kind)
            return
        with self.lock:  # threads that call a new program at the same time compile it once
            start = time.perf_counter()
            segment.running_call = self.call
            self.call(arguments, lambda arrays: map(_set_array, results, arrays), None, kind)
            if self.is_new:
                self._log_compilation(time.perf_counter() - start)


class _BetterProgram:
    """The program of a segment with all of XLA's optimisations, which takes the place of a quick one.

    Attributes:
        program: StoredProgram or PlainProgram.
        structs: the arguments to lower it with.
        start_time: float, time of `perf_counter` from which on it is compiled; infinite until the quick one
            has been compiled.
        job: Task that compiles it, or None.
        device: the device that it runs on.
        is_inline: bool, whether it is to run in the thread that calls it.
        loaded: LoadedProgram of it, or None.
    """

    def __init__(self, program: StoredProgram | PlainProgram, device: Any, is_inline: bool) -> None:
        self.program = program
        self.device = device
        self.is_inline = is_inline
        self.loaded: LoadedProgram | None = None
        self.structs: Sequence[Any] = ()
        self.start_time: float = math.inf
        self.job: Any = None

    def takes_over(self) -> bool:
        """Whether it has been compiled. Starts that when the quick program has run for long."""
        if self.job is None:
            if time.perf_counter() >= self.start_time:
                self.job = submit_segment(self._compile)
            return False
        return self.job.done and self.job.error is None

    def _compile(self) -> None:
        start = time.perf_counter()
        is_in_cache = self.program.is_in_cache()
        self.loaded = _load_or_compile(self.program, self.structs, is_in_cache, self.device, self.is_inline)
        log.background_seconds += time.perf_counter() - start


def _load_or_compile(
    program: StoredProgram | PlainProgram,
    structs: Sequence[Any],
    is_in_cache: bool,
    device: Any,
    is_inline: bool,
) -> LoadedProgram | None:
    """Has a program loaded or compiled in the thread for that.

    None: JAX has it, and finds it when it is called.
    """
    if is_in_cache:
        loaded = program.load("segment", device, is_inline)
        if loaded is not None:
            return loaded
    else:
        with preserved_tracing():
            program.prepare(structs)
    compile_ahead(program.function, structs, "segment", is_in_cache, is_inline)
    return None


def _argument_struct(leaf: LazyArray) -> jax.ShapeDtypeStruct:
    """What JAX has to know of an array to compile a call with it."""
    struct = leaf.aval.struct
    if type(leaf.array) is np.ndarray or not leaf.array._committed:
        return struct
    return jax.ShapeDtypeStruct(
        struct.shape, struct.dtype, weak_type=struct.weak_type, sharding=leaf.array.sharding
    )


_set_array: Callable[[LazyArray, Any], None] = LazyArray.array.__set__
_is_committed = operator.attrgetter("_committed")


def _donatable(key: Key, leaves: Sequence[LazyArray]) -> tuple[int, ...]:
    """Leaves that nobody holds any more and that have the shape and dtype of a result."""
    free_results = collections.Counter(aval_at(position, (), key.ops) for position in key.live)
    donatable = []
    for i in range(len(leaves)):
        aval = leaves[i].aval
        if (
            aval.nbytes >= _MIN_DONATED_BYTES
            and free_results[aval]
            and type(leaves[i].array) is not tuple
            and is_unreferenced(leaves, i)
        ):
            free_results[aval] -= 1
            donatable.append(i)
    return tuple(donatable)
