"""DataLoader: batches of Tensors from a data set."""

from __future__ import annotations

import functools as ft
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.process import forkserver
from paddle_jax._core.tensors.place import current, parse
from paddle_jax._core.tensors.random import default_generator
from paddle_jax.io.dataloader.batch_sampler import BatchSampler
from paddle_jax.io.dataloader.collate import to_tensors
from paddle_jax.io.dataloader.dataloader_iter import _DataLoaderIterBase
from paddle_jax.io.dataloader.dataset import IterableDataset
from paddle_jax.io.dataloader.fetcher import make_fetch
from paddle_jax.io.dataloader.grain_stream import as_stream
from paddle_jax.io.dataloader.process import Unfit, crew
from paddle_jax.io.dataloader.progress import FORM, Epoch, generators, keeps_state, set_generators
from paddle_jax.io.dataloader.worker import END, Worker, WorkerInfo

if TYPE_CHECKING:
    from paddle_jax._core.tensors.place import Place
    from paddle_jax.io.dataloader.dataset import Dataset


_HELP = (
    "What workers need must be picklable; `pip install cloudpickle` makes that so for code typed "
    "in and for lambdas"
)


def _need(condition: Any, message: str, error: type[Exception] = AssertionError) -> None:
    if not condition:
        raise error(message)


