"""Lazy arrays: operations are recorded into segments, which run later."""
