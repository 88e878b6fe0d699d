"""Examples from files of slots: streamed, or held in memory and shuffled."""

import base64
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.dataset.slot_reader import Example, Slot, Source, batches, read_files
from paddle_jax.nn.initializer.initializer import generator

__all__ = []

_SENT_AT_ONCE = 4 << 20  # bytes of examples that a worker gives to one exchange
_SETTINGS = (
    "batch_size",
    "thread_num",
    "use_var",
    "pipe_command",
    "input_type",
    "fs_name",
    "fs_ugi",
    "download_cmd",
)
_MEMORY_SETTINGS = (*_SETTINGS, "data_feed_type", "queue_num")
_DISTRIBUTED_SETTINGS = (
    "merge_size",
    "parse_ins_id",
    "parse_content",
    "fleet_send_batch_size",
    "fleet_send_sleep_seconds",
    "fea_eval",
    "candidate_size",
)


class DatasetBase:
    """What QueueDataset and InMemoryDataset have in common.

    Attributes:
        filelist: list of str, the files.
        thread_num: int, how many files are read at once.
    """

    def __init__(self) -> None:
        self.filelist: list[str] = []
        self.thread_num: int = 1
        self._batch_size = 1
        self._slots: list[Slot] = []
        self._command = "cat"
        self._download = "cat"
        self._leading = 0

    def init(
        self,
        batch_size: int = 1,
        thread_num: int = 1,
        use_var: Sequence[Any] = (),
        pipe_command: str = "cat",
        input_type: int = 0,
        fs_name: str = "",
        fs_ugi: str = "",
        download_cmd: str = "cat",
    ) -> None:
        """Settings.

        Args:
            batch_size: examples of a batch.
            thread_num: how many files are read at once; one thread computes.
            use_var: Variables of the inputs, in the order of the slots of a line; int64 or float32.
            pipe_command: command of the shell that each file goes through.
            input_type: accepted.
            fs_name, fs_ugi: accepted; `download_cmd` reads other file systems.
            download_cmd: command that writes the file it is given to its output. Default "cat".
        Raises:
            ValueError: a Variable has another dtype, or a number is not positive.
        """
        self._set_batch_size(batch_size)
        self._set_thread(thread_num)
        self._set_use_var(use_var)
        self._set_pipe_command(pipe_command)
        self._set_download_cmd(download_cmd)

    def _set_batch_size(self, batch_size: int) -> None:
        self._batch_size = _positive("batch_size", batch_size)

    def _set_thread(self, thread_num: int) -> None:
        self.thread_num = _positive("thread_num", thread_num)

    def _set_pipe_command(self, pipe_command: str) -> None:
        self._command = pipe_command

    def _set_download_cmd(self, download_cmd: str) -> None:
        self._download = download_cmd

    def _set_use_var(self, var_list: Sequence[Any]) -> None:
        slots = []
        for variable in var_list:
            kind = dtypes.convert(variable.dtype).np
            if kind not in (np.dtype(np.float32), np.dtype(np.int64)):
                raise ValueError(
                    f"dataset: use_var: {variable.name} is {kind}; "
                    "Currently, paddle.distributed.fleet.dataset only supports dtype=float32 and dtype=int64"
                )
            slots.append(Slot(variable.name, [int(length) for length in variable.shape], kind))
        self._slots = slots

    def set_filelist(self, filelist: list[str]) -> None:
        """Sets the files that this worker reads.

        Args:
            filelist: list of str.
        Example:
            >>> dataset = paddle.distributed.QueueDataset()
            >>> dataset.set_filelist(["a.txt", "b.txt"])
        """
        self.filelist = list(filelist)

    def _read(self, threads: int | None = None) -> Iterator[Example]:
        """The examples of the files."""
        if not self._slots:
            raise ValueError("dataset: use_var: got none; call init(use_var=[...]) before")
        source = Source(
            self.filelist, self._command, self._download, threads or self.thread_num, self._leading
        )
        return read_files(source, self._slots)

    def _examples(self) -> Iterable[Example]:
        """The examples to train with."""
        raise NotImplementedError

    def feeds(self) -> Iterator[dict[str, np.ndarray]]:
        """The batches, as what `Executor.run` is fed with."""
        return batches(self._examples(), self._slots, self._batch_size)


def _positive(name: str, value: int) -> int:
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"dataset: {name}: got {value!r}; it must be a positive int")
    return value


class QueueDataset(DatasetBase):
    """Examples that are read while the program trains, and not kept.

    Example:
        >>> dataset = paddle.distributed.QueueDataset()
        >>> dataset.init(batch_size=8, thread_num=2, pipe_command="cat")
        >>> dataset.set_filelist(["part-0", "part-1"])
    """

    def init(self, **kwargs: Any) -> None:
        """Settings; see `DatasetBase.init`."""
        super().init(**kwargs)

    def _examples(self) -> Iterable[Example]:
        return self._read()


