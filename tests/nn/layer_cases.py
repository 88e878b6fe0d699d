"""Layer classes with constructor arguments and inputs, for comparison with the real Paddle.

A case is (class, args, kwargs, inputs). An input is text: "2,3" makes random floats of that shape, "p2,3"
positive ones, "i5:2,3" ints below 5, "s2,3" signs (-1 or 1), "b2,3" zeros and ones as floats, "r2,3"
probabilities that sum to 1 on the last axis.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    args: tuple = ()
    kwargs: dict = dataclasses.field(default_factory=dict)
    inputs: tuple = ("2,4",)
    random: bool = False  # random in training: compared in evaluation only
    grad: bool = True  # False where the real Paddle gives no gradient or a wrong one

    def __str__(self):
        given = ", ".join(
            [
                *("cell" if callable(a) else str(a) for a in self.args),
                *(f"{k}={v}" for k, v in self.kwargs.items()),
            ]
        )
        return f"{self.name}({given})"

    def arrays(self):
        rng = np.random.default_rng(7)
        return [_array(rng, text) for text in self.inputs]

    def build(self, paddle):
        made = [a(paddle) if callable(a) else a for a in self.args]
        return getattr(paddle.nn, self.name)(
            *made, **{k: v(paddle) if callable(v) else v for k, v in self.kwargs.items()}
        )


def _array(rng, text):
    if text == "none":
        return None
    kind, text = (text[0], text[1:]) if text[0].isalpha() else ("f", text)
    high, _, text = text.rpartition(":")
    shape = tuple(int(n) for n in text.split(",") if n)
    if kind == "i":
        return rng.integers(0, int(high), shape)
    if kind == "s":
        return (rng.integers(0, 2, shape) * 2 - 1).astype(np.float32)
    if kind == "b":
        return rng.integers(0, 2, shape).astype(np.float32)
    values = rng.standard_normal(shape).astype(np.float32)
    if kind == "p":
        return np.abs(values) * 0.8 + 0.1
    if kind == "r":
        return (np.exp(values) / np.exp(values).sum(-1, keepdims=True)).astype(np.float32)
    return values


def C(name, /, *args, inputs=("2,4",), random=False, grad=True, **kwargs):
    return Case(name, args, kwargs, (inputs,) if isinstance(inputs, str) else tuple(inputs), random, grad)


COMMON = [
    C("Linear", 4, 3),
    C("Linear", 4, 3, bias_attr=False, name="lin"),
    C("Identity", 3, a=1),
    C("Bilinear", 4, 3, 5, inputs=("2,4", "2,3")),
    C("Bilinear", 4, 3, 5, bias_attr=False, inputs=("2,4", "2,3")),
    C("Embedding", 10, 4, inputs="i10:2,3"),
    C("Embedding", 10, 4, padding_idx=-1, inputs="i10:6,3"),
    C("Embedding", 10, 4, 3, inputs="i10:6,3"),
    C("Flatten", inputs="2,3,4"),
    C("Flatten", 0, 1, inputs="2,3,4"),
    C("Unflatten", 1, [2, -1], inputs="2,4"),
    C("CosineSimilarity", inputs=("2,4", "2,4")),
    C("CosineSimilarity", dim=0, eps=1e-3, inputs=("2,4", "2,4")),
    C("PairwiseDistance", inputs=("2,4", "2,4")),
    C("PairwiseDistance", 1.0, eps=1e-3, keepdim=True, name="q", inputs=("2,4", "2,4")),
    C("Upsample", scale_factor=2, inputs="1,2,3,3"),
    C("Upsample", size=[5, 4], mode="bilinear", align_corners=True, inputs="1,2,3,3"),
    C("UpsamplingBilinear2D", scale_factor=2, inputs="1,2,3,3"),
    C("UpsamplingNearest2D", size=[2, 5], inputs="1,2,3,3"),
    C("PixelShuffle", 2, inputs="1,8,2,3"),
    C("PixelShuffle", 2, data_format="NHWC", name="p", inputs="1,2,3,8"),
    C("PixelUnshuffle", 2, inputs="1,2,4,6"),
    C("ChannelShuffle", 2, inputs="1,4,2,2"),
    C("ChannelShuffle", 2, "NHWC", "c", inputs="1,2,2,4"),
    C("Unfold", 2, inputs="1,2,4,5"),
    C("Unfold", [2, 3], 1, 1, 2, name="u", inputs="1,2,4,5"),
    C("Fold", [4, 5], 2, inputs="1,8,12"),
    C("Fold", output_size=[4, 5], kernel_size=2, stride=2, padding=1, inputs="1,8,9"),
]
PAD = [
    C(f"{kind}Pad{d}D", 1, *([2.5] if kind == "Constant" else []), inputs="1,2" + ",3" * d)
    for kind in ("", "Zero", "Constant", "Circular", "Reflection", "Replication")
    for d in (1, 2, 3)
] + [
    C("Pad1D", [1, 2], mode="reflect", inputs="1,2,4"),
    C("Pad2D", [1, 0, 2, 1], "replicate", inputs="1,2,4,3"),
    C("Pad2D", 1, value=3.0, data_format="NHWC", name="z", inputs="1,4,3,2"),
    C("Pad3D", [1, 2, 0, 1, 1, 0], "circular", inputs="1,2,3,3,3"),
]
DROPOUT = [
    C("Dropout", random=True),
    C("Dropout", 0.3, axis=1, mode="downscale_in_infer", name="d", random=True),
    C("Dropout", 0.0),
    C("Dropout2D", random=True, inputs="1,2,3,3"),
    C("Dropout3D", random=True, inputs="1,2,3,3,3"),
    C("AlphaDropout", random=True),
    C("FeatureAlphaDropout", random=True, inputs="2,3,4"),
]
CONV = [
    C("Conv1D", 4, 6, 3, inputs="2,4,8"),
    C("Conv1D", 4, 6, 3, stride=2, padding=1, dilation=2, groups=2, inputs="2,4,9"),
    C("Conv1D", 4, 6, [3], padding="SAME", data_format="NLC", inputs="2,8,4"),
    C("Conv1D", 4, 6, 3, padding=[1, 2], bias=False, inputs="2,4,8"),
    C("Conv1D", 4, 6, 3, padding=2, padding_mode="circular", inputs="2,4,8"),
    C("Conv2D", 4, 6, 3, inputs="2,4,6,5"),
    C("Conv2D", 4, 6, (3, 2), stride=(1, 2), padding=[1, 2], groups=2, inputs="2,4,6,5"),
    C("Conv2D", 4, 6, 3, padding="SAME", dilation=2, inputs="2,4,6,5"),
    C("Conv2D", 4, 6, 3, padding=2, padding_mode="reflect", inputs="2,4,6,5"),
    C("Conv2D", 4, 6, 3, padding=1, padding_mode="replicate", stride=2, inputs="2,4,6,5"),
    C("Conv2D", 4, 6, 3, data_format="NHWC", padding=[1, 0, 2, 1], inputs="2,6,5,4"),
    C("Conv2D", 4, 4, 1, groups=4, bias_attr=False, inputs="2,4,3,3"),
    C("Conv3D", 2, 3, 2, inputs="1,2,4,4,4"),
    C("Conv3D", 2, 4, 3, padding=1, stride=2, groups=2, padding_mode="zeros", inputs="1,2,4,4,4"),
    C("Conv1DTranspose", 4, 6, 3, inputs="2,4,5"),
    C("Conv1DTranspose", 4, 6, 3, stride=2, padding=1, output_padding=1, groups=2, inputs="2,4,5"),
    C("Conv2DTranspose", 4, 6, 3, inputs="2,4,4,3"),
    C(
        "Conv2DTranspose",
        4,
        6,
        3,
        stride=2,
        padding=1,
        output_padding=1,
        groups=2,
        dilation=2,
        inputs="2,4,4,3",
    ),
    C("Conv2DTranspose", 4, 6, 2, stride=2, bias_attr=False, data_format="NHWC", inputs="2,4,3,4"),
    C("Conv3DTranspose", 2, 3, 2, inputs="1,2,3,3,3"),
    C("Conv3DTranspose", 2, 4, 3, stride=2, padding=1, groups=2, inputs="1,2,3,3,3"),
]
POOL = [
    C("MaxPool1D", 2, inputs="1,2,6"),
    C("MaxPool1D", 3, 2, 1, ceil_mode=True, inputs="1,2,6"),
    C("MaxPool2D", 2, inputs="1,2,6,5"),
    C("MaxPool2D", 3, stride=1, padding=1, return_mask=True, inputs="1,2,4,4"),
    C("MaxPool3D", 2, inputs="1,2,4,4,4"),
    C("AvgPool1D", 2, inputs="1,2,6"),
    C("AvgPool1D", 3, 2, 1, False, inputs="1,2,6"),
    C("AvgPool2D", 2, inputs="1,2,6,5"),
    C("AvgPool2D", 3, 2, 1, exclusive=False, divisor_override=5, inputs="1,2,6,5"),
    C("AvgPool3D", 2, inputs="1,2,4,4,4"),
    C("LPPool1D", 2, 2, inputs="1,2,6"),
    C("LPPool2D", 2.0, 2, inputs="1,2,4,4"),
    C("LPPool2D", 3, 2, stride=1, inputs="p1,2,4,4"),
    C("AdaptiveAvgPool1D", 3, inputs="1,2,7"),
    C("AdaptiveAvgPool2D", (2, 3), inputs="1,2,5,7"),
    C("AdaptiveAvgPool2D", [2, None], inputs="1,2,5,4"),
    C("AdaptiveAvgPool3D", 2, inputs="1,2,3,4,5"),
    C("AdaptiveMaxPool1D", 3, inputs="1,2,7"),
    C("AdaptiveMaxPool2D", (2, 3), True, inputs="1,2,5,7"),
    C("AdaptiveMaxPool2D", 2, return_indices=True, inputs="1,2,5,7"),
    C("AdaptiveMaxPool3D", 2, inputs="1,2,3,4,5"),
    C("FractionalMaxPool2D", 2, random_u=0.3, inputs="1,2,5,5"),
    C("FractionalMaxPool3D", 2, random_u=0.6, inputs="1,2,4,4,4"),
]
_UNARY = (
    "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish "
    "PReLU ReLU ReLU6 SELU Sigmoid Silu Softmax Softplus Softshrink Softsign Swish Tanh "
    "Tanhshrink ThresholdedReLU"
)
ACTIVATION = (
    [C(name, inputs="3,6") for name in _UNARY.split()]
    + [C(name, name="nm", inputs="3,6") for name in _UNARY.split()]
    + [
        C("Softmax2D", inputs="2,3,2,2"),
        C("Softmax2D", inputs="3,2,2"),
        C("Maxout", 2, inputs="1,4,2,3"),
        C("GELU", True, inputs="3,6"),
        C("GELU", "tanh", inputs="3,6"),
        C("PReLU", 4, 0.1, data_format="NHWC", inputs="1,2,2,4"),
        C("RReLU", random=True, inputs="3,6"),
        C("GLU", dim=0, inputs="4,3"),
        C("Hardshrink", lambd=0.2, inputs="3,6"),
        C("Softshrink", lambd=0.2, inputs="3,6"),
        C("Softplus", 2, 1.0, inputs="3,6"),
        C("CELU", 0.7, inputs="3,6"),
        C("ELU", 0.7, inputs="3,6"),
        C("Softmax", 0, inputs="3,6"),
        C("ThresholdedReLU", 0.3, -1.0, inputs="3,6"),
        C("Hardtanh", -0.5, 0.7, inputs="3,6"),
        C("LeakyReLU", 0.3, inputs="3,6"),
        C("SiLU", inputs="3,6"),
    ]
)
NORM = [
    C("BatchNorm", 4, inputs="3,4,2,2"),
    C("BatchNorm", 4, act="relu", inputs="3,4"),
    C("BatchNorm", 4, use_global_stats=True, inputs="3,4,2"),
    C("BatchNorm", 4, trainable_statistics=True, momentum=0.5, inputs="3,4,2,2"),
    C("BatchNorm", 4, is_test=True, inputs="3,4,2,2"),
    C("BatchNorm", 4, data_layout="NHWC", param_attr=False, bias_attr=False, inputs="3,2,2,4"),
    C("BatchNorm1D", 4, inputs="5,4"),
    C("BatchNorm1D", 4, inputs="3,4,2"),
    C("BatchNorm1D", 4, data_format="NLC", inputs="3,2,4"),
    C("BatchNorm2D", 4, inputs="3,4,2,2"),
    C("BatchNorm2D", 4, momentum=0.3, epsilon=1e-2, weight_attr=False, inputs="3,4,2,2", grad=False),
    C("BatchNorm2D", 4, data_format="NHWC", name="bn", weight_attr=False, bias_attr=False, inputs="3,2,2,4"),
    C("BatchNorm2D", 4, use_global_stats=True, inputs="3,4,2,2"),
    C("BatchNorm2D", 4, use_global_stats=False, inputs="3,4,2,2"),
    C("BatchNorm3D", 4, inputs="2,4,2,2,2"),
    C("LayerNorm", 4),
    C("LayerNorm", [3, 4], weight_attr=False, inputs="2,3,4"),
    C("LayerNorm", 4, elementwise_affine=False),
    C("LayerNorm", 4, bias=False, eps=1e-3),
    C("LayerNorm", (2, 3), 1e-3, inputs="4,2,3"),
    C("GroupNorm", 2, 4, inputs="2,4,3,3"),
    C("GroupNorm", 2, 4, affine=False, eps=0.1, inputs="2,4,3,3", grad=False),
    C("GroupNorm", 4, 4, data_format="NHWC", inputs="2,3,3,4"),
    C("InstanceNorm1D", 4, inputs="2,4,5"),
    C("InstanceNorm2D", 4, inputs="2,4,3,3"),
    C("InstanceNorm2D", 4, 1e-2, weight_attr=False, bias_attr=False, inputs="2,4,3,3"),
    C("InstanceNorm3D", 4, inputs="2,4,2,2,2"),
    C("LocalResponseNorm", 3, inputs="2,6,3,3"),
    C("LocalResponseNorm", 2, 1e-2, 0.5, 2.0, "NHWC", inputs="2,3,3,6"),
    C("SpectralNorm", [4, 3], inputs="4,3", grad=False),
    C("SpectralNorm", [2, 4, 3], dim=1, power_iters=3, inputs="2,4,3", grad=False),
]
LOSS = [
    C("CrossEntropyLoss", inputs=("4,5", "i5:4")),
    C("CrossEntropyLoss", reduction="sum", ignore_index=2, inputs=("4,5", "i5:4")),
    C("CrossEntropyLoss", soft_label=True, reduction="none", inputs=("4,5", "r4,5")),
    C("CrossEntropyLoss", label_smoothing=0.2, inputs=("4,5", "i5:4")),
    C("CrossEntropyLoss", axis=1, inputs=("2,5,3", "i5:2,3")),
    C("CrossEntropyLoss", use_softmax=False, inputs=("r4,5", "i5:4")),
    C("NLLLoss", inputs=("4,5", "i5:4")),
    C("NLLLoss", reduction="none", ignore_index=1, inputs=("4,5", "i5:4")),
    C("BCELoss", inputs=("r4,5", "b4,5")),
    C("BCELoss", reduction="sum", inputs=("r4,5", "r4,5")),
    C("BCEWithLogitsLoss", inputs=("4,5", "b4,5")),
    C("BCEWithLogitsLoss", reduction="none", inputs=("4,5", "b4,5")),
    C("MSELoss", inputs=("3,2", "3,2")),
    C("MSELoss", "sum", inputs=("3,2", "3,2")),
    C("L1Loss", inputs=("3,2", "3,2")),
    C("L1Loss", "none", inputs=("3,2", "3,2")),
    C("SmoothL1Loss", inputs=("3,2", "3,2")),
    C("SmoothL1Loss", "sum", 0.3, inputs=("3,2", "3,2")),
    C("SmoothL1Loss", delta=0.5, is_huber=False, inputs=("3,2", "3,2")),
    C("KLDivLoss", inputs=("3,4", "r3,4")),
    C("KLDivLoss", "batchmean", inputs=("3,4", "r3,4")),
    C("KLDivLoss", "none", True, inputs=("3,4", "3,4")),
    C("PoissonNLLLoss", inputs=("3,4", "p3,4")),
    C("PoissonNLLLoss", False, True, 1e-6, "sum", inputs=("p3,4", "p3,4")),
    C("GaussianNLLLoss", inputs=("3,4", "3,4", "p3,4")),
    C("GaussianNLLLoss", True, 0.5, "none", inputs=("3,4", "3,4", "p3,4")),
    C("MarginRankingLoss", inputs=("5", "5", "s5")),
    C("MarginRankingLoss", 0.5, "sum", inputs=("5", "5", "s5")),
    C("CosineEmbeddingLoss", inputs=("3,4", "3,4", "s3")),
    C("CosineEmbeddingLoss", 0.3, "none", inputs=("3,4", "3,4", "s3")),
    C("HingeEmbeddingLoss", inputs=("3,4", "s3,4")),
    C("HingeEmbeddingLoss", 0.5, "none", inputs=("3,4", "s3,4")),
    C("TripletMarginLoss", inputs=("3,4", "3,4", "3,4")),
    C("TripletMarginLoss", 2.0, 1.0, swap=True, reduction="none", inputs=("3,4",) * 3),
    C("TripletMarginWithDistanceLoss", inputs=("3,4", "3,4", "3,4")),
    C("TripletMarginWithDistanceLoss", None, 3.0, True, "sum", inputs=("3,4",) * 3),
    C("MultiLabelSoftMarginLoss", inputs=("3,4", "b3,4")),
    C("MultiLabelMarginLoss", inputs=("3,4", "i4:3,4")),
    C("MultiMarginLoss", inputs=("3,4", "i4:3")),
    C("MultiMarginLoss", 2, 0.5, reduction="none", inputs=("3,4", "i4:3")),
    C("SoftMarginLoss", inputs=("3,4", "s3,4")),
    C("HSigmoidLoss", 4, 8, inputs=("3,4", "i8:3,1")),
    C("HSigmoidLoss", 4, 8, bias_attr=False, inputs=("3,4", "i8:3,1")),
]
TRANSFORMER = [
    C("MultiHeadAttention", 8, 2, inputs="2,3,8"),
    C("MultiHeadAttention", 8, 2, need_weights=True, bias_attr=False, inputs="2,3,8"),
    C("MultiHeadAttention", 8, 4, kdim=4, vdim=6, inputs=("2,3,8", "2,5,4", "2,5,6")),
    C("MultiHeadAttention", 8, 2, inputs=("2,3,8", "2,5,8", "2,5,8", "2,1,3,5")),
    C("MultiHeadAttention", 8, 2, inputs=("2,3,8",) * 3 + ("i2:2,2,3,3",)),
    C("TransformerEncoderLayer", 8, 2, 16, 0.0, inputs="2,3,8"),
    C("TransformerEncoderLayer", 8, 2, 16, random=True, inputs="2,3,8"),
    C(
        "TransformerEncoderLayer",
        8,
        2,
        16,
        0.0,
        "gelu",
        normalize_before=True,
        bias_attr=[False, None],
        layer_norm_eps=1e-4,
        inputs=("2,3,8", "3,3"),
    ),
    C("TransformerDecoderLayer", 8, 2, 16, 0.0, inputs=("2,3,8", "2,4,8")),
    C(
        "TransformerDecoderLayer",
        8,
        2,
        16,
        0.0,
        normalize_before=True,
        weight_attr=[None] * 3,
        inputs=("2,3,8", "2,4,8", "3,3", "3,4"),
    ),
    C("Transformer", 8, 2, 1, 2, 16, 0.0, inputs=("2,3,8", "2,4,8")),
    C(
        "Transformer",
        8,
        2,
        1,
        1,
        16,
        0.0,
        "gelu",
        normalize_before=True,
        bias_attr=[False, None, False],
        inputs=("2,3,8", "2,4,8", "3,3", "4,4", "4,3"),
    ),
]
RNN = [
    C("SimpleRNNCell", 4, 3),
    C("SimpleRNNCell", 4, 3, "relu", bias_ih_attr=False, inputs=("2,4", "2,3")),
    C("LSTMCell", 4, 3),
    C("GRUCell", 4, 3),
    C("GRUCell", 4, 3, weight_hh_attr=False, inputs=("2,4", "2,3")),
    C("SimpleRNN", 4, 3, inputs="2,5,4"),
    C("SimpleRNN", 4, 3, 2, "bidirect", True, activation="relu", inputs="5,2,4"),
    C("SimpleRNN", 4, 3, inputs=("2,5,4", "1,2,3", "i6:2")),
    C("LSTM", 4, 3, inputs="2,5,4"),
    C("LSTM", 4, 3, 2, "bidirectional", inputs="2,5,4"),
    C("LSTM", 4, 3, 2, dropout=0.5, random=True, grad=False, inputs="2,5,4"),
    C("LSTM", 4, 3, 2, "bidirect", inputs=("3,5,4", "none", "i6:3")),
    C("LSTM", 4, 3, proj_size=2, inputs="2,5,4"),
    C("GRU", 4, 3, inputs="2,5,4"),
    C("GRU", 4, 3, 2, "bidirect", time_major=True, inputs=("5,2,4", "4,2,3")),
    C("GRU", 4, 3, 2, "bidirect", inputs=("3,5,4", "none", "i6:3")),
    C("RNN", lambda p: p.nn.GRUCell(4, 3), inputs="2,5,4"),
    C("RNN", lambda p: p.nn.LSTMCell(4, 3), True, True, inputs="5,2,4"),
    C("RNN", lambda p: p.nn.GRUCell(4, 3), inputs=("3,5,4", "3,3", "i6:3")),
    C("RNN", lambda p: p.nn.LSTMCell(4, 3), True, inputs=("3,5,4", "none", "i6:3")),
    C("BiRNN", lambda p: p.nn.GRUCell(4, 3), lambda p: p.nn.GRUCell(4, 3), inputs="2,5,4"),
    C(
        "BiRNN",
        lambda p: p.nn.LSTMCell(4, 3),
        lambda p: p.nn.LSTMCell(4, 3),
        inputs=("3,5,4", "none", "i6:3"),
    ),
]
ALL = [*COMMON, *PAD, *DROPOUT, *CONV, *POOL, *ACTIVATION, *NORM, *LOSS, *TRANSFORMER, *RNN]