class DataLoader:
    """Iterates over a data set in batches of Tensors.

    Args:
        dataset: Dataset (or anything with `__getitem__` and `__len__`), or IterableDataset; or a pipeline of
            the library grain, an `IterDataset` or `grain.DataLoader`. Give `batch_size=None` if it batches.
        feed_list: list of static variables; with `return_list=False` a batch is `[{name:
            Tensor}]`. Default None.
        places: place, str, or list of them; batches go to the first. Default None: the current device.
        return_list: give batches as lists. Default True.
        batch_sampler: BatchSampler, or an iterable of lists of indices; then `batch_size`, `shuffle`,
            `drop_last` must keep their defaults.
        batch_size: int, or None for single samples that are not collated. Default 1.
        shuffle: random order. Default False.
        drop_last: leave out the last batch when it is not full. Default False.
        collate_fn: callable, list of samples to batch. Default None: `default_collate_fn`.
        num_workers: int, processes that read ahead, in order. Default 0: read in the loop.
        use_buffer_reader: with workers, send the next batch to a GPU or TPU while the program computes with
            the last one; one more batch is on the device then. Default True.
        reader_buffer_size: accepted, see `use_buffer_reader`.
        prefetch_factor: int, batches every worker reads ahead. Default 2.
        use_shared_memory: let large arrays travel in memory that the processes share, not through a
            pipe. Default True.
        timeout: seconds to wait for a batch of a worker. Default 0: no limit.
        worker_init_fn: callable, called with the worker's number when it starts.
        persistent_workers: keep the workers for the next epoch. Default False: new ones in every epoch.
    Attributes:
        dataset, feed_list, return_list, collate_fn, num_workers, use_buffer_reader, reader_buffer_size,
            prefetch_factor, timeout, worker_init_fn, _persistent_workers: as given.
        places: list of the devices to put batches on, or None.
        use_shared_memory: bool, False without workers.
        pin_memory: bool, as in Paddle.
        _started: bool, whether an iteration has begun.
        _kept: persistent workers, or None.
        _threads: bool, whether workers are threads.
        _epochs: int, the iterations so far.
        _epoch: the present iteration, or None.
        _loaded: dict, a state that the next iteration goes on from, or None.
        dataset_kind: int, 1 for an IterableDataset, else 0.
        batch_sampler: BatchSampler, or None without batches of indices.
        batch_size: int, or None where a batch_sampler is given.
        drop_last: bool, as given.
        auto_collate_batch: bool, whether it makes batches.
    Raises:
        AssertionError: a setting is not valid or contradicts another one.
        ValueError: shuffling or batch sampling of an IterableDataset; workers for a pipeline of grain.
        SystemError: a worker ended, or gave no batch within `timeout`; the text names worker, process and
            signal. (It is a RuntimeError, too.)
    Random numbers in workers (of `random`, NumPy and Paddle) are seeded for every batch from `paddle.seed`
    and NumPy's state: they are the same for any number of workers. A generator that `worker_init_fn`
    seeds is left alone.
    Differs from Paddle: an exception in the data set or in `collate_fn` reaches the loop as it is, with the
        worker's traceback as its cause; a batch that is neither dict nor list (such as a number) is passed on
        instead of ending the loop. The data set is sent to the workers as a pickle; if it cannot be pickled
        they are threads, after a warning.
    Example:
        >>> loader = paddle.io.DataLoader([1.0, 2.0, 3.0], batch_size=2)
        >>> [batch.tolist() for batch in loader]
        [[1.0, 2.0], [3.0]]
    """

    def __init__(
        self,
        dataset: Dataset,
        feed_list: Sequence[Any] | None = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        _need(num_workers >= 0, f"DataLoader: num_workers: got {num_workers}; it may not be negative.")
        _need(timeout >= 0, f"DataLoader: timeout: got {timeout}; it may not be negative.")
        _need(
            prefetch_factor > 0, f"DataLoader: prefetch_factor: got {prefetch_factor}; it must be positive."
        )
        # A data set that is given as a stream of samples is read as one.
        dataset = as_stream(dataset, num_workers)
        self.dataset = dataset
        self.feed_list = feed_list
        self.places: list[Place] = _places(places)
        self.return_list = return_list
        self.collate_fn = collate_fn
        self.num_workers = num_workers
        self.use_buffer_reader = use_buffer_reader
        self.reader_buffer_size = reader_buffer_size
        self.prefetch_factor = prefetch_factor
        # Shared memory is for other processes only.
        self.use_shared_memory: bool = use_shared_memory and num_workers > 0
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.pin_memory = True
        self._persistent_workers = persistent_workers
        self._started = False
        self._kept = None  # persistent workers that wait for the next epoch
        self._threads = False  # whether processes do not work here
        self._epochs = 0  # how many epochs have begun
        self._epoch = None  # the newest Epoch
        self._loaded = None  # the state that the next epoch goes on from
        # Started early, while this process is small and has no threads yet.
        if num_workers > 0 and forkserver.available:
            forkserver.start()
        # Paddle's numbers of the two kinds.
        self.dataset_kind: int = int(isinstance(dataset, IterableDataset))
        if self.dataset_kind:
            _need(
                not shuffle,
                "DataLoader: shuffle: an IterableDataset has no index to shuffle; shuffle in its __iter__.",
                ValueError,
            )
            _need(
                batch_sampler is None,
                "DataLoader: batch_sampler: an IterableDataset has no index to sample; use batch_size.",
                ValueError,
            )
        self._set_batches(batch_sampler, batch_size, shuffle, drop_last)

    def _set_batches(
        self, batch_sampler: Any, batch_size: int | None, shuffle: bool, drop_last: bool
    ) -> None:
        self.batch_sampler = batch_sampler
        self.drop_last = drop_last
        self.batch_size = batch_size
        if batch_sampler is not None:
            # Settings that are not the defaults would contradict the sampler.
            default = batch_size == 1 and not shuffle and not drop_last
            _need(
                default,
                "DataLoader: batch_sampler: batch_size, shuffle and drop_last are its own matter; "
                "leave them at their defaults.",
            )
            self.batch_size = None
        elif batch_size is not None:
            _need(batch_size > 0, f"DataLoader: batch_size: got {batch_size}; it must be None or positive.")
            if not self.dataset_kind:
                self.batch_sampler: Any = BatchSampler(
                    self.dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last
                )
        elif shuffle:
            warnings.warn(
                "DataLoader: shuffle: without a batch_size the order stays as it is, as in Paddle; "
                "set batch_size.",
                stacklevel=3,
            )
        self.auto_collate_batch: bool = self.batch_sampler is not None or self.batch_size is not None

    def __len__(self) -> int:
        """The number of batches.

        Raises:
            ValueError: the data set is iterable, so the number is not known.
        """
        _need(
            not self.dataset_kind,
            "DataLoader: an IterableDataset has no length; count the batches while iterating.",
            ValueError,
        )
        # Without batches each sample is an item.
        return len(self.batch_sampler if self.auto_collate_batch else self.dataset)

    def __iter__(self) -> Iterator[Any]:
        """Starts an epoch."""
        # A compiled function must not read a stream while it is traced.
        local.ctx.frame.on_stream_read("a DataLoader")
        return _DataLoaderIterBase(self, self._ahead() if self.num_workers > 0 else self._plain())

    def __call__(self) -> Iterator[Any]:
        """Starts an epoch; the same as `iter(loader)`."""
        return iter(self)

    def state_dict(self) -> Mapping[str, Any]:
        """Where the loader is in its data: what `load_state_dict` goes on from, also in another process.

        Taken between two batches it stands behind the last one that was given; what workers have read ahead
        is not lost. Of several iterators it is the place of the one that began last.

        Differs from Paddle: its DataLoader has no state.

        Returns:
            dict of numbers, texts, lists and dicts (which `paddle.save` and `json` write), and of what data
            set and samplers say of themselves.
        Example:
            >>> loader = paddle.io.DataLoader([1.0, 2.0, 3.0, 4.0], batch_size=1, shuffle=True)
            >>> whole = []
            >>> for batch in loader:
            ...     whole.append(batch.item())
            ...     if len(whole) == 2:
            ...         state = loader.state_dict()
            >>> other = paddle.io.DataLoader([1.0, 2.0, 3.0, 4.0], batch_size=1, shuffle=True)
            >>> other.load_state_dict(state)
            >>> [batch.item() for batch in other] == whole[2:]
            True
        """
        if self._loaded is not None:
            return self._loaded
        running = None
        # Only an epoch that has begun has a place in it.
        if self._epoch is not None and not self._epoch.over:
            running = self._epoch.state(self._order())
            # The data set knows its own place.
            if self.num_workers == 0 and self.dataset_kind and keeps_state(self.dataset):
                running["streams"] = {0: self.dataset.state_dict()}
        return {
            "form": FORM,
            **self._sizes(),
            "epochs": self._epochs,
            "generators": generators(),
            "running": running,
        }

    def _sizes(self) -> dict[str, int | None]:
        """What has to be the same where a state is loaded; of the workers only where each has its own
        part of a stream."""
        try:
            # A stream has no length, and a data set need not have one.
            samples = None if self.dataset_kind else len(self.dataset)
        except (TypeError, NotImplementedError):
            samples = None
        batch_size = getattr(self.batch_sampler, "batch_size", self.batch_size)
        return {
            "samples": samples,
            "batch_size": batch_size,
            "num_workers": self.num_workers if self.dataset_kind else None,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Lets the next iteration go on from where another one stood: it gives the batches that were missing,
        and the ones after it whole epochs.

        Indices that were read are passed over without loading their samples. A stream (IterableDataset) is
        read again up to its place, or goes on by its own `load_state_dict` if it has that and `state_dict`;
        so does a sampler. The order of indices is drawn again: a sampler may draw from the generators of
        `random`, NumPy or Paddle, or have `set_epoch`; one with a generator of its own needs `state_dict` and
        `load_state_dict`.

        The random numbers go on, too: when the iteration begins, the generators of `random`, NumPy and Paddle
        are set to where they stood when the state was taken. Those that `worker_init_fn` seeds begin again.
        The number of workers may be another one, but for streams.

        Args:
            state_dict: dict, what `state_dict` of a loader with the same data and settings gave.
        Raises:
            TypeError: state_dict is no dict.
            ValueError: it is not of a DataLoader, or of one with other data or another batch size.
        """
        _need(
            isinstance(state_dict, Mapping),
            f"DataLoader: state_dict: got {type(state_dict).__name__}; pass what state_dict() gave.",
            TypeError,
        )
        _need(
            state_dict.get("form") == FORM,
            "DataLoader: state_dict: it is not of a DataLoader; pass what state_dict() of one gave.",
            ValueError,
        )
        for name, size in self._sizes().items():
            saved_size = state_dict[name]
            _need(
                saved_size == size,
                f"DataLoader: state_dict: it is of a loader with {name}={saved_size}, "
                f"this one has {name}={size}; both must agree.",
                ValueError,
            )
        # Taken over when the next epoch begins.
        self._loaded = dict(state_dict)

    set_state_dict = load_state_dict

    def _order(self) -> Any:
        """What gives the tasks; None for a stream, whose every task is to read on."""
        if self.dataset_kind:
            return None
        if self.auto_collate_batch:
            return self.batch_sampler
        # Without batches the samples come in order.
        return range(len(self.dataset))

    def _begin(self) -> tuple[Epoch, dict[str, Any] | None]:
        """(the Epoch that begins or goes on, states of the generators to go on with or None)"""
        state = self._loaded
        # A state serves once.
        self._loaded = None
        if state is None:
            self._epochs += 1
            self._epoch = Epoch()
            now = None
        else:
            running = state["running"]
            now = state["generators"]
            self._epochs = state["epochs"]
            # Shuffling goes on with the numbers of the other run.
            set_generators(now)
            # The state lies between two epochs.
            if running is None:  # the next one
                self._epochs = self._epochs + 1
                now = None
            self._epoch = Epoch(running)
        return self._epoch, now

    def _fetch(self) -> Callable[..., Callable[[Any], Any]]:
        return ft.partial(
            make_fetch,
            self.dataset,
            self.collate_fn,
            self.auto_collate_batch,
            self.batch_size,
            self.drop_last,
        )

    def _plain(self) -> Iterator[Any]:
        epoch, now = self._begin()
        if epoch.streams:
            # Without workers the data set of this process is the only stream.
            self.dataset.load_state_dict(epoch.streams[0])
        fetch = self._fetch()()
        tasks = epoch.tasks(self._order(), now)
        # Tasks that were drawn and not yet given come first.
        while epoch.waiting or epoch.draw(tasks):
            batch = fetch(epoch.waiting[0][2])
            if batch is END:
                # Skipped batches of the state must exist in these data.
                _need(
                    not epoch.skip,
                    f"DataLoader: the data ended {epoch.skip} batches before the place of "
                    "the state; it must be the same data.",
                    RuntimeError,
                )
                break
            # Batches before the place of the state are read, but not made Tensors.
            if not epoch.skip:
                batch = self._finish(batch)
            if not epoch.took():
                yield batch
            elif not epoch.skip:
                # All batches before the place were read again: the generators go on from the state.
                set_generators(now)
        epoch.over = True

    def _ahead(self) -> Iterator[Any]:
        """Batches that workers read ahead."""
        epoch, now = self._begin()
        workers, separate = self._crew(epoch)
        early = None  # the next batch, on its way to the device while the program computes with this one
        try:
            tasks = epoch.tasks(self._order(), now)
            if now is not None:
                # Drawing the tasks has used numbers of the generators.
                set_generators(now)
            epoch.deal(workers)
            while self._ask_ahead(epoch, tasks, workers):
                worker = epoch.waiting[0][1]
                if early is None:
                    # Threads share the arrays with the data set, so these are copied.
                    early = self._next_batch(workers[worker], finish=not epoch.skip, copy=not separate)
                if isinstance(early, Exception):
                    raise early
                batch, state = early
                early = None
                if batch is END:
                    # The stream of this worker has ended; the others go on.
                    epoch.took()
                    if worker in epoch.turn:
                        epoch.turn.remove(worker)
                    continue
                if epoch.streams is not None:
                    # The state of the worker after this batch.
                    epoch.streams[worker] = state
                if not epoch.took():
                    if epoch.waiting and self._sends_ahead():
                        early = self._next_batch_early(workers[epoch.waiting[0][1]])
                    yield batch
            epoch.over = True
        finally:
            # After an exception workers are in an unknown state, and are not kept.
            self._dismiss(workers, keep=epoch.over and separate)

    def _next_batch(self, worker: Any, finish: bool, copy: bool) -> tuple[Any, Any]:
        """(the next batch of a worker or END, the state of its data set behind that)"""
        batch = worker.take(self.timeout)
        if finish and batch is not END:
            batch = self._finish(batch, copy)
        return batch, getattr(worker, "state", None)

    def _next_batch_early(self, worker: Any) -> tuple[Any, Any] | Exception | None:
        """The next batch if it is here, or why it cannot be one."""
        if not worker.has_batch():
            return None
        try:
            return self._next_batch(worker, finish=True, copy=False)
        except Exception as error:  # the batch before it comes first
            return error

    def _sends_ahead(self) -> bool:
        """Whether batches travel to a device, beside the computation."""
        place = self.places[0] if self.places else current()
        return self.use_buffer_reader and not place.is_cpu_place()

    def _ask_ahead(self, epoch: Epoch, tasks: Iterator[Any], workers: list[Any]) -> bool:
        """Gives tasks to workers until enough are under way; False when none is.

        Tasks are dealt out in turn and results taken in the same turn, so batches keep their order.
        """
        ahead = self.num_workers * self.prefetch_factor
        turn = epoch.turn
        # Enough are under way when each worker has its share.
        while turn and len(epoch.waiting) < ahead and epoch.draw(tasks, turn[0]):
            number, worker, task = epoch.waiting[-1]
            workers[worker].ask(task, number)
            turn.rotate(-1)
        return bool(epoch.waiting)

    def _dismiss(self, workers: list[Any], keep: bool) -> None:
        """Keeps persistent workers for the next epoch, or stops them."""
        # Another epoch may have kept its workers already.
        if keep and self._persistent_workers and self._kept is None:
            self._kept = workers
            return
        for worker in workers:
            worker.stop()

    def _crew(self, epoch: Epoch) -> tuple[list[Any], bool]:
        """(workers of an epoch, whether they are processes)"""
        # An epoch that goes on from a state has its seed from there.
        if epoch.seed is None:
            epoch.seed = _seed(self._epochs)
        workers = self._kept
        self._kept = None
        # Once threads had to be used, no processes are tried again.
        if workers is None and not self._threads:
            try:
                settings = self.auto_collate_batch, self.batch_size, self.drop_last
                needs = self.dataset, self.collate_fn, self.worker_init_fn, settings
                workers = crew(self.num_workers, epoch.seed, self.use_shared_memory, needs)
            # Data that cannot be pickled is read by threads.
            except Unfit as why:
                self._threads = True
                warnings.warn(
                    "DataLoader: the workers are threads, not processes, which take turns in "
                    f"running Python: {why}. {_HELP}",
                    stacklevel=4,
                )
        if workers is None:
            _need(
                epoch.streams is None,
                "DataLoader: the state is of processes with a data set each; "
                "these workers are threads, which share one.",
                RuntimeError,
            )
            return self._start_threads(epoch.seed), False
        # A new epoch whose workers can say where their data sets are.
        if self.dataset_kind and epoch.streams is None and not epoch.taken and keeps_state(self.dataset):
            epoch.streams = {}
        for number, worker in enumerate(workers):
            # Each worker may go on from a place of its own.
            worker.begin(self._epochs, epoch.seed, (epoch.streams or {}).get(number))
        return workers, True

    def _start_threads(self, seed: int) -> list[Worker]:
        count = self.num_workers
        # Persistent workers call `worker_init_fn` once, also where they are threads, which end with an epoch.
        if self._persistent_workers and self._started:
            init_fn = None
        else:
            init_fn = self.worker_init_fn
        self._started = True
        infos = [
            WorkerInfo(id=i, num_workers=count, dataset=self.dataset, seed=seed + i) for i in range(count)
        ]
        return [Worker(info, self._fetch(), init_fn) for info in infos]

    def _finish(self, batch: Any, copy: bool = True) -> Any:
        batch = to_tensors(batch, self.places[0] if self.places else None, copy)
        if self.return_list or not self.feed_list:
            return batch
        # In static mode: a dict from the names of Variables to the fields.
        fields = batch if isinstance(batch, list) else [batch]
        return [{variable.name: field for variable, field in zip(self.feed_list, fields, strict=True)}]


def _seed(epoch: int) -> int:
    """The seed of an epoch: fixed by `paddle.seed` and NumPy's state, neither of which it changes."""
    kind, words, place, *_ = np.random.get_state()  # noqa: NPY002  the generator that samplers use
    generator = default_generator()
    parts = [
        epoch,
        place,
        *words[:4].tolist(),
        generator._seed & 0xFFFFFFFF,
        generator._seed >> 32,
        generator._offset & 0xFFFFFFFF,
    ]
    # A positive number of 63 bits, which fits into int64.
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)


def _places(places: Any) -> list[Place]:
    if places is None:
        return []
    return [parse(place) for place in (places if isinstance(places, list | tuple) else [places])]
