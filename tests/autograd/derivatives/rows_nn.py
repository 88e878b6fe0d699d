"""Rows of nn.functional: activations, convolution, pooling, normalisation, attention, resizing."""

from tests.autograd.derivatives.engine import Row as R
from tests.autograd.derivatives.inputs import a, at, k, n, u

SMOOTH = "gelu mish silu swish softsign softplus selu elu celu log_sigmoid tanhshrink leaky_relu relu"
POOLS = "avg max adaptive_avg adaptive_max"
SIGNED = "hardshrink hardsigmoid hardswish relu6 softshrink thresholded_relu"

ROWS = [
    *[R(name, f"F.{name}(x)", (n(3),)) for name in SMOOTH.split()],
    *[R(name, f"F.{name}(x)", (a(6),)) for name in SIGNED.split()],
    R("gelu", "F.gelu(x, True)", (n(3),)),
    R("softplus", "F.softplus(x, 3, 2)", (n(3),)),
    R("hardtanh", "F.hardtanh(x)", (at([-1.5, -0.6, 0.2, 1.4]),)),
    R("prelu", "F.prelu(x, y)", (n(1, 2, 2), n(2))),
    R("glu", "F.glu(x)", (n(2, 4),)),
    R("swiglu", "F.swiglu(x, y)", (n(3), n(3))),
    R("maxout", "F.maxout(x, 2)", (a(1, 4, 1, 2),)),
    R("softmax", "F.softmax(x)", (n(2, 3),)),
    R("log_softmax", "F.log_softmax(x)", (n(2, 3),)),
    R("gumbel_softmax", "F.gumbel_softmax(x)", (n(2, 3),)),
    R("normalize", "F.normalize(x)", (n(2, 3),)),
    *[
        R(f"dropout{d}", f"F.dropout{d}(x)", (n(*s),))
        for d, s in (("", (4,)), ("1d", (1, 3, 2)), ("2d", (1, 3, 1, 2)), ("3d", (1, 3, 1, 1, 2)))
    ],
    R("alpha_dropout", "F.alpha_dropout(x)", (n(4),)),
    R("feature_alpha_dropout", "F.feature_alpha_dropout(x)", (n(1, 3, 2),)),
    R("rrelu", "F.rrelu(x)", (n(4),)),
    # linear maps, convolutions
    R("linear", "F.linear(x, y, z)", (n(2, 2), n(2, 2), n(2))),
    R("bilinear", "F.bilinear(x, y, z, w)", (n(1, 2), n(1, 2), n(2, 2, 2), n(1, 2))),
    R("embedding", "F.embedding(y, x)", (n(3, 2), k([0, 2, 0]))),
    R("conv1d", "F.conv1d(x, y, z)", (n(1, 2, 4), n(2, 2, 2), n(2))),
    R("conv2d", "F.conv2d(x, y, z, padding=1)", (n(1, 1, 3, 3), n(2, 1, 2, 2), n(2))),
    R("conv3d", "F.conv3d(x, y)", (n(1, 1, 2, 2, 3), n(1, 1, 2, 2, 2))),
    R("conv1d_transpose", "F.conv1d_transpose(x, y, z)", (n(1, 2, 3), n(2, 2, 2), n(2))),
    R("conv2d_transpose", "F.conv2d_transpose(x, y)", (n(1, 1, 2, 2), n(1, 2, 2, 2))),
    R("conv3d_transpose", "F.conv3d_transpose(x, y)", (n(1, 1, 1, 2, 2), n(1, 1, 2, 2, 1))),
    R("fold", "F.fold(x, [3, 3], 2)", (n(1, 4, 4),)),
    R("unfold", "F.unfold(x, 2)", (n(1, 1, 3, 3),)),
    R("affine_grid", "F.affine_grid(x, [1, 1, 2, 2])", (n(1, 2, 3),)),
    R("grid_sample", "F.grid_sample(x, y)", (n(1, 1, 3, 3), u(-0.8, -0.3, 1, 2, 1, 2))),
    # pooling
    *[
        R(f"{kind}_pool{d}d", f"F.{kind}_pool{d}d(x, 2)", (a(1, 1, *[4 if d == 1 else 2] * d),))
        for kind in POOLS.split()
        for d in (1, 2, 3)
    ],
    R("lp_pool1d", "F.lp_pool1d(x, 3.0, 2)", (u(0.5, 2, 1, 1, 4),)),
    R("lp_pool2d", "F.lp_pool2d(x, 2.0, 2)", (u(0.5, 2, 1, 1, 2, 4),)),
    R("fractional_max_pool2d", "F.fractional_max_pool2d(x, 2, random_u=0.4)", (a(1, 1, 3, 4),)),
    R("fractional_max_pool3d", "F.fractional_max_pool3d(x, 2, random_u=0.4)", (a(1, 1, 3, 2, 2),)),
    R("max_unpool1d", "F.max_unpool1d(x, y, 2)", (n(1, 1, 2), k([[[1, 2]]], "int32"))),
    R("max_unpool2d", "F.max_unpool2d(x, y, 2)", (n(1, 1, 1, 2), k([[[[1, 2]]]], "int32"))),
    R("max_unpool3d", "F.max_unpool3d(x, y, 2)", (n(1, 1, 1, 1, 2), k([[[[[1, 2]]]]], "int32"))),
    # normalisation
    R("layer_norm", "F.layer_norm(x, [3], y, z)", (n(2, 3), n(3), n(3))),
    R("rms_norm", "F.rms_norm(x, [3], y)", (n(2, 3), n(3))),
    R(
        "batch_norm",
        "F.batch_norm(x, p.zeros([2], 'float64'), p.ones([2], 'float64'), y, z, training=True)",
        (n(3, 2), n(2), n(2)),
    ),
    R("group_norm", "F.group_norm(x, 2, weight=y, bias=z)", (n(1, 4, 2), n(4), n(4))),
    R("instance_norm", "F.instance_norm(x, weight=y, bias=z)", (n(1, 2, 3), n(2), n(2))),
    R("local_response_norm", "F.local_response_norm(x, 3, 0.5)", (n(1, 4, 2),)),
    # resizing, moving pixels
    R("interpolate", "F.interpolate(x, [3, 4], mode='bilinear')", (n(1, 1, 2, 2),)),
    R("interpolate", "F.interpolate(x, [3], mode='linear', data_format='NCW')", (n(1, 1, 4),)),
    R("interpolate", "F.interpolate(x, [3, 3], mode='bicubic')", (n(1, 1, 2, 2),)),
    R("upsample", "F.upsample(x, [3, 3])", (n(1, 1, 2, 2),)),
    R("pad", "F.pad(x, [1, 1], mode='reflect', data_format='NCL')", (n(1, 1, 3),)),
    R("zeropad2d", "F.zeropad2d(x, [1, 0, 0, 1])", (n(1, 1, 2, 2),)),
    R("pixel_shuffle", "F.pixel_shuffle(x, 2)", (n(1, 4, 1, 2),)),
    R("pixel_unshuffle", "F.pixel_unshuffle(x, 2)", (n(1, 1, 2, 4),)),
    R("channel_shuffle", "F.channel_shuffle(x, 2)", (n(1, 4, 1, 2),)),
    R("temporal_shift", "F.temporal_shift(x, 2)", (n(2, 4, 1, 1),)),
    # attention
    R(
        "scaled_dot_product_attention",
        "F.scaled_dot_product_attention(x, y, z)",
        (n(1, 2, 1, 2), n(1, 2, 1, 2), n(1, 2, 1, 2)),
    ),
    R(
        "flash_attention",
        "F.flash_attention.flash_attention(x, y, z, causal=True)[0]",
        (n(1, 2, 1, 2), n(1, 2, 1, 2), n(1, 2, 1, 2)),
    ),
    R("flash_attn_qkvpacked", "F.flash_attn_qkvpacked(x)[0]", (n(1, 2, 3, 1, 2),)),
]
