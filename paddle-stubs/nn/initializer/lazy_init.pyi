from paddle_jax.nn.initializer.lazy_init import *
from paddle_jax.nn.initializer.lazy_init import LazyInitHelper as LazyInitHelper
from paddle_jax.nn.initializer.lazy_init import lazy_init_helper as lazy_init_helper
