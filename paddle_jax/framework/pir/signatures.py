"""The attributes of PIR operations that are written and read by code: name, kind and, where one is usual, default. Others stand in the records of
our ops (`known_as`), or have none.

Kinds: bool, i32, i64, f32, f64, str, dtype, place, lists i32s, i64s, f32s, f64s of them, and ints, a list of int64 of its own kind.
Read off the files that Paddle 3.3.1 writes. `fetch` and `data` are the outputs and inputs of a program.
"""

import functools as ft

from paddle_jax.framework.pir.records import attribute
from paddle_jax.framework.pir.records import signature as recorded

_TEXT = """
affine_grid align_corners:bool=True
allclose equal_nan:bool
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
cast dtype:dtype
conv2d strides:i32s paddings:i32s padding_algorithm:str='EXPLICIT' dilations:i32s groups:i32=1 data_format:str='NCHW'
conv2d_transpose strides:i32s paddings:i32s output_padding:i32s padding_algorithm:str='EXPLICIT' groups:i32=1 dilations:i32s
    data_format:str='NCHW'
conv3d strides:i32s paddings:i32s padding_algorithm:str='EXPLICIT' groups:i32=1 dilations:i32s data_format:str='NCDHW'
conv3d_transpose strides:i32s paddings:i32s output_padding:i32s output_size:i32s=() padding_algorithm:str='EXPLICIT' groups:i32=1
    dilations:i32s data_format:str='NCHW'
create_array dtype:dtype
cross_entropy_with_softmax soft_label:bool=False use_softmax:bool=True numeric_stable_mode:bool=True ignore_index:i32=-100 axis:i32
cumprod dim:i32 exclusive:bool=False reverse:bool=False
cumsum flatten:bool=False exclusive:bool=False reverse:bool=False
data name:str shape:ints dtype:dtype place:place
depthwise_conv2d strides:i32s paddings:i32s padding_algorithm:str='EXPLICIT' groups:i32=1 dilations:i32s data_format:str='NCHW'
depthwise_conv2d_transpose strides:i32s paddings:i32s output_padding:i32s padding_algorithm:str='EXPLICIT' groups:i32=1 dilations:i32s
    data_format:str='NCHW'
dequantize_linear quant_axis:i32=-1 bit_length:i32=8 qmin:i32=-128 qmax:i32=127 round_type:i32=0 is_test:bool=True only_observer:bool=False
dropout is_test:bool=True mode:str='upscale_in_train' seed:i32=0 fix_seed:bool=False
eigvalsh uplo:str is_test:bool=True
einsum equation:str
embedding padding_idx:i64 sparse:bool=False
expand_as target_shape:i64s
eye dtype:dtype place:place
fake_quantize_dequantize_moving_average_abs_max moving_rate:f32=0.9 bit_length:i32=8 is_test:bool=True round_type:i32=1
fetch name:str col:i32
fft_c2c axes:i64s normalization:str forward:bool
fft_c2r axes:i64s normalization:str forward:bool last_dim_size:i64
fft_r2c axes:i64s normalization:str forward:bool onesided:bool
full shape:ints value:f64 dtype:dtype place:place
full_batch_size_like shape:i32s dtype:dtype value:f64 input_dim_idx:i32 output_dim_idx:i32 place:place
full_int_array value:i64s dtype:dtype place:place
full_like dtype:dtype place:place
full_with_tensor dtype:dtype
group_norm epsilon:f64 groups:i32=1 data_format:str='NCHW'
histogram bins:i64 min:f32 max:f32 density:bool
huber_loss delta:f32
increment_ value:f32
index_add axis:i32
instance_norm epsilon:f32
isclose equal_nan:bool
kldiv_loss reduction:str log_target:bool
layer_norm epsilon:f32 begin_norm_axis:i32
linear_interp data_format:str='NCHW' out_d:i32=-1 out_h:i32=-1 out_w:i32=-1 scale:f64s interp_method:str align_corners:bool=False
    align_mode:i32=0
logit eps:f64
logsumexp axis:i32s keepdim:bool=False reduce_all:bool
lp_pool2d kernel_size:ints strides:i64s paddings:i64s ceil_mode:bool=False exclusive:bool=True data_format:str='NCHW' pooling_type:str
    global_pooling:bool=False adaptive:bool=False padding_algorithm:str='EXPLICIT' norm_type:f32
lu pivot:bool
matrix_rank tol:f32 use_default_tol:bool hermitian:bool
max keepdim:bool=False
max_pool2d_with_index kernel_size:i32s strides:i32s paddings:i32s global_pooling:bool=False adaptive:bool=False ceil_mode:bool=False
mean keepdim:bool=False
median axis:ints keepdim:bool=False mode:str
min keepdim:bool=False
max_pool3d_with_index kernel_size:i32s strides:i32s paddings:i32s global_pooling:bool=False adaptive:bool=False ceil_mode:bool=False
multinomial replacement:bool
nearest_interp data_format:str='NCHW' out_d:i32=-1 out_h:i32=-1 out_w:i32=-1 scale:f64s interp_method:str align_corners:bool=False
    align_mode:i32=0
nll_loss ignore_index:i64=-100 reduction:str
p_norm porder:f32 axis:i32 epsilon:f32 keepdim:bool=False asvector:bool
pad paddings:i32s
pad3d mode:str pad_value:f64 data_format:str='NCDHW'
pool2d strides:i64s paddings:i64s ceil_mode:bool=False exclusive:bool=True data_format:str='NCHW' pooling_type:str global_pooling:bool=False
    adaptive:bool=False padding_algorithm:str='EXPLICIT'
pool3d kernel_size:i64s strides:i64s paddings:i64s ceil_mode:bool=False exclusive:bool=True data_format:str='NCDHW' pooling_type:str
    global_pooling:bool=False adaptive:bool=False padding_algorithm:str='EXPLICIT'
pow y:f32
prod keepdim:bool=False reduce_all:bool
quantize_linear quant_axis:i32=-1 bit_length:i32=8 qmin:i32=-128 qmax:i32=127 round_type:i32=0 is_test:bool=True only_observer:bool=False
repeat_interleave repeats:i32 axis:i32 output_size:i64=-1
rnn dropout_prob:f32 is_bidirec:bool input_size:i32 hidden_size:i32 num_layers:i32 mode:str seed:i32=0 is_test:bool=True
roll axis:i64s
rrelu lower:f32 upper:f32 is_test:bool=True
scale bias:f32=0.0 bias_after_scale:bool=True
sigmoid_cross_entropy_with_logits normalize:bool=False ignore_index:i32=-100
slice axes:i64s infer_flags:i64s decrease_axis:i64s
set_value_with_tensor_ axes:i64s decrease_axes:i64s none_axes:i64s
split_with_num num:i32
strided_slice axes:i32s
sum dtype:dtype='Undefined(ALL_DTYPE)' keepdim:bool=False
topk axis:i32 largest:bool=True sorted:bool=True
transpose perm:i32s
trilinear_interp data_format:str='NCHW' out_d:i32=-1 out_h:i32=-1 out_w:i32=-1 scale:f64s interp_method:str align_corners:bool=False
    align_mode:i32=0
uniform shape:ints dtype:dtype seed:i32=0 diag_num:i32=0 diag_step:i32=0 diag_val:f32=1.0 place:place
unfold kernel_sizes:i32s strides:i32s paddings:i32s dilations:i32s
unique return_index:bool return_inverse:bool return_counts:bool axis:i32s dtype:dtype is_sorted:bool
unpool ksize:i32s strides:i32s padding:i32s data_format:str='NCHW'
"""


@ft.cache
def _listed():
    found = {}
    for line in _TEXT.replace("\n    ", " ").strip().splitlines():
        name, *attrs = line.split()
        found[name] = [(one.name, one.kind, one.default) for one in map(attribute, attrs)]
    return found


def signature(name):
    """[(attribute, kind, default)] of an operation; a default of None: it has to be given."""
    found = _listed().get(name)
    return (recorded(name) or []) if found is None else found
