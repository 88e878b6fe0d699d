"""`_C_ops` and `_legacy_C_ops` take the C++ arguments in the real Paddle's order and give what it gives."""

import re

import numpy as np
import pytest

pytestmark = pytest.mark.own_process  # a wrong call of a C++ function can end the process

RNG = np.random.default_rng(3)
A, B = (RNG.uniform(0.2, 0.8, [2, 3]).astype("float32") for _ in range(2))
I, J = (RNG.integers(1, 5, [2, 3]) for _ in range(2))  # noqa: E741
M = RNG.normal(size=[3, 3]).astype("float32")
M = M @ M.T + 3 * np.eye(3, dtype="float32")  # symmetric and far from singular
P, K = RNG.normal(size=[1, 2, 5, 5]).astype("float32"), RNG.normal(size=[3, 2, 2, 2]).astype("float32")
Q, S = (
    RNG.uniform(size=[2, 10, 4]).astype("float32").cumsum(1).cumsum(2),
    RNG.uniform(size=[2, 3, 10]).astype("float32"),
)
R = RNG.uniform(size=[10, 3, 4]).astype("float32").cumsum(2)
V, H, L = (
    RNG.normal(size=[1, 2, 4, 4, 4]).astype("float32"),
    RNG.normal(size=[2, 2, 4]).astype("float32"),
    np.array([[1], [2]]),
)
CALLS = {  # operands by the letters above; arguments that follow have their defaults
    "A": "abs acos all amax amin angle any asin asinh assign atan atanh ceil celu conj cos cosh cumsum diag "
    "diag_embed diagonal digamma elu erf erfinv exp expm1 flatten floor gammaln gelu hardshrink "
    "hardsigmoid hardswish hardtanh i0 i0e i1 i1e is_empty isfinite isinf isnan kthvalue l1_norm "
    "leaky_relu lgamma log log10 log1p log2 log_softmax logcumsumexp logit logsigmoid logsumexp max "
    "mean mean_all min mode nonzero numel p_norm pow reciprocal relu relu6 rint round rsqrt scale selu "
    "share_data sigmoid sign silu sin sinh softplus softshrink softsign sqrt square squared_l2_norm "
    "squeeze stanh swish tan tanh tanh_shrink thresholded_relu tile topk trace tril triu trunc unbind "
    "unsqueeze var variance shape argsort fill_diagonal",
    "AB": "add allclose atan2 bce_loss complex copysign dist divide dot elementwise_pow equal equal_all fmax "
    "fmin gammaincc greater_equal greater_than heaviside isclose kldiv_loss kron less_equal less_than "
    "logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal reduce_as "
    "remainder reshape_grad subtract trunc_divide floor_divide",
    "IJ": "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor add multiply",
    "I": "bitwise_not logical_not sum max cast",
    "MM": "matmul solve triangular_solve cholesky_solve cross lstsq",
    "M": "cholesky det eigvalsh inverse slogdet svdvals matrix_rank",
}
REST = {
    "pow": "2.0",
    "unbind": "1",
    "cast": "'float32'",
    "sum": "[0], None, False",
    "log_softmax": "-1",
    "tile": "[2, 1]",
    "lstsq": "1e-6, 'gels'",
    "cross": "1",
    "matrix_rank": "0.0, True, False",
    "logit": "1e-6",
    "cholesky_solve": "False",
    "clip": "0.3, 0.6",
}
EXPLICIT = """
sum(A, [0, 1], None, True); sum(x=A, axis=[0]); sum(A, 1, 'float64', False); sum(A, T([1]), None, False)
prod(A, [1], False, False)
mean(A, [1], True); max(A, [0], False); argmax(A, 1, False, 'int64'); argmin(A, None, False, 'int32')
argmax(A); logsumexp(A, [1], True)
any(B > 0.5, [1], False)
matmul(A, B, False, True); addmm(M, M, M, 0.5, 2.0); einsum([A, B], 'ij,kj->ik')[0]; multi_dot([M, M])
mv(M, T([1.0, 2.0, 3.0]))
bmm(H, transpose(H, [0, 2, 1]))
norm(A, 1, 1e-10, False); p_norm(A, 2.0, 1, 1e-12, False, False); frobenius_norm(A, [0, 1], False, True)
dist(A, B, 1.0)
softmax(A, 0); log_softmax(A, -1); gelu(A, True); leaky_relu(A - 0.5, 0.1); softplus(A, 2.0, 20.0)
swiglu(A, B)
prelu(P, T([0.2]), 'NCHW', 'all'); maxout(P, 2, 1)
layer_norm(A, None, None, 1e-5, 1); layer_norm(A, T([1.0, 2.0, 3.0]), T([0.0, 1.0, 0.0]), 1e-5, 1)
group_norm(P, None, None, 1e-5, 1, 'NCHW')
instance_norm(P, None, None, 1e-5)
batch_norm(P, Z([2]), O([2]), O([2]), Z([2]), True, 0.9, 1e-5, 'NCHW', False, False)[0]
dropout(A, None, 0.5, True, 'upscale_in_train', 0, False); label_smooth(A, None, 0.1)
embedding(T([0, 1]), A, -1, False); one_hot(T([0, 2]), 3)
conv2d(P, K, [1, 1], [0, 0], 'EXPLICIT', [1, 1], 1, 'NCHW')
conv2d(P, K, [2, 2], [1, 1], 'SAME', [1, 1], 1, 'NCHW')
conv2d_transpose(P, transpose(K, [1, 0, 2, 3]), [2, 2], [0, 0], [], [], 'EXPLICIT', 1, [1, 1], 'NCHW')
conv3d(V, O([3, 2, 2, 2, 2]), [1, 1, 1], [0, 0, 0], 'EXPLICIT', 1, [1, 1, 1], 'NCDHW')
pool2d(P, [2, 2], [2, 2], [0, 0], False, True, 'NCHW', 'max', False, False, 'EXPLICIT')
pool2d(P, [1, 1], [1, 1], [0, 0], False, True, 'NCHW', 'avg', False, True, 'EXPLICIT')
bilinear_interp(P, None, None, None, 'NCHW', -1, 3, 3, [], 'bilinear', False, 1)
nearest_interp(P, None, None, None, 'NCHW', -1, 3, 3, [], 'nearest', False, 1)
pad3d(V, [1, 1, 0, 0, 0, 0], 'constant', 0.5, 'NCDHW'); pad(A, [1, 0, 0, 2], 1.5)
unfold(P, [2, 2], [1, 1], [0, 0, 0, 0], [1, 1])
pixel_shuffle(O([1, 4, 2, 2]), 2, 'NCHW')
cross_entropy_with_softmax(A, L, False, True, True, -100, -1)
cross_entropy_with_softmax(A, softmax(B, -1), True, True, True, -100, -1)
sigmoid_cross_entropy_with_logits(A, B, None, False, -100); huber_loss(A, B, 0.1)
nll_loss(log_softmax(A, -1), T([0, 2]), None, -100, 'mean')
reshape(A, [3, 2]); reshape(A, [-1]); reshape(A, T([3, 2])); reshape(A, [T(3), 2]); transpose(A, [1, 0])
squeeze(A, []); unsqueeze(A, [0, 2])
flatten(P, 1, 2); expand(A, [2, 2, 3])
expand_as(A, O([2, 2, 3]), [2, 2, 3]); tile(A, [2, 1]); roll(A, [1], [1]); flip(A, [0, 1])
repeat_interleave(A, 2, 1, -1)
broadcast_tensors([A, O([1, 3])])
concat([A, B], 1); concat([A, B], T(0)); stack([A, B], 1); split(A, [1, 2], 1); split(A, [1, -1], 1)
split_with_num(A, 3, 1); unbind(A, 0)
unstack(A, 0, 2); meshgrid([T([1, 2]), T([3])])
slice(A, [1], [0], [2], [1], []); slice(A, [0], [1], [2], [1], [0]); strided_slice(A, [1], [0], [3], [2])
gather(A, T([1]), 0)
gather_nd(A, T([[0, 1]])); index_select(A, T([0, 2]), 1)
index_sample(A, T([[0], [2]])); take_along_axis(A, T([[0], [2]]), 1)
put_along_axis(A, T([[0], [2]]), O([2, 1]), 1, 'assign', True)
scatter(A, T([1]), O([1, 3]), True)
scatter_nd_add(A, T([[0]]), O([1, 3])); index_add(A, T([0]), O([1, 3]), 0)
index_put(A, [T([0]), T([1])], T([9.0]), False)
masked_select(A, B > 0.5); where(B > 0.5, A, B); tril(A, -1); triu(A, 1)
topk(A, 2, 1, True, True); argsort(A, 1, True, False); kthvalue(A, 2, 1, True)
cumsum(A, 1, False, True, True); cumprod(A, 1, False, False)
cummax(A, 1, 'int64'); searchsorted(T([1.0, 2.0]), T([1.5]), False, False)
unique(T([3, 1, 3]), True, True, True, [], 'int64'); histogram(A, None, 4, 0.0, 1.0, False)
bincount(T([1, 1, 2]), None, 0); nonzero(B > 0.5)
diagonal(M, 1, 0, 1); trace(M, 0, 0, 1)
clip(A, 0.3, 0.6); scale(A, 2.0, 1.0, True); scale(A, 2.0, 1.0, False); pow(A, 2.0); cast(A, 'int32')
cast(A, FP64); lerp(A, B, O([1]))
clip_by_norm(A, 0.5); fill(A, 2.0); full_like(A, 2.0, 'int32', place)
full([2], 3.0, 'float32', place); zeros([2], 'int32', place); ones([2, 1], 'float64', place)
eye(2, 3, 'float32', place)
arange(T(0), T(3), T(1), 'int64', place); linspace(T(0.0), T(1.0), T(3), 'float32', place)
full_int_array([1, 2], 'int64', place); zeros_like(A, 'float32', place); assign(A); numel(A)
fft_c2c(complex(A, B), [1], 'backward', True)
fft_r2c(A, [1], 'backward', True, True); svd(A, False)[1]; qr(M, 'r')
matmul_grad(A, B, O([2, 2]), False, True); gather_grad(A, T([1]), O([1, 3]), 0); reshape_grad(A, O([6]))
swiglu_grad(A, B, O([2, 3]))
topk_grad(A, T([[2, 1], [0, 1]]), O([2, 2]), 2, 1, True, True)
put_along_axis_grad(A, T([[0], [2]]), O([2, 1]), A, O([2, 3]), 1, 'assign', True)
matmul_grad(M, M, M, True, False)
swiglu_grad(concat([A, B], 1)[:, :4], None, O([2, 2]))[0]
uniform([2, 2], 'float32', 2.0, 2.0, 0, place); gaussian([2], 1.0, 0.0, 0, 'float32', place)
sequence_mask(T([1, 2]), 3, 'int32')
shard_index(T([[1], [5]]), 8, 2, 0, -1); temporal_shift(O([2, 4, 2, 2]), 2, 0.25, 'NCHW')
relu_(A); exp_(A); scale_(A, 2.0, 0.5, True); reshape_(A, [3, 2]); clip_(A, 0.3, 0.6); add_(A, B)
squeeze_(O([1, 2]), [0]); cast_(A, 'float64')
fill_(A, 3.0); fill_diagonal_(M, 0.0, 0, False); tanh_(A)
set_value_(A, [0], [1], [1], [0], [], [], [1], [7.0])
sgd_(A, T([0.1]), B, None, False)
momentum_(A, B, Z([2, 3]), T([0.1]), None, 0.9, True, 'l2_decay', 0.01, False, 1.0)
adam_(A, B, T([0.1]), Z([2, 3]), Z([2, 3]), None, T([0.9]), T([0.99]), None, None, 0.9, 0.99, 1e-8, False,
1000, False, False, False)
adamw_(A, B, T([0.1]), assign(B), square(B), None, T([0.9]), T([0.99]), None, None, 0.9, 0.99, 1e-8, 0.5, 0.1,
True, False, 1000, False, False,
False)
check_finite_and_unscale_([A, B], T([2.0]))
multiclass_nms3(Q, S, None, 0.1, 5, 7, 0.3, True, 1.0, 0)
multiclass_nms3(Q, S, None, 0.1, -1, -1, 0.7, False, 0.9, -1)
multiclass_nms3(Q, S, None, 2.0, 5, 7, 0.3, True, 1.0, 0)
multiclass_nms3(R, transpose(S[0], [1, 0]), I32([4, 6]), 0.1, 5, -1, 0.3, True, 1.0, 1)
multiclass_nms3(R, transpose(S[0], [1, 0]), I32([4, 6]), 0.0, -1, 3, 0.7, True, 0.9, -1)
matrix_nms(Q, S, 0.1, 5, 7, 0.1, False, 2.0, 0, True)
prior_box(P, O([1, 3, 20, 20]), [4.0], [9.0], [2.0], [0.1, 0.1, 0.2, 0.2], True, False, 0.0, 0.0, 0.5, False)
box_coder(Q[0], None, Q[1], 'encode_center_size', True, 0, [0.1, 0.1, 0.2, 0.2])
box_coder(Q[0], Q[1], Q[1], 'encode_center_size', True, 0, [])
roi_align(P, Q[0][:2], I32([2]), 2, 3, 0.5, -1, True); roi_pool(P, Q[0][:2], I32([2]), 2, 3, 0.5)
psroi_pool(O([1, 8, 5, 5]), Q[0][:2], I32([2]), 2, 2, 2, 0.5)
"""
LEGACY = """
argsort(A, 'axis', 0, 'descending', True); softmax(A, 'axis', -1)
matmul_v2(A, B, 'trans_x', False, 'trans_y', True)
reduce_sum(A, 'dim', [0], 'keep_dim', False); squared_l2_norm(A)
elementwise_add(A, B, 'axis', -1); elementwise_sub(A, B); elementwise_mul(A, B); elementwise_div(A, B)
scale(A, 'scale', 2.0, 'bias', 1.0)
cast(A, 'in_dtype', 5, 'out_dtype', 6)
reshape2(A, None, 'shape', [3, 2])[0]; transpose2(A, 'axis', [1, 0])[0]; top_k_v2(A, 'k', 2)
reduce_mean(A, 'dim', [1], 'keep_dim', True)
relu(A); elementwise_max(A, B)
multiclass_nms3(Q, S, None, 'background_label', 0, 'score_threshold', 0.1, 'nms_top_k', 5, 'nms_threshold',
0.3, 'keep_top_k', 7)
matrix_nms(Q, S, 'score_threshold', 0.1, 'post_threshold', 0.1, 'nms_top_k', 5, 'keep_top_k', 7)
pow(A, 'factor', 2.0); softshrink(A, 'lambda', 0.3); relu(A, 'nosuch', 1, 'use_mkldnn', True)
index_select(I, T([0]), 'dim', 1); cross(M, M, 'dim', 0); take_along_axis(A, I * 0, 'Axis', 1)
addmm(M, M, M, 'Alpha', 2.0, 'Beta', 0.5); put_along_axis(A, I * 0, B, 'Axis', 1, 'Reduce', 'add')
matmul(A, B, O([1]), 'transpose_X', False, 'transpose_Y', True)
elementwise_add(V, P[0, 0, 0, :2], 'axis', 1); elementwise_pow(A, B, 'axis', -1); less_than(A, B, 'axis', -1)
reduce_sum(A, 'dim', [0], 'keep_dim', False, 'reduce_all', True); reduce_sum(I, 'dim', [0], 'out_dtype', 5)
reduce_mean(A, 'dim', [0], 'reduce_all', True); reduce_max(A, 'dim', [1], 'in_dtype', -1, 'out_dtype', -1)
arg_max(A, 'axis', 0, 'keepdims', True); arg_max(A, 'axis', 0, 'flatten', True)
arg_min(A, 'axis', 1, 'dtype', 2)
reduce_sum(A); reduce_mean(A, 'keep_dim', True); reduce_max(A); reduce_min(A)
reduce_any(A > 0); reduce_all(A > 0)
reduce_prod(A); reduce_prod(A, 'dim', [1]); reduce_prod(A, 'dim', [1], 'reduce_all', True)
increment(A[0, :1], 'step', 2.0); A; softmax(A); mish(A); fill_any_like(A); frobenius_norm(A)
dropout(A, 'dropout_prob', 0.0)[0]
dropout(A, 'dropout_prob', 0.4, 'is_test', True, 'dropout_implementation', 'upscale_in_train')[0]
transpose(A, 'axis', [1, 0]); sum([A, B]); hard_sigmoid(A, 'slope', 0.3); one_hot_v2(I, 'depth', 6)
frobenius_norm(A, 'dim', [0], 'keep_dim', True, 'reduce_all', False)
fill_any_like(A, 'value', 3.0, 'dtype', -1)
flatten_contiguous_range(P, 'start_axis', 1, 'stop_axis', 2)[0]
softmax_with_cross_entropy(A, L, 'soft_label', False, 'axis', -1)
layer_norm(A, None, None, 'begin_norm_axis', 1)[0]
spectral_norm(A, M[0, :2], M[1], 'dim', 0, 'power_iters', 2, 'eps', 1e-12); hard_swish(A); size(A)
batch_norm(P, B[0, :2], B[1, :2], A[0, :2], A[1, :2], None, A[0, :2], A[1, :2], 'momentum', 0.9,
'epsilon', 1e-5, 'is_test', True, 'data_layout', 'NCHW', 'use_global_stats', False,
'trainable_statistics', False)[0]
"""
SLOTS = """
relu {'X': A} {'Out': 1} {}
elementwise_mul {'X': [P], 'Y': [B[0, :2]]} {'Out': 1} {'axis': 1}
spectral_norm {'Weight': A, 'U': M[0, :2], 'V': M[1]} {'Out': 1} {'dim': 0, 'power_iters': 1, 'eps': 1e-12}
concat {'X': [A, B]} {'Out': 1} {'axis': 1}
split {'X': A} {'Out': 3} {'num': 3, 'axis': 1}
sum {'X': [A, B]} {'Out': 1} {}
reduce_sum {'X': A} {'Out': 1} {}
slice {'Input': A} {'Out': 1} {'axes': [1], 'starts': [0], 'ends': [2]}
softmax_with_cross_entropy {'Logits': A, 'Label': L} {'Loss': 1, 'Softmax': 1} {'axis': -1}
reshape2 {'X': A} {'Out': 1} {'shape': [3, 2]}
"""
REFUSED = (
    "sum(1, [0], None, False); relu_(leaf); concat(A, 0); nosuch(A); reshape(A, [5]); "
    "topk(A, 9, 1, True, True); arange(0, 3, 1, 'int64', 0)"
)


