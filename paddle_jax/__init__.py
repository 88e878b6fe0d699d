"""PaddlePaddle's Python API on JAX. Names, arguments and results are Paddle 3.3's; see docs/architecture.md
for how it works."""

from paddle_jax import _launch

_launch.run_when_asked()  # the launcher runs without the rest of the package

from paddle_jax import _config as _config  # noqa: I001  configures jax before anything else is imported

from paddle_jax.alias import install_as_paddle

# dtypes, devices, modes
from paddle_jax._core.tape.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from paddle_jax._core.base.dtype import (
    DType as dtype,
    bfloat16,
    bool_ as bool,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    float8_e4m3fn,
    float8_e5m2,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    pstring,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
    undefined as raw,
)
from paddle_jax._core.kernels.product_precision import matmul_precision
from paddle_jax._core.runner.explain import explain
from paddle_jax._core.ops.custom import register_op
from paddle_jax._core.tensors.memory_report import live_tensors
from paddle_jax._core.tensors.printing import set_printoptions
from paddle_jax._core.base.flags import get_flags, set_flags
from paddle_jax._core.tensors.place import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    CustomPlace,
    XPUPlace,
    get_device,
    set_device,
)
from paddle_jax._core.tensors.random import (
    Generator,
    get_cuda_rng_state,
    get_rng_state,
    seed,
    set_cuda_rng_state,
    set_rng_state,
)
from paddle_jax._core.tensors.tensor import Tensor

from paddle_jax._core.base.dtype import (
    complex64 as cfloat,
    complex128 as cdouble,
    float16 as half,
    float32 as float,
    float64 as double,
)
from paddle_jax._core.base.dtype import int16 as short, int32 as int, int64 as long
from paddle_jax._core.tensors.number_limits import finfo, iinfo
from paddle_jax._core.tensors.random import seed as manual_seed
from paddle_jax._core.base.size import Size
from math import e, inf, nan, pi

newaxis = None

# gradients
from paddle_jax.autograd import grad

# tensor functions, by file
# arithmetic, reductions, linear algebra
from paddle_jax.tensor.math import (
    add,
    add_n,
    clip,
    clip as clamp,
    divide,
    divide as div,
    floor_divide,
    fmax,
    fmin,
    increment,
    lerp,
    maximum,
    minimum,
    multiply,
    multiply as mul,
    pow,
    remainder,
    remainder as floor_mod,
    remainder as mod,
    scale,
    subtract,
    subtract as sub,
    true_divide,
)
from paddle_jax.tensor.ops import (
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    ceil,
    cos,
    cosh,
    deg2rad,
    exp,
    expm1,
    floor,
    frac,
    log,
    log10,
    log1p,
    log2,
    neg,
    negative,
    positive,
    rad2deg,
    reciprocal,
    round,
    rsqrt,
    sgn,
    sigmoid,
    sign,
    sin,
    sinc,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
    trunc,
)
from paddle_jax.tensor.special import (
    digamma,
    erf,
    erfinv,
    gammainc,
    gammaincc,
    gammaln,
    i0,
    i0e,
    i1,
    i1e,
    lgamma,
    logit,
    multigammaln,
    polygamma,
    stanh,
)
from paddle_jax.tensor.logic import (
    allclose,
    equal,
    equal as eq,
    equal_all,
    greater_equal,
    greater_equal as ge,
    greater_than,
    greater_than as greater,
    greater_than as gt,
    is_empty,
    is_tensor,
    isclose,
    isfinite,
    isin,
    isinf,
    isnan,
    isneginf,
    isposinf,
    isreal,
    less_equal,
    less_equal as le,
    less_than,
    less_than as less,
    less_than as lt,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
    not_equal as ne,
    signbit,
)
from paddle_jax.tensor.attribute import (
    angle,
    broadcast_shape,
    broadcast_shapes,
    complex,
    conj,
    imag,
    is_complex,
    is_floating_point,
    is_integer,
    numel,
    polar,
    rank,
    real,
    shape,
)
from paddle_jax.tensor.reduction import (
    all,
    amax,
    amin,
    any,
    count_nonzero,
    logsumexp,
    max,
    mean,
    min,
    nansum,
    prod,
    reduce_as,
    sum,
)
from paddle_jax.tensor.cumulative import (
    cummax,
    cummin,
    cumprod,
    cumsum,
    cumulative_trapezoid,
    diff,
    logcumsumexp,
    nan_to_num,
    renorm,
    trapezoid,
    vander,
)
from paddle_jax.tensor.stat import median, nanmean, nanmedian, nanquantile, quantile, std, var
from paddle_jax.tensor.linalg import (
    addmm,
    baddbmm,
    bmm,
    cross,
    dot,
    inner,
    kron,
    matmul,
    matrix_transpose,
    mm,
    mv,
    outer,
    outer as ger,
    t,
    trace,
    vecdot,
)
from paddle_jax.tensor.norms import cdist, dist, norm, pdist
from paddle_jax.tensor.decomposition import cholesky, eigvalsh
from paddle_jax.tensor.solve import inv as inverse
from paddle_jax.tensor.einsum import einsum
from paddle_jax.tensor.bitwise import (
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
)
from paddle_jax.tensor.elementwise import (
    atan2,
    copysign,
    frexp,
    gcd,
    heaviside,
    hypot,
    lcm,
    ldexp,
    logaddexp,
    multiplex,
    nextafter,
)
from paddle_jax.tensor.histogram import bincount, histogram, histogram_bin_edges, histogramdd
from paddle_jax import bounded, fft, func, interop, linalg, signal

