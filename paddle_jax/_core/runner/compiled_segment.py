"""Compiled segments: a bounded cache of programs, keyed by the recorded ops and by which results
and leaves matter."""

import collections
import contextlib
import functools as ft
import math
import operator
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.compiler import compiler_options, trimmed_memory
from paddle_jax._core.base.counters import Counters, compiling
from paddle_jax._core.base.errors import first_line
from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.interrupt_safe import InterruptSafeCall, interrupt_safe_jit, preserved_tracing
from paddle_jax._core.kernels.kernel import has_loop
from paddle_jax._core.kernels.kernel_gradients import linearize, pull_back
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.positions import aval_at, needed_ops, value_at
from paddle_jax._core.lazy.reference_counts import is_unreferenced
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.signature_cache import evict_if_due, register_cache
from paddle_jax._core.lazy.transfer import stored_jax_array
from paddle_jax._core.process.background import Worker
from paddle_jax._core.runner import loop_rolling
from paddle_jax._core.runner.explain import reason
from paddle_jax._core.runner.tiering import runs_before_compiling

_MAX_PROGRAMS = 256
_MAX_SEEN = 1 << 16
# compiled forms of one sequence of ops with different shapes or live results, before more need more repeats
_VARIANTS = 8
# intermediate results that the program also returns. XLA computes each anew from the start: 256 in a row
# compile for minutes
_MAX_KEPT = 32
_DONATE = 4096  # bytes; smaller operands are not worth the bookkeeping


class _Cache:
    """programs: key -> Program, least recently used first. seen: hash of a key -> how often it was met.
    least: hash of a key -> at which time it is compiled. variants: hash of the kernels -> compiled forms.
    last: the Program that was called last."""

    programs: collections.OrderedDict = collections.OrderedDict()
    seen: dict = {}
    least: dict = {}
    variants: dict = {}
    last = None
    compiling = Worker(complete=False)  # of the async tier
    lock = threading.Lock()


def clear():
    """Forgets all compiled segments."""
    _Cache.programs.clear()
    _Cache.seen.clear()
    _Cache.least.clear()
    _Cache.variants.clear()
    _Cache.last = None


def programs_by_use():
    """(how many programs had been compiled when it was last used, what drops it) of each compiled segment."""
    return [
        (program.used, ft.partial(_Cache.programs.pop, key, None))
        for key, program in _Cache.programs.copy().items()
    ]


register_cache(clear, programs_by_use)


def program_for(ops, leaves, live, why, device):
    """The compiled form of a segment on a device when there is one or it is time to make one; None:
    run it op by op."""
    hosts = tuple(
        [
            None if type(v.array) is not tuple else len(v.array) if v.device is None else v.array
            for v in leaves
        ]
    )
    key = (tuple(ops), live, hosts)
    program = _Cache.programs.get(key)
    if program is not None:
        if not program.ready():
            return None
        log.compiled_runs += 1
        return program
    with _Cache.lock:
        return _new_program(key, leaves, why, device) if key not in _Cache.programs else None


def _new_program(key, leaves, why, device):
    ops, mark = key[0], hash(key)
    count = _Cache.seen[mark] = _Cache.seen.get(mark, 0) + 1
    if len(_Cache.seen) > _MAX_SEEN:
        _Cache.seen.clear()
        _Cache.least.clear()
    least = settings.min_repeats or _least(key, mark, leaves, device)
    if count < least:
        return None
    if (why_not := _unfit(*key[:2])) is not None:
        if count == least:
            log.add(f"left to run op by op: {len(ops)} ops at {user_line()}, {why_not}")
        _Cache.least[mark, device, settings.interpreter] = math.inf
        return None
    kernels = hash(tuple([entry[0].kernel for entry in ops]))
    made = _Cache.variants.get(kernels, 0)
    if made >= _VARIANTS and count < least << min(made - _VARIANTS + 1, 20):
        if made == _VARIANTS and count == least:
            log.add(
                f"left to run op by op: {len(ops)} ops at {user_line()} have been compiled for {made} "
                "sets of shapes and live results already"
            )
        return None
    _Cache.variants[kernels] = made + 1
    evict_if_due()
    program = CompiledSegment(key, leaves, why)
    _Cache.programs[key] = program
    if len(_Cache.programs) > _MAX_PROGRAMS:
        _Cache.programs.popitem(last=False)
    if settings.mode == "async":
        program.ahead = _Cache.compiling.submit(ft.partial(program.prepare, program.structs(leaves)))
        return None
    return program


