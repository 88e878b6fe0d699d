from paddle_jax.dataset.uci_housing import *
from paddle_jax.dataset.uci_housing import feature_range as feature_range
from paddle_jax.dataset.uci_housing import fetch as fetch
from paddle_jax.dataset.uci_housing import load_data as load_data
from paddle_jax.dataset.uci_housing import predict_reader as predict_reader
from paddle_jax.dataset.uci_housing import test as test
from paddle_jax.dataset.uci_housing import train as train
