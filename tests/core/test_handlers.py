"""What a signal handler raises while JAX traces comes out, once.

Unit tests of `_core.base`.
"""

import contextlib
import gc
import signal
import textwrap
import threading
import weakref

import pytest

from paddle_jax._core.base import signal_handlers
from paddle_jax._core.base.interrupt_safe import preserved_tracing


class Notice(Exception):
    pass


@pytest.fixture
def notice():
    """Sends a signal whose handler raises Notice."""

    def handler(number, frame):
        raise Notice

    before = signal.signal(signal.SIGUSR1, handler)
    yield lambda: signal.raise_signal(signal.SIGUSR1)
    assert signal.getsignal(signal.SIGUSR1) is handler
    signal.signal(signal.SIGUSR1, before)


def library(code):
    """A function `f` of a module of JAX."""
    scope = {"__name__": "jax._src.somewhere"}
    exec(textwrap.dedent(code), scope)  # noqa: S102  the tests' own text
    return scope["f"]


IGNORES = library("""
    def f(call):
        try:
            call()
        except:
            pass
""")
REPLACES = library("""
    def f(call):
        try:
            call()
        except Exception:
            raise UnboundLocalError("r2") from None
""")
CALLS = library("""
    def f(call):
        call()
""")


SENDS = library("""
    import signal

    def f():
        signal.raise_signal(signal.SIGUSR1)
""")


@pytest.mark.parametrize("keeper", [IGNORES, REPLACES, CALLS], ids=["ignored", "replaced", "passed on"])
def test_comes_out(notice, keeper):
    with pytest.raises(Notice), preserved_tracing(), preserved_tracing():
        keeper(notice)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_in_the_callback_of_a_weak_reference(notice):
    with pytest.raises(Notice), preserved_tracing():
        thing = Notice()
        watch = weakref.finalize(thing, notice)
        del thing
        gc.collect()
    assert not watch.alive


def test_what_the_program_catches_stays_caught(notice):
    reached = []
    with preserved_tracing():
        with contextlib.suppress(Notice):
            CALLS(notice)
        reached.append("between")
        with contextlib.suppress(Notice):
            IGNORES(lambda: reached.append("inside"))
            notice()
    assert reached == ["between", "inside"]


def test_errors_of_the_body_are_not_replaced():
    with pytest.raises(ZeroDivisionError), preserved_tracing():
        1 // 0


def test_keyboard_interrupt():
    # what started the tests may have it ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt), preserved_tracing():
        IGNORES(lambda: signal.raise_signal(signal.SIGINT))
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


def test_a_handler_set_inside_stays():
    before = signal.getsignal(signal.SIGUSR1)
    with preserved_tracing():
        signal.signal(signal.SIGUSR1, print)
    assert signal.signal(signal.SIGUSR1, before) is print


def test_a_listener_that_was_left_behind_counts_no_more(notice):
    """An exception may fall between the end of a block and its putting the handlers back."""
    handler = signal.getsignal(signal.SIGUSR1)
    with contextlib.suppress(ZeroDivisionError), pytest.MonkeyPatch.context() as patch:
        patch.setattr(signal_handlers.ObservedHandlers, "_close", lambda block: 1 // 0)
        with preserved_tracing():
            pass
    assert type(signal.getsignal(signal.SIGUSR1)) is signal_handlers.HandlerProxy
    with pytest.raises(Notice), preserved_tracing():
        IGNORES(notice)
    assert signal.getsignal(signal.SIGUSR1) is handler


def test_other_threads():
    entered = []

    def work():
        with preserved_tracing():
            entered.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert entered == [signal.getsignal(signal.SIGINT)]


def test_compiled_functions_stay_compiled(paddle, recwarn):
    """A handler that runs while a function is captured is no part of it."""
    ran = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: ran.append(number))

    def step(x):
        SENDS()
        return x * 2

    compiled = paddle.jit.to_static(step)
    for _ in range(3):
        assert compiled(paddle.ones([2])).tolist() == [2, 2]
    signal.signal(signal.SIGUSR1, before)
    assert len(ran) == 1 and not recwarn.list
