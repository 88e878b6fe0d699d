from paddle_jax.reader.decorator import *
from paddle_jax.reader.decorator import ComposeNotAligned as ComposeNotAligned
from paddle_jax.reader.decorator import buffered as buffered
from paddle_jax.reader.decorator import cache as cache
from paddle_jax.reader.decorator import chain as chain
from paddle_jax.reader.decorator import compose as compose
from paddle_jax.reader.decorator import firstn as firstn
from paddle_jax.reader.decorator import map_readers as map_readers
from paddle_jax.reader.decorator import multiprocess_reader as multiprocess_reader
from paddle_jax.reader.decorator import shuffle as shuffle
from paddle_jax.reader.decorator import xmap_readers as xmap_readers
