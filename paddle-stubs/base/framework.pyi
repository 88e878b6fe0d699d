from paddle_jax.base.framework import *
from paddle_jax.base.framework import _all_is_type as _all_is_type
from paddle_jax.base.framework import _cpu_num as _cpu_num
from paddle_jax.base.framework import _create_tensor as _create_tensor
from paddle_jax.base.framework import _current_expected_place as _current_expected_place
from paddle_jax.base.framework import _dygraph_guard as _dygraph_guard
from paddle_jax.base.framework import _dygraph_not_support_ as _dygraph_not_support_
from paddle_jax.base.framework import _dygraph_only_ as _dygraph_only_
from paddle_jax.base.framework import _dygraph_place_guard as _dygraph_place_guard
from paddle_jax.base.framework import _dygraph_tracer as _dygraph_tracer
from paddle_jax.base.framework import _get_paddle_place as _get_paddle_place
from paddle_jax.base.framework import _get_paddle_place_list as _get_paddle_place_list
from paddle_jax.base.framework import _get_var as _get_var
from paddle_jax.base.framework import _global_flags as _global_flags
from paddle_jax.base.framework import _set_expected_place as _set_expected_place
from paddle_jax.base.framework import _stride_in_no_check_dy2st_diff as _stride_in_no_check_dy2st_diff
