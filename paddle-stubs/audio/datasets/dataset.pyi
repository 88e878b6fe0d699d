from paddle_jax.audio.datasets.dataset import *
from paddle_jax.audio.datasets.dataset import AudioClassificationDataset as AudioClassificationDataset
