"""Changes that no exception can cut in two.

Python may raise between any two of its instructions: KeyboardInterrupt, what a signal handler raises, what a
tracing hook raises. It does not look for signals inside one call of a function written in C. So what must
happen as a whole (handing out the results of a program that has taken over the memory of its operands,
setting a mode and putting it back) is put together of such functions here, and happens in one call.
"""

import _thread
import atexit
import collections
import contextlib
import functools as ft
import gc
import io
import itertools
import operator
import os
import sys
import threading
import weakref

import jax
from jax._src import config as jax_config
from jax._src import core as jax_core  # the public modules have no way to put the state of tracing back

from paddle_jax._core.base.compiler import leanly
from paddle_jax._core.base.counters import Counters, compiling
from paddle_jax._core.base.signal_handlers import Handlers


def calls(steps, result=None):
    """A function without arguments that makes all `steps`, tuples of a C function returning None and its
    arguments, and returns `result`. It can be called once."""
    return ft.partial(next, filter(None, itertools.starmap(operator.call, steps)), result)


def hand_out(setter, targets, values):
    """Gives each target its value by a setter written in C, such as that of a slot."""
    collections.deque(map(setter, targets, values), 0)


def deliver(function, arguments, take):
    """Calls a compiled function that returns a list, and stores its results.

    take: called before the function, with an iterator over the results to come; gives an iterator of C
    functions that stores them, such as `map(setter, targets, results)`.
    """
    results = map(function, *zip(arguments, strict=True))
    collections.deque(take(itertools.chain.from_iterable(results)), 0)


def pass_through(lock):
    """Waits until nobody holds a lock, in one step: a `with` that a tracing hook leaves half way would
    hold it for ever."""
    collections.deque(map(operator.call, (lock.acquire, lock.release)), 0)


# blocks -----------------------------------------------------------------------------------------------------


class _Leaving(io.IOBase):
    """Its `__exit__`, written in C, takes any arguments and calls `close`."""

    __slots__ = ("close",)
    closed = True  # pyright: ignore[reportAssignmentType]  # so that nothing is called when it is thrown away


def ignoring_arguments(function):
    """A C function that takes any arguments and calls `function` without them."""
    leaving = _Leaving()
    leaving.close = function
    return leaving.__exit__


class Special:
    """`__enter__` or `__exit__` that is made anew at each use, before anything changes. A class gives a plain
    function (ExitStack takes that)."""

    def __init__(self, make):
        self.make = make

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, block, owner=None):
        if block is not None:
            return self.make(block)
        return lambda block, *args: getattr(block, self.name)(*args)


class Block:
    """Base of context managers that set something for the length of a block, each end in one step.

    A subclass says with `steps` what entering calls and what leaving calls: two lists of tuples of a C
    function and its arguments.
    """

    def __init__(self):
        self._left = []  # what has still to be called, innermost last

    def steps(self):
        raise NotImplementedError

    def _entering(self):
        enter, leave = self.steps()
        return calls([*enter, (self._left.append, calls(leave))])

    def _leaving(self):
        return ignoring_arguments(
            ft.partial(next, filter(None, map(operator.call, map(list.pop, (self._left,)))), None)
        )

    __enter__, __exit__ = Special(_entering), Special(_leaving)


class swapped(Block):
    """A block in which attributes of an object have other values."""

    def __init__(self, target, **values):
        super().__init__()
        self._target, self._values = target, values

    def steps(self):
        enter = [(setattr, self._target, name, value) for name, value in self._values.items()]
        return enter, [(setattr, self._target, name, getattr(self._target, name)) for name in self._values]


class _Uncollected:
    """The block of `without_collection`: entered and left by functions written in C, the same each time."""

    __enter__ = staticmethod(gc.disable)
    __exit__ = ignoring_arguments(gc.enable)


_UNCOLLECTED, _NOTHING = _Uncollected(), contextlib.nullcontext()


def without_collection():
    """A block in which Python's garbage collector does not run, and so no finalizer of a garbage cycle."""
    return _UNCOLLECTED if gc.isenabled() else _NOTHING


