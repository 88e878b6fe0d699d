"""Settings of the deferred tier that the fuzzer takes turns with."""


def _settings(mode, repeats, most, donate=False):
    return {"deferred": mode, "deferred_min_repeats": repeats, "deferred_max_ops": most, "donate": donate}


CHOICES = [
    _settings("sync", 0, 2048),  # interpreted
    _settings("sync", 3, 2048, donate=True),  # interpreted twice, then compiled
    _settings("sync", 1, 2048),
    _settings("sync", 2, 2048, donate=True),
    _settings("sync", 1, 7),
    _settings("sync", 1, 2048, donate=True),
    _settings("sync", 2, 40),
    _settings("sync", 3, 2048),
    _settings("async", 1, 2048),
]


def of(seed):
    """The settings of a seed."""
    return CHOICES[seed % len(CHOICES)]
