"""Changes of state that no exception can interrupt half-way.

Python may raise between any two of its instructions: KeyboardInterrupt, an exception of a signal handler or
of a tracing hook. It does not handle signals inside one call of a function written in C. So a change that
must happen as a whole is composed of such functions, and happens in one call: for example to store the
results of a program that has taken over the memory of its operands, or to set a mode and put it back.
"""

from __future__ import annotations

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import jax
from jax._src import config as jax_config
from jax._src import core as jax_core  # the public modules have no way to put the state of tracing back

from paddle_jax._core.base.compile_notice import CompileNotice
from paddle_jax._core.base.compiler import trimmed_memory
from paddle_jax._core.base.counters import Counters, compiling
from paddle_jax._core.base.inline_programs import running_inline
from paddle_jax._core.base.signal_handlers import ObservedHandlers

Step: TypeAlias = tuple[Any, ...]  # a C function that returns None, and its arguments


def chain_calls(steps: Iterable[Step], result: Any = None) -> Callable[[], Any]:
    """A function without arguments that makes all `steps` and returns `result`. It can be called once."""
    return ft.partial(next, filter(None, itertools.starmap(operator.call, steps)), result)


def set_all(setter: Callable[[Any, Any], None], targets: Iterable[Any], values: Iterable[Any]) -> None:
    """Gives each target its value by a setter written in C, such as that of a slot."""
    collections.deque(map(setter, targets, values), 0)


def call_and_store(
    function: Callable[..., list[Any]],
    arguments: Sequence[Any],
    store: Callable[[Iterator[Any]], Iterable[Any]],
) -> None:
    """Calls a compiled function that returns a list, and stores its results.

    Args:
        function: the compiled function.
        arguments: its arguments.
        store: called before the function, with an iterator over the results to come. It returns an iterator
            of C functions that stores them, such as `map(setter, targets, results)`.
    """
    results = map(function, *zip(arguments, strict=True))
    collections.deque(store(itertools.chain.from_iterable(results)), 0)


def wait_for_lock(lock: _thread.LockType) -> None:
    """Waits until no thread holds a lock.

    It is one call: a tracing hook that leaves a `with` block half-way would hold the lock for ever.
    """
    collections.deque(map(operator.call, (lock.acquire, lock.release)), 0)


# blocks -----------------------------------------------------------------------------------------------------


class _Leaving(io.IOBase):
    """An object whose `__exit__`, written in C, takes any arguments and calls `close`."""

    __slots__ = ("close",)
    # the end of the object calls nothing
    closed = True  # pyright: ignore


def ignoring_arguments(function: Callable[[], Any]) -> Callable[..., None]:
    """A C function that takes any arguments and calls `function` without them."""
    leaving = _Leaving()
    leaving.close = function
    return leaving.__exit__


class AtomicDunder:
    """`__enter__` or `__exit__` that is made for each use, before anything changes.

    A class gives a plain function, which ExitStack expects.

    Attributes:
        make: function from a block to a function written in C.
        name: str, the name of the method.
    """

    def __init__(self, make: Callable[[Any], Callable[..., Any]]) -> None:
        self.make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, block: Any, owner: type | None = None) -> Callable[..., Any]:
        if block is not None:
            return self.make(block)
        return lambda block, *args: getattr(block, self.name)(*args)


class AtomicContext:
    """Base of context managers that set something for the length of a block, each end in one call.

    A subclass defines `steps`.
    """

    def __init__(self) -> None:
        self._pending_exits: list[Callable[..., Any]] = []  # the innermost block last

    def steps(self) -> tuple[list[Step], list[Step]]:
        """The calls that enter the block, and those that leave it."""
        raise NotImplementedError

    def _make_enter(self) -> Callable[..., Any]:
        enter, leave = self.steps()
        return chain_calls([*enter, (self._pending_exits.append, chain_calls(leave))])

    def _make_exit(self) -> Callable[..., Any]:
        pop_exit = map(list.pop, (self._pending_exits,))
        return ignoring_arguments(ft.partial(next, filter(None, map(operator.call, pop_exit)), None))

    # typed as what a block gets of them
    __enter__: Callable[..., Any] = AtomicDunder(_make_enter)  # pyright: ignore[reportAssignmentType]
    __exit__: Callable[..., Any] = AtomicDunder(_make_exit)  # pyright: ignore[reportAssignmentType]


