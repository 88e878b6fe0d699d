"""`paddle.grad` through layers, losses and moved elements in functions that are saved; see
`test_gradient_files.py`."""

import numpy as np
import pytest

import paddle_jax
from paddle_jax.jit import load, save
from tests.jit.test_gradient_files import cases_of, checked, function, specs, values

pytestmark = pytest.mark.own_process
_IMAGE = "P.matmul(x.expand([2, 4, -1, 3]) * 1.0, w)"  # of any height
_TWO = "P.concat([x.unsqueeze(0).unsqueeze(0) * w[0], x.unsqueeze(0).unsqueeze(0) * w[1]], 1)"
_FOUR = "P.concat([w, w[:1] * 2], 0).matmul(P.concat([w, w[:, :1]], 1)).unsqueeze(0).unsqueeze(0)"
_HEADS = "(x.unsqueeze(0).unsqueeze(2) * w[:2])"  # [1, rows, 2 heads, 3]
_LABELS = "(x[:, 0] > 0).astype('int64')"
_WEIGHT = "w.unsqueeze(0).unsqueeze(0)"
# an image and positions in it, also outside; both depend on both inputs
_PRODUCT = "(w * x[:1]).unsqueeze(0).unsqueeze(0)"
_PLACES = "P.stack([w * 3 + x[:1], w - 2], -1).unsqueeze(0)"
EXPRESSIONS = {
    "max_pool": f"F.max_pool2d({_IMAGE}, 2, 2).exp().sum() + "
    f"(F.max_pool2d(F.relu({_IMAGE}), 3, 2, 1, ceil_mode=True) ** 2 + F.relu({_IMAGE}).sum()).sum()",
    "max_pool_of_lines": f"(F.max_pool1d({_IMAGE}[0], 2, 1, 1) ** 2).sum() + "
    f"(F.max_pool3d({_IMAGE}.unsqueeze(1), [1, 2, 2], 1, [0, 1, 1]) ** 2).sum() + "
    f"(F.max_pool2d({_IMAGE}, 2, 1, data_format='NHWC') ** 2).sum()",
    "avg_pool": f"F.avg_pool2d({_IMAGE}, 2, 2, 1).exp().sum() + "
    f"(F.avg_pool1d({_IMAGE}[0], 2, 1, 1) ** 2).sum() + "
    f"(F.avg_pool2d({_IMAGE}, 3, 2, 1, ceil_mode=True, exclusive=False) ** 2).sum() + "
    f"(F.avg_pool2d({_IMAGE}, 2, 1, divisor_override=3) ** 2).sum()",
    "adaptive_avg_pool": f"(F.adaptive_avg_pool2d({_IMAGE}, 2) ** 2).sum() + "
    f"(F.adaptive_avg_pool2d({_IMAGE}, 1) ** 3).sum() + (F.adaptive_avg_pool1d({_IMAGE}[0], 2) ** 2).sum()",
    "adaptive_max_pool": "(F.adaptive_max_pool2d(w.reshape([1, 1, 3, 3]), 2) ** 2).sum() + x.sum()",
    "lp_pool": f"F.lp_pool2d({_IMAGE}.abs() + 0.1, 2, 2, 2).exp().sum() + "
    f"F.lp_pool1d({_IMAGE}[0].abs() + 0.1, 3, 2, 1).exp().sum()",
    "attention": f"(F.scaled_dot_product_attention({_HEADS}, {_HEADS} * 2, {_HEADS} + 1) ** 2).sum() + "
    f"(F.scaled_dot_product_attention({_HEADS}, {_HEADS} * 2, {_HEADS}, is_causal=True) ** 3).sum()",
    "masked_attention": f"(F.scaled_dot_product_attention({_HEADS}, {_HEADS}, {_HEADS}, "
    "attn_mask=P.matmul(x, x, transpose_y=True)) ** 2).sum()",
    "sorted": "(P.sort(x, 0) * P.arange(x.shape[0]).astype('float32').unsqueeze(1)).sum() + "
    "(P.sort(x, descending=True) * w[0]).sum() + (P.topk(x, 2, axis=1)[0] * w[0, :2]).sum() + "
    "(P.gather(x[:, 0], P.argsort(x[:, 0])) * P.arange(x.shape[0]).astype('float32')).sum()",
    "chosen": "(P.kthvalue(x, 2, axis=1)[0] ** 2).sum() + (P.median(x, axis=1) ** 2).sum() + "
    "(P.cummax(x, 1)[0] ** 2).sum() + (P.cummin(x, 1)[0] ** 3).sum() + "
    "(P.amax(P.round(x), 1) ** 2 * P.amin(x, 1)).sum()",
    "group_norm": f"(F.group_norm({_IMAGE}, 2) ** 3).sum() + (F.group_norm({_TWO}, 1) ** 3).sum()",
    "scaled_group_norm": f"(F.group_norm({_TWO}, 1, weight=w[0, :2], bias=w[1, :2]) ** 3).sum()",
    "instance_norm": f"(F.instance_norm({_TWO}) ** 3).sum() + "
    f"(F.instance_norm({_TWO}, weight=w[0, :2], bias=w[1, :2]) ** 3).sum()",
    "other_norms": "(F.normalize(x, axis=1) * w[0]).sum() + "
    "(F.local_response_norm(w.reshape([1, 3, 3]), 3) ** 2).sum() + "
    "P.norm(x, 1) + P.norm(x, 3, axis=1).sum() + P.dist(x, x * w[0], 3) + P.norm(w, float('inf')) + "
    "P.renorm(x, 2.0, 0, 0.5).sum() + P.cdist(w, w * 2 + 1).sum()",
    "einsum": "(P.einsum('ij,jk->ik', x, w) ** 2).sum() + P.einsum('ij,kj,j->', x, w, w[0]) + "
    "(P.einsum('ij->ji', x) ** 2).sum() + P.einsum('...i,i->...', x, w[0]).exp().sum() + "
    "(P.einsum('bij,bjk->bk', x.unsqueeze(0), w.unsqueeze(0)) ** 2).sum()",
    "resized": f"(F.interpolate({_IMAGE}, scale_factor=2) ** 2).sum() + "
    f"(F.interpolate({_IMAGE}, size=[5, 4], mode='bilinear') ** 2).sum() + "
    f"(F.interpolate({_IMAGE}, scale_factor=1.5, mode='bilinear', align_corners=True) ** 2).sum()",
    "resized_in_other_ways": f"(F.interpolate({_IMAGE}, size=[5, 4], mode='bicubic') ** 2).sum() + "
    f"(F.interpolate({_IMAGE}[0], size=[5], mode='linear', data_format='NCW') ** 2).sum() + "
    f"(F.interpolate({_IMAGE}, size=[2, 2], mode='area') ** 2).sum()",
    "products_so_far": "(P.cumprod(x, 1) ** 2).sum() + (P.cumprod(F.relu(w), 0) + w).square().sum() + "
    "(P.logcumsumexp(x, 1) ** 2).sum()",
    "losses": "F.kl_div(x, F.softmax(w[:1]).expand([x.shape[0], 3])) + "
    "F.kl_div(x, P.abs(x), reduction='sum') + "
    "F.smooth_l1_loss(x, x * 2) + F.smooth_l1_loss(x, x * x, 'sum', 0.5) + "
    "F.square_error_cost(x, x * w[0]).sum() + "
    "F.binary_cross_entropy(F.sigmoid(x), F.sigmoid(x * w[0]), weight=w[1] * w[1])",
    "losses_of_scores": f"F.nll_loss(F.log_softmax(x), {_LABELS}) + "
    f"F.nll_loss(F.log_softmax(x), {_LABELS}, weight=w[0] * w[0], reduction='sum') + "
    f"F.cross_entropy(x, {_LABELS}, label_smoothing=0.1) + F.multi_margin_loss(x, {_LABELS}) + "
    "F.binary_cross_entropy_with_logits(x, F.sigmoid(x * 2), weight=w[0] * w[0], pos_weight=w[1] * w[1])",
    "losses_of_pairs": "F.triplet_margin_loss(x, x * w[0], x * w[1]) + F.soft_margin_loss(x, P.sign(x)) + "
    "F.margin_ranking_loss(x, x * w[0], P.sign(x), 0.3) + F.cosine_similarity(x, x * w[0], axis=1).sum() + "
    "F.pairwise_distance(x, x * w[0]).sum() + (F.label_smooth(x) ** 2).sum()",
    "weights_of_prelu": "(F.prelu(x, w[0, :1]) ** 2 + F.prelu(x, w[1]) ** 3).sum()",
    "activations": "(F.celu(x, 0.7) ** 2).sum() + "
    "(F.hardshrink(x) ** 2 + F.softshrink(x, 0.3) ** 2).sum() + "
    "(F.thresholded_relu(x, 0.1) ** 2 + P.stanh(x)).sum() + "
    "(F.glu(P.concat([x, x * 2], 1)) ** 2).sum() + (F.swiglu(P.concat([x, x * 2], 1)) ** 2).sum() + "
    "(F.maxout(P.concat([x, x * w[0]], 1).unsqueeze(2).unsqueeze(3), 2) ** 2).sum()",
    "functions": "(P.atan2(x, w[0]) + P.hypot(x, w[0]) + P.logaddexp(x, w[0]) + P.copysign(x, w[0])).sum() + "
    "(P.fmax(x, w[0]) ** 2 + P.fmin(x, w[0]) ** 3 + P.add_n([x, x * 2]) + P.remainder(x, w[0]) ** 2).sum() + "
    "(P.floor(x) * x + P.frac(x) * x + P.acosh(x * x + 2) + P.asinh(x) + P.atanh(x / 9)).sum()",
    "special_functions": "(P.digamma(x * x + 1) + P.lgamma(x * x + 1) + P.erfinv(x / 9) + P.i0(x)).sum() + "
    "(P.logit(F.sigmoid(x)) + P.scale(x, 2.0, 1.0) ** 2).sum() + "
    "(P.nan_to_num(x) ** 2).sum() + P.nanmean(x) + P.nansum(x)",
    "matrices": "(P.tril(w) ** 2).sum() + (P.diag(w[0]) ** 2).sum() + (P.diagonal(w) ** 3).sum() + "
    "P.trace(w) ** 2 + "
    "(P.outer(w[0], w[1]) ** 2).sum() + P.inner(w, w).exp().sum() + P.kron(w, w).exp().sum() + "
    "(P.cross(w[0], w[1]) ** 2).sum() + P.mv(w, w[0]).exp().sum() + "
    "P.addmm(w, x.t(), x).tanh().sum() + x.sum()",
    "inverses": "P.linalg.det(w) + P.linalg.inv(w).sum() + P.linalg.matrix_power(w, 3).sum() + "
    "P.linalg.solve(w, w[0].unsqueeze(1)).sum() + (F.bilinear(x, x * 2, w.unsqueeze(0)) ** 2).sum()",
    "frames": "(P.signal.frame(x, 2, 1, 0) ** 2).sum() + (P.signal.frame(w, 2, 2) ** 3).sum() + "
    "(P.signal.overlap_add(x.t(), 2) ** 2).sum() + (P.signal.overlap_add(x, 3, 0) ** 3).sum() + "
    "P.signal.stft(x.t(), 2, 1).abs().square().sum()",
    "mirrored": f"(F.grid_sample({_PRODUCT}, {_PLACES}, 'nearest', 'reflection') ** 2).sum() + "
    f"(F.grid_sample({_PRODUCT}, {_PLACES}, padding_mode='reflection', align_corners=False) ** 2).sum()",
    "factors": "((P.linalg.lu(w + x[:1])[0] * w) ** 2).sum() + "
    "(P.linalg.lstsq(w[:, :2], w[:, 2:] * x[0, 0])[0] ** 2).sum()",
    "scattered": "(P.scatter(w, i, w[:2] * 2) ** 2).sum() + "
    "(P.scatter_nd_add(w, i.unsqueeze(1), w[:2]) ** 2).sum() + "
    "(P.put_along_axis(w, i.unsqueeze(0), w[:1, :2] * 2, 1) ** 2).sum() + "
    "(P.index_add(w, i, 0, w[:2] * 3) ** 2).sum() + (P.index_put(w, (i,), w[:2] * 2) ** 2).sum() + x.sum()",
    "gathered": "(w[i] ** 2).sum() + (w[:, i] ** 3).sum() + (x[i[:1] * 0, i[:1]] ** 2).sum() + "
    "(P.gather_nd(w, i.unsqueeze(1)) ** 2).sum() + (F.embedding(i, w, padding_idx=1) ** 2).sum() + "
    "sum([(t ** 2).sum() * (k + 1) for k, t in enumerate(P.meshgrid(w[0], x[:, 0]))])",
    "rearranged": f"(F.pixel_shuffle(P.concat([{_FOUR}] * 4, 1) * w[0, 0], 2) ** 2).sum() + x.sum() + "
    f"(F.unfold({_FOUR}, 2) ** 2).sum() + (F.fold(F.unfold({_FOUR}, 2), [4, 4], 2) ** 2).sum() + "
    f"(F.pad({_FOUR}, [1, 1, 1, 1], mode='reflect') ** 2).sum() + "
    "(P.strided_slice(w, [0], [0], [3], [2]) ** 2).sum()",
    "padded": f"(F.pad({_IMAGE}, [1, 1, 1, 2], mode='replicate') ** 2).sum() + "
    f"(F.pad({_IMAGE}, [1, 1, 1, 1], mode='circular') ** 2).sum()",
    "convolutions": f"(F.conv2d_transpose({_FOUR}, {_WEIGHT}, stride=2, padding=1) ** 2).sum() + "
    "(F.conv1d_transpose(x.t().unsqueeze(0), w.unsqueeze(2) * x[0, 0], w[0], padding=0) ** 2).sum() + "
    f"(F.conv2d({_IMAGE}[:, :1], {_WEIGHT}, padding='SAME', stride=2) ** 2).sum() + "
    f"(F.conv2d({_FOUR}, {_WEIGHT}, padding=[[0, 0], [0, 0], [1, 1], [2, 2]]) ** 2).sum()",
}
# The real Paddle has another gradient of group_norm on CPUs where there is no weight, and none of lstsq. Its
# process ends where a weight of prelu needs no gradient.
RIGHT = {
    "weights_of_prelu": "(P.where(x > 0, x, x * w[0, :1]) ** 2 + P.where(x > 0, x, x * w[1]) ** 3).sum()",
    "factors": "((P.linalg.lu(w + x[:1])[0] * w) ** 2).sum() + "
    "((P.linalg.pinv(w[:, :2]) @ w[:, 2:] * x[0, 0]) ** 2).sum()",
    "group_norm": f"(F.group_norm({_IMAGE}, 2, weight=P.ones([4]), bias=P.zeros([4])) ** 3).sum() + "
    f"(F.group_norm({_TWO}, 1, weight=P.ones([2]), bias=P.zeros([2])) ** 3).sum()",
}
# of these also the real Paddle's files are read
READ = {
    "windows": f"(F.max_pool2d({_FOUR}, 2, 1) ** 2).sum() + (F.avg_pool2d({_FOUR}, 2, 1) ** 2).sum()"
    " + (F.pixel_unshuffle(P.concat([w, w[:1]], 0)[:, :2].reshape([1, 1, 4, 2]), 2) ** 2).sum() + x.sum()",
    "same_values": "F.tanh(F.tanh(x)).sum() + F.cosine_similarity(x, x * w[0], axis=1).sum() + "
    "(x * x * x).sum() + (w[0] / w[1] + w[1] / w[0]).sum() + (w[0] - w[1] * (w[1] - w[0])).sum()",
    "lists": "(P.einsum('ij,jk->ik', x, w) ** 2).sum() + P.einsum('ij->', w * w) + "
    "sum([(t ** 2).sum() * (k + 1) for k, t in enumerate(P.meshgrid(w[0], x[:, 0]))])",
    "of_the_result_alone": "(P.tril(w) ** 2).sum() + (P.floor(x) * x + P.round(x) * x + P.sign(x)).sum() + "
    "(F.label_smooth(x) ** 2).sum()",
    "temporal_shift": "(F.temporal_shift(w.flatten()[:8].reshape([2, 4, 1, 1]), 2) ** 2).sum() + x.sum()",
    "logits": "F.binary_cross_entropy_with_logits(x, F.sigmoid(x * 2), pos_weight=w[1] * w[1])",
}


