"""What the deferred tier did, for `paddle_jax.explain()`."""

import collections


class _Log:
    """Counts, and the last events as sentences."""

    def __init__(self):
        self.clear()

    def clear(self):
        """Forgets everything."""
        self.segments = self.hits = self.compiles = 0
        self.seconds, self.interpreted, self.refusals = 0.0, 0, collections.Counter()
        self.events = collections.deque(maxlen=200)

    def add(self, text):
        """Notes an event."""
        self.events.append(text)


log = _Log()
