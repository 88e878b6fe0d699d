from paddle_jax.dataset.wmt16 import *
from paddle_jax.dataset.wmt16 import get_dict as get_dict
from paddle_jax.dataset.wmt16 import reader_creator as reader_creator
from paddle_jax.dataset.wmt16 import test as test
from paddle_jax.dataset.wmt16 import train as train
from paddle_jax.dataset.wmt16 import validation as validation
