"""What layers refuse: the same class of exception as the real Paddle."""

import re
import types

import numpy as np
import pytest

from paddle_jax._core.process_group.registry import Groups
from paddle_jax.nn.layer.synced import normalised
from tests.nn.scripts import same

SCRIPTS = {
    "convolution": [
        f"nn.{made}"
        for made in (
            "Conv2D(3, 4, 3, groups=2)",
            "Conv2D(4, 3, 3, groups=2)",
            "Conv2D(4, 4, 3, padding_mode='foo')",
            "Conv2D(4, 4, 3, padding_mode=5)",
            "Conv2D(4, 4, 3, data_format='ABC')",
            "Conv1D(4, 4, 3, data_format='NHC')",
            "Conv2D(4, 4, [3])",
            "Conv2D(4, 4, 3, weight_attr=False)",
            "Conv2D(4, 4, 3, padding=-1)",
            "Conv2D(4, 4, 3, padding='abc')",
            "Conv2D(4, 4, 3, padding='same')",
            "Conv2D(4, 4, 3, groups=0)",
            "Conv1D(4, 4, 3, padding=[1], padding_mode='circular')",
            "Conv2D(4, 4, 3, padding=[[0, 0], [0, 0], [1, 1], [2, 2]])",
            "Conv2D(4, 4, 3, padding=[1, 2, 3])",
            "Conv2D(4, 4, 3, padding=[[1, 1], [2, 2]])",
            "Conv1D(4, 4, [3, 3])",
            "Conv1D(4, 4, 3, stride=[1, 2])",
            "Conv2D(4, 4, 'a')",
            "Conv2D(4, 4, 3, stride=1.5)",
            "Conv2D(4.0, 4, 3)",
            "Conv2D(4, 4, 3, 1, 0, 1, 1, 'zeros')",
            "Conv2D(4, 4, 3)._updated_padding",
            "Conv2D(4, 4, 3, padding=[1, 1, 2, 2])._updated_padding",
            "Conv2D(4, 4, 3, padding=[1, 0, 2, 2])._updated_padding",
            "Conv2D(4, 4, 3, padding='SAME')._updated_padding",
            "Conv2D(4, 4, 3)(paddle.ones([1, 3, 5, 5]))",
            "Conv2D(4, 4, 3)(paddle.ones([4, 5, 5, 5, 5]))",
            "Conv2DTranspose(4, 4, 3)(paddle.ones([1, 4, 3, 3]), output_size=[5, 5]).shape",
            "Conv2DTranspose(4, 4, 3, stride=2)(paddle.ones([1, 4, 3, 3]), output_size=[8, 8]).shape",
            "Conv2DTranspose(4, 4, 3, stride=2)(paddle.ones([1, 4, 3, 3]), output_size=[9, 9]).shape",
        )
    ],
    "normalisation": [
        f"nn.{made}"
        for made in (
            "BatchNorm2D(3)(paddle.ones([2, 3]))",
            "BatchNorm2D(3)(paddle.ones([2, 4, 3, 3]))",
            "BatchNorm1D(3)(paddle.ones([2, 3, 4, 4]))",
            "BatchNorm1D(3)(paddle.ones([2, 3])).shape",
            "BatchNorm3D(3)(paddle.ones([2, 3, 4, 4]))",
            "BatchNorm2D(3, data_format='ABC')(paddle.ones([2, 3, 4, 4]))",
            "BatchNorm2D(3, data_format='NLC')",
            "BatchNorm2D(-3)",
            "BatchNorm(3, act='foo')(paddle.ones([2, 3, 4, 4]))",
            "GroupNorm(2, 3)",
            "GroupNorm(2, 3)(paddle.ones([2, 3, 4, 4]))",
            "GroupNorm(2, 4, data_format='ABC')",
            "LayerNorm(3)(paddle.ones([2, 4]))",
            "InstanceNorm2D(3)(paddle.ones([2, 3]))",
            "InstanceNorm2D(3, weight_attr=False)",
            "InstanceNorm2D(3, bias_attr=False)",
            "InstanceNorm1D(3)(paddle.ones([2, 3, 4, 4]))",
            "SpectralNorm([0, 3])",
            "SpectralNorm([4, 3], dim=2)",
            "SpectralNorm([2, 4, 3], 1)(paddle.ones([2, 3, 3]))",
            "LocalResponseNorm(3)(paddle.ones([2, 3]))",
            "GroupNorm(2, 4, 1e-5, None)",
            "LayerNorm(3, 1e-3, None)",
        )
    ],
    "losses": [
        f"nn.{made}"
        for made in (
            "CrossEntropyLoss(reduction='foo')",
            "BCELoss(reduction='foo')",
            "L1Loss(reduction='foo')",
            "MSELoss(reduction='foo')",
            "NLLLoss(reduction='foo')",
            "SmoothL1Loss(reduction='foo')",
            "BCEWithLogitsLoss(reduction='foo')",
            "MarginRankingLoss(reduction='foo')",
            "CosineEmbeddingLoss(reduction='foo')",
            "CosineEmbeddingLoss(margin=3)",
            "TripletMarginLoss(reduction='foo')",
            "TripletMarginWithDistanceLoss(reduction='foo')",
            "MultiLabelSoftMarginLoss(reduction='foo')",
            "MultiLabelMarginLoss(reduction='foo')",
            "MultiMarginLoss(reduction='foo')",
            "SoftMarginLoss(reduction='foo')",
            "PoissonNLLLoss(reduction='foo')",
            "PoissonNLLLoss(epsilon=-1)",
            "GaussianNLLLoss(reduction='foo')",
            "KLDivLoss(reduction='foo')",
            "HSigmoidLoss(4, 1)",
            "HSigmoidLoss(4, 6, is_custom=True).weight.shape",
            "HSigmoidLoss(4, 6, bias_attr=False).bias",
            *[
                f"AdaptiveLogSoftmaxWithLoss(8, 20, {cutoffs})"
                for cutoffs in ("[5, 30]", "[10, 5]", "[]", "[5, 5]", "[0, 5]", "5", "[5.5]")
            ],
        )
    ],
    "others": [
        f"nn.{made}"
        for made in (
            "Embedding(0, 4)",
            "Embedding(3, 0)",
            "Embedding(3, 4, 5)",
            "Embedding(3, 4, -1).padding_idx",
            "Embedding(3, 4)(paddle.to_tensor([5]))",
            "Embedding(3, 4, _weight=paddle.ones([4, 4]))",
            "Embedding(3, 4, _freeze=True).weight.stop_gradient",
            "Embedding(3, 4, None, None, 2.0, False, True)",
            "Dropout(2.0)",
            "Dropout(2.0)(paddle.ones([2]))",
            "Dropout(mode='abc')(paddle.ones([2]))",
            "AlphaDropout(2.0)(paddle.ones([2]))",
            "PixelShuffle('a')",
            "PixelShuffle(2, 'AB')",
            "PixelUnshuffle(-1)",
            "PixelUnshuffle('a')",
            "PixelUnshuffle(2, 'AB')",
            "ChannelShuffle('a')",
            "ChannelShuffle(0)",
            "ChannelShuffle(2, 'AB')",
            "Softmax2D()(paddle.ones([2]))",
            "LPPool1D('a', 2)",
            "Linear(2, 3, bias=False)",
            "Linear(2, 3)(paddle.ones([2, 4]))",
            "ReLU(inplace=True)",
            "CosineSimilarity(dim=0, axis=1)",
            "GLU(dim=0).dim",
            "Hardshrink(lambd=0.1).lambd",
            "PairwiseDistance(eps=0.5).eps",
            "PairwiseDistance(3.0).norm",
            "AdaptiveAvgPool2D(3).output_size",
            "AdaptiveMaxPool2D(2, return_indices=True).return_indices",
            "Fold([4, 5], 2, stride=3).stride",
            "Fold(output_size=[4, 5], kernel_size=2).output_size",
            "MaxUnPool2D(2, output_size=[4, 4])",
            "Conv2D(1, 1, 1)(input=paddle.ones([1, 1, 2, 2])).shape",
            "ReLU()(x=paddle.ones([1]))",
            "MSELoss()(input=paddle.ones([1]), label=paddle.ones([1]))",
            "CrossEntropyLoss()(paddle.ones([1, 2]), target=paddle.to_tensor([1]))",
        )
    ],
    "adaptive softmax": [
        (
            "a = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], weight_attr=nn.initializer.Constant(0.1), "
            "head_bias=True)"
        ),
        "[[p.shape for p in t] for t in a.tail_weights]",
        "[n for n, _ in a.named_parameters()]",
        "a.cutoffs, a.shortlist_size, a.n_clusters, a.head_size",
        "x = paddle.to_tensor(np.sin(np.arange(24)).reshape(3, 8).astype('float32'))",
        "[t.numpy() for t in a(x, paddle.to_tensor([1, 7, 15]))]",
        "a.log_prob(x).numpy()",
        "a.predict(x)",
        "a(x, paddle.to_tensor([1, 7, 25]))",
        "[t.numpy() for t in a(x[0], paddle.to_tensor(3))]",
        "a(x, paddle.to_tensor([1]))",
    ],
    "synchronised batch norm": [
        (
            "s = nn.Sequential(nn.BatchNorm2D(3), nn.ReLU(), nn.Sequential(nn.BatchNorm1D(3, "
            "data_format='NLC')))"
        ),
        "w = s[0].weight",
        "q = nn.SyncBatchNorm.convert_sync_batchnorm(s)",
        "q is s, q[0].weight is w, q[0].weight.name, q[0]._mean.name, q[0].training",
        "q",
        "[p.name for p in q.parameters()]",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.filterwarnings("ignore")
def test_refuses_alike(script, oracle, paddle):
    same(script, oracle, paddle)


def test_synchronised_batch_norm_computes_like_batch_norm(paddle):
    plain = paddle.nn.BatchNorm2D(3)
    x = paddle.rand([4, 3, 2, 2])
    expected = plain(x).numpy()
    synced = paddle.nn.SyncBatchNorm.convert_sync_batchnorm(paddle.nn.BatchNorm2D(3))
    assert abs(synced(x).numpy() - expected).max() < 1e-6


@pytest.mark.parametrize("dtype, rtol", [("float32", 1e-5), ("float64", 1e-12)])
def test_statistics_of_processes_keep_the_digits_of_their_dtype(paddle, monkeypatch, dtype, rtol):
    alone = types.SimpleNamespace(all_reduce=lambda value, *rest: value)
    monkeypatch.setitem(Groups.known, 0, types.SimpleNamespace(process_group=alone))
    x = np.random.RandomState(0).uniform(-1, 1, (8, 3, 4)).astype(dtype)
    running = paddle.zeros([3], dtype), paddle.ones([3], dtype)
    found = normalised(paddle.to_tensor(x), 1, running, None, None, 0.0, 1e-5, "NCL").numpy()
    assert found.dtype == dtype
    mean = x.mean((0, 2), keepdims=True)
    variance = x.var((0, 2), keepdims=True)
    np.testing.assert_allclose(found, (x - mean) / np.sqrt(variance + 1e-5), rtol, rtol)
    np.testing.assert_allclose(running[0].numpy(), mean.ravel(), rtol, rtol)


def test_converting_keeps_what_is_absent(paddle):
    synced = paddle.nn.SyncBatchNorm.convert_sync_batchnorm(paddle.nn.BatchNorm2D(3, weight_attr=False))
    assert list(synced.state_dict()) == ["bias", "_mean", "_variance"]


@pytest.mark.parametrize(
    "build",
    ["BatchNorm2D(4, use_global_stats=False)", "GroupNorm(2, 4, affine=False)", "SpectralNorm([3, 4, 2, 2])"],
)
def test_gradients_that_the_real_paddle_gets_wrong(paddle, build):
    """In evaluation with batch statistics, without scale and shift, and through power iteration: difference
    quotients decide."""
    layer = eval("nn." + build, {"nn": paddle.nn}).double().eval()
    rng = np.random.default_rng(1)
    at, weights, direction = (rng.standard_normal((3, 4, 2, 2)) for _ in range(3))
    if "Spectral" in build:  # u and v count as constants
        layer._power_iters = 0

    def value(x):
        return (layer(x) * paddle.to_tensor(weights)).sum()

    x = paddle.to_tensor(at, stop_gradient=False)
    value(x).backward()
    step = 1e-6 * direction
    numeric = float(value(paddle.to_tensor(at + step)) - value(paddle.to_tensor(at - step))) / 2e-6
    assert (x.grad.numpy() * direction).sum() == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("weight", [None, [1, 2, 3]])
def test_nll_loss_leaves_out_a_label(reduction, weight, paddle):
    """Not compared with the real Paddle: where a label is left out and losses are reduced it writes beyond
    its memory (`free(): invalid pointer`)."""
    scores = paddle.to_tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.2, 0.6]], stop_gradient=False)
    weights = None if weight is None else paddle.to_tensor(weight, "float32")
    labels = [1, -100, 2]
    loss = paddle.nn.functional.nll_loss(scores, paddle.to_tensor(labels), weights, reduction=reduction)
    loss.backward()
    kept = np.zeros((3, 3), "float32")
    for row, label in enumerate(labels):
        if label >= 0:
            kept[row, label] = -1 if weight is None else -weight[label]
    share = kept / -kept.sum() if reduction == "mean" else kept
    np.testing.assert_allclose(loss.item(), (share * scores.numpy()).sum(), rtol=1e-6)
    np.testing.assert_allclose(scores.grad.numpy(), share, rtol=1e-6)
    assert (
        paddle.nn.functional.nll_loss(scores, paddle.to_tensor([-100, -100, -100]), reduction="sum").item()
        == 0
    )


