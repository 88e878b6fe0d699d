# %% correlation by hand
import paddle
from paddle import nn
import paddle.nn.functional as F
def corr2d(X, K):
    h, w = K.shape
    Y = paddle.zeros([X.shape[0] - h + 1, X.shape[1] - w + 1])
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            Y[i, j] = (X[i : i + h, j : j + w] * K).sum()
    return Y
X = paddle.arange(9, dtype="float32").reshape([3, 3])
K = paddle.arange(4, dtype="float32").reshape([2, 2])
corr2d(X, K)
# %% as a layer
class Conv2D(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.weight = self.create_parameter(size, default_initializer=nn.initializer.Constant(0.5))
        self.bias = self.create_parameter([1], is_bias=True)
    def forward(self, x):
        return corr2d(x, self.weight) + self.bias
Conv2D([2, 2])(X)
# %% an edge
X = paddle.ones([6, 8])
X[:, 2:6] = 0
X
K = paddle.to_tensor([[1.0, -1.0]])
Y = corr2d(X, K)
Y
corr2d(X.t(), K)
# %% learning the kernel
conv = nn.Conv2D(1, 1, kernel_size=(1, 2), bias_attr=False)
conv.weight.set_value(paddle.full([1, 1, 1, 2], 0.1))
Xb, Yb = X.reshape([1, 1, 6, 8]), Y.reshape([1, 1, 6, 7])
for i in range(10):
    l = ((conv(Xb) - Yb) ** 2).sum()
    conv.clear_gradients()
    l.backward()
    with paddle.no_grad():
        conv.weight.set_value(conv.weight - 3e-2 * conv.weight.grad)
    if i % 2:
        print(f"batch {i + 1}, loss {l.item():.3f}")
conv.weight.reshape([1, 2])
# %% padding and stride
def out_shape(conv, n=8):
    return conv(paddle.ones([1, 1, n, n])).shape[2:]
out_shape(nn.Conv2D(1, 1, 3, padding=1)), out_shape(nn.Conv2D(1, 1, (5, 3), padding=(2, 1))), out_shape(nn.Conv2D(1, 1, 3, padding=1, stride=2)), out_shape(nn.Conv2D(1, 1, (3, 5), padding=(0, 1), stride=(3, 4)))
# %% channels
X = paddle.stack([paddle.arange(9, dtype="float32").reshape([3, 3]), paddle.arange(1, 10, dtype="float32").reshape([3, 3])])
K = paddle.stack([paddle.arange(4, dtype="float32").reshape([2, 2]), paddle.arange(1, 5, dtype="float32").reshape([2, 2])])
def corr2d_multi_in(X, K):
    return sum(corr2d(x, k) for x, k in zip(X, K))
corr2d_multi_in(X, K)
K3 = paddle.stack([K, K + 1, K + 2], 0)
K3.shape
def corr2d_multi(X, K):
    return paddle.stack([corr2d_multi_in(X, k) for k in K], 0)
corr2d_multi(X, K3)
paddle.allclose(corr2d_multi(X, K3), F.conv2d(X.unsqueeze(0), K3)[0])
# %% pooling
def pool2d(X, size, mode="max"):
    h, w = size
    Y = paddle.zeros([X.shape[0] - h + 1, X.shape[1] - w + 1])
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            part = X[i : i + h, j : j + w]
            Y[i, j] = part.max() if mode == "max" else part.mean()
    return Y
pool2d(X[0], (2, 2)), pool2d(X[0], (2, 2), "avg")
Z = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
nn.MaxPool2D(3)(Z), nn.MaxPool2D(3, padding=1, stride=2)(Z), nn.AvgPool2D((2, 4), stride=(2, 4))(Z)
# %% refused
nn.Conv2D(2, 1, 3)(Z)
