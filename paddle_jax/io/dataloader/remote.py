"""What runs in a worker process: reads batches as it is told, and sends them."""

from __future__ import annotations

import contextlib
import os
import random
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paddle_jax._core.base.dtype import set_default_dtype
from paddle_jax._core.base.hidden_frames import (
    format_error,
    frames_as_text,
    is_active,
    is_chained,
    is_internal,
)
from paddle_jax._core.lazy.devices import stay_on_host
from paddle_jax._core.lazy.recording import run_pending
from paddle_jax._core.tensors.random import default_generator
from paddle_jax.alias import install_as_paddle
from paddle_jax.io.dataloader.dataset import IterableDataset
from paddle_jax.io.dataloader.exchange import Packed, receive, send
from paddle_jax.io.dataloader.fetcher import make_fetch
from paddle_jax.io.dataloader.progress import keeps_state
from paddle_jax.io.dataloader.worker import END, WorkerInfo, become


class Seeds:
    """Random numbers that depend on the seed of the epoch and the number of the batch, not on which worker
    reads it. A generator that the user's `worker_init_fn` has seeded is left alone."""

    def __init__(self, init_fn: Callable[[int], Any] | None, number: int) -> None:
        before = self._states()
        if init_fn is not None:
            init_fn(number)
        # Generators that `init_fn` has seeded are left alone.
        self._free = [old == new for old, new in zip(before, self._states(), strict=True)]

    @staticmethod
    def _states() -> tuple[Any, ...]:
        kind, words, *rest = np.random.get_state()  # noqa: NPY002  the generator that data sets use
        generator = default_generator()
        return random.getstate(), (kind, words.tobytes(), *rest), (generator._seed, generator._offset)

    def sow(self, seed: int, batch: int) -> None:
        """Before a batch."""
        words = np.random.SeedSequence([seed & 0xFFFFFFFF, seed >> 32, batch]).generate_state(3).tolist()
        for free, plant, word in zip(
            self._free,
            (
                random.seed,
                np.random.seed,
                default_generator().manual_seed,
            ),
            words,
            strict=True,
        ):
            if free:
                plant(word)


def work(sock: Any) -> None:
    """Serves the program on the other end of a socket until it closes it, whenever that is."""
    with contextlib.suppress(EOFError, ConnectionError):
        _serve(sock)


def _restore_environment(setup: Mapping[str, Any]) -> None:
    """Makes the surroundings those of the program."""
    # The devices belong to the program; workers compute on the CPU.
    stay_on_host()
    sys.path[:] = setup["path"]
    sys.argv[:] = setup["argv"]
    os.chdir(setup["folder"])
    os.environ.update(setup["environment"])
    set_default_dtype(setup["dtype"])
    if setup["alias"]:
        install_as_paddle()


def _serve(sock: Any) -> None:
    _restore_environment(setup := receive(sock))
    try:
        # Private: other workers map the same memory, and must not see what is written here.
        dataset, collate_fn, init_fn, settings = receive(sock, private=True)
    except EOFError:
        # The program has closed the socket before the data came.
        return
    except BaseException as error:
        send(sock, ("unfit", f"{type(error).__name__}: {error}"))
        return
    try:
        send(sock, ("fit", None))
    except ConnectionError:  # the program was interrupted, or ended, while this worker began
        return
    become(
        info := WorkerInfo(
            id=setup["id"], num_workers=setup["count"], dataset=dataset, seed=setup["seed"] + setup["id"]
        )
    )
    shared = setup["shared"]
    fetch = None
    problem = None
    stated = isinstance(dataset, IterableDataset) and keeps_state(dataset)
    try:
        seeds = Seeds(init_fn, info.id)
    except Exception as error:
        # The first task raises it, since the program waits for that.
        problem = error
    while True:
        order, epoch, number, task = receive(sock)
        try:
            if order == "epoch":
                # A message that begins an epoch has a seed in place of a number, a state in place of a task.
                fetch = None
                seed = number
                if task is not None:
                    dataset.load_state_dict(task)
                continue
            if problem is not None:
                raise problem
            seeds.sow(seed, number)
            fetch = fetch or make_fetch(dataset, collate_fn, *settings, sent=True)
            batch = fetch(task)
            # Pending operations run here: what is sent must have values.
            run_pending("a batch is ready in a worker")
            result = (
                ("end", epoch, None)
                if batch is END
                else ("batch", epoch, (batch, dataset.state_dict() if stated else None))
            )
        except Exception as error:
            result = ("raised", epoch, _raised(error))
        _answer(sock, result, shared, epoch)


def _answer(sock: Any, result: Any, shared: bool, epoch: int) -> None:
    try:
        send(sock, result, shared, back=True)
    except ConnectionError:
        raise
    except Exception as error:  # the batch cannot be pickled; nothing was sent yet
        send(sock, ("raised", epoch, _raised(error)))


def _raised(error: BaseException) -> tuple[bytes | None, str, str, bool]:
    """(the pickled error or None, its name and text, the traceback as text, whether that is frames alone)"""
    is_short = is_active() and not is_chained(error)
    if is_short and is_internal(error):
        text = ""
    elif is_short:
        text = frames_as_text(error)
    else:
        text = format_error(error).rstrip()
    try:
        # Frames cannot be pickled; the traceback travels as text.
        data = Packed(error.with_traceback(None), shared=False, back=True).bytes()
    except Exception:
        data = None
    return data, f"{type(error).__name__}: {error}", text, is_short