def _unfit(ops, live):
    """Why a segment is not compiled as one program; None where it is."""
    if 4 * sum(any(p >= 0 for p in entry[1:]) for entry in ops) < len(ops):
        return "few of which use each other's results"
    if len(_kept_inside(ops, live)) > _MAX_KEPT:
        return f"more than {_MAX_KEPT} of whose intermediate results are kept"
    return None


def _least(key, mark, leaves, device):
    found = _Cache.least.get((mark, device, settings.interpreter))
    if found is None:
        run = loop_rolling.find_repetition(*key[:2], [v.aval for v in leaves], key[2])
        found = _Cache.least[mark, device, settings.interpreter] = runs_before_compiling(key[0], device, run)
    return found


def _kept_inside(ops, live):
    """The live results that other ops of the segment read."""
    return {p for entry in ops for p in entry[1:] if p >= 0}.intersection(live)


def drop_failed(program, error):
    """Forgets a program that failed; its segment runs op by op from now on until it has been
    met often again."""
    _Cache.programs.pop(program.key, None)
    _Cache.seen[hash(program.key)] = -64
    log.add(
        f"failed as a compiled program, now op by op: {len(program.key[0])} ops at {program.where}: "
        f"{first_line(error)}"
    )


class CompiledSegment:
    """One compiled segment. `donate`: leaves whose memory the program reuses. used: how many programs had
    been compiled when it was last used."""

    def __init__(self, key, leaves, why):
        self.key, self.why, self.ahead, self.where = key, why, None, user_line()
        ops, live, hosts = key
        self.donate = _donatable(ops, leaves, live)
        self.keep = [i for i, numbers in enumerate(hosts) if numbers is None and i not in self.donate]
        groups = {}
        for i, numbers in enumerate(hosts):
            if type(numbers) is int:
                groups.setdefault(leaves[i].aval.dtype, []).append(i)
        self.groups = list(groups.items())
        self.avals = [v.aval for v in leaves]
        self.last = [(None, None)] * len(self.groups)
        self.fresh, self.lock, self.used = True, threading.Lock(), Counters.compiled
        options = compiler_options(sum(len(entry[0].equations.jaxpr.eqns) for entry in ops))
        self.fn = interrupt_safe_jit(self._trace, donate_argnums=0, compiler_options=options or None)
        self.once = InterruptSafeCall(self.fn, "segment")

    def ready(self):
        """Whether it can be called without waiting for a compilation."""
        self.used = Counters.compiled
        if self is not _Cache.last:
            _Cache.last = self
            with contextlib.suppress(KeyError):  # another thread may have dropped it
                _Cache.programs.move_to_end(self.key)
        return self.ahead is None or self.ahead.done

    def _trace(self, donated, kept, packed):
        ops, live, hosts = self.key
        leaves, env, pulls = _Leaves(self, donated, kept, packed), {}, {}

        def value_of(p):
            return value_at(p, leaves, env)

        useful = [i for i, _ in needed_ops(ops, live)]
        heads, tails = _shared_loops(ops, useful)
        run = None if heads else loop_rolling.find_repetition(ops, live, self.avals, hosts)
        for i in useful:
            if run is not None and run.start <= i < run.start + run.count * run.period:
                if run.last not in env:
                    loop_rolling.trace_repetition(run, ops, value_of, leaves.stacked, env)
                continue
            sig, *positions = ops[i]
            operands = [value_of(p) for p in positions]
            if i in heads:
                env[i], pulls[i] = linearize(sig.kernel, heads[i], operands)
            elif i in tails:
                _, _, given, arity = sig.kernel.derived_from
                env[i] = pull_back(env[tails[i]], pulls[tails[i]], given, operands[arity:])
            else:
                env[i] = sig.equations(*operands)
        return [value_of(p) for p in live]

    def structs(self, leaves):
        """Shapes and dtypes of the arguments."""
        packed = [
            jax.ShapeDtypeStruct((sum(len(leaves[i].array) for i in members),), dtype)
            for dtype, members in self.groups
        ]
        return (
            [stored_jax_array(leaves[i]) for i in self.donate],
            [stored_jax_array(leaves[i]) for i in self.keep],
            packed,
        )

    def prepare(self, arguments):
        """Compiles ahead, in another thread."""
        start = time.perf_counter()
        with preserved_tracing(), compiling("segment"), trimmed_memory("segment"):
            self.fn.lower(*arguments).compile()
        self._note(time.perf_counter() - start)

    def _note(self, seconds):
        self.fresh = False
        log.compiles += 1
        log.compile_seconds += seconds
        log.add(
            f"compiled {len(self.key[0])} ops in {seconds:.2f} s at {self.where} ({self.why}): "
            f"{reason(self, _Cache.programs.values())}"
        )

    def _packed(self, slot, leaves):
        """The host numbers of one dtype in one array; numbers that stay the same from call to call
        stay on the device."""
        dtype, members = self.groups[slot]
        vector = np.array([x for i in members for x in leaves[i].array], dtype)
        bits, (before, array) = vector.tobytes(), self.last[slot]
        if bits != before:
            self.last[slot] = (bits, None)
            return vector
        if array is None:
            array = put(vector)
            self.last[slot] = (bits, array)
        return array

    def __call__(self, seg, whole, values):
        """Gives the results of a segment their arrays, in the order of `live`. whole: whether leaves
        may give their memory away."""
        leaves = seg.leaves
        donated = [
            stored_jax_array(leaves[i])
            if whole and is_unreferenced(leaves, i)
            else jnp.array(leaves[i].array)
            for i in self.donate
        ]
        kept = [
            v.array if type(v.array) is not np.ndarray else stored_jax_array(v)
            for v in map(leaves.__getitem__, self.keep)
        ]
        arguments = (donated, kept, [self._packed(slot, leaves) for slot in range(len(self.groups))])
        kind = *map(type, arguments[2]), *map(_COMMITTED, donated), *map(_COMMITTED, kept)
        if not self.fresh:
            self.once(arguments, lambda results: map(_GIVE, values, results), None, kind)
            return
        with self.lock:  # threads that meet a new program at the same time compile it once
            start = time.perf_counter()
            seg.running = self.once
            self.once(arguments, lambda results: map(_GIVE, values, results), None, kind)
            if self.fresh:
                self._note(time.perf_counter() - start)


