from paddle_jax.vision.transforms.transforms import *
from paddle_jax.vision.transforms.transforms import CenterCrop as CenterCrop
from paddle_jax.vision.transforms.transforms import Grayscale as Grayscale
from paddle_jax.vision.transforms.transforms import Normalize as Normalize
from paddle_jax.vision.transforms.transforms import Pad as Pad
from paddle_jax.vision.transforms.transforms import RandomCrop as RandomCrop
from paddle_jax.vision.transforms.transforms import RandomHorizontalFlip as RandomHorizontalFlip
from paddle_jax.vision.transforms.transforms import RandomResizedCrop as RandomResizedCrop
from paddle_jax.vision.transforms.transforms import RandomVerticalFlip as RandomVerticalFlip
from paddle_jax.vision.transforms.transforms import Resize as Resize
from paddle_jax.vision.transforms.transforms import ToTensor as ToTensor
from paddle_jax.vision.transforms.transforms import Transpose as Transpose
