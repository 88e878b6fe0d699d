"""Functions that make readers of readers. A reader is a function without arguments that gives an
iterator over samples."""

from __future__ import annotations

import concurrent.futures
import itertools
import queue
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

from paddle_jax.io import DataLoader
from paddle_jax.reader.processes import ReaderDataset, as_it_is

__all__ = []


class ComposeNotAligned(ValueError):
    """Readers that are read side by side have different lengths."""


def cache(reader: Callable[..., Any]) -> Callable[..., Any]:
    """A reader of the same samples, kept in memory from now on.

    Example:
        >>> from paddle_jax.reader import cache
        >>> kept = cache(lambda: iter([1, 2]))
        >>> list(kept()), list(kept())
        ([1, 2], [1, 2])
    """
    samples = tuple(reader())
    return lambda: iter(samples)


def map_readers(func: Callable[..., Any], *readers: Any) -> Callable[..., Any]:
    """A reader of what a function makes of the samples of readers, side by side, up to the end
    of the shortest.

    Example:
        >>> from paddle_jax.reader import map_readers
        >>> list(map_readers(lambda a, b: a + b, lambda: [1, 2], lambda: [10, 20])())
        [11, 22]
    """
    return lambda: map(func, *(reader() for reader in readers))


def shuffle(reader: Callable[..., Any], buf_size: Any) -> Callable[..., Any]:
    """A reader of the same samples in random order (of Python's `random`), within pieces of this length.

    Example:
        >>> from paddle_jax.reader import shuffle
        >>> sorted(shuffle(lambda: iter(range(4)), 2)())
        [0, 1, 2, 3]
    """

    def shuffled() -> Iterator[Any]:
        samples = iter(reader())
        while piece := list(itertools.islice(samples, buf_size)):
            random.shuffle(piece)
            yield from piece

    return shuffled


def chain(*readers: Any) -> Callable[..., Any]:
    """A reader of the samples of readers, one after the other.

    Example:
        >>> from paddle_jax.reader import chain
        >>> list(chain(lambda: [1, 2], lambda: [3])())
        [1, 2, 3]
    """
    return lambda: itertools.chain.from_iterable(reader() for reader in readers)


_NONE = object()


def compose(*readers: Any, **kwargs: Any) -> Callable[..., Any]:
    """A reader of the samples of readers, side by side, as one tuple each; tuples are taken apart.

    Args:
        check_alignment: raise an error if the lengths differ, else end with the shortest. Default True.
    Raises:
        ComposeNotAligned: while reading: the lengths differ.
    Example:
        >>> from paddle_jax.reader import compose
        >>> list(compose(lambda: [1, 2], lambda: [(3, 4), (5, 6)])())
        [(1, 3, 4), (2, 5, 6)]
    """
    aligned = kwargs.pop("check_alignment", True)

    def composed() -> Iterator[Any]:
        rows = [reader() for reader in readers]
        if aligned:
            tuples = itertools.zip_longest(*rows, fillvalue=_NONE)
        else:
            tuples = zip(*rows, strict=False)
        for samples in tuples:
            if any(sample is _NONE for sample in samples):
                raise ComposeNotAligned(
                    "compose: readers: their lengths differ; "
                    "pass check_alignment=False to end with the shortest"
                )
            yield sum((sample if isinstance(sample, tuple) else (sample,) for sample in samples), ())

    return composed


class _Failed:
    def __init__(self, error: Any) -> None:
        self.error = error


class _Samples:
    """Samples that a thread reads ahead of the loop that takes them.

    Attributes:
        queue: the samples; `_NONE` at the end, a `_Failed` where the reader raised.
        abandoned: set when the loop has ended, so that the thread ends too.
    """

    def __init__(self, size: Any) -> None:
        self.queue = queue.Queue(size)
        self.abandoned = threading.Event()

    def fill(self, reader: Callable[..., Any]) -> None:
        """Reads all samples, unless the loop ends before."""
        try:
            for sample in reader():
                if self.abandoned.is_set():
                    return
                self._put(sample)
            self._put(_NONE)
        except BaseException as error:
            self._put(_Failed(error))

    def _put(self, sample: Any) -> None:
        """Waits for room, in short steps: a loop that has ended never makes any."""
        while not self.abandoned.is_set():
            try:
                self.queue.put(sample, timeout=0.1)
            except queue.Full:
                continue
            return