def arguments():
    return [arrays for arrays in values() if len(arrays[0]) in (2, 7)]


@pytest.mark.parametrize("name", [*EXPRESSIONS, *READ])
def test_gradients_of_layers_in_files(oracle, tmp_path, name):
    text = EXPRESSIONS.get(name) or READ[name]
    cases = cases_of(oracle, function(oracle, RIGHT.get(name, text)), arguments(), 2)
    here = str(tmp_path / "here")
    save(function(paddle_jax, text), here, input_spec=specs(paddle_jax))
    checked(oracle, oracle.jit.load(here), cases)
    checked(paddle_jax, load(here), cases)


@pytest.mark.parametrize("name", READ)
def test_gradients_in_files_of_paddle(oracle, tmp_path, name):
    there = str(tmp_path / "there")
    saved = oracle.jit.to_static(function(oracle, READ[name]), full_graph=True)
    oracle.jit.save(saved, there, input_spec=specs(oracle))
    checked(paddle_jax, load(there), cases_of(oracle, function(oracle, READ[name]), arguments(), 2))


def test_gradients_of_complex_functions_without_a_rule_are_refused(tmp_path):
    with pytest.raises(ValueError, match="complex numbers cannot be saved; keep real and imaginary parts"):
        text = "P.tanh(P.complex(x, x) * P.complex(x, w[:1] * x)).abs().sum()"
        save(function(paddle_jax, text), str(tmp_path / "refused"), input_spec=specs(paddle_jax))


