from paddle_jax.nn.init import *
from paddle_jax.nn.init import _calculate_fan_in_and_fan_out as _calculate_fan_in_and_fan_out
from paddle_jax.nn.init import constant_ as constant_
from paddle_jax.nn.init import dirac_ as dirac_
from paddle_jax.nn.init import eye_ as eye_
from paddle_jax.nn.init import kaiming_normal_ as kaiming_normal_
from paddle_jax.nn.init import kaiming_uniform_ as kaiming_uniform_
from paddle_jax.nn.init import normal_ as normal_
from paddle_jax.nn.init import ones_ as ones_
from paddle_jax.nn.init import orthogonal_ as orthogonal_
from paddle_jax.nn.init import trunc_normal_ as trunc_normal_
from paddle_jax.nn.init import uniform_ as uniform_
from paddle_jax.nn.init import xavier_normal_ as xavier_normal_
from paddle_jax.nn.init import xavier_uniform_ as xavier_uniform_
from paddle_jax.nn.init import zeros_ as zeros_
