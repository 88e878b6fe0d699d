"""DataLoader: batches of Tensors from a data set."""

import collections
import functools as ft
import itertools
import warnings

import numpy as np

from paddle_jax._core import forkserver
from paddle_jax._core.place import parse
from paddle_jax._core.random import default_generator
from paddle_jax._core.state import local
from paddle_jax.io.dataloader.batch_sampler import BatchSampler
from paddle_jax.io.dataloader.collate import to_tensors
from paddle_jax.io.dataloader.dataloader_iter import _DataLoaderIterBase
from paddle_jax.io.dataloader.dataset import IterableDataset
from paddle_jax.io.dataloader.fetcher import make_fetch
from paddle_jax.io.dataloader.process import Unfit, crew
from paddle_jax.io.dataloader.worker import END, Worker, WorkerInfo

_HELP = "What workers need must be picklable; `pip install cloudpickle` makes that so for code typed in and for lambdas"


def _need(condition, message, error=AssertionError):
    if not condition:
        raise error(message)


class DataLoader:
    """Iterates over a data set in batches of Tensors.

    Args:
        dataset: Dataset (or anything with `__getitem__` and `__len__`), or IterableDataset.
        feed_list: list of static variables; with `return_list=False` a batch is `[{name: Tensor}]`. Default None.
        places: place, str, or list of them; batches go to the first. Default None: the current device.
        return_list: give batches as lists. Default True.
        batch_sampler: BatchSampler, or an iterable of lists of indices; then `batch_size`, `shuffle`, `drop_last` must keep their defaults.
        batch_size: int, or None for single samples that are not collated. Default 1.
        shuffle: random order. Default False.
        drop_last: leave out the last batch when it is not full. Default False.
        collate_fn: callable, list of samples to batch. Default None: `default_collate_fn`.
        num_workers: int, processes that read ahead, in order. Default 0: read in the loop.
        use_buffer_reader: accepted; computation is asynchronous here, so the next batch is read while the device works on the last one.
        reader_buffer_size: accepted, see `use_buffer_reader`.
        prefetch_factor: int, batches every worker reads ahead. Default 2.
        use_shared_memory: let large arrays travel in memory that the processes share, not through a pipe. Default True.
        timeout: seconds to wait for a batch of a worker. Default 0: no limit.
        worker_init_fn: callable, called with the worker's number when it starts.
        persistent_workers: keep the workers for the next epoch. Default False: new ones in every epoch.
    Raises:
        AssertionError: a setting is not valid or contradicts another one.
        ValueError: shuffling or batch sampling of an IterableDataset.
        SystemError: a worker ended, or gave no batch within `timeout`; the text names worker, process and signal. (It is a RuntimeError, too.)
    Random numbers in workers (of `random`, NumPy and Paddle) are seeded for every batch from `paddle.seed` and NumPy's state: they are the same for
    any number of workers. A generator that `worker_init_fn` seeds is left alone.
    Differs from Paddle: an exception in the data set or in `collate_fn` reaches the loop as it is, with the worker's traceback as its cause; a batch
        that is neither dict nor list (such as a number) is passed on instead of ending the loop. The data set is sent to the workers as a pickle; if
        it cannot be pickled they are threads, after a warning.
    Example:
        >>> loader = paddle.io.DataLoader([1.0, 2.0, 3.0], batch_size=2)
        >>> [batch.tolist() for batch in loader]
        [[1.0, 2.0], [3.0]]
    """

    def __init__(self, dataset, feed_list=None, places=None, return_list=True, batch_sampler=None, batch_size=1,
                 shuffle=False, drop_last=False, collate_fn=None, num_workers=0, use_buffer_reader=True,
                 reader_buffer_size=2, prefetch_factor=2, use_shared_memory=True, timeout=0, worker_init_fn=None,
                 persistent_workers=False):
        _need(num_workers >= 0, f"DataLoader: num_workers: got {num_workers}; it may not be negative.")
        _need(timeout >= 0, f"DataLoader: timeout: got {timeout}; it may not be negative.")
        _need(prefetch_factor > 0, f"DataLoader: prefetch_factor: got {prefetch_factor}; it must be positive.")
        self.dataset = dataset
        self.feed_list = feed_list
        self.places = _places(places)
        self.return_list = return_list
        self.collate_fn = collate_fn
        self.num_workers = num_workers
        self.use_buffer_reader = use_buffer_reader
        self.reader_buffer_size = reader_buffer_size
        self.prefetch_factor = prefetch_factor
        self.use_shared_memory = use_shared_memory and num_workers > 0
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.pin_memory = True
        self._persistent_workers = persistent_workers
        self._started = False
        self._epochs, self._kept, self._threads = 0, None, False  # of workers: those that wait for the next epoch; whether processes do not work
        if num_workers > 0 and forkserver.available:
            forkserver.start()
        self.dataset_kind = int(isinstance(dataset, IterableDataset))
        if self.dataset_kind:
            _need(not shuffle, "DataLoader: shuffle: an IterableDataset has no index to shuffle; shuffle in its __iter__.", ValueError)
            _need(batch_sampler is None, "DataLoader: batch_sampler: an IterableDataset has no index to sample; use batch_size.", ValueError)
        self._set_batches(batch_sampler, batch_size, shuffle, drop_last)

    def _set_batches(self, batch_sampler, batch_size, shuffle, drop_last):
        self.batch_sampler, self.drop_last, self.batch_size = batch_sampler, drop_last, batch_size
        if batch_sampler is not None:
            default = batch_size == 1 and not shuffle and not drop_last
            _need(default, "DataLoader: batch_sampler: batch_size, shuffle and drop_last are its own matter; leave them at their defaults.")
            self.batch_size = None
        elif batch_size is not None:
            _need(batch_size > 0, f"DataLoader: batch_size: got {batch_size}; it must be None or positive.")
            if not self.dataset_kind:
                self.batch_sampler = BatchSampler(self.dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last)
        elif shuffle:
            warnings.warn("DataLoader: shuffle: without a batch_size the order stays as it is, as in Paddle; set batch_size.", stacklevel=3)
        self.auto_collate_batch = self.batch_sampler is not None or self.batch_size is not None

    def __len__(self):
        """The number of batches.

        Raises:
            ValueError: the data set is iterable, so the number is not known.
        """
        _need(not self.dataset_kind, "DataLoader: an IterableDataset has no length; count the batches while iterating.", ValueError)
        return len(self.batch_sampler if self.auto_collate_batch else self.dataset)

    def __iter__(self):
        """Starts an epoch."""
        local.ctx.frame.stream("a DataLoader")
        return _DataLoaderIterBase(self, self._ahead() if self.num_workers > 0 else self._plain())

    def __call__(self):
        """Starts an epoch; the same as `iter(loader)`."""
        return iter(self)

    def _tasks(self):
        if self.dataset_kind:
            return itertools.repeat(None)
        return iter(self.batch_sampler) if self.auto_collate_batch else iter(range(len(self.dataset)))

    def _fetch(self):
        return ft.partial(make_fetch, self.dataset, self.collate_fn, self.auto_collate_batch, self.batch_size, self.drop_last)

    def _plain(self):
        fetch = self._fetch()()
        for task in self._tasks():
            batch = fetch(task)
            if batch is END:
                return
            yield self._finish(batch)

    def _ahead(self):
        """Batches that workers read ahead."""
        workers, separate = self._crew()
        alive, waiting = collections.deque(workers), collections.deque()
        tasks = enumerate(self._tasks())
        ahead, whole = self.num_workers * self.prefetch_factor, False
        try:
            while True:
                # Tasks are dealt out in turn and results taken in the same turn, so batches keep their order.
                for number, task in itertools.islice(tasks, max(0, ahead - len(waiting)) if alive else 0):
                    alive[0].ask(task, number)
                    waiting.append(alive[0])
                    alive.rotate(-1)
                if not waiting:
                    break
                worker = waiting.popleft()
                batch = worker.take(self.timeout)
                if batch is not END:
                    yield self._finish(batch, copy=not separate)
                elif worker in alive:
                    alive.remove(worker)
            whole = True
        finally:
            if whole and separate and self._persistent_workers and self._kept is None:
                self._kept = workers
            else:
                for worker in workers:
                    worker.stop()

    def _crew(self):
        """(workers of an epoch, whether they are processes)"""
        self._epochs += 1
        seed = _seed(self._epochs)
        workers, self._kept = self._kept, None
        if workers is None and not self._threads:
            try:
                settings = self.auto_collate_batch, self.batch_size, self.drop_last
                workers = crew(self.num_workers, seed, self.use_shared_memory, (self.dataset, self.collate_fn, self.worker_init_fn, settings))
            except Unfit as why:
                self._threads = True
                warnings.warn(f"DataLoader: the workers are threads, not processes, which take turns in running Python: {why}. {_HELP}", stacklevel=4)
        if workers is None:
            return self._start_threads(seed), False
        for worker in workers:
            worker.begin(self._epochs, seed)
        return workers, True

    def _start_threads(self, seed):
        count = self.num_workers
        init_fn = None if self._persistent_workers and self._started else self.worker_init_fn
        self._started = True
        infos = [WorkerInfo(id=i, num_workers=count, dataset=self.dataset, seed=seed + i) for i in range(count)]
        return [Worker(info, self._fetch(), init_fn) for info in infos]

    def _finish(self, batch, copy=True):
        batch = to_tensors(batch, self.places[0] if self.places else None, copy)
        if self.return_list or not self.feed_list:
            return batch
        fields = batch if isinstance(batch, list) else [batch]
        return [{variable.name: field for variable, field in zip(self.feed_list, fields, strict=True)}]


def _seed(epoch):
    """The seed of an epoch: fixed by `paddle.seed` and NumPy's state, neither of which it changes."""
    kind, words, place, *_ = np.random.get_state()  # noqa: NPY002  the generator that samplers use
    generator = default_generator()
    parts = [epoch, place, *words[:4].tolist(), generator._seed & 0xFFFFFFFF, generator._seed >> 32, generator._offset & 0xFFFFFFFF]
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)


def _places(places):
    if places is None:
        return []
    return [parse(place) for place in (places if isinstance(places, list | tuple) else [places])]
