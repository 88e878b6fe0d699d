from paddle_jax.vision.models.squeezenet import *
from paddle_jax.vision.models.squeezenet import MakeFire as MakeFire
from paddle_jax.vision.models.squeezenet import MakeFireConv as MakeFireConv
from paddle_jax.vision.models.squeezenet import SqueezeNet as SqueezeNet
from paddle_jax.vision.models.squeezenet import squeezenet1_0 as squeezenet1_0
from paddle_jax.vision.models.squeezenet import squeezenet1_1 as squeezenet1_1
