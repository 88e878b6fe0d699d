from paddle_jax.vision.datasets.flowers import *
from paddle_jax.vision.datasets.flowers import Flowers as Flowers
