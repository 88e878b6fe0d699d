"""Lines of slots as arrays: each slot is a count and so many numbers.

Files go through a command of the user's, as `cat` or `python parse.py`; reading happens in threads.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import queue
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

_CHUNK = 256  # examples that a reader hands on at once
_WAITING = 8  # chunks of a file that may wait
_ERROR_TEXT = 400  # characters of what a command has written to stderr


class Slot(NamedTuple):
    """A slot of a line.

    Attributes:
        name: str, of the input.
        shape: list of ints, -1 for lengths that are not known.
        dtype: NumPy dtype, int64 or float32.
    """

    name: str
    shape: list[int]
    dtype: Any


class Source(NamedTuple):
    """How files become lines.

    Attributes:
        files: list of names.
        command: str, what each file goes through.
        download: str, what reads a file; "cat" for one of this machine.
        threads: int, how many files are read at once.
        leading: int, strings in front of the slots of a line (ids of examples, contents).
    """

    files: Sequence[str]
    command: str
    download: str
    threads: int
    leading: int


Example = list[np.ndarray]


def parsed_line(line: str, slots: Sequence[Slot], where: str, leading: int = 0) -> Example:
    """The arrays of a line, one for each slot.

    Raises:
        ValueError: the line has too few or too many numbers, or what is none.
    """
    words = line.split()
    position = 2 * leading  # each is "1 text"
    found = []
    for slot in slots:
        if position >= len(words):
            raise ValueError(f"{where}: slot {slot.name!r} is missing; got {len(found)} slots")
        values = words[position + 1 :]
        try:
            count = int(words[position])
            numbers = _numbers(values[:count], slot)
        except ValueError as error:
            raise ValueError(f"{where}: slot {slot.name!r}: {error}; {slot.dtype} is needed") from None
        if len(numbers) < count or count < 1:
            raise ValueError(f"{where}: slot {slot.name!r}: got {len(numbers)} numbers and the count {count}")
        found.append(numbers)
        position += 1 + count
    if position != len(words):
        raise ValueError(
            f"{where}: got {len(words) - position} words behind the last slot {slots[-1].name!r}"
        )
    return found


def _numbers(words: Sequence[str], slot: Slot) -> np.ndarray:
    if slot.dtype == np.float32:
        return np.array([float(word) for word in words], np.float32)
    numbers = [int(word) for word in words]
    if numbers and max(numbers) >= 1 << 63:  # ids are unsigned in files
        return np.array(numbers, np.uint64).view(np.int64)
    return np.array(numbers, np.int64)


def read_file(file: str, source: Source, slots: Sequence[Slot]) -> Iterator[Example]:
    """The examples of a file.

    Raises:
        FileNotFoundError: there is no such file. RuntimeError: the command has failed. ValueError: a line is
            not understood.
    """
    # `cat` is the default. The shell opens the file without it, which saves a process.
    if source.download == "cat":
        if not os.access(file, os.R_OK):
            raise FileNotFoundError(f"dataset: {file}: there is no such file, or it cannot be read")
        command = f"({source.command}) < {shlex.quote(file)}"
    else:
        command = f"{source.download} {shlex.quote(file)} | ({source.command})"
    process = subprocess.Popen(
        command,
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # what the shell has started ends with it
    )
    errors: list[str] = []
    # Read meanwhile: a command that fills the pipe of stderr would stand still.
    reader = threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True)
    reader.start()
    try:
        for number, line in enumerate(process.stdout, 1):
            if line.strip():
                yield parsed_line(line, slots, f"dataset: {file}, line {number}", source.leading)
        reader.join()
        status = process.wait()
        if status:
            # The end of it: the last lines say what went wrong.
            text = "".join(errors).strip()[-_ERROR_TEXT:]
            raise RuntimeError(f"dataset: {file}: {source.command!r} has ended with {status}: {text}")
    finally:
        # The caller has stopped early, or a line was wrong: the command still runs.
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        reader.join()
        process.stderr.close()


class _Reader:
    """Reads files in threads, ahead of what takes their examples.

    Attributes:
        ended: Event, set when nobody takes examples any more.
    """

    def __init__(self, source: Source, slots: Sequence[Slot]) -> None:
        self._source = source
        self._slots = slots
        self.ended = threading.Event()

    def read(self, file: str, chunks: queue.Queue[Any]) -> None:
        """Puts the examples of a file into a queue in chunks, None or an error at last."""
        try:
            for chunk in _in_chunks(read_file(file, self._source, self._slots)):
                self._hand_on(chunks, chunk)
                if self.ended.is_set():
                    return
            self._hand_on(chunks, None)
        except BaseException as error:
            # Whatever it is, the one that waits for this file raises it.
            self._hand_on(chunks, error)

    def _hand_on(self, chunks: queue.Queue[Any], item: Any) -> None:
        # With a time limit: a full queue would hold the thread after its reader has left.
        while not self.ended.is_set():
            try:
                return chunks.put(item, timeout=0.1)
            except queue.Full:
                continue


def read_files(source: Source, slots: Sequence[Slot]) -> Iterator[Example]:
    """The examples of all files, in their order; `threads` files are read at once."""
    reader = _Reader(source, slots)
    # One queue a file: files are read at once, and their examples come in order.
    waiting: list[queue.Queue[Any]] = [queue.Queue(_WAITING) for _ in source.files]
    with concurrent.futures.ThreadPoolExecutor(max(1, source.threads), "paddle.dataset") as pool:
        try:
            for file, chunks in zip(source.files, waiting, strict=True):
                pool.submit(reader.read, file, chunks)
            for chunks in waiting:
                yield from _examples_of(chunks)
        finally:
            # Threads that wait for room in their queues have to end.
            reader.ended.set()
            pool.shutdown(cancel_futures=True)


def _examples_of(chunks: queue.Queue[Any]) -> Iterator[Example]:
    """The examples of a file, out of its queue."""
    while (chunk := chunks.get()) is not None:
        if isinstance(chunk, BaseException):
            raise chunk
        yield from chunk


def _in_chunks(examples: Iterable[Example]) -> Iterator[list[Example]]:
    chunk: list[Example] = []
    for example in examples:
        chunk.append(example)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def batches(examples: Iterable[Example], slots: Sequence[Slot], size: int) -> Iterator[dict[str, np.ndarray]]:
    """Feeds of so many examples; the last one has what is left."""
    batch: list[Example] = []
    for example in examples:
        batch.append(example)
        if len(batch) == size:
            yield _joined(batch, slots)
            batch = []
    if batch:
        yield _joined(batch, slots)


def _joined(batch: list[Example], slots: Sequence[Slot]) -> dict[str, np.ndarray]:
    """The arrays of a batch by name. The first unknown length of a slot takes what is there; with a second
    one examples are filled up with zeros to a power of 2, so that few lengths occur."""
    feed = {}
    for i, slot in enumerate(slots):
        values = [example[i] for example in batch]
        if slot.shape.count(-1) > 1:
            feed[slot.name] = _filled_up(values, slot)
            continue
        joined = np.concatenate(values)
        try:
            feed[slot.name] = joined.reshape(slot.shape)
        except ValueError:
            raise ValueError(
                f"dataset: slot {slot.name!r}: got {len(joined)} numbers in {len(batch)} examples; the input "
                f"has shape {slot.shape}"
            ) from None
    return feed


def _filled_up(values: list[np.ndarray], slot: Slot) -> np.ndarray:
    longest = max(map(len, values))
    # A power of 2, so that few shapes are compiled.
    length = 1 << (longest - 1).bit_length()
    found = np.zeros((len(values), length), slot.dtype)
    for row, numbers in zip(found, values, strict=True):
        row[: len(numbers)] = numbers
    return found
