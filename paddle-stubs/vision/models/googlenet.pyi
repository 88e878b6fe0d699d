from paddle_jax.vision.models.googlenet import *
from paddle_jax.vision.models.googlenet import ConvLayer as ConvLayer
from paddle_jax.vision.models.googlenet import GoogLeNet as GoogLeNet
from paddle_jax.vision.models.googlenet import Inception as Inception
from paddle_jax.vision.models.googlenet import googlenet as googlenet
from paddle_jax.vision.models.googlenet import xavier as xavier
