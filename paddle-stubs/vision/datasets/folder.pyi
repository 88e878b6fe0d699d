from paddle_jax.vision.datasets.folder import *
from paddle_jax.vision.datasets.folder import DatasetFolder as DatasetFolder
from paddle_jax.vision.datasets.folder import ImageFolder as ImageFolder
from paddle_jax.vision.datasets.folder import cv2_loader as cv2_loader
from paddle_jax.vision.datasets.folder import default_loader as default_loader
from paddle_jax.vision.datasets.folder import has_valid_extension as has_valid_extension
from paddle_jax.vision.datasets.folder import make_dataset as make_dataset
from paddle_jax.vision.datasets.folder import pil_loader as pil_loader
