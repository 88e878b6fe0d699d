from paddle_jax.distributed.fleet.dataset import *
from paddle_jax.distributed.fleet.dataset import InMemoryDataset as InMemoryDataset
from paddle_jax.distributed.fleet.dataset import QueueDataset as QueueDataset
