from paddle_jax.dataset.common import *
from paddle_jax.dataset.common import _check_exists_and_download as _check_exists_and_download
from paddle_jax.dataset.common import cluster_files_reader as cluster_files_reader
from paddle_jax.dataset.common import download as download
from paddle_jax.dataset.common import md5file as md5file
from paddle_jax.dataset.common import must_mkdirs as must_mkdirs
from paddle_jax.dataset.common import split as split
