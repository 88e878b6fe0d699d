from paddle_jax.dataset.imikolov import *
from paddle_jax.dataset.imikolov import DataType as DataType
from paddle_jax.dataset.imikolov import build_dict as build_dict
from paddle_jax.dataset.imikolov import fetch as fetch
from paddle_jax.dataset.imikolov import reader_creator as reader_creator
from paddle_jax.dataset.imikolov import test as test
from paddle_jax.dataset.imikolov import train as train
from paddle_jax.dataset.imikolov import word_count as word_count