class swapped_attributes(AtomicContext):
    """A block in which attributes of an object have other values."""

    def __init__(self, target: Any, **values: Any) -> None:
        super().__init__()
        self._target = target
        self._values = values

    def steps(self) -> tuple[list[Step], list[Step]]:
        enter = [(setattr, self._target, name, value) for name, value in self._values.items()]
        return enter, [(setattr, self._target, name, getattr(self._target, name)) for name in self._values]


class _NoCollection:
    """The block of `without_collection`; the functions written in C that enter and leave it are always the
    same."""

    __enter__ = staticmethod(gc.disable)
    __exit__ = ignoring_arguments(gc.enable)


_NO_COLLECTION = _NoCollection()
_NO_CHANGE = contextlib.nullcontext()


def without_collection() -> AbstractContextManager:
    """A block in which Python's garbage collector does not run, and so no finalizer of a garbage cycle."""
    return _NO_COLLECTION if gc.isenabled() else _NO_CHANGE  # pyright: ignore[reportReturnType]


def run_within(block: Any, body: Callable[[], Any]) -> Any:
    """The result of `body()`, called between `block.begin()` and `block.end()`, which are Python code.

    `end` puts things back, no matter how far `begin` or an earlier `end` has come. It runs before the `try`
    is left, so at each moment an exception leads to a call of it.
    """
    try:
        block.begin()
        result = body()
        block.end()
    except BaseException:
        block.end()
        raise
    return result


class UserCodeHook:
    """An object whose method is the hook of a thread, for code of the user."""


class _WithoutHook:
    """A block that no hook sees.

    Attributes:
        hook: function that `sys.getprofile` gives before the block.
    """

    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook = hook

    def begin(self) -> None:
        """Takes the hook away."""
        sys.setprofile(None)

    def end(self) -> None:
        """Puts the hook back."""
        sys.setprofile(self.hook)


def run_unrecorded(body: Callable[[], Any]) -> Any:
    """The result of `body()`, whose calls no `UserCodeHook` sees. Profilers of the user stay.

    It is for work that runs no code of the user, where the hook would take as long as the calls themselves,
    and for code of the user that is observed in another way.
    """
    hook: Any = sys.getprofile()
    if not isinstance(getattr(hook, "__self__", None), UserCodeHook):
        return body()
    return run_within(_WithoutHook(hook), body)


# JAX --------------------------------------------------------------------------------------------------------

# JAX has no list of its settings, so they are found by their class.
_SETTINGS = [state for state in vars(jax_config).values() if isinstance(state, jax_config.State)]
_STATES = [jax_core.trace_state, jax_core.trace_state_strong_ref, jax_core.axis_env_state, *_SETTINGS]
_SETTERS = [state.set_local for state in _STATES]
_GETTERS = [state.get_local for state in _STATES]


class preserved_tracing(AtomicContext):
    """A block that runs JAX's Python code: tracing and compiling.

    JAX puts its own state back by Python code, which an exception may interrupt. It may also swallow the
    exception of a signal handler.
    """

    def steps(self) -> tuple[list[Step], list[Step]]:
        enter, leave = ObservedHandlers().steps()
        values = list(map(operator.call, _GETTERS))
        call: Any = operator.call
        setters = map(call, _SETTERS, values)
        return enter, [(collections.deque, setters, 0), *leave]


def interrupt_safe_jit(function: Callable[..., Any], **options: Any) -> Any:
    """`jax.jit`, whose Python code swallows whatever is raised while it copies a name."""
    with preserved_tracing():
        return jax.jit(function, **options)


class eager_evaluation(AtomicContext):
    """A block in which JAX computes at once, also inside a trace.

    It is `jax.ensure_compile_time_eval` that an exception cannot leave half-way.
    """

    def steps(self) -> tuple[list[Step], list[Step]]:
        state = jax_config.eager_constant_folding
        return [(state.set_local, True)], [(state.set_local, state.get_local())]


def repair_tracing() -> bool:
    """Puts JAX's state of tracing back where an exception has left a trace on, though JAX runs no function.

    Returns:
        Whether no trace is on.
    """
    folding = jax_config.eager_constant_folding
    # Nearly always nothing was left on.
    if jax_core.trace_state_clean() and not folding.value:
        return True
    frame = sys._getframe(1)
    while frame is not None:
        # JAX is running, so the state may be its own.
        if frame.f_globals.get("__name__", "").startswith("jax."):
            return jax_core.trace_state_clean()
        frame = frame.f_back
    jax_core.reset_trace_state()
    folding.set_local(jax_config.config_ext.unset)
    return True