def space(m, functions):
    """What a call can name: the functions, operands as Tensors of an engine, and ways to make more."""
    known = {
        name: m.to_tensor(value)
        for name, value in globals().items()
        if len(name) == 1 and isinstance(value, np.ndarray)
    }
    leaf = m.nn.Linear(1, 1).weight
    return Space(
        functions,
        known
        | {
            "T": m.to_tensor,
            "I32": lambda value: m.to_tensor(value, "int32"),
            "O": m.ones,
            "Z": m.zeros,
            "place": m.CPUPlace(),
            "leaf": leaf,
            "FP64": m.base.core.VarDesc.VarType.FP64,
        },
    )


class Space(dict):
    def __init__(self, functions, known):
        super().__init__(known)
        self.functions = functions

    def __missing__(self, name):
        return getattr(self.functions, name)


def leaves(value):
    if isinstance(value, list | tuple):
        return [one for part in value for one in leaves(part)]
    return [None if value is None or not value._is_initialized() else value.numpy()]


def compare(calls, ours, theirs):
    for call in calls:
        here, there = space(*ours), space(*theirs)
        found, expected = leaves(eval(call, {}, here)), leaves(eval(call, {}, there))
        assert len(found) == len(expected), call
        for a, b in zip(found, expected, strict=True):
            if a is not None and b is not None:
                assert (a.shape, a.dtype) == (b.shape, b.dtype), call
                np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5, err_msg=call)
        for name in "ABMP":  # what is changed in place
            np.testing.assert_allclose(
                here[name].numpy(), there[name].numpy(), rtol=2e-4, atol=1e-5, err_msg=call
            )


