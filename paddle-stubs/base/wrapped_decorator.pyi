from paddle_jax.base.wrapped_decorator import *
from paddle_jax.base.wrapped_decorator import copy_signature as copy_signature
from paddle_jax.base.wrapped_decorator import wrap_decorator as wrap_decorator
