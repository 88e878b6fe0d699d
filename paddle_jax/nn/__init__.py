"""paddle.nn: layers."""

from paddle_jax._core.tensor import Parameter
from paddle_jax.nn import attention, functional, init, initializer, parameter, utils
from paddle_jax.nn.layer.activation import (
    CELU, ELU, GELU, GLU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LeakyReLU, LogSigmoid, LogSoftmax,
    Maxout, Mish, PReLU, ReLU, ReLU6, RReLU, SELU, Sigmoid, SiLU, Silu, Softmax, Softmax2D, Softplus,
    Softshrink, Softsign, Swish, Tanh, Tanhshrink, ThresholdedReLU,
)
from paddle_jax.nn.layer.common import (
    AlphaDropout, Bilinear, CircularPad1D, CircularPad1D as CircularPad1d, CircularPad2D,
    CircularPad2D as CircularPad2d, CircularPad3D, CircularPad3D as CircularPad3d, ConstantPad1D,
    ConstantPad1D as ConstantPad1d, ConstantPad2D, ConstantPad2D as ConstantPad2d, ConstantPad3D,
    ConstantPad3D as ConstantPad3d, CosineSimilarity, Dropout, Dropout2D, Dropout3D, Embedding,
    FeatureAlphaDropout, Flatten, Fold, Identity, Linear, Pad1D, Pad2D, Pad3D, ReflectionPad1D,
    ReflectionPad1D as ReflectionPad1d, ReflectionPad2D, ReflectionPad2D as ReflectionPad2d, ReflectionPad3D,
    ReflectionPad3D as ReflectionPad3d, ReplicationPad1D, ReplicationPad1D as ReplicationPad1d,
    ReplicationPad2D, ReplicationPad2D as ReplicationPad2d, ReplicationPad3D,
    ReplicationPad3D as ReplicationPad3d, Unflatten, Unfold, Upsample, UpsamplingBilinear2D,
    UpsamplingBilinear2D as UpsamplingBilinear2d, UpsamplingNearest2D,
    UpsamplingNearest2D as UpsamplingNearest2d, ZeroPad1D, ZeroPad1D as ZeroPad1d, ZeroPad2D,
    ZeroPad2D as ZeroPad2d, ZeroPad3D, ZeroPad3D as ZeroPad3d,
)
from paddle_jax.nn.layer.container import (
    LayerDict, LayerList, LayerDict as ModuleDict, LayerList as ModuleList, ParameterDict, ParameterList,
    Sequential,
)
from paddle_jax.nn.layer.conv import (
    Conv1D, Conv1D as Conv1d, Conv1DTranspose, Conv2D, Conv2D as Conv2d, Conv2DTranspose, Conv3D,
    Conv3D as Conv3d, Conv3DTranspose,
)
from paddle_jax.nn.layer.distance import (
    PairwiseDistance,
)
from paddle_jax.nn.layer.layers import (
    Layer, Layer as Module,
)
from paddle_jax.nn.layer.loss import (
    AdaptiveLogSoftmaxWithLoss, BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, CTCLoss,
    GaussianNLLLoss, HingeEmbeddingLoss, HSigmoidLoss, SmoothL1Loss as HuberLoss, KLDivLoss, L1Loss,
    MarginRankingLoss, MSELoss, MultiLabelMarginLoss, MultiLabelSoftMarginLoss, MultiMarginLoss, NLLLoss,
    PoissonNLLLoss, RNNTLoss, SmoothL1Loss, SoftMarginLoss, TripletMarginLoss, TripletMarginWithDistanceLoss,
)
from paddle_jax.nn.layer.norm import (
    BatchNorm, BatchNorm1D, BatchNorm2D, BatchNorm3D, GroupNorm, InstanceNorm1D, InstanceNorm2D,
    InstanceNorm3D, LayerNorm, LocalResponseNorm, SpectralNorm, SyncBatchNorm,
)
from paddle_jax.nn.layer.pooling import (
    AdaptiveAvgPool1D, AdaptiveAvgPool1D as AdaptiveAvgPool1d, AdaptiveAvgPool2D,
    AdaptiveAvgPool2D as AdaptiveAvgPool2d, AdaptiveAvgPool3D, AdaptiveAvgPool3D as AdaptiveAvgPool3d,
    AdaptiveMaxPool1D, AdaptiveMaxPool1D as AdaptiveMaxPool1d, AdaptiveMaxPool2D,
    AdaptiveMaxPool2D as AdaptiveMaxPool2d, AdaptiveMaxPool3D, AdaptiveMaxPool3D as AdaptiveMaxPool3d,
    AvgPool1D, AvgPool2D, AvgPool3D, FractionalMaxPool2D, FractionalMaxPool3D, LPPool1D, LPPool1D as LPPool1d,
    LPPool2D, LPPool2D as LPPool2d, MaxPool1D, MaxPool2D, MaxPool3D, MaxUnPool1D, MaxUnPool1D as MaxUnpool1d,
    MaxUnPool2D, MaxUnPool2D as MaxUnpool2d, MaxUnPool3D, MaxUnPool3D as MaxUnpool3d,
)
from paddle_jax.nn.layer.rnn import (
    BiRNN, GRU, GRUCell, LSTM, LSTMCell, RNN, RNNCellBase, SimpleRNN, SimpleRNNCell,
)
from paddle_jax.nn.layer.transformer import (
    MultiHeadAttention, Transformer, TransformerDecoder, TransformerDecoderLayer, TransformerEncoder,
    TransformerEncoderLayer,
)
from paddle_jax.nn.layer.vision import (
    ChannelShuffle, PixelShuffle, PixelUnshuffle,
)
from paddle_jax.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from paddle_jax.nn.decode import BeamSearchDecoder, dynamic_decode
from paddle_jax.nn.layer import loss
from paddle_jax.nn import quant
from paddle_jax.nn.utils import spectral_norm