def rest(name, given):
    """The arguments after the operands, with their defaults: the real Paddle reads past the end
    when one is missing."""
    if name in REST:
        return [REST[name]]
    from paddle_jax.framework.model_files.c_calls import signatures

    return [
        "place" if one == "place" else repr(None if default == "undefined" else default)
        for one, _, default in signatures()[name][1][given:]
    ]


def lines(text):
    return [
        [call.strip() for call in line.split(";")] for line in text.strip().replace(",\n", ", ").splitlines()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("operands", CALLS)
def test_functions_of_operands(operands, paddle, oracle):
    calls = [
        f"{name}({', '.join([*operands, *rest(name, len(operands))])})" for name in CALLS[operands].split()
    ]
    compare(calls, (paddle, paddle._C_ops), (oracle, oracle._C_ops))


@pytest.mark.parametrize("calls", lines(EXPLICIT), ids=lambda calls: calls[0].partition("(")[0])
def test_arguments_in_order(calls, paddle, oracle):
    compare(calls, (paddle, paddle._C_ops), (oracle, oracle._C_ops))


@pytest.mark.parametrize("calls", lines(LEGACY), ids=lambda calls: calls[0].partition("(")[0])
def test_attributes_in_pairs(calls, paddle, oracle):
    compare(calls, (paddle, paddle._legacy_C_ops), (oracle, oracle._legacy_C_ops))


@pytest.mark.parametrize("line", SLOTS.strip().splitlines(), ids=lambda line: line.partition(" ")[0])
def test_append_op(line, paddle, oracle):
    name, inputs, outputs, attributes = re.fullmatch(r"(\w+) ({.*?}) ({.*?}) ({.*})", line).groups()
    found = []
    for m in (paddle, oracle):
        known = space(m, m._legacy_C_ops)
        for one in "AP":
            known[one].stop_gradient = False
        helper = m.base.layer_helper.LayerHelper("mine")
        made = {
            slot: [helper.create_variable_for_type_inference("float32") for _ in range(count)]
            for slot, count in eval(outputs).items()
        }
        helper.append_op(type=name, inputs=eval(inputs, {}, known), outputs=made, attrs=eval(attributes))
        results = [one for slot in made.values() for one in slot]
        # The real Paddle's gradient of spectral_norm is right for equal slopes only.
        m.add_n([one.sum() for one in results]).backward()
        slopes = [known[one].grad for one in "AP"]
        found.append([one.numpy() for one in results] + [one.numpy() for one in slopes if one is not None])
    assert len(found[0]) == len(found[1])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


IMAGES = np.random.default_rng(0).normal(size=[2, 2, 4, 4]).astype("float32")
PAIR = np.array([1.0, 2.0], "float32")
# operation -> (operands by slots, slots of results, attributes); the rest has the values of older programs
LEFT_OUT = {
    "pool2d": ({"X": IMAGES}, ["Out"], {"ksize": [2, 2], "pooling_type": "max"}),
    "pool3d": ({"X": IMAGES[:, :, None]}, ["Out"], {"ksize": [1, 2, 2], "pooling_type": "avg"}),
    "batch_norm": (
        {"X": IMAGES, "Scale": PAIR, "Bias": -PAIR, "Mean": PAIR / 2, "Variance": PAIR},
        ["Y", "MeanOut", "VarianceOut"],
        {},
    ),
    "fill_constant": ({}, ["Out"], {"shape": [2], "str_value": "1.5"}),
    "fill_constant of a dtype": ({}, ["Out"], {"shape": [2], "value": 3.0, "dtype": 3}),
    "fill_constant without attributes": ({}, ["Out"], {}),
    "lookup_table_v2": ({"W": IMAGES[0, 0], "Ids": np.array([1, 3])}, ["Out"], {}),
    "lookup_table_v2 with padding": (
        {"W": IMAGES[0, 0], "Ids": np.array([1, 3])},
        ["Out"],
        {"padding_idx": 1},
    ),
    "range": (
        {"Start": PAIR[:1], "End": PAIR[:1] * 5, "Step": PAIR[:1] * 2},
        ["Out"],
        {},
    ),
    "unique": ({"X": np.array([3, 1, 3, 2, 1])}, ["Out", "Index"], {}),
    "unique of a dtype": (
        {"X": np.array([3, 1, 3])},
        ["Out", "Index", "Indices", "Counts"],
        {"dtype": 2, "is_sorted": True, "return_index": True, "return_inverse": True, "return_counts": True},
    ),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_attributes_that_are_left_out(name, paddle, oracle):
    inputs, outputs, attributes = LEFT_OUT[name]
    found = []
    for m in (paddle, oracle):
        helper = m.base.layer_helper.LayerHelper("mine")
        made = {slot: helper.create_variable_for_type_inference("float32") for slot in outputs}
        given = {slot: m.to_tensor(value) for slot, value in inputs.items()}
        helper.append_op(type=name.partition(" ")[0], inputs=given, outputs=made, attrs=attributes)
        found.append([one.numpy() for one in made.values()])
    for one, other in zip(*found, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_operands_that_are_not_taken_are_refused(paddle):
    helper = paddle.base.layer_helper.LayerHelper("mine")
    out = helper.create_variable_for_type_inference("float32")
    value = {"ValueTensor": paddle.ones([3]), "ShapeTensor": None, "ShapeTensorList": []}
    with pytest.raises(NotImplementedError, match="input 'ValueTensor' is not taken; use an attribute"):
        helper.append_op(type="fill_constant", inputs=value, outputs={"Out": out}, attrs={"shape": [2]})


def test_operations_by_slots_refused(paddle):
    helper = paddle.base.layer_helper.LayerHelper("mine")
    out = helper.create_variable_for_type_inference("float32")
    with pytest.raises(KeyError):
        helper.append_op(type="nosuch", inputs={"X": paddle.ones([2])}, outputs={"Out": out})
    with pytest.raises(NotImplementedError, match="alpha"):
        paddle._legacy_C_ops.matmul(paddle.ones([2, 2]), paddle.ones([2, 2]), "alpha", 2.0)


@pytest.mark.parametrize("call", REFUSED.split("; "))
def test_refused(call, paddle, oracle):
    with pytest.raises(Exception) as there:
        eval(call, {}, space(oracle, oracle._C_ops))
    with pytest.raises(there.type):
        eval(call, {}, space(paddle, paddle._C_ops))


def test_names(paddle):
    names = dir(paddle._C_ops)
    assert len(names) > 400 and all(callable(getattr(paddle._C_ops, name)) for name in names)
    assert paddle._C_ops.add is paddle.base.core.eager.ops.add
    assert not hasattr(paddle._C_ops, "nosuch") and not hasattr(paddle._legacy_C_ops, "nosuch")


def test_gradients_flow_and_programs_record(paddle):
    x = paddle.to_tensor(A, stop_gradient=False)
    paddle._C_ops.sum(paddle._C_ops.square(x), [], None, False).backward()
    assert np.allclose(x.grad, 2 * A)
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            fed = paddle.static.data("fed", [2, 3])
            (found,) = paddle.static.Executor().run(
                feed={"fed": A}, fetch_list=[paddle._C_ops.matmul(fed, fed, False, True)]
            )
    finally:
        paddle.disable_static()
    assert np.allclose(found, A @ A.T, rtol=1e-5)