class ShieldedThread:
    """A call in another thread, where Python handles no signals.

    The call goes on when an exception interrupts the wait for it.

    Attributes:
        begun: bool, whether the thread has started the call. CPython 3.11 may raise in it, at its very
            start, an exception that was meant for the thread that made it.
        error: the exception that the call raised, or None.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self._to_call = [function]
        self._cancelled: list[Callable[..., Any]] = []
        self._end_lock = _thread.allocate_lock()
        self._end_lock.acquire()
        self._end_ref: weakref.ref | None = None
        self.begun: bool = False
        self.error: BaseException | None = None

    def start(self) -> None:
        """Starts the thread.

        The object that the thread begins with dies at its end, in whatever way it ends, and releases the
        lock. Nothing else may hold that object, and no variable of a function: an exception keeps the
        variables of the functions that it came through.
        """
        begin = [ft.partial(self._run)]
        self._end_ref = weakref.ref(begin[0], ignoring_arguments(self._end_lock.release))
        _thread.start_new_thread(begin.pop(), ())

    def _run(self) -> None:
        with contextlib.suppress(IndexError):  # the call was cancelled
            function = self._to_call.pop()
            self.begun = True
            try:
                function()
            except BaseException as error:
                self.error = error

    def wait(self) -> None:
        """Waits for the end of the thread."""
        wait_for_lock(self._end_lock)

    def finish_or_cancel(self) -> None:
        """Waits for the end of the call if it has begun; else it will not begin.

        It may be called again, since an exception may interrupt the first time.
        """
        if not self._cancelled:
            try:
                # one call: the function that is taken away counts as cancelled
                self._cancelled.extend(map(list.pop, (self._to_call,)))
            except IndexError:
                self.wait()


class InterruptSafeCall:
    """A compiled function whose results are stored in one step, from its first call on.

    At the first call of a function JAX runs Python code: tracing, compiling, and the call itself. An
    exception in the middle of it leaves JAX's caches half filled, and JAX swallows some exceptions. So all of
    it happens in other threads. When an exception interrupts the wait for the compilation, the compilation
    goes on, and the next call waits for it. Later calls are one C function.

    Attributes:
        function: the function that `jax.jit` gave.
        tier: str, the tier that the compilation counts for, see counters.py.
        is_inline: bool, whether its programs run in the thread that calls them, see inline_programs.py.
        known_kinds: set of the kinds of calls that JAX has compiled.
        thread: ShieldedThread of a first call that was interrupted, or None.
        lock: RLock, held during a first call.
        used: int, number of programs compiled in the process at the last call; -1 where it holds none.
        instances: WeakSet of all objects of the class.
        wrapper: function around `function`; MultiDevice.block_if_needed once a mesh of CPU devices is in use.
    """

    instances: weakref.WeakSet[Any] = weakref.WeakSet()
    wrapper = staticmethod(lambda function: function)

    def __init__(self, function: Any, tier: str = "operation", is_inline: bool = False) -> None:
        self.function = function
        self.tier = tier
        self.is_inline = is_inline
        self.known_kinds: set[Any] = set()
        self.thread: ShieldedThread | None = None
        self.lock: threading.RLock = threading.RLock()
        self.used: int = -1
        self.instances.add(self)

    def __call__(
        self,
        arguments: Sequence[Any],
        store: Callable[[Iterator[Any]], Iterable[Any]],
        known_kinds: set[Any] | None = None,
        kind: Any = None,
    ) -> None:
        """As `call_and_store`.

        Args:
            arguments: arguments of the compiled function.
            store: see `call_and_store`.
            known_kinds: set in place of the one of this object.
            kind: key of calls that JAX's Python code does not tell apart. Calls differ by shapes, and where
                a NumPy array stands in place of an array, or one that is committed to a device.
        """
        self.used = Counters.compiled
        if known_kinds is None:
            known_kinds = self.known_kinds
        kind = (CacheEpoch.number, kind)
        if kind not in known_kinds:
            with self.lock:  # one thread at a time makes first calls
                # Another thread may have made the first call in the meantime.
                if kind not in known_kinds:
                    self._call_first(arguments, store)
                    known_kinds.add(kind)
                    return
        call_and_store(self.wrapper(self.function), arguments, store)

    def drop_compiled(self) -> None:
        """Drops the programs; the next call compiles again."""
        self.used = -1
        self.known_kinds = set()
        self.function.clear_cache()

    def _call_first(self, arguments: Sequence[Any], store: Callable[[Iterator[Any]], Iterable[Any]]) -> None:
        self.finish()
        notice = CompileNotice(self.tier)
        try:
            notice.begin()
            self._run_in_thread(lambda: self._compile(arguments), _finish_at_exit)
            notice.end()  # before the call, which may print
            self._run_in_thread(  # it does not take long
                lambda: call_and_store(self.wrapper(self.function), arguments, store),
                ShieldedThread.finish_or_cancel,
            )
        except _OtherContextError:
            # JAX's settings did not carry over, so this thread compiles.
            with preserved_tracing():
                self._compile(arguments)
            notice.end()
            call_and_store(self.wrapper(self.function), arguments, store)
        finally:
            notice.end()

    def _compile(self, arguments: Sequence[Any]) -> None:
        with running_inline(self.is_inline), compiling(self.tier), trimmed_memory(self.tier):
            self.function.lower(*arguments).compile()

    def _run_in_thread(self, work: Callable[[], Any], on_interrupt: Callable[[ShieldedThread], None]) -> None:
        """Calls `work` in another thread; `on_interrupt(thread)` where an exception ends the wait."""
        self.thread = ShieldedThread(_in_context(work))
        error = _run_and_wait(self.thread, on_interrupt)
        self.thread = None
        if error is not None:
            raise error

    def finish(self) -> None:
        """Waits for a first call that was interrupted."""
        with self.lock:
            if self.thread is not None:
                self.thread.finish_or_cancel()


def _in_context(work: Callable[[], Any]) -> Callable[[], None]:
    """A function that runs `work` in another thread with JAX's settings of this one."""
    settings = [(state.set_local, state.get_local()) for state in _SETTINGS]
    context = jax_config.trace_context()

    def run() -> None:
        for set_local, value in settings:
            set_local(value)
        if jax_config.trace_context() != context:
            raise _OtherContextError
        work()

    return run