__all__ = [
    "AdaptiveAvgPool1D", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D", "AdaptiveLogSoftmaxWithLoss",
    "AdaptiveMaxPool1D", "AdaptiveMaxPool1d", "AdaptiveMaxPool2D", "AdaptiveMaxPool2d", "AdaptiveMaxPool3D",
    "AdaptiveMaxPool3d", "AlphaDropout", "AvgPool1D", "AvgPool2D", "AvgPool3D", "BCELoss",
    "BCEWithLogitsLoss", "BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "BeamSearchDecoder",
    "BiRNN", "Bilinear", "CELU", "CTCLoss", "ChannelShuffle", "CircularPad1D", "CircularPad1d",
    "CircularPad2D", "CircularPad2d", "CircularPad3D", "CircularPad3d", "ClipGradByGlobalNorm",
    "ClipGradByNorm", "ClipGradByValue", "ConstantPad1D", "ConstantPad1d", "ConstantPad2D", "ConstantPad2d",
    "ConstantPad3D", "ConstantPad3d", "Conv1D", "Conv1DTranspose", "Conv1d", "Conv2D", "Conv2DTranspose",
    "Conv2d", "Conv3D", "Conv3DTranspose", "Conv3d", "CosineEmbeddingLoss", "CosineSimilarity",
    "CrossEntropyLoss", "Dropout", "Dropout2D", "Dropout3D", "ELU", "Embedding", "FeatureAlphaDropout",
    "Flatten", "Fold", "FractionalMaxPool2D", "FractionalMaxPool3D", "GELU", "GLU", "GRU", "GRUCell",
    "GaussianNLLLoss", "GroupNorm", "HSigmoidLoss", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
    "HingeEmbeddingLoss", "Identity", "InstanceNorm1D", "InstanceNorm2D", "InstanceNorm3D", "KLDivLoss",
    "L1Loss", "LPPool1D", "LPPool1d", "LPPool2D", "LPPool2d", "LSTM", "LSTMCell", "Layer", "LayerDict",
    "LayerList", "LayerNorm", "LeakyReLU", "Linear", "LocalResponseNorm", "LogSigmoid", "LogSoftmax",
    "MSELoss", "MarginRankingLoss", "MaxPool1D", "MaxPool2D", "MaxPool3D", "MaxUnPool1D", "MaxUnPool2D",
    "MaxUnPool3D", "Maxout", "Mish", "Module", "ModuleDict", "ModuleList", "MultiHeadAttention",
    "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "PReLU", "Pad1D",
    "Pad2D", "Pad3D", "PairwiseDistance", "Parameter", "ParameterDict", "ParameterList", "PixelShuffle",
    "PixelUnshuffle", "PoissonNLLLoss", "RNN", "RNNCellBase", "RNNTLoss", "RReLU", "ReLU", "ReLU6",
    "ReflectionPad1D", "ReflectionPad1d", "ReflectionPad2D", "ReflectionPad2d", "ReflectionPad3D",
    "ReflectionPad3d", "ReplicationPad1D", "ReplicationPad1d", "ReplicationPad2D", "ReplicationPad2d",
    "ReplicationPad3D", "ReplicationPad3d", "SELU", "Sequential", "SiLU", "Sigmoid", "Silu", "SimpleRNN",
    "SimpleRNNCell", "SmoothL1Loss", "SoftMarginLoss", "Softmax", "Softmax2D", "Softplus", "Softshrink",
    "Softsign", "SpectralNorm", "Swish", "SyncBatchNorm", "Tanh", "Tanhshrink", "ThresholdedReLU",
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "Unflatten", "Unfold",
    "Upsample", "UpsamplingBilinear2D", "UpsamplingNearest2D", "ZeroPad1D", "ZeroPad2D", "ZeroPad3D",
    "dynamic_decode",
]