class InMemoryDataset(DatasetBase):
    """Examples that are held in memory and can be shuffled, over all workers, too.

    Attributes:
        _memory: list of the examples.
        _shuffled: int, how many there are after the last global shuffle.
        _loading: Thread that reads, or None.
        _error: exception that it has raised, or None.
        _evaluates: bool, whether `slots_shuffle` is allowed.
        _leading: int, how many fields stand before the slots.
    Example:
        >>> dataset = paddle.distributed.InMemoryDataset()
        >>> dataset.init(batch_size=8, thread_num=2, pipe_command="cat")
        >>> dataset.set_filelist(["part-0", "part-1"])
    """

    def __init__(self) -> None:
        super().__init__()
        self._memory: list[Example] = []
        self._shuffled = 0
        self._loading: threading.Thread | None = None
        self._error: BaseException | None = None
        self._evaluates = False

    def init(self, **kwargs: Any) -> None:
        """Settings; see `DatasetBase.init`.

        Args:
            kwargs: those of `DatasetBase.init`; `data_feed_type` and `queue_num` are accepted.
        """
        # The other settings are accepted and change nothing.
        super().init(**{name: value for name, value in kwargs.items() if name in _SETTINGS})
        self._refuse_unknown("init", kwargs, _MEMORY_SETTINGS)

    @staticmethod
    def _refuse_unknown(name: str, given: dict[str, Any], known: Sequence[str]) -> None:
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise TypeError(f"InMemoryDataset.{name}: got {', '.join(unknown)}; there are {', '.join(known)}")

    def _init_distributed_settings(self, **kwargs: Any) -> None:
        """Settings of shuffling and parsing.

        Args:
            kwargs: `parse_ins_id`, `parse_content`: lines begin with an id and a text, "1 text" each, which
                are left out. `fea_eval`: allows `slots_shuffle`. `fleet_send_batch_size`,
                `fleet_send_sleep_seconds`, `candidate_size`: accepted.
        Raises:
            NotImplementedError: merge_size, which joins examples of one id.
        """
        self._refuse_unknown("_init_distributed_settings", kwargs, _DISTRIBUTED_SETTINGS)
        if kwargs.get("merge_size", -1) > 0:
            raise NotImplementedError(
                f"InMemoryDataset: merge_size: got {kwargs['merge_size']}; join the examples in pipe_command"
            )
        # Each of these puts a text in front of the slots of a line.
        self._leading = bool(kwargs.get("parse_ins_id")) + bool(kwargs.get("parse_content"))
        self._evaluates = bool(kwargs.get("fea_eval"))

    def update_settings(self, **kwargs: Any) -> None:
        """Changes settings of `init` and `_init_distributed_settings`; those that are not given stay.

        Args:
            kwargs: as there.
        """
        self._refuse_unknown("update_settings", kwargs, (*_MEMORY_SETTINGS, *_DISTRIBUTED_SETTINGS))
        setters = {
            "batch_size": self._set_batch_size,
            "thread_num": self._set_thread,
            "use_var": self._set_use_var,
            "pipe_command": self._set_pipe_command,
            "download_cmd": self._set_download_cmd,
        }
        # Settings without a function here change nothing.
        for name, value in kwargs.items():
            if name in setters:
                setters[name](value)
        distributed = {name: value for name, value in kwargs.items() if name in _DISTRIBUTED_SETTINGS}
        if distributed:
            self._init_distributed_settings(**distributed)

    # loading ------------------------------------------------------------------------------------------------

    def load_into_memory(self, is_shuffle: bool = False) -> None:
        """Reads the files.

        Args:
            is_shuffle: shuffles the examples then.
        Raises:
            FileNotFoundError, RuntimeError, ValueError: a file, the command or a line is wrong.
        """
        self._memory = list(self._read())
        if is_shuffle:
            self.local_shuffle()

    def preload_into_memory(self, thread_num: int | None = None) -> None:
        """Begins to read the files in the background.

        Args:
            thread_num: how many at once. Default: that of `init`.
        """
        self._error = None

        def load() -> None:
            try:
                self._memory = list(self._read(thread_num))
            except BaseException as error:
                # `wait_preload_done` raises it in the program.
                self._error = error

        # A daemon: a program that ends does not wait for files that it no longer needs.
        self._loading = threading.Thread(target=load, name="paddle.dataset load", daemon=True)
        self._loading.start()

    def wait_preload_done(self) -> None:
        """Waits until the files are read; raises what went wrong."""
        if self._loading is not None:
            self._loading.join()
            self._loading = None
        if self._error is not None:
            raise self._error

    def release_memory(self) -> None:
        """Forgets the examples."""
        self._memory = []
        self._shuffled = 0

    def set_date(self, date: str) -> None:
        """Accepted: it concerns tables on GPUs."""

    def _examples(self) -> Iterable[Example]:
        # A load in the background may still run.
        self.wait_preload_done()
        return self._memory

    # shuffling ----------------------------------------------------------------------------------------------

    def local_shuffle(self) -> None:
        """Shuffles the examples of this worker, by the generator of `paddle.seed`."""
        self.wait_preload_done()
        self._memory = [self._memory[i] for i in generator().permutation(len(self._memory))]

    def global_shuffle(self, fleet: Any = None, thread_num: int = 12) -> None:
        """Deals the examples of all workers out among them by chance, and shuffles those of each.

        Args:
            fleet: `fleet`, for several workers. Default None: this worker alone.
            thread_num: accepted.
        """
        self.wait_preload_done()
        if fleet is not None and fleet.worker_num() > 1:
            self._deal_out(fleet.worker_num(), fleet.worker_index())
        self.local_shuffle()
        self._shuffled = len(self._memory)

    def _deal_out(self, workers: int, index: int) -> None:
        """Gives each example to a worker by chance."""
        # Each worker draws for its own examples.
        owners = generator().integers(0, workers, len(self._memory))
        kept = [example for example, owner in zip(self._memory, owners, strict=True) if owner == index]
        sent = [
            (int(owner), example)
            for example, owner in zip(self._memory, owners, strict=True)
            if owner != index
        ]
        pieces = _pieces(sent)
        exchange = Current.fleet.util.all_gather
        # All workers must take part in every exchange, also those with fewer pieces.
        count = max(exchange(len(pieces)))
        for i in range(count):
            # Everyone gets all pieces and takes its own: there is no exchange of two.
            given = exchange(pieces[i] if i < len(pieces) else [])
            for sender, piece in enumerate(given):
                if sender != index:
                    kept += [_unpacked(packed) for owner, packed in piece if owner == index]
        self._memory = kept

    def slots_shuffle(self, slots: list[str]) -> None:
        """Shuffles the values of slots between the examples: how much worse a model gets says what a slot is
        worth.

        Args:
            slots: list of names.
        Raises:
            ValueError: `fea_eval` is off, or there is no such slot.
        """
        if not self._evaluates:
            raise ValueError("slots_shuffle: fea_eval is off; pass it to _init_distributed_settings")
        names = [slot.name for slot in self._slots]
        for name in slots:
            if name not in names:
                raise ValueError(f"slots_shuffle: slots: got {name!r}; there are {', '.join(names)}")
            place = names.index(name)
            # The other slots stay where they are.
            order = generator().permutation(len(self._memory))
            values = [self._memory[i][place] for i in order]
            for example, value in zip(self._memory, values, strict=True):
                example[place] = value

    # sizes --------------------------------------------------------------------------------------------------

    def get_memory_data_size(self, fleet: Any = None) -> int:
        """How many examples are in memory.

        Args:
            fleet: `fleet`, for the sum over all workers. Default None: those of this worker.
        """
        return _total(len(self._memory), fleet)

    def get_shuffle_data_size(self, fleet: Any = None) -> int:
        """How many examples there are since the last `global_shuffle`; 0 before.

        Args:
            fleet: as in `get_memory_data_size`.
        """
        return _total(self._shuffled, fleet)


def _total(count: int, fleet: Any) -> int:
    if fleet is None:
        return count
    return int(fleet.util.all_reduce(count))


def _packed(example: Example) -> str:
    """An example as text."""
    # As text, since servers hand on texts. Bytes keep every bit of a float.
    parts = [[array.dtype.str, base64.b64encode(array.tobytes()).decode()] for array in example]
    return json.dumps(parts)


# A copy, as an array over bytes cannot be written to.
def _unpacked(text: str) -> Example:
    return [np.frombuffer(base64.b64decode(data), kind).copy() for kind, data in json.loads(text)]


def _pieces(sent: list[tuple[int, Example]]) -> list[list[list[Any]]]:
    """Examples with their new owners, in pieces that are not too large."""
    pieces: list[list[list[Any]]] = []
    # Full, so that the first example begins a piece.
    size = _SENT_AT_ONCE
    for owner, example in sent:
        packed = _packed(example)
        if size + len(packed) > _SENT_AT_ONCE:
            pieces.append([])
            size = 0
        pieces[-1].append([owner, packed])
        size += len(packed)
    return pieces
