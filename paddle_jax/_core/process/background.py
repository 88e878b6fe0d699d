"""Work in another thread, which no exception in the thread that asks for it can upset.

`concurrent.futures` and `threading` take their locks in Python code. KeyboardInterrupt there leaves them
taken, or leaves a thread behind that the end of the process waits for. Here, whatever the asking thread
changes, it changes in one call of a function written in C.
"""

import _thread
import atexit
import functools as ft
import os
import queue
import weakref

from paddle_jax._core.base.interrupt_safe import chain_calls, ignoring_arguments, wait_for_lock


class Task:
    """What a Worker has been given to do. error: what was raised in it. done: whether it has ended."""

    def __init__(self, function):
        self.error, self.done, self._function, self._gate = None, False, function, _thread.allocate_lock()
        self._gate.acquire()

    def run(self):
        """Called by the thread of the Worker."""
        try:
            self._function()
        except BaseException as error:
            self.error = error
        self._function, self.done = None, True
        self._gate.release()

    def wait(self):
        """Waits for the end; raises what was raised in it."""
        wait_for_lock(self._gate)
        if self.error is not None:
            raise self.error


class Worker:
    """A thread that runs functions one after the other, started with the first of them.

    complete: whether the end of the process waits for all that is in line; else for what is being run. A
    forked child has neither the thread nor what was in line.
    """

    def __init__(self, complete):
        self._complete, self._known = complete, False
        self._forget()

    def _forget(self):
        self._line, self._idle, self._started, self._ending, self._watch = (
            queue.SimpleQueue(),
            _thread.allocate_lock(),
            False,
            False,
            None,
        )

    def submit(self, function) -> Task:
        """Puts a function in line."""
        task = Task(function)
        self._line.put(task)
        self.start()
        return task

    def start(self):
        """Starts the thread, unless it runs. CPython 3.11 may raise in it, at its very start, what was meant
        for this thread: then it is not running any more, and started again the next time."""
        if self._started:
            return
        if not self._known:
            self._known = True
            atexit.register(self._end)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=self._forget)
        body = [ft.partial(self._work)]
        self._watch = weakref.ref(body[0], ignoring_arguments(ft.partial(setattr, self, "_started", False)))
        chain_calls([(setattr, self, "_started", True), (_thread.start_new_thread, body.pop(), ())])()

    def _work(self):
        while True:
            task = self._line.get()
            with self._idle:
                if self._ending:
                    return
                task.run()

    def _end(self):
        """Before JAX puts away what the thread may be using."""
        if self._complete and (self._started or not self._line.empty()):
            self.submit(int).wait()
        self._ending = True
        wait_for_lock(self._idle)
