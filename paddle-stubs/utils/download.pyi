from paddle_jax.utils.download import *
from paddle_jax.utils.download import _decompress as _decompress
from paddle_jax.utils.download import _get_unique_endpoints as _get_unique_endpoints
from paddle_jax.utils.download import _map_path as _map_path
from paddle_jax.utils.download import _md5check as _md5check
from paddle_jax.utils.download import get_path_from_url as get_path_from_url
from paddle_jax.utils.download import is_url as is_url