def within(block, body):
    """The result of `body()`, called between `block.begin()` and `block.end()`, which are Python code.

    `end` puts things back, however far `begin` or an earlier `end` has come. It runs before the `try` is
    left, so that there is no moment at which an exception finds nobody to call it.
    """
    try:
        block.begin()
        result = body()
        block.end()
    except BaseException:
        block.end()
        raise
    return result


# JAX --------------------------------------------------------------------------------------------------------

_SETTINGS = [state for state in vars(jax_config).values() if isinstance(state, jax_config.State)]
_STATES = [jax_core.trace_state, jax_core.trace_state_strong_ref, jax_core.axis_env_state, *_SETTINGS]
_PUT, _GET = [state.set_local for state in _STATES], [state.get_local for state in _STATES]


class tracing_kept(Block):
    """A block that runs JAX's Python code: tracing and compiling. JAX puts its own state back by Python code,
    which may be hit, and may keep the exception of a signal handler to itself."""

    def steps(self):
        enter, leave = Handlers().steps()
        now = list(map(operator.call, _GET))
        return enter, [(collections.deque, map(operator.call, _PUT, now), 0), *leave]


def jitted(function, **options):
    """`jax.jit`, whose Python code drops whatever is raised while it copies a name."""
    with tracing_kept():
        return jax.jit(function, **options)


class eagerly(Block):
    """A block in which JAX computes at once, also inside a trace: `jax.ensure_compile_time_eval`, and
    nothing is left behind."""

    def steps(self):
        state = jax_config.eager_constant_folding
        return [(state.set_local, True)], [(state.set_local, state.get_local())]


def mend_tracing():
    """Puts JAX's state of tracing back where an exception has left it behind: a trace is on, but no function
    of JAX is being run. Returns whether no trace is on."""
    folding = jax_config.eager_constant_folding
    if jax_core.trace_state_clean() and not folding.value:
        return True
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("jax."):
            return jax_core.trace_state_clean()
        frame = frame.f_back
    jax_core.reset_trace_state()
    folding.set_local(jax_config.config_ext.unset)
    return True


class Apart:
    """A call in another thread, where signals are not handled. When waiting for it is interrupted it goes on.

    begun: whether the thread came as far as that. CPython 3.11 may raise in it, at its very start, what was
    meant for the thread that made it.
    """

    def __init__(self, function):
        self._waiting, self._given_up, self._gate, self.error = [function], [], _thread.allocate_lock(), None
        self._watch, self.begun = None, False
        self._gate.acquire()

    def start(self):
        """Starts the thread. What it begins with dies with it, however it ends, and opens the gate. Nothing
        else may hold that: no variable of a function, since an exception keeps the variables of the functions
        it came through."""
        begin = [ft.partial(self._work)]
        self._watch = weakref.ref(begin[0], ignoring_arguments(self._gate.release))
        _thread.start_new_thread(begin.pop(), ())

    def _work(self):
        with contextlib.suppress(IndexError):  # nobody wants it any more
            function = self._waiting.pop()
            self.begun = True
            try:
                function()
            except BaseException as error:
                self.error = error

    def wait(self):
        """Waits for the end of the thread."""
        pass_through(self._gate)

    def settle(self):
        """Waits for the end of the call if it has begun; else it will not begin. May be called again: the
        first time may have been interrupted."""
        if not self._given_up:
            try:
                # one step: what is taken away counts as given up
                self._given_up.extend(map(list.pop, (self._waiting,)))
            except IndexError:
                self.wait()


