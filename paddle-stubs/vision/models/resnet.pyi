from paddle_jax.vision.models.resnet import *
from paddle_jax.vision.models.resnet import _resnet as _resnet
