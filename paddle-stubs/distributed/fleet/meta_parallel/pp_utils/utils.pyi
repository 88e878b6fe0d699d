from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import *
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import dict_to_tuple_helper as dict_to_tuple_helper
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import get_tensor_bytes as get_tensor_bytes
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import get_tensor_dtype as get_tensor_dtype
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import is_float_tensor as is_float_tensor
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import number_2_dtype as number_2_dtype
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import paddle_2_number as paddle_2_number
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import tuple_to_dict_helper as tuple_to_dict_helper
