from paddle_jax.dataset.image import *
from paddle_jax.dataset.image import batch_images_from_tar as batch_images_from_tar
from paddle_jax.dataset.image import center_crop as center_crop
from paddle_jax.dataset.image import left_right_flip as left_right_flip
from paddle_jax.dataset.image import load_and_transform as load_and_transform
from paddle_jax.dataset.image import load_image as load_image
from paddle_jax.dataset.image import load_image_bytes as load_image_bytes
from paddle_jax.dataset.image import random_crop as random_crop
from paddle_jax.dataset.image import resize_short as resize_short
from paddle_jax.dataset.image import simple_transform as simple_transform
from paddle_jax.dataset.image import to_chw as to_chw