abs_ = abs.inplace
acos_ = acos.inplace
addmm_ = addmm.inplace
atan_ = atan.inplace
baddbmm_ = baddbmm.inplace
bitwise_and_ = bitwise_and.inplace
bitwise_invert_ = bitwise_invert.inplace
bitwise_left_shift_ = bitwise_left_shift.inplace
bitwise_not_ = bitwise_not.inplace
bitwise_or_ = bitwise_or.inplace
bitwise_right_shift_ = bitwise_right_shift.inplace
bitwise_xor_ = bitwise_xor.inplace
copysign_ = copysign.inplace
cos_ = cos.inplace
cumprod_ = cumprod.inplace
cumsum_ = cumsum.inplace
digamma_ = digamma.inplace
div_ = divide.inplace
divide_ = divide.inplace
equal_ = equal.inplace
erf_ = erf.inplace
expm1_ = expm1.inplace
floor_divide_ = floor_divide.inplace
floor_mod_ = remainder.inplace
frac_ = frac.inplace
gammainc_ = gammainc.inplace
gammaincc_ = gammaincc.inplace
gammaln_ = gammaln.inplace
gcd_ = gcd.inplace
greater_equal_ = greater_equal.inplace
greater_than_ = greater_than.inplace
hypot_ = hypot.inplace
i0_ = i0.inplace
lcm_ = lcm.inplace
ldexp_ = ldexp.inplace
less_ = less_than.inplace
less_equal_ = less_equal.inplace
less_than_ = less_than.inplace
lgamma_ = lgamma.inplace
log10_ = log10.inplace
log2_ = log2.inplace
log_ = log.inplace
logical_and_ = logical_and.inplace
logical_not_ = logical_not.inplace
logical_or_ = logical_or.inplace
logit_ = logit.inplace
mod_ = remainder.inplace
multigammaln_ = multigammaln.inplace
multiply_ = multiply.inplace
nan_to_num_ = nan_to_num.inplace
neg_ = neg.inplace
polygamma_ = polygamma.inplace
pow_ = pow.inplace
remainder_ = remainder.inplace
renorm_ = renorm.inplace
sin_ = sin.inplace
sinc_ = sinc.inplace
sinh_ = sinh.inplace
square_ = square.inplace
sub_ = subtract.inplace
subtract_ = subtract.inplace
t_ = t.inplace
tan_ = tan.inplace
tanh_ = tanh.inplace
trunc_ = trunc.inplace
acosh_ = acosh.inplace
asin_ = asin.inplace
asinh_ = asinh.inplace
atanh_ = atanh.inplace
cosh_ = cosh.inplace
log1p_ = log1p.inplace
logical_xor_ = logical_xor.inplace
not_equal_ = not_equal.inplace
# end of arithmetic
from paddle_jax.tensor.creation import (
    as_tensor,
    asarray,
    assign,
    clone,
    empty,
    empty_like,
    from_numpy,
    full,
    full_like,
    ones,
    ones_like,
    to_tensor,
    tolist,
    zeros,
    zeros_like,
)
from paddle_jax.tensor.typed import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from paddle_jax.tensor.sequences import arange, linspace, logspace, range
from paddle_jax.tensor.manipulation import (
    broadcast_tensors,
    broadcast_to,
    cast,
    expand,
    expand_as,
    flatten,
    permute,
    reshape,
    squeeze,
    tile,
    transpose,
    transpose as swapaxes,
    transpose as swapdims,
    unsqueeze,
    view,
    view_as,
)
from paddle_jax.tensor.joining import (
    chunk,
    column_stack,
    concat,
    concat as cat,
    concat as concatenate,
    dsplit,
    dstack,
    hsplit,
    hstack,
    row_stack,
    split,
    stack,
    tensor_split,
    unbind,
    unstack,
    vsplit,
    vstack,
)
from paddle_jax.tensor.gathering import (
    gather,
    gather_nd,
    index_sample,
    index_select,
    masked_select,
    take,
    take_along_axis,
    take_along_axis as take_along_dim,
)
from paddle_jax.tensor.search import (
    argmax,
    argmin,
    argsort,
    argwhere,
    bucketize,
    kthvalue,
    mode,
    msort,
    nonzero,
    searchsorted,
    sort,
    topk,
    where,
    where_,
)
from paddle_jax.tensor.random import normal, rand, randint, randn, randperm, standard_normal, uniform
from paddle_jax.tensor.windows import (
    bartlett_window,
    blackman_window,
    hamming_window,
    hann_window,
    kaiser_window,
)
from paddle_jax.tensor.matrices import (
    block_diag,
    cartesian_prod,
    combinations,
    diag,
    diag_embed,
    diagflat,
    eye,
    meshgrid,
    tensordot,
    tril,
    tril_indices,
    triu,
    triu_indices,
)
from paddle_jax.tensor.reorder import (
    as_complex,
    as_real,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    flip,
    flip as reverse,
    moveaxis,
    ravel,
    repeat_interleave,
    roll,
    rot90,
    unflatten,
    view_as_complex,
    view_as_real,
)
from paddle_jax.tensor.slicing import (
    as_strided,
    crop,
    diagonal,
    diagonal_scatter,
    narrow,
    select_scatter,
    shard_index,
    slice,
    slice_scatter,
    strided_slice,
    unfold,
)
from paddle_jax.tensor.masked import masked_fill, masked_scatter
from paddle_jax.tensor.scattering import (
    index_add,
    index_fill,
    index_put,
    put_along_axis,
    scatter,
    scatter_,
    scatter_add,
    scatter_nd,
    scatter_nd_add,
    scatter_reduce,
)
from paddle_jax.tensor.uniqueness import unique, unique_consecutive
from paddle_jax.nn.initializer.lazy_init import LazyGuard
from paddle_jax.nn.layer.parameter import create_parameter
from paddle_jax.tensor.sampling import (
    bernoulli,
    bernoulli_,
    binomial,
    cauchy_,
    geometric_,
    log_normal,
    log_normal_,
    multinomial,
    normal_,
    poisson,
    rand_like,
    randint_like,
    randn_like,
    standard_gamma,
)

