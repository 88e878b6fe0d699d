"""Readers, functions without arguments that give iterators over samples, and functions that make
readers of readers."""

from paddle_jax.reader.decorator import (
    ComposeNotAligned,
    buffered,
    cache,
    chain,
    compose,
    firstn,
    map_readers,
    multiprocess_reader,
    shuffle,
    xmap_readers,
)

__all__ = []
