# %% import
import paddle
from paddle import nn
# %% dense
nn.Linear(3, 4), nn.Linear(3, 4, bias_attr=False), nn.Bilinear(2, 3, 4), nn.Embedding(10, 4), nn.Embedding(10, 4, padding_idx=0)
# %% convolutions
nn.Conv1D(3, 6, 3), nn.Conv2D(3, 6, 3, stride=2, padding=1), nn.Conv2D(3, 6, (3, 5), dilation=2, groups=3), nn.Conv3D(1, 2, 3)
nn.Conv2DTranspose(3, 6, 2, stride=2), nn.Conv1DTranspose(3, 6, 2)
# %% pooling
nn.MaxPool2D(2), nn.AvgPool2D(3, 2, 1), nn.AdaptiveAvgPool2D(1), nn.AdaptiveMaxPool1D(4), nn.MaxPool1D(2)
# %% normalisation
nn.BatchNorm1D(4), nn.BatchNorm2D(4, momentum=0.8), nn.LayerNorm(8), nn.LayerNorm([3, 4], epsilon=1e-6), nn.GroupNorm(2, 4), nn.InstanceNorm2D(3)
nn.LocalResponseNorm(5), nn.SpectralNorm([2, 3])
# %% activations
nn.ReLU(), nn.GELU(), nn.GELU(True), nn.Sigmoid(), nn.Tanh(), nn.Softmax(), nn.Softmax(axis=1), nn.LeakyReLU(0.2), nn.ELU(), nn.PReLU(), nn.SiLU(), nn.Swish()
nn.Hardswish(), nn.Mish(), nn.LogSoftmax(), nn.Softplus(), nn.Hardtanh(), nn.SELU(), nn.CELU(0.5), nn.ThresholdedReLU(), nn.Maxout(2), nn.ReLU6()
# %% dropout and shapes
nn.Dropout(0.3), nn.Dropout2D(), nn.AlphaDropout(), nn.Flatten(), nn.Unfold(2), nn.Upsample(scale_factor=2), nn.PixelShuffle(2), nn.Pad2D(1), nn.Identity()
nn.ZeroPad2D([1, 1, 0, 0]), nn.CosineSimilarity(), nn.UpsamplingBilinear2D([4, 4])
# %% losses
nn.CrossEntropyLoss(), nn.MSELoss(), nn.L1Loss("sum"), nn.BCELoss(), nn.BCEWithLogitsLoss(), nn.NLLLoss(), nn.KLDivLoss(), nn.SmoothL1Loss(), nn.MarginRankingLoss()
# %% recurrent
nn.LSTM(4, 8), nn.GRU(4, 8, 2), nn.SimpleRNN(4, 8, direction="bidirect"), nn.LSTMCell(4, 8), nn.GRUCell(2, 3), nn.SimpleRNNCell(2, 3)
nn.RNN(nn.LSTMCell(2, 3))
# %% attention
nn.MultiHeadAttention(8, 2)
nn.TransformerEncoderLayer(8, 2, 16)
nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)
nn.TransformerDecoderLayer(8, 2, 16)
# %% initializers
type(nn.initializer.XavierNormal()).__name__, nn.initializer.Constant(1.0).__class__.__name__
# %% clips
nn.ClipGradByNorm(1.0), nn.ClipGradByGlobalNorm(2.0), nn.ClipGradByValue(0.5)
# %% a deep one
nn.Sequential(("first", nn.Linear(2, 3)), ("act", nn.ReLU()), ("inner", nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.1))))
# %% networks
paddle.vision.models.LeNet()