class Once:
    """A compiled function whose results are delivered in one step, from its first call on.

    What JAX does at the first call of a function is Python code: tracing, compiling, and the call itself. An
    exception in the middle of it leaves JAX's caches half filled, and JAX drops some. So all of it happens in
    other threads. Who is interrupted while waiting for the compilation leaves it alone, and the next call
    waits for it. Later calls are one C function. tier: what the compilation is counted as, see counters.py.
    used: how many programs had been compiled when it was last called; -1 where it holds none. alive: all that
    there are.
    """

    alive: weakref.WeakSet = weakref.WeakSet()

    # becomes Several.waited when values are first spread over devices that need it
    wrapped = staticmethod(lambda function: function)

    def __init__(self, function, tier="operation"):
        self.function, self.tier, self.seen, self.running, self.lock = (
            function,
            tier,
            set(),
            None,
            threading.RLock(),
        )
        self.used = -1
        self.alive.add(self)

    def __call__(self, arguments, take, seen=None, kind=None):
        """As `deliver`. kind: what tells calls apart that JAX's Python code meets for the first time (also
        one with an array in place of a NumPy array, or with one that is committed to a device); those that it
        has met are noted in `seen`."""
        self.used = Counters.compiled
        seen, kind = self.seen if seen is None else seen, (Epoch.number, kind)
        if kind not in seen:
            with self.lock:  # one thread at a time makes first calls
                if kind not in seen:
                    self._first(arguments, take)
                    seen.add(kind)
                    return
        deliver(self.wrapped(self.function), arguments, take)

    def drop_compiled(self):
        """Lets go of the programs; the next call compiles again."""
        self.used = -1
        self.seen = set()
        self.function.clear_cache()

    def _first(self, arguments, take):
        self.settle()
        try:
            self._apart(lambda: self._compile(arguments), _left_alone)
            # does not take long
            self._apart(lambda: deliver(self.wrapped(self.function), arguments, take), Apart.settle)
        except _OtherContext:
            with tracing_kept():
                self._compile(arguments)
            deliver(self.wrapped(self.function), arguments, take)

    def _compile(self, arguments):
        with compiling(self.tier), leanly(self.tier):
            self.function.lower(*arguments).compile()

    def _apart(self, work, interrupted):
        """Calls `work` in another thread; `interrupted(running)` where the wait for it is cut short."""
        self.running = Apart(_in_context(work))
        error = _outcome(self.running, interrupted)
        self.running = None
        if error is not None:
            raise error

    def settle(self):
        """Waits for a call that was interrupted."""
        with self.lock:
            if self.running is not None:
                self.running.settle()


def _in_context(work):
    """`work` with JAX's settings of this thread, for another one."""
    settings, context = (
        [(state.set_local, state.get_local()) for state in _SETTINGS],
        jax_config.trace_context(),
    )

    def function():
        for put, value in settings:
            put(value)
        if jax_config.trace_context() != context:
            raise _OtherContext
        work()

    return function


def shielded(work):
    """Calls `work`, Python code of JAX that must come to its end, in a thread where no signal is handled; who
    is interrupted while waiting for it leaves it alone. JAX starts devices with a timer of its own, which the
    end of the process would wait for."""
    error = _outcome(Apart(work), _left_alone)
    if error is not None:
        raise error


def _outcome(running, interrupted):
    """What a call in another thread has raised, or None; `interrupted(running)` where the wait for it is
    cut short."""
    try:
        running.start()
        running.wait()
        if not running.begun:
            raise KeyboardInterrupt
    except BaseException:
        interrupted(running)
        raise
    return running.error


def _left_alone(running):
    """The thread goes on; what it uses is put away at the end of the process, and not before it has
    come to its own."""
    process = os.getpid()
    # a forked child does not have the thread
    atexit.register(lambda: running.settle() if os.getpid() == process else None)


class _OtherContext(Exception):
    """JAX keeps something of the calling thread that cannot be had in a new one."""


class Epoch:
    """number: goes up when JAX has forgotten all compiled functions."""

    number = 0


def shield_collector():
    """JAX has the garbage collector call a Python function. An exception that a signal handler raises just
    then would be printed and lost; a C function is not interrupted."""
    from jax._src import lib

    callback = getattr(lib, "_xla_gc_callback", None)
    collect = getattr(getattr(getattr(lib, "xla_client", None), "_xla", None), "collect_garbage", None)
    if callback in gc.callbacks and collect is not None:
        gc.callbacks[gc.callbacks.index(callback)] = ignoring_arguments(collect)