def run_shielded(work: Callable[[], Any]) -> None:
    """Calls `work`, Python code of JAX that must come to its end, in a thread where no signal is handled.

    The call goes on when an exception interrupts the wait for it. JAX starts devices with a timer of its own,
    which the end of the process would wait for.
    """
    error = _run_and_wait(ShieldedThread(work), _finish_at_exit)
    if error is not None:
        raise error


def _run_and_wait(
    thread: ShieldedThread, on_interrupt: Callable[[ShieldedThread], None]
) -> BaseException | None:
    """The exception of a call in another thread; `on_interrupt(thread)` where one ends the wait for it."""
    try:
        thread.start()
        thread.wait()
        if not thread.begun:
            raise KeyboardInterrupt
    except BaseException:
        on_interrupt(thread)
        raise
    return thread.error


def _finish_at_exit(thread: ShieldedThread) -> None:
    """Lets a thread go on; the end of the process waits for it, before JAX removes what it uses."""
    process = os.getpid()

    def finish() -> None:
        if os.getpid() == process:  # a forked child does not have the thread
            thread.finish_or_cancel()

    atexit.register(finish)


class _OtherContextError(Exception):
    """JAX keeps something of the calling thread that another thread cannot have."""


class CacheEpoch:
    """Counts how often JAX's caches of compiled functions were cleared.

    Attributes:
        number: int, the count.
    """

    number = 0


def shield_garbage_collector() -> None:
    """Has the garbage collector call a C function of JAX in place of the Python function around it.

    Python would print and swallow an exception that a signal handler raises in the Python function; it does
    not interrupt a C function.
    """
    from jax._src import lib

    callback = getattr(lib, "_xla_gc_callback", None)
    xla_extension = getattr(getattr(lib, "xla_client", None), "_xla", None)
    collect = getattr(xla_extension, "collect_garbage", None)
    if callback is not None and callback in gc.callbacks and collect is not None:
        gc.callbacks[gc.callbacks.index(callback)] = ignoring_arguments(collect)
