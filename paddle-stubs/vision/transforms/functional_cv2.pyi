from paddle_jax.vision.transforms.functional_cv2 import *
from paddle_jax.vision.transforms.functional_cv2 import adjust_brightness as adjust_brightness
from paddle_jax.vision.transforms.functional_cv2 import adjust_contrast as adjust_contrast
from paddle_jax.vision.transforms.functional_cv2 import adjust_hue as adjust_hue
from paddle_jax.vision.transforms.functional_cv2 import adjust_saturation as adjust_saturation
from paddle_jax.vision.transforms.functional_cv2 import affine as affine
from paddle_jax.vision.transforms.functional_cv2 import center_crop as center_crop
from paddle_jax.vision.transforms.functional_cv2 import crop as crop
from paddle_jax.vision.transforms.functional_cv2 import erase as erase
from paddle_jax.vision.transforms.functional_cv2 import hflip as hflip
from paddle_jax.vision.transforms.functional_cv2 import normalize as normalize
from paddle_jax.vision.transforms.functional_cv2 import pad as pad
from paddle_jax.vision.transforms.functional_cv2 import perspective as perspective
from paddle_jax.vision.transforms.functional_cv2 import resize as resize
from paddle_jax.vision.transforms.functional_cv2 import rotate as rotate
from paddle_jax.vision.transforms.functional_cv2 import to_grayscale as to_grayscale
from paddle_jax.vision.transforms.functional_cv2 import to_tensor as to_tensor
from paddle_jax.vision.transforms.functional_cv2 import vflip as vflip
