# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
# %% a block
class Residual(nn.Layer):
    def __init__(self, in_channels, channels, use_1x1=False, strides=1):
        super().__init__()
        self.conv1 = nn.Conv2D(in_channels, channels, 3, padding=1, stride=strides)
        self.conv2 = nn.Conv2D(channels, channels, 3, padding=1)
        self.conv3 = nn.Conv2D(in_channels, channels, 1, stride=strides) if use_1x1 else None
        self.bn1, self.bn2 = nn.BatchNorm2D(channels), nn.BatchNorm2D(channels)
        self.relu = nn.ReLU()
    def forward(self, X):
        Y = F.relu(self.bn1(self.conv1(X)))
        Y = self.bn2(self.conv2(Y))
        if self.conv3:
            X = self.conv3(X)
        Y += X
        return F.relu(Y)
def filled(layer):
    for k, (name, p) in enumerate(layer.named_parameters()):
        if "bn" not in name and "_mean" not in name and "_variance" not in name:
            p.set_value(np.sin(np.arange(p.size) * 0.7 + k).reshape(p.shape).astype("float32") * 0.2)
    return layer
block = filled(Residual(3, 3))
block
X = paddle.to_tensor(np.cos(np.arange(4 * 3 * 6 * 6)).reshape([4, 3, 6, 6]).astype("float32"))
Y = block(X)
Y.shape, Y.mean(), Y.std()
# %% halved
filled(Residual(3, 6, use_1x1=True, strides=2))(X).shape
# %% stages
def stage(i, o, n, first=False):
    return [Residual(i, o, True, 2) if k == 0 and not first else Residual(i if k == 0 else o, o) for k in range(n)]
net = filled(nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), *stage(8, 8, 1, first=True), *stage(8, 16, 2), nn.AdaptiveAvgPool2D((1, 1)), nn.Flatten(), nn.Linear(16, 5)))
net.eval()
net(X)
len(net.parameters()), len(net.state_dict()), len(list(net.buffers()))
# %% running statistics
net.train()
out = net(X)
net[1].bn1._mean
net[1].bn1._variance
# %% a step
loss = F.cross_entropy(out, paddle.to_tensor([0, 1, 2, 3]))
loss
loss.backward()
net[-1].bias.grad
opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters(), weight_decay=1e-4)
opt.step()
net[-1].bias
# %% state dict keys
[k for k in net.state_dict() if k.startswith("1.")]
