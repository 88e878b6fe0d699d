from paddle_jax.vision.models.vgg import *
from paddle_jax.vision.models.vgg import VGG as VGG
from paddle_jax.vision.models.vgg import _vgg as _vgg
from paddle_jax.vision.models.vgg import make_layers as make_layers
from paddle_jax.vision.models.vgg import vgg11 as vgg11
from paddle_jax.vision.models.vgg import vgg13 as vgg13
from paddle_jax.vision.models.vgg import vgg16 as vgg16
from paddle_jax.vision.models.vgg import vgg19 as vgg19