def buffered(reader: Callable[..., Any], size: int) -> Callable[..., Any]:
    """A reader that a thread reads ahead.

    Args:
        reader: reader.
        size: int, samples to read ahead.
    Example:
        >>> from paddle_jax.reader import buffered
        >>> list(buffered(lambda: iter([1, 2, 3]), 2)())
        [1, 2, 3]
    """

    def ahead() -> Iterator[Any]:
        samples = _Samples(size)
        threading.Thread(target=samples.fill, args=(reader,), daemon=True).start()
        try:
            while (sample := samples.queue.get()) is not _NONE:
                if isinstance(sample, _Failed):
                    raise sample.error
                yield sample
        finally:
            samples.abandoned.set()

    return ahead


def firstn(reader: Callable[..., Any], n: Any) -> Callable[..., Any]:
    """A reader of the first samples.

    Example:
        >>> from paddle_jax.reader import firstn
        >>> list(firstn(lambda: iter(range(10)), 2)())
        [0, 1]
    """
    return lambda: itertools.islice(reader(), n)


def xmap_readers(
    mapper: Callable[..., Any],
    reader: Callable[..., Any],
    process_num: int,
    buffer_size: int,
    order: bool = False,
) -> Callable[..., Any]:
    """A reader of what a function makes of the samples, computed by threads.

    Args:
        mapper: callable.
        reader: reader.
        process_num: int, threads.
        buffer_size: int, samples to compute ahead.
        order: keep the order of the samples. Default False: take what is there first.
    Example:
        >>> from paddle_jax.reader import xmap_readers
        >>> list(xmap_readers(lambda x: x * 2, lambda: iter([1, 2, 3]), 2, 4, order=True)())
        [2, 4, 6]
    """

    def mapped() -> Iterator[Any]:
        samples = iter(reader())
        with concurrent.futures.ThreadPoolExecutor(process_num) as threads:
            running = [
                threads.submit(mapper, sample)
                for sample in itertools.islice(samples, max(buffer_size, process_num))
            ]
            try:
                while running:
                    if order:
                        found = running[0]
                    else:
                        found = next(concurrent.futures.as_completed(running))
                    running.remove(found)
                    result = found.result()
                    running += [threads.submit(mapper, sample) for sample in itertools.islice(samples, 1)]
                    yield result
            finally:
                for future in running:
                    future.cancel()

    return mapped


def multiprocess_reader(readers: Any, use_pipe: bool = True, queue_size: int = 1000) -> Callable[..., Any]:
    """A reader of the samples of several readers, each of which runs in a process of its own.

    One sample of each reader comes in turn; readers that have ended are left out.

    Args:
        readers: list of readers. Those that no module has (typed in, lambdas) need the extra `workers`.
        use_pipe: tuples become lists, as in Paddle, where samples then travel as JSON. Default True.
        queue_size: int, samples to read ahead. Default 1000.
    Raises:
        AssertionError: `readers` is no list, or empty.
        ValueError: a reader failed, or gave None (while reading).
    Differs from Paddle: samples come in turn with `use_pipe=False`, too; NumPy arrays may be sent with
        `use_pipe=True`, too.
    Example:
        >>> from paddle_jax.reader import multiprocess_reader
        >>> list(multiprocess_reader([lambda: iter([1, 2, 3]), lambda: iter([10])])())
        [1, 10, 2, 3]
    """
    if not isinstance(readers, list | tuple) or not readers:
        raise AssertionError(
            f"multiprocess_reader: readers: got {readers!r}; give a list of at least one reader"
        )

    def merged() -> Iterator[Any]:
        ahead = max(1, queue_size // len(readers))
        loader = DataLoader(
            ReaderDataset(readers, use_pipe),
            batch_size=None,
            num_workers=len(readers),
            collate_fn=as_it_is,
            prefetch_factor=ahead,
        )
        for sent in loader:
            if sent.failure is not None:
                raise ValueError(f"multiprocess_reader: a reader failed in its process: {sent.failure}")
            yield sent.sample

    return merged
