"""Ends the process although a thread is still inside XLA's compiler.

A compilation cannot be interrupted, and it may take seconds that nobody wants to wait for. But a thread that
comes back from C++ while the interpreter ends is ended by force, and C++ answers with `abort`. So the process
ends by `_exit`, with its usual status, before the destructors of C++ run, and until then `abort` only stops
the thread that calls it. Exit hooks and buffered output of Python are not affected.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_DEADLINE = 10  # seconds; if the interpreter has not ended by then, the system ends the process


def can_leave() -> bool:
    """Whether the C library has what `leave_without_waiting` needs: glibc has."""
    return sys.platform == "linux" and hasattr(ctypes.CDLL(None), "on_exit")


def leave_without_waiting() -> None:
    """Has the process end without its threads. To be called by an exit hook.

    What C++ prints of the threads that are cut off is not shown, nor is anything else on stderr from here on.
    """
    libc = ctypes.CDLL(None)
    address = ctypes.c_void_p
    libc.on_exit.argtypes = [address, address]
    libc.__cxa_atexit.argtypes = [address, address, address]
    libc.signal.argtypes = [ctypes.c_int, address]
    libc.on_exit(ctypes.cast(libc._exit, address), None)  # _exit(status)
    libc.__cxa_atexit(ctypes.cast(libc.fflush, address), None, None)  # runs before: the last one comes first
    sys.stderr.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    libc.alarm(_DEADLINE)
    libc.signal(signal.SIGABRT, ctypes.cast(libc.pause, address))