# in-place twins of shapes, indices and random numbers
cast_ = cast.inplace
flatten_ = flatten.inplace
index_add_ = index_add.inplace
index_fill_ = index_fill.inplace
index_put_ = index_put.inplace
masked_fill_ = masked_fill.inplace
masked_scatter_ = masked_scatter.inplace
reshape_ = reshape.inplace
scatter_add_ = scatter_add.inplace
squeeze_ = squeeze.inplace
transpose_ = transpose.inplace
tril_ = tril.inplace
triu_ = triu.inplace
unsqueeze_ = unsqueeze.inplace
# end of in-place twins

# subpackages that every program uses; the rest is imported by its own name
from paddle_jax import _C_ops, _legacy_C_ops
from paddle_jax import (
    amp,
    autograd,
    base,
    callbacks,
    compat,
    device,
    distributed,
    framework,
    functional,
    hapi,
    hub,
)
from paddle_jax import incubate, inference, io, jit, metric, metrics, nn, onnx
from paddle_jax import distribution, geometric, profiler
from paddle_jax import (
    optimizer,
    pir,
    quantization,
    reader,
    regularizer,
    sparse,
    special,
    static,
    sysconfig,
    text,
    utils,
    vision,
)
from paddle_jax.amp.auto_cast import (
    autocast,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_enabled,
)
from paddle_jax.base import dygraph as _dygraph, layer_helper as _layer_helper
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.distributed.data_parallel import DataParallel
from paddle_jax.compat.proxy import disable_compat, enable_compat, use_compat_guard
from paddle_jax.framework import (
    async_save,
    clear_async_save_task_queue,
    disable_signal_handler,
    disable_static,
    enable_static,
    in_dynamic_mode,
    load,
    save,
)
from paddle_jax.nn.functional import adaptive_avg_pool1d, conv1d, conv2d, conv3d, group_norm, layer_norm
from paddle_jax.nn.functional.softmaxes import tensor_softmax as softmax
from paddle_jax.base.data_feeder import check_shape
from paddle_jax.framework.mmap_storage import MmapStorage
from paddle_jax.io.batch import batch
from paddle_jax.hapi.dynamic_flops import flops
from paddle_jax.hapi.model import Model
from paddle_jax.hapi.model_summary import summary
from paddle_jax.utils.dlpack import from_dlpack, to_dlpack
from paddle_jax.device import (
    device_guard,
    get_cudnn_version,
    get_default_device,
    set_default_device,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from paddle_jax.version import commit as __git_commit__, full_version as __version__

from paddle_jax import _paths

from paddle_jax._notebook import (
    install_where_ipython_runs as _install_where_ipython_runs,
    load_ipython_extension,
    unload_ipython_extension,
)

_paths.complete()
_install_where_ipython_runs()
_config.collect_as_before()
