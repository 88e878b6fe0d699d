from paddle_jax.vision.datasets.voc2012 import *
from paddle_jax.vision.datasets.voc2012 import VOC2012 as VOC2012
