"""The parts behind DataLoader; user programs import some of them by this path."""

from paddle_jax.io.dataloader.batch_sampler import BatchSampler, DistributedBatchSampler
from paddle_jax.io.dataloader.dataset import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from paddle_jax.io.dataloader.sampler import (
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from paddle_jax.io.dataloader.worker import get_worker_info
