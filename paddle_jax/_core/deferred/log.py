"""What the deferred tier did, for `paddle_jax.explain()`."""

import collections


class _Log:
    """Counts, and the last events as sentences."""

    def __init__(self):
        self.clear()

    def clear(self):
        """Forgets everything."""
        self.segments = self.hits = self.compiles = 0
        self.seconds = 0.0
        self.events = collections.deque(maxlen=200)

    def add(self, text):
        """Notes an event."""
        self.events.append(text)


log = _Log()
