from paddle_jax.vision.models.mobilenetv3 import *
from paddle_jax.vision.models.mobilenetv3 import InvertedResidual as InvertedResidual
from paddle_jax.vision.models.mobilenetv3 import InvertedResidualConfig as InvertedResidualConfig
from paddle_jax.vision.models.mobilenetv3 import MobileNetV3 as MobileNetV3
from paddle_jax.vision.models.mobilenetv3 import MobileNetV3Large as MobileNetV3Large
from paddle_jax.vision.models.mobilenetv3 import MobileNetV3Small as MobileNetV3Small
from paddle_jax.vision.models.mobilenetv3 import SqueezeExcitation as SqueezeExcitation
from paddle_jax.vision.models.mobilenetv3 import mobilenet_v3_large as mobilenet_v3_large
from paddle_jax.vision.models.mobilenetv3 import mobilenet_v3_small as mobilenet_v3_small
