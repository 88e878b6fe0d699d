"""paddle.nn.functional: index of the functions, grouped by file."""

from paddle_jax.nn.functional.activation import (
    celu, elu, gelu, glu, gumbel_softmax, hardshrink, hardsigmoid, hardswish, hardtanh, leaky_relu, log_sigmoid, log_softmax, logsigmoid, maxout, mish,
    prelu, relu, relu6, rrelu, selu, sigmoid, silu, softmax, softplus, softshrink, softsign, swiglu, swish, tanh, tanhshrink, thresholded_relu,
)
from paddle_jax.nn.functional.common import (
    alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout, interpolate, linear, pad, upsample, zeropad2d,
)
from paddle_jax.nn.functional.conv import conv1d, conv1d_transpose, conv2d, conv2d_transpose, conv3d, conv3d_transpose
from paddle_jax.nn.functional.input import embedding, one_hot
from paddle_jax.nn.functional.loss import cross_entropy, mse_loss
from paddle_jax.nn.functional.norm import batch_norm, layer_norm
from paddle_jax.nn.functional.pooling import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, avg_pool1d,
    avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d,
)

relu_ = relu.inplace
elu_ = elu.inplace
hardtanh_ = hardtanh.inplace
leaky_relu_ = leaky_relu.inplace
softmax_ = softmax.inplace
tanh_ = tanh.inplace
thresholded_relu_ = thresholded_relu.inplace
