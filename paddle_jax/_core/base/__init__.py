"""Errors, dtypes, flags, counters and state of a thread: what every other room needs."""
