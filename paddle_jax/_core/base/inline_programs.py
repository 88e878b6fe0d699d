"""Has XLA run some programs of the processor in the thread that calls them.

XLA hands a program to another thread, and a thread that reads a result waits for it. On an idle machine
waking up the two takes 20 to 30 us, as long as a step of a small network. XLA's client has one setting for
all programs, but it runs a program with host callbacks in the calling thread in any case. So these programs
get a callback that nothing calls. JAX does not see it: it would not keep such a program in its cache.
"""

from __future__ import annotations

import contextlib
import functools as ft
import threading
from collections.abc import Callable, Iterator
from typing import Any

from jax._src import compiler


class _Thread(threading.local):
    """The state of a thread.

    Attributes:
        runs_inline: bool, whether the programs that it compiles run in the thread that calls them.
    """

    runs_inline = False


_thread = _Thread()


@contextlib.contextmanager
def running_inline(is_wanted: bool) -> Iterator[None]:
    """Compiles programs in its block that run in the thread that calls them, if that is wanted.

    Programs on accelerators and on several devices are compiled as always.
    """
    if is_wanted:
        _wrap_jax()
    before = _thread.runs_inline
    _thread.runs_inline = is_wanted
    try:
        yield
    finally:
        _thread.runs_inline = before


def _idle(*arguments: Any) -> None:
    """The callback that nothing calls."""


def inline_client(client: Any) -> Any:
    """A client of XLA whose programs run in the thread that calls them; the same one where it has no way to.

    Args:
        client: a client for the processor.
    """
    methods = (client.compile_and_load, client.deserialize_executable)
    if all("host_callbacks" in (method.__doc__ or "") for method in methods):
        return _InlineClient(client)
    return client


class _InlineClient:
    """A client of XLA that adds the callback to the programs that it makes.

    Attributes:
        client: the client.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def compile_and_load(self, module: Any, *others: Any, **named: Any) -> Any:
        """As that of the client. A program that has callbacks already keeps them alone."""
        return self.client.compile_and_load(module, *others, **{"host_callbacks": [_idle], **named})

    def deserialize_executable(self, serialized: Any, *others: Any, **named: Any) -> Any:
        """As that of the client."""
        return self.client.deserialize_executable(serialized, *others, **{"host_callbacks": [_idle], **named})


@ft.cache
def _wrap_jax() -> None:
    """Wraps the function of JAX that compiles a module or reads it from the cache, once."""
    # Without it programs run as XLA's client has it.
    if hasattr(compiler, "compile_or_get_cached"):
        compiler.compile_or_get_cached = ft.partial(_compile, compiler.compile_or_get_cached)


def _compile(
    compile_module: Callable[..., Any], client: Any, module: Any, devices: Any, *others: Any, **named: Any
) -> Any:
    if _thread.runs_inline and client.platform == "cpu" and devices.size == 1:
        client = inline_client(client)
    return compile_module(client, module, devices, *others, **named)
