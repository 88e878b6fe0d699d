from paddle_jax.hapi.dynamic_flops import *
from paddle_jax.hapi.dynamic_flops import count_adap_avgpool as count_adap_avgpool
from paddle_jax.hapi.dynamic_flops import count_avgpool as count_avgpool
from paddle_jax.hapi.dynamic_flops import count_bn as count_bn
from paddle_jax.hapi.dynamic_flops import count_convNd as count_convNd
from paddle_jax.hapi.dynamic_flops import count_io_info as count_io_info
from paddle_jax.hapi.dynamic_flops import count_leaky_relu as count_leaky_relu
from paddle_jax.hapi.dynamic_flops import count_linear as count_linear
from paddle_jax.hapi.dynamic_flops import count_parameters as count_parameters
from paddle_jax.hapi.dynamic_flops import count_zero_ops as count_zero_ops
from paddle_jax.hapi.dynamic_flops import dynamic_flops as dynamic_flops
from paddle_jax.hapi.dynamic_flops import flops as flops
