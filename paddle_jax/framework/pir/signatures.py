"""The attributes of PIR operations: name, kind and, where one is usual, default. Operations that are not here have none.

Kinds: bool, i32, i64, f32, f64, str, dtype, place, lists i32s, i64s, f32s, f64s of them, and ints, a list of int64 of its own kind.
Read off the files that Paddle 3.3.1 writes. `fetch` and `data` are the outputs and inputs of a program.
"""

import ast
import functools as ft

_TEXT = """
affine_grid align_corners:bool=True
all axis:i64s keepdim:bool=False
addmm beta:f32 alpha:f32
allclose equal_nan:bool
amax axis:i64s keepdim:bool=False
amin axis:i64s keepdim:bool=False
any axis:i64s keepdim:bool=False
arange dtype:dtype place:place
argmax keepdims:bool flatten:bool=False dtype:dtype
argmin keepdims:bool flatten:bool=False dtype:dtype
argsort axis:i32 descending:bool=False stable:bool=False
array_to_tensor axis:i32 use_stack:bool
assign_value_ shape:i32s dtype:dtype values:f64s place:place
batch_norm_ is_test:bool=True momentum:f32 epsilon:f32 data_format:str='NCHW' use_global_stats:bool=False trainable_statistics:bool=False
bicubic_interp data_format:str='NCHW' out_d:i32=-1 out_h:i32=-1 out_w:i32=-1 scale:f64s interp_method:str align_corners:bool=False
    align_mode:i32=0
bilinear_interp data_format:str='NCHW' out_d:i32=-1 out_h:i32=-1 out_w:i32=-1 scale:f64s interp_method:str align_corners:bool=False
    align_mode:i32=0
bitwise_left_shift is_arithmetic:bool
cast dtype:dtype
celu alpha:f32
channel_shuffle groups:i32=1 data_format:str='NCHW'
cholesky upper:bool
conv2d strides:i32s paddings:i32s padding_algorithm:str='EXPLICIT' dilations:i32s groups:i32=1 data_format:str='NCHW'
conv2d_transpose strides:i32s paddings:i32s output_padding:i32s padding_algorithm:str='EXPLICIT' groups:i32=1 dilations:i32s
    data_format:str='NCHW'
conv3d strides:i32s paddings:i32s padding_algorithm:str='EXPLICIT' groups:i32=1 dilations:i32s data_format:str='NCDHW'
conv3d_transpose strides:i32s paddings:i32s output_padding:i32s output_size:i32s=() padding_algorithm:str='EXPLICIT' groups:i32=1
    dilations:i32s data_format:str='NCHW'
create_array dtype:dtype
cross axis:i32
cross_entropy_with_softmax soft_label:bool=False use_softmax:bool=True numeric_stable_mode:bool=True ignore_index:i32=-100 axis:i32
cummax axis:i32 dtype:dtype
cummin axis:i32 dtype:dtype
cumprod dim:i32 exclusive:bool=False reverse:bool=False
cumsum flatten:bool=False exclusive:bool=False reverse:bool=False
data name:str shape:ints dtype:dtype place:place
depthwise_conv2d strides:i32s paddings:i32s padding_algorithm:str='EXPLICIT' groups:i32=1 dilations:i32s data_format:str='NCHW'
depthwise_conv2d_transpose strides:i32s paddings:i32s output_padding:i32s padding_algorithm:str='EXPLICIT' groups:i32=1 dilations:i32s
    data_format:str='NCHW'
diag offset:i32 padding_value:f32
diag_embed offset:i32 dim1:i32 dim2:i32
diagonal offset:i32 axis1:i32 axis2:i32
dist p:f32
dequantize_linear quant_axis:i32=-1 bit_length:i32=8 qmin:i32=-128 qmax:i32=127 round_type:i32=0 is_test:bool=True only_observer:bool=False
dropout is_test:bool=True mode:str='upscale_in_train' seed:i32=0 fix_seed:bool=False
eigh UPLO:str
eigvalsh uplo:str is_test:bool=True
einsum equation:str
elu alpha:f32
embedding padding_idx:i64 sparse:bool=False
expand_as target_shape:i64s
eye dtype:dtype place:place
fake_quantize_dequantize_moving_average_abs_max moving_rate:f32=0.9 bit_length:i32=8 is_test:bool=True round_type:i32=1
fetch name:str col:i32
fft_c2c axes:i64s normalization:str forward:bool
fft_c2r axes:i64s normalization:str forward:bool last_dim_size:i64
fft_r2c axes:i64s normalization:str forward:bool onesided:bool
flatten start_axis:i32 stop_axis:i32
flip axis:i32s
full shape:ints value:f64 dtype:dtype place:place
full_batch_size_like shape:i32s dtype:dtype value:f64 input_dim_idx:i32 output_dim_idx:i32 place:place
full_int_array value:i64s dtype:dtype place:place
full_like dtype:dtype place:place
full_with_tensor dtype:dtype
gelu approximate:bool
grid_sample mode:str padding_mode:str align_corners:bool=False
group_norm epsilon:f64 groups:i32=1 data_format:str='NCHW'
gumbel_softmax temperature:f32 hard:bool axis:i32
hardshrink threshold:f32
hardsigmoid slope:f32 offset:f32
hardtanh t_min:f32 t_max:f32
histogram bins:i64 min:f32 max:f32 density:bool
huber_loss delta:f32
increment_ value:f32
index_add axis:i32
index_put accumulate:bool=False
index_select axis:i32
instance_norm epsilon:f32
isclose equal_nan:bool
kldiv_loss reduction:str log_target:bool
kthvalue k:i64 axis:i32 keepdim:bool=False
label_smooth epsilon:f32
layer_norm epsilon:f32 begin_norm_axis:i32
leaky_relu negative_slope:f64
linear_interp data_format:str='NCHW' out_d:i32=-1 out_h:i32=-1 out_w:i32=-1 scale:f64s interp_method:str align_corners:bool=False
    align_mode:i32=0
log_softmax axis:i32
logcumsumexp axis:i32 flatten:bool=False exclusive:bool=False reverse:bool=False
logit eps:f64
logsumexp axis:i32s keepdim:bool=False reduce_all:bool
lp_pool2d kernel_size:ints strides:i64s paddings:i64s ceil_mode:bool=False exclusive:bool=True data_format:str='NCHW' pooling_type:str
    global_pooling:bool=False adaptive:bool=False padding_algorithm:str='EXPLICIT' norm_type:f32
lu pivot:bool
matmul transpose_x:bool=False transpose_y:bool=False
matrix_power n:i32
matrix_rank tol:f32 use_default_tol:bool hermitian:bool
max keepdim:bool=False
max_pool2d_with_index kernel_size:i32s strides:i32s paddings:i32s global_pooling:bool=False adaptive:bool=False ceil_mode:bool=False
maxout groups:i32=1 axis:i32
mean keepdim:bool=False
median axis:ints keepdim:bool=False mode:str
min keepdim:bool=False
mish lambda:f32=20.0
mode axis:i32 keepdim:bool=False
max_pool3d_with_index kernel_size:i32s strides:i32s paddings:i32s global_pooling:bool=False adaptive:bool=False ceil_mode:bool=False
multinomial replacement:bool
nearest_interp data_format:str='NCHW' out_d:i32=-1 out_h:i32=-1 out_w:i32=-1 scale:f64s interp_method:str align_corners:bool=False
    align_mode:i32=0
nll_loss ignore_index:i64=-100 reduction:str
p_norm porder:f32 axis:i32 epsilon:f32 keepdim:bool=False asvector:bool
pad paddings:i32s
pad3d mode:str pad_value:f64 data_format:str='NCDHW'
pixel_shuffle upscale_factor:i32 data_format:str='NCHW'
pixel_unshuffle downscale_factor:i32 data_format:str='NCHW'
pool2d strides:i64s paddings:i64s ceil_mode:bool=False exclusive:bool=True data_format:str='NCHW' pooling_type:str global_pooling:bool=False
    adaptive:bool=False padding_algorithm:str='EXPLICIT'
pool3d kernel_size:i64s strides:i64s paddings:i64s ceil_mode:bool=False exclusive:bool=True data_format:str='NCDHW' pooling_type:str
    global_pooling:bool=False adaptive:bool=False padding_algorithm:str='EXPLICIT'
pow y:f32
prelu data_format:str='NCHW' mode:str
prod keepdim:bool=False reduce_all:bool
put_along_axis axis:i32 reduce:str include_self:bool=True
quantize_linear quant_axis:i32=-1 bit_length:i32=8 qmin:i32=-128 qmax:i32=127 round_type:i32=0 is_test:bool=True only_observer:bool=False
qr mode:str
renorm p:f32 axis:i32 max_norm:f32
repeat_interleave repeats:i32 axis:i32 output_size:i64=-1
rnn dropout_prob:f32 is_bidirec:bool input_size:i32 hidden_size:i32 num_layers:i32 mode:str seed:i32=0 is_test:bool=True
roll axis:i64s
round decimals:i32
rrelu lower:f32 upper:f32 is_test:bool=True
scale bias:f32=0.0 bias_after_scale:bool=True
scatter overwrite:bool=True
searchsorted out_int32:bool=False right:bool=False
selu scale:f32 alpha:f32
shard_index index_num:i32 nshards:i32 shard_id:i32 ignore_value:i32
sigmoid_cross_entropy_with_logits normalize:bool=False ignore_index:i32=-100
slice axes:i64s infer_flags:i64s decrease_axis:i64s
set_value_with_tensor_ axes:i64s decrease_axes:i64s none_axes:i64s
softmax axis:i32
softplus beta:f64 threshold:f64
softshrink threshold:f32
split_with_num num:i32
stack axis:i32
stanh scale_a:f32 scale_b:f32
strided_slice axes:i32s
sum dtype:dtype='Undefined(ALL_DTYPE)' keepdim:bool=False
svd full_matrices:bool
take_along_axis axis:i32
temporal_shift seg_num:i32 shift_ratio:f32 data_format:str='NCHW'
thresholded_relu threshold:f32 value:f32
topk axis:i32 largest:bool=True sorted:bool=True
trace offset:i32 axis1:i32 axis2:i32
transpose perm:i32s
triangular_solve upper:bool transpose:bool unitriangular:bool
tril diagonal:i32
trilinear_interp data_format:str='NCHW' out_d:i32=-1 out_h:i32=-1 out_w:i32=-1 scale:f64s interp_method:str align_corners:bool=False
    align_mode:i32=0
triu diagonal:i32
uniform shape:ints dtype:dtype seed:i32=0 diag_num:i32=0 diag_step:i32=0 diag_val:f32=1.0 place:place
unbind axis:i32
unfold kernel_sizes:i32s strides:i32s paddings:i32s dilations:i32s
unique return_index:bool return_inverse:bool return_counts:bool axis:i32s dtype:dtype is_sorted:bool
unpool ksize:i32s strides:i32s padding:i32s data_format:str='NCHW'
unstack axis:i32 num:i32
"""


@ft.cache
def signatures():
    """{operation: [(attribute, kind, default)]}; a default of None: it has to be given."""
    found = {}
    for line in _TEXT.replace("\n    ", " ").strip().splitlines():
        name, *attrs = line.split()
        found[name] = [_attribute(one) for one in attrs]
    return found


def _attribute(text):
    name, _, rest = text.partition(":")
    kind, given, default = rest.partition("=")
    return name, kind, ast.literal_eval(default) if given else None
