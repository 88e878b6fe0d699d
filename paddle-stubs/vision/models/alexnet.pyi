from paddle_jax.vision.models.alexnet import *
from paddle_jax.vision.models.alexnet import AlexNet as AlexNet
from paddle_jax.vision.models.alexnet import ConvPoolLayer as ConvPoolLayer
from paddle_jax.vision.models.alexnet import alexnet as alexnet
