from paddle_jax.dataset.wmt14 import *
from paddle_jax.dataset.wmt14 import fetch as fetch
from paddle_jax.dataset.wmt14 import gen as gen
from paddle_jax.dataset.wmt14 import get_dict as get_dict
from paddle_jax.dataset.wmt14 import reader_creator as reader_creator
from paddle_jax.dataset.wmt14 import test as test
from paddle_jax.dataset.wmt14 import train as train
