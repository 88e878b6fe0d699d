from paddle_jax.vision.models.densenet import *
from paddle_jax.vision.models.densenet import BNACConvLayer as BNACConvLayer
from paddle_jax.vision.models.densenet import ConvBNLayer as ConvBNLayer
from paddle_jax.vision.models.densenet import DenseBlock as DenseBlock
from paddle_jax.vision.models.densenet import DenseLayer as DenseLayer
from paddle_jax.vision.models.densenet import DenseNet as DenseNet
from paddle_jax.vision.models.densenet import TransitionLayer as TransitionLayer
from paddle_jax.vision.models.densenet import _densenet as _densenet
from paddle_jax.vision.models.densenet import densenet121 as densenet121
from paddle_jax.vision.models.densenet import densenet161 as densenet161
from paddle_jax.vision.models.densenet import densenet169 as densenet169
from paddle_jax.vision.models.densenet import densenet201 as densenet201
from paddle_jax.vision.models.densenet import densenet264 as densenet264
