"""The parts behind DataLoader; user programs import some of them by this path."""

from paddle_jax.io.dataloader.batch_sampler import (
    BatchSampler as BatchSampler,
    DistributedBatchSampler as DistributedBatchSampler,
)
from paddle_jax.io.dataloader.dataset import (
    ChainDataset as ChainDataset,
    ComposeDataset as ComposeDataset,
    ConcatDataset as ConcatDataset,
    Dataset as Dataset,
    IterableDataset as IterableDataset,
    Subset as Subset,
    TensorDataset as TensorDataset,
    random_split as random_split,
)
from paddle_jax.io.dataloader.sampler import (
    RandomSampler as RandomSampler,
    Sampler as Sampler,
    SequenceSampler as SequenceSampler,
    SubsetRandomSampler as SubsetRandomSampler,
    WeightedRandomSampler as WeightedRandomSampler,
)
from paddle_jax.io.dataloader.worker import get_worker_info as get_worker_info
