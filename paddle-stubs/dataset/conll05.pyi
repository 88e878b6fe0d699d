from paddle_jax.dataset.conll05 import *
from paddle_jax.dataset.conll05 import corpus_reader as corpus_reader
from paddle_jax.dataset.conll05 import get_dict as get_dict
from paddle_jax.dataset.conll05 import get_embedding as get_embedding
from paddle_jax.dataset.conll05 import load_dict as load_dict
from paddle_jax.dataset.conll05 import load_label_dict as load_label_dict
from paddle_jax.dataset.conll05 import reader_creator as reader_creator
