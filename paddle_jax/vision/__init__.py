"""paddle.vision: image models, operations on boxes, transforms of samples."""

from paddle_jax.vision import models, ops, transforms
from paddle_jax.vision.models import *
from paddle_jax.vision.transforms import Compose
