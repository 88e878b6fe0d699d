# %% import
import numpy as np
import paddle
from paddle import nn
from paddle.static import InputSpec
# %% a function
@paddle.jit.to_static
def f(x, y):
    return paddle.tanh(x) * y + 1
f(paddle.ones([2]), paddle.to_tensor([2.0, 3.0]))
f(paddle.ones([3]), paddle.to_tensor(2.0))
f(paddle.ones([2, 2]), 3)
# %% a layer
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
    def forward(self, x, scale=1.0):
        return self.fc(x) * scale
net = Net()
net.fc.weight.set_value(np.arange(6).reshape(3, 2).astype("float32") / 10)
eager = net(paddle.ones([1, 3]))
net = paddle.jit.to_static(net)
net(paddle.ones([1, 3])), eager
net(paddle.ones([4, 3]), scale=2.0)
# %% gradients
x = paddle.ones([2, 3])
x.stop_gradient = False
net(x).sum().backward()
x.grad
net.fc.weight.grad
# %% control flow
@paddle.jit.to_static(full_graph=True)
def choose(x):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    return y
choose(paddle.to_tensor([1.0])), choose(paddle.to_tensor([-1.0]))
@paddle.jit.to_static(full_graph=True)
def halve(x):
    n = paddle.zeros([1], dtype="int64")
    while x > 1:
        x = x / 2
        n = n + 1
    return x, n
halve(paddle.to_tensor([10.0])), halve(paddle.to_tensor([0.5]))
@paddle.jit.to_static(full_graph=True)
def total(x):
    s = paddle.zeros([])
    for i in range(x.shape[0]):
        s = s + x[i] * i
    return s
total(paddle.arange(5, dtype="float32")), total(paddle.arange(3, dtype="float32"))
# %% other shapes and dtypes
g = paddle.jit.to_static(lambda x: x.sum(-1) * 2)
g(paddle.ones([2, 3])), g(paddle.ones([4], dtype="int64")), g(paddle.ones([1, 2, 2], dtype="float64"))
# %% values changed between calls
factor = paddle.to_tensor(2.0)
h = paddle.jit.to_static(lambda x: x * factor)
h(paddle.ones([2]))
factor.set_value(paddle.to_tensor(5.0))
h(paddle.ones([2]))
net.fc.bias.set_value(paddle.to_tensor([1.0, -1.0]))
net(paddle.zeros([1, 3]))
# %% training
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(3):
    loss = (net(paddle.ones([2, 3])) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(loss)
# %% modes
class Drop(nn.Layer):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
    def forward(self, x):
        return self.drop(x)
d = paddle.jit.to_static(Drop())
d.eval()
d(paddle.ones([4]))
d.train()
sorted(set(d(paddle.ones([200])).numpy().tolist()))
# %% several results
@paddle.jit.to_static
def parts(x):
    return {"sum": x.sum(), "both": (x.min(), x.max()), "n": 3}
parts(paddle.to_tensor([1.0, 5.0]))
# %% back to eager
paddle.jit.enable_to_static(False)
choose(paddle.to_tensor([2.0]))
paddle.jit.enable_to_static(True)
