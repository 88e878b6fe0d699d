from paddle_jax.vision.models.mobilenetv2 import *
from paddle_jax.vision.models.mobilenetv2 import InvertedResidual as InvertedResidual
from paddle_jax.vision.models.mobilenetv2 import MobileNetV2 as MobileNetV2
from paddle_jax.vision.models.mobilenetv2 import mobilenet_v2 as mobilenet_v2