_GIVE = LazyArray.array.__set__
_COMMITTED = operator.attrgetter("_committed")


class _Leaves:
    """The leaves of a segment inside its trace. Host numbers are cut out of the vector of their dtype when
    they are asked for."""

    def __init__(self, program, donated, kept, packed):
        self.known = dict(zip((*program.donate, *program.keep), (*donated, *kept), strict=True))
        self.avals, self.hosts, self.packed, self.leaf_positions = program.avals, program.key[2], packed, {}
        for slot, (_, members) in enumerate(program.groups):
            at = 0
            for i in members:
                self.places[i] = slot, at
                at += self.hosts[i]

    def __getitem__(self, i):
        found = self.known.get(i)
        if found is None:
            found = self.known[i] = self._made(i)
        return found

    def _made(self, i):
        aval, numbers = self.avals[i], self.hosts[i]
        if type(numbers) is tuple:
            return jnp.full(aval.shape, numbers[0], aval.dtype)
        slot, at = self.places[i]
        return self.packed[slot][at : at + numbers].reshape(aval.shape)

    def stacked(self, leaves):
        """Host numbers of one shape and dtype along a new axis, with one operation: compile time must not
        grow with their number."""
        aval, numbers = self.avals[leaves[0]], self.hosts[leaves[0]]
        if type(numbers) is tuple:
            return jnp.broadcast_to(self[leaves[0]], (len(leaves), *aval.shape))
        slot = self.places[leaves[0]][0]
        rows = np.array([self.places[i][1] for i in leaves])[:, None] + np.arange(numbers)
        return self.packed[slot].at[rows].get(mode="promise_in_bounds").reshape(len(leaves), *aval.shape)


def _donatable(ops, leaves, live):
    """Leaves that nobody holds any more and whose shape and dtype a result has."""
    room = collections.Counter(aval_at(p, (), ops) for p in live)
    found = []
    for i in range(len(leaves)):
        aval = leaves[i].aval
        if (
            aval.nbytes >= _DONATE
            and room[aval]
            and type(leaves[i].array) is not tuple
            and is_unreferenced(leaves, i)
        ):
            room[aval] -= 1
            found.append(i)
    return tuple(found)


def _shared_loops(ops, useful):
    """Ops with a loop inside that have their gradient in the segment: {op: operands that get a
    gradient}, {gradient: op}.

    XLA cannot merge the loop with the same loop in the recomputing gradient. Such a pair is traced as one
    `jax.vjp`, so that the loop runs once and hands its intermediate values to the gradient.
    """
    at = {(ops[i][0].kernel, ops[i][1:]): i for i in useful}
    heads, tails = {}, {}
    for j in useful:
        of = ops[j][0].kernel.derived_from
        i = None if of is None else at.get((of[0], ops[j][1 : 1 + of[3]]))
        if i is not None and i not in heads and i not in tails and has_loop(ops[i][0].equations):
            heads[i], tails[j] = of[1], i
    return heads, tails
