"""How far a DataLoader is in its epoch: what a state of it holds, and how an epoch goes on from one.

The order of an epoch is not kept but drawn again: from the generators as they were when it was drawn, passing
over what was read.
"""

from __future__ import annotations

import collections
import itertools
import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.tensors.random import default_generator

FORM = "paddle_jax.DataLoader 1"


def generators() -> dict[str, Any]:
    """The states of the generators that samplers and data sets draw from, in numbers and texts."""
    kind, words, *rest = np.random.get_state()  # noqa: NPY002  the generator that samplers use
    version, numbers, gauss = random.getstate()
    paddle = default_generator()
    return {
        "python": [version, list(numbers), gauss],
        "numpy": [kind, words.tobytes().hex(), *rest],
        "paddle": [paddle._seed, int(paddle._offset)],
    }


def set_generators(states: Mapping[str, Any]) -> None:
    """Goes on from what `generators` gave."""
    version, numbers, gauss = states["python"]
    random.setstate((version, tuple(numbers), gauss))
    kind, words, *rest = states["numpy"]
    np.random.set_state((kind, np.frombuffer(bytes.fromhex(words), np.uint32), *rest))  # noqa: NPY002
    seed, offset = states["paddle"]
    default_generator().manual_seed(seed)._offset = offset


def keeps_state(thing: Any) -> bool:
    """Whether an object can say where it is, and go on from there."""
    return callable(getattr(thing, "state_dict", None)) and callable(getattr(thing, "load_state_dict", None))


def _parts(batch_sampler: Any) -> list[Any]:
    """What decides the order: the batch sampler, and the sampler in it."""
    return [part for part in (batch_sampler, getattr(batch_sampler, "sampler", None)) if part is not None]


def _epoch_of(part: Any) -> int | None:
    """The epoch that a sampler makes its order from, or None."""
    epoch = getattr(part, "epoch", None)
    if isinstance(epoch, int) and hasattr(part, "set_epoch"):
        return epoch
    return None


def _plain(task: Any) -> Any:
    """Indices as Python's ints, which every kind of file takes."""
    if isinstance(task, np.integer):
        return int(task)
    if isinstance(task, list):
        return [_plain(index) for index in task]
    return task


class Epoch:
    """One pass over the data.

    Args:
        state: what `state` of an earlier Epoch gave, to go on from. Default None: begins.

    Attributes:
        seed: of the workers' random numbers; None until they are there.
        begun: states of the generators when it began.
        drawn: tasks that were taken from the sampler.
        waiting: (number, worker, task) of those whose results have not come.
        taken: results that have come, ends of workers among them.
        skip: results that are read again and thrown away.
        turn: numbers of the workers that still read, in the order of their turns.
        streams: {number of a worker: state of its data set}, where that has one; None: what was
            read is read again.
        over: whether all has been read.
    """

    drawn: Any
    skip: Any
    taken: Any

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        state = state or {}
        self.seed: Any | None = state.get("seed")
        self.begun: dict[str, Any] | None = state.get("begun")
        self.drawn = state.get("drawn", 0)
        self.taken = state.get("taken", 0)
        self.waiting: deque[Any] = collections.deque(map(tuple, state.get("waiting", ())))
        turn = state.get("turn")
        streams = state.get("streams")
        self.turn: deque[int] | None = None if turn is None else collections.deque(turn)
        if streams is None:
            self.streams = None
        else:
            # Keys of JSON are texts.
            self.streams: dict[int, Any] | None = {
                int(worker): stream_state for worker, stream_state in streams.items()
            }
        self._epochs = state.get("epochs")
        self._samplers = state.get("samplers")
        self.skip = 0
        self.over = False

    def state(self, order: Any) -> dict[str, Any]:
        """Where it is: numbers, texts, lists and dicts, and what the user's own objects say of themselves."""
        samplers = {index: part.state_dict() for index, part in enumerate(_parts(order)) if keeps_state(part)}
        return {
            "seed": self.seed,
            "begun": self.begun,
            "drawn": self.drawn,
            "taken": self.taken,
            "epochs": self._epochs,
            "samplers": samplers,
            "waiting": [[number, worker, _plain(task)] for number, worker, task in self.waiting],
            "turn": None if self.turn is None else list(self.turn),
            "streams": None if self.streams is None else dict(self.streams),
        }

    def tasks(self, order: Any, now: dict[str, Any] | None) -> Iterator[Any]:
        """The tasks that are still to be drawn.

        Args:
            order: iterable of tasks, or None for a stream, which has none.
            now: states of the generators to go on with after what was read; None in an epoch that begins.
        """
        if now is None:
            self.begun = generators()
            self._epochs = list(map(_epoch_of, _parts(order)))
            if order is None:
                return itertools.repeat(None)
            return iter(order)
        if order is None:
            # A stream without a state of its own is read again from its begin.
            if self.streams is None and self.taken:
                self.skip = self.taken
                self.taken = 0
                self.drawn = 0
                self.waiting.clear()
                self.turn = None
                set_generators(self.begun)
            return itertools.repeat(None)
        return self._drawn_again(order, now)

    def _drawn_again(self, order: Any, now: dict[str, Any] | None) -> Iterator[Any]:
        parts = _parts(order)
        if self.begun is not None:
            set_generators(self.begun)
        for part, epoch in zip(parts, self._epochs or (), strict=False):
            if epoch is not None:
                part.set_epoch(epoch)
        for index, sampler_state in self._samplers.items():
            parts[int(index)].load_state_dict(sampler_state)
        tasks = iter(order)
        # A sampler with a state goes on where it was; others are passed over so far.
        if not self._samplers:
            collections.deque(itertools.islice(tasks, self.drawn), maxlen=0)
        set_generators(now)
        return tasks

    def draw(self, tasks: Iterator[Any], worker: int | None = None) -> bool:
        """Draws a task for a worker; whether there was one."""
        for task in tasks:
            self.waiting.append((self.drawn, worker, task))
            self.drawn += 1
            return True
        return False

    def deal(self, workers: Sequence[Any]) -> None:
        """Gives the tasks that waited in an earlier epoch to workers: those of streams to their
        own, others in turn."""
        # The stream of a worker goes on in the worker of the same number; other tasks go to any.
        if self.turn is None or self.streams is None:
            self.turn = collections.deque(range(len(workers)))
        waiting = self.waiting
        self.waiting = collections.deque()
        for number, worker, task in waiting:
            if self.streams is None:
                worker = self.turn[0]
                self.turn.rotate(-1)
            # A worker whose stream has ended has no turn.
            if worker in self.turn:
                workers[worker].ask(task, number)
                self.waiting.append((number, worker, task))

    def took(self) -> bool:
        """The first result that was waited for is here; whether it is thrown away."""
        self.waiting.popleft()
        self.taken += 1
        again = self.skip > 0
        self.skip -= again
        return again
