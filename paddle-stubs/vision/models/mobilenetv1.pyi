from paddle_jax.vision.models.mobilenetv1 import *
from paddle_jax.vision.models.mobilenetv1 import DepthwiseSeparable as DepthwiseSeparable
from paddle_jax.vision.models.mobilenetv1 import MobileNetV1 as MobileNetV1
from paddle_jax.vision.models.mobilenetv1 import mobilenet_v1 as mobilenet_v1
