"""Builds and runs the same static program in both engines."""

import contextlib
import re

import numpy as np

# the real Paddle counts learning rates of schedulers and states of dropout among the parameters
WEIGHT = re.compile(r"\.[wb]_\d+$")


class Built:
    """A program of one engine. build(engine) -> (Variables to fetch)."""

    def __init__(self, engine, build):
        self.engine, S = engine, engine.static
        engine.enable_static()
        self.main, self.startup = S.Program(), S.Program()
        self.scope = engine.base.core.Scope()
        try:
            with engine.utils.unique_name.guard(), S.program_guard(self.main, self.startup):
                self.fetches = build(engine)
            self.exe = S.Executor(engine.CPUPlace())
            with S.scope_guard(self.scope):
                self.exe.run(self.startup)
        finally:
            engine.disable_static()

    @contextlib.contextmanager
    def active(self):
        """Static mode and the program's scope."""
        self.engine.enable_static()
        try:
            with self.engine.static.scope_guard(self.scope):
                yield
        finally:
            self.engine.disable_static()

    def names(self):
        """The names of the parameters."""
        found = [p.name for p in self.main.global_block().all_parameters()]
        # the real LSTM's packed weights
        return sorted(name for name in found if WEIGHT.search(name) and not name.startswith("lstm_0"))

    def get(self, name):
        """A value from the scope."""
        return np.array(self.scope.find_var(name).get_tensor())

    def set(self, name, array):
        """Puts a value into the scope."""
        self.scope.find_var(name).get_tensor().set(array, self.engine.CPUPlace())

    def run(self, feed, program=None, fetches=None):
        """One run."""
        with self.active():
            return self.exe.run(
                self.main if program is None else program,
                feed=feed,
                fetch_list=self.fetches if fetches is None else fetches,
            )


def pair(oracle, ours, build):
    """The program in both engines, with the same parameters."""
    theirs, mine = Built(oracle, build), Built(ours, build)
    assert mine.names() == theirs.names()
    r = np.random.RandomState(5)
    for name in theirs.names():
        value = theirs.get(name)
        assert mine.get(name).shape == value.shape
        value = (
            value if name.endswith((".w_1", ".w_2")) else (r.randn(*value.shape) * 0.4).astype(value.dtype)
        )
        theirs.set(name, value)
        mine.set(name, value)
    return theirs, mine


def close(got, want, tolerance=2e-5):
    """Asserts that lists of arrays are equal to rounding."""
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
