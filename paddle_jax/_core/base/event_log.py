"""What the deferred tier did, for `paddle_jax.explain()`."""

import collections

from paddle_jax._core.base.vlog import vlog


class _Log:
    """Counts, and the last events as sentences."""

    def __init__(self):
        self.before = collections.Counter()
        self.segments = self.hits = self.interpreted = 0
        self.clear()

    def all(self, name):
        """A count since the process began."""
        return self.before[name] + getattr(self, name)

    def clear(self):
        """Forgets everything, but for counts that only go up."""
        self.before.update(segments=self.segments, hits=self.hits, interpreted=self.interpreted)
        self.segments = self.hits = self.compiles = 0
        self.seconds, self.interpreted, self.refusals = 0.0, 0, collections.Counter()
        self.events = collections.deque(maxlen=200)

    def add(self, text):
        """Notes an event."""
        self.events.append(text)
        vlog("compile", text)


log = _Log()
