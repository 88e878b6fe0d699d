from paddle_jax.vision.models.inceptionv3 import *
from paddle_jax.vision.models.inceptionv3 import InceptionA as InceptionA
from paddle_jax.vision.models.inceptionv3 import InceptionB as InceptionB
from paddle_jax.vision.models.inceptionv3 import InceptionC as InceptionC
from paddle_jax.vision.models.inceptionv3 import InceptionD as InceptionD
from paddle_jax.vision.models.inceptionv3 import InceptionE as InceptionE
from paddle_jax.vision.models.inceptionv3 import InceptionStem as InceptionStem
from paddle_jax.vision.models.inceptionv3 import InceptionV3 as InceptionV3
from paddle_jax.vision.models.inceptionv3 import inception_v3 as inception_v3
