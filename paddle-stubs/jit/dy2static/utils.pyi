from paddle_jax.jit.dy2static.utils import *
from paddle_jax.jit.dy2static.utils import func_to_source_code as func_to_source_code
from paddle_jax.jit.dy2static.utils import is_builtin as is_builtin
from paddle_jax.jit.dy2static.utils import is_paddle_func as is_paddle_func
from paddle_jax.jit.dy2static.utils import make_hashable as make_hashable
from paddle_jax.jit.dy2static.utils import parse_arg_and_kwargs as parse_arg_and_kwargs
from paddle_jax.jit.dy2static.utils import parse_varargs_name as parse_varargs_name
from paddle_jax.jit.dy2static.utils import type_name as type_name
