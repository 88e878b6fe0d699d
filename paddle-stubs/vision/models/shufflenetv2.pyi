from paddle_jax.vision.models.shufflenetv2 import *
from paddle_jax.vision.models.shufflenetv2 import InvertedResidual as InvertedResidual
from paddle_jax.vision.models.shufflenetv2 import InvertedResidualDS as InvertedResidualDS
from paddle_jax.vision.models.shufflenetv2 import ShuffleNetV2 as ShuffleNetV2
from paddle_jax.vision.models.shufflenetv2 import channel_shuffle as channel_shuffle
from paddle_jax.vision.models.shufflenetv2 import create_activation_layer as create_activation_layer
from paddle_jax.vision.models.shufflenetv2 import shufflenet_v2_swish as shufflenet_v2_swish
from paddle_jax.vision.models.shufflenetv2 import shufflenet_v2_x0_25 as shufflenet_v2_x0_25
from paddle_jax.vision.models.shufflenetv2 import shufflenet_v2_x0_33 as shufflenet_v2_x0_33
from paddle_jax.vision.models.shufflenetv2 import shufflenet_v2_x0_5 as shufflenet_v2_x0_5
from paddle_jax.vision.models.shufflenetv2 import shufflenet_v2_x1_0 as shufflenet_v2_x1_0
from paddle_jax.vision.models.shufflenetv2 import shufflenet_v2_x1_5 as shufflenet_v2_x1_5
from paddle_jax.vision.models.shufflenetv2 import shufflenet_v2_x2_0 as shufflenet_v2_x2_0
