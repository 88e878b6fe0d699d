# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
# %% transposed convolution by hand
def trans_conv(X, K):
    h, w = K.shape
    Y = paddle.zeros((X.shape[0] + h - 1, X.shape[1] + w - 1))
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            Y[i : i + h, j : j + w] += X[i, j] * K
    return Y
X, K = paddle.to_tensor([[0.0, 1.0], [2.0, 3.0]]), paddle.to_tensor([[0.0, 1.0], [2.0, 3.0]])
trans_conv(X, K)
# %% as a layer
t = nn.Conv2DTranspose(1, 1, kernel_size=2, bias_attr=False)
t.weight.set_value(K.reshape([1, 1, 2, 2]))
t(X.reshape([1, 1, 2, 2]))
t2 = nn.Conv2DTranspose(1, 1, 2, padding=1, bias_attr=False)
t2.weight.set_value(K.reshape([1, 1, 2, 2]))
t2(X.reshape([1, 1, 2, 2]))
F.conv2d_transpose(X.reshape([1, 1, 2, 2]), K.reshape([1, 1, 2, 2]), stride=2)
# %% as a matrix
W = paddle.zeros([4, 9])
k = paddle.to_tensor([1.0, 2, 0, 3, 4])
W[0, :5], W[1, 1:6], W[2, 3:8], W[3, 4:] = k, k, k, k
W
x = paddle.arange(9, dtype="float32")
paddle.matmul(W, x).reshape([2, 2])
F.conv2d(x.reshape([1, 1, 3, 3]), paddle.to_tensor([[1.0, 2], [3, 4]]).reshape([1, 1, 2, 2]))[0, 0]
# %% bilinear kernel
def bilinear_kernel(i, o, size):
    factor = (size + 1) // 2
    center = factor - 1 if size % 2 == 1 else factor - 0.5
    og = (paddle.arange(size).reshape([-1, 1]), paddle.arange(size).reshape([1, -1]))
    f = (1 - (og[0] - center).abs() / factor) * (1 - (og[1] - center).abs() / factor)
    w = paddle.zeros((i, o, size, size))
    w[list(range(i)), list(range(o)), :, :] = f
    return w
bilinear_kernel(1, 1, 4)
F.interpolate(X.reshape([1, 1, 2, 2]), scale_factor=2, mode="bilinear")
F.interpolate(X.reshape([1, 1, 2, 2]), size=[4, 4], mode="nearest")
# %% a small network
class UNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2D(1, 4, 3, padding=1), nn.ReLU())
        self.pool = nn.MaxPool2D(2)
        self.mid = nn.Conv2D(4, 4, 3, padding=1)
        self.up = nn.Conv2DTranspose(4, 4, 2, stride=2)
        self.out = nn.Conv2D(8, 2, 1)
    def forward(self, x):
        a = self.down(x)
        b = self.up(F.relu(self.mid(self.pool(a))))
        return self.out(paddle.concat([a, b], axis=1))
net = UNet()
for i, p in enumerate(net.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.7 + i).reshape(p.shape).astype("float32") * 0.3)
image = paddle.to_tensor((np.sin(np.arange(2 * 64) * 0.3)).reshape([2, 1, 8, 8]).astype("float32"))
label = (image > 0).astype("int64").squeeze(1)
out = net(image)
out.shape
# %% pixel loss
loss = F.cross_entropy(out, label, axis=1)
loss
F.cross_entropy(out.transpose([0, 2, 3, 1]), label)
opt = paddle.optimizer.Adam(0.02, parameters=net.parameters())
for step in range(6):
    loss = F.cross_entropy(net(image), label, axis=1)
    loss.backward()
    opt.step()
    opt.clear_grad()
print(f"{loss.item():.2f}")
# %% scores
pred = net(image).argmax(1)
inter = ((pred == 1) & (label == 1)).sum()
union = ((pred == 1) | (label == 1)).sum()
(inter / union) > 0.5
(pred == label).astype("float32").mean() > 0.5
