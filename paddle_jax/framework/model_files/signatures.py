"""The attributes of PIR operations that the writer makes on its own: name, kind and, where one is usual,
default. Others stand in the records of our ops (`known_as`), or have none.

Kinds: bool, i32, i64, f32, f64, str, dtype, place, lists i32s, i64s, f32s, f64s of them, and ints, a list of
int64 of its own kind. Read off the files that Paddle 3.3.1 writes. `fetch` and `data` are the outputs and
inputs of a program.
"""

from __future__ import annotations

import functools as ft
from typing import Any

from paddle_jax.framework.model_files.records import parse_attribute
from paddle_jax.framework.model_files.records import signature as recorded

_TEXT = """
distribute_fpn_proposals min_level:i32 max_level:i32 refer_level:i32 refer_scale:i32 pixel_offset:bool
generate_proposals pre_nms_top_n:i32 post_nms_top_n:i32 nms_thresh:f32 min_size:f32 eta:f32 pixel_offset:bool
matrix_nms score_threshold:f32 nms_top_k:i32 keep_top_k:i32 post_threshold:f32 use_gaussian:bool
 gaussian_sigma:f32 background_label:i32 normalized:bool
prior_box min_sizes:f32s max_sizes:f32s aspect_ratios:f32s variances:f32s flip:bool clip:bool step_w:f32
 step_h:f32 offset:f32 min_max_aspect_ratios_order:bool
segment_pool pooltype:str
send_u_recv reduce_op:str
send_ue_recv message_op:str reduce_op:str
send_uv message_op:str
viterbi_decode include_bos_eos_tag:bool
box_coder code_type:str box_normalized:bool=True axis:i32=0 variance:f32s
deformable_conv strides:i32s paddings:i32s dilations:i32s deformable_groups:i32 groups:i32 im2col_step:i32=1
fold output_sizes:i32s kernel_sizes:i32s strides:i32s paddings:i32s dilations:i32s
hsigmoid_loss num_classes:i32 is_sparse:bool=False
psroi_pool pooled_height:i32 pooled_width:i32 output_channels:i32 spatial_scale:f32
roi_align pooled_height:i32 pooled_width:i32 spatial_scale:f32 sampling_ratio:i32 aligned:bool
roi_pool pooled_height:i32 pooled_width:i32 spatial_scale:f32
unpool ksize:i32s strides:i32s padding:i32s data_format:str='NCHW'
unpool3d ksize:i32s strides:i32s paddings:i32s output_size:i32s data_format:str='NCDHW'
warpctc blank:i32 norm_by_times:bool
warprnnt blank:i32 fastemit_lambda:f32
yolo_loss anchors:i32s anchor_mask:i32s class_num:i32 ignore_thresh:f32 downsample_ratio:i32
 use_label_smooth:bool=True scale_x_y:f32=1.0
arange dtype:dtype place:place
assign_value_ shape:i32s dtype:dtype values:f64s place:place
data name:str shape:ints dtype:dtype place:place
fetch name:str col:i32
full shape:ints value:f64 dtype:dtype place:place
full_int_array value:i64s dtype:dtype place:place
full_like dtype:dtype place:place
full_with_tensor dtype:dtype
linspace dtype:dtype place:place
median axis:ints keepdim:bool=False mode:str
nanmedian axis:ints keepdim:bool=False mode:str
fill_diagonal_tensor offset:i64 dim1:i32 dim2:i32
pad paddings:i32s
pow y:f32
split_with_num num:i32
embedding_with_scaled_gradient padding_idx:i64=-1
fractional_max_pool2d output_size:i32s kernel_size:i32s random_u:f32 return_mask:bool
fractional_max_pool3d output_size:i32s kernel_size:i32s random_u:f32 return_mask:bool
dropout is_test:bool mode:str seed:i32=0 fix_seed:bool=False
gaussian mean:f32 std:f32 seed:i32=0 dtype:dtype place:place
multinomial replacement:bool
randint low:i32 high:i32 dtype:dtype place:place
randperm n:i32 dtype:dtype place:place
sequence_mask out_dtype:dtype
nll_loss ignore_index:i64=-100 reduction:str
nms threshold:f32
repeat_interleave_with_tensor_index axis:i32 output_size:i64=-1
unique return_index:bool return_inverse:bool return_counts:bool axis:i32s dtype:dtype is_sorted:bool
unique_consecutive return_inverse:bool return_counts:bool axis:i32s dtype:dtype
interp_antialias data_format:str out_d:i32 out_h:i32 out_w:i32 scale:f64s interp_method:str
 align_corners:bool align_mode:i32
lu pivot:bool=True
lu_unpack unpack_ludata:bool=True unpack_pivots:bool=True
lstsq driver:str
matrix_rank tol:f32=0.0 use_default_tol:bool=True hermitian:bool=False
matrix_rank_tol use_default_tol:bool=False hermitian:bool=False
"""


@ft.cache
def listed() -> dict[str, Any]:
    """{operation: its attributes} of those below."""
    found = {}
    # A line that begins with a space goes on with the one before.
    for line in _TEXT.strip().replace("\n ", " ").splitlines():
        name, *attrs = line.split()
        found[name] = [(one.name, one.kind, one.default) for one in map(parse_attribute, attrs)]
    return found


def signature(name: str | None) -> list[Any]:
    """[(attribute, kind, default)] of an operation; a default of None: it has to be given."""
    found = listed().get(name)
    if found is None:
        return recorded(name) or []
    return found
