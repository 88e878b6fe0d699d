from paddle_jax.distributed.fleet.dataset.dataset import *
from paddle_jax.distributed.fleet.dataset.dataset import DatasetBase as DatasetBase
from paddle_jax.distributed.fleet.dataset.dataset import InMemoryDataset as InMemoryDataset
from paddle_jax.distributed.fleet.dataset.dataset import QueueDataset as QueueDataset