def test_gradients_of_samples_of_any_size(oracle, tmp_path):
    """Both batches are open, so a recording has other numbers of images than of grids."""

    def slopes(P):
        def call(x, grid):
            x.stop_gradient = grid.stop_gradient = False
            found = P.nn.functional.grid_sample(x, grid, padding_mode="border")
            return P.grad([(found * found).sum()], [x, grid])

        return call

    rng = np.random.default_rng(0)
    cases = []
    for image, places in (((2, 1, 5, 6), (2, 4, 2, 2)), ((1, 1, 1, 6), (1, 3, 2, 2))):
        x = rng.normal(size=image).astype("float32")
        grid = rng.uniform(-1.3, 1.3, places).astype("float32")
        cases.append(((x, grid), [one.numpy() for one in slopes(oracle)(*map(oracle.to_tensor, (x, grid)))]))
    here = str(tmp_path / "here")
    shapes = [None, 1, None, 6], [None, None, 2, 2]
    save(slopes(paddle_jax), here, input_spec=[paddle_jax.static.InputSpec(shape) for shape in shapes])
    for module, loaded in ((oracle, oracle.jit.load(here)), (paddle_jax, load(here))):
        for arrays, want in cases:
            for one, other in zip(loaded(*map(module.to_tensor, arrays)), want, strict=True):
                np.testing.assert_allclose(one.numpy(), other, rtol=1e-4, atol=1e-5)


def test_gradients_end_at_cut_tensors(oracle, tmp_path):
    """`no_grad_vars`: nothing flows through them, and they get no gradient."""

    def slopes(P):
        def call(x, w, i):
            x.stop_gradient = False
            first, second = P.split(x, [1, 2], axis=1)
            doubled = x * 2
            value = (first * second).sum() + (doubled * x).sum()
            found = P.grad([value], [x, doubled], no_grad_vars=[first, doubled], allow_unused=True)
            return [g for g in found if g is not None] + [x.sum() + w.sum() + i.sum().astype("float32")]

        return call

    cases = cases_of(oracle, slopes(oracle), arguments(), 2)
    save(slopes(paddle_jax), str(tmp_path / "here"), input_spec=specs(paddle_jax))
    checked(oracle, oracle.jit.load(str(tmp_path / "here")), cases)
