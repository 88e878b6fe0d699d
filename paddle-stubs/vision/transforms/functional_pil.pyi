from paddle_jax.vision.transforms.functional_pil import *
from paddle_jax.vision.transforms.functional_pil import adjust_brightness as adjust_brightness
from paddle_jax.vision.transforms.functional_pil import adjust_contrast as adjust_contrast
from paddle_jax.vision.transforms.functional_pil import adjust_hue as adjust_hue
from paddle_jax.vision.transforms.functional_pil import adjust_saturation as adjust_saturation
from paddle_jax.vision.transforms.functional_pil import affine as affine
from paddle_jax.vision.transforms.functional_pil import center_crop as center_crop
from paddle_jax.vision.transforms.functional_pil import crop as crop
from paddle_jax.vision.transforms.functional_pil import erase as erase
from paddle_jax.vision.transforms.functional_pil import hflip as hflip
from paddle_jax.vision.transforms.functional_pil import pad as pad
from paddle_jax.vision.transforms.functional_pil import perspective as perspective
from paddle_jax.vision.transforms.functional_pil import resize as resize
from paddle_jax.vision.transforms.functional_pil import rotate as rotate
from paddle_jax.vision.transforms.functional_pil import to_grayscale as to_grayscale
from paddle_jax.vision.transforms.functional_pil import to_tensor as to_tensor
from paddle_jax.vision.transforms.functional_pil import vflip as vflip
