# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
# %% data
rng = np.random.RandomState(3)
A, b = np.array([[1, 2], [-0.1, 0.5]], "float32"), np.array([1, 2], "float32")
real = paddle.to_tensor((rng.randn(64, 2).astype("float32") @ A) + b)
noise = paddle.to_tensor(rng.randn(64, 2).astype("float32"))
real.mean(0), paddle.to_tensor(A.T @ A)
# %% networks
G = nn.Sequential(nn.Linear(2, 2))
D = nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 3), nn.Tanh(), nn.Linear(3, 1))
for net in (G, D):
    for k, p in enumerate(net.parameters()):
        p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.3)
G, D
# %% losses
bce = nn.BCEWithLogitsLoss(reduction="sum")
ones, zeros = paddle.ones([64, 1]), paddle.zeros([64, 1])
def update_D(opt):
    opt.clear_grad()
    fake = G(noise)
    loss = (bce(D(real), ones) + bce(D(fake.detach()), zeros)) / 2
    loss.backward()
    opt.step()
    return loss
def update_G(opt):
    opt.clear_grad()
    loss = bce(D(G(noise)), ones)
    loss.backward()
    opt.step()
    return loss
opt_D = paddle.optimizer.Adam(0.05, parameters=D.parameters())
opt_G = paddle.optimizer.Adam(0.02, parameters=G.parameters())
# %% training
for epoch in range(6):
    d, g = update_D(opt_D), update_G(opt_G)
    print(epoch, f"loss_D {d.item() / 64:.3f}, loss_G {g.item() / 64:.3f}")
# %% generated
G[0].bias
G(noise).mean(0)
D(real)[:2].shape
# %% who got gradients
[p.grad is not None for p in D.parameters()]
G.eval()
with paddle.no_grad():
    fake = G(noise)
fake.stop_gradient
# %% a convolutional generator
class Up(nn.Layer):
    def __init__(self, i, o, k=4, s=2, p=1):
        super().__init__()
        self.conv = nn.Conv2DTranspose(i, o, k, s, p, bias_attr=False)
        self.norm, self.act = nn.BatchNorm2D(o), nn.ReLU()
    def forward(self, x):
        return self.act(self.norm(self.conv(x)))
up = Up(3, 5)
up.conv.weight.set_value(paddle.ones(up.conv.weight.shape) * 0.1)
x = paddle.to_tensor(np.cos(np.arange(2 * 3 * 16 * 16)).reshape([2, 3, 16, 16]).astype("float32"))
up(x).shape
nn.Sequential(Up(3, 4, 4, 1, 0), Up(4, 2))(paddle.zeros([1, 3, 1, 1])).shape
F.leaky_relu(paddle.arange(-2, 1, 0.5), 0.2)
# %% a convolutional judge
judge = nn.Sequential(nn.Conv2D(3, 4, 4, 2, 1, bias_attr=False), nn.BatchNorm2D(4), nn.LeakyReLU(0.2), nn.Conv2D(4, 1, 4))
judge
judge(x).shape