WORDS = (
    r"lax|jax|jnp|dot_general|XLA|list index|tuple "
    r"index|dimension_numbers|operand_|broadcast_in_dim|reduce_window|must be called with|NoneType"
)
MADE = {
    "Linear": (4, 3),
    "Conv1D": (4, 3, 3),
    "Conv2D": (4, 3, 3),
    "Conv3D": (4, 3, 3),
    "Conv2DTranspose": (4, 3, 3),
    "BatchNorm1D": (4,),
    "BatchNorm2D": (4,),
    "LayerNorm": (4,),
    "GroupNorm": (2, 4),
    "InstanceNorm2D": (4,),
    "LSTM": (4, 3),
    "GRU": (4, 3),
    "LSTMCell": (4, 3),
    "GRUCell": (4, 3),
    "SimpleRNNCell": (4, 3),
    "MultiHeadAttention": (4, 2),
    "TransformerEncoderLayer": (4, 2, 8),
    "Embedding": (5, 3),
    "MaxPool2D": (2,),
    "AvgPool3D": (2,),
    "AdaptiveAvgPool2D": (2,),
    "AdaptiveMaxPool1D": (2,),
    "PReLU": (4,),
    "Maxout": (2,),
    "Pad2D": (1,),
    "PixelShuffle": (2,),
    "ChannelShuffle": (2,),
    "Unfold": (2,),
    "Fold": ([4, 4], 2),
    "Upsample": (None, 2),
    "LocalResponseNorm": (3,),
}


@pytest.mark.parametrize("name", MADE)
def test_wrong_shapes_and_dtypes_are_told_in_our_words(name, paddle):
    layer, told = getattr(paddle.nn, name)(*MADE[name]), 0
    for shape in ([], [0], [3], [2, 3], [2, 5, 3], [2, 3, 5, 5], [1, 3, 2, 2, 2, 2]):
        for dtype in ("float32", "int64", "complex64"):
            try:
                layer(paddle.ones(shape, dtype=dtype))
            except Exception as error:
                told += 1
                text = str(error).partition("\n")[0]
                assert not re.search(WORDS, text), (shape, dtype, text)
                assert " " in text, (shape, dtype, text)
    assert told
