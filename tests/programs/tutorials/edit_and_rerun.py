# %% import
import paddle
from paddle import nn
# %% define
def f(x):
    return x * 2
# %% use
f(paddle.to_tensor([1.0]))
# %% redefine
def f(x):
    return x * 3
# %% again use
# %% compiled
@paddle.jit.to_static(full_graph=True)
def g(x):
    return f(x) + 1
g(paddle.to_tensor([1.0]))
# %% weights
w = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
# %% step
loss = ((w - paddle.to_tensor([3.0, -1.0])) ** 2).sum()
loss.backward()
with paddle.no_grad():
    w.set_value(w - 0.25 * w.grad)
w.clear_gradient()
print(loss.item(), w.numpy())
# %% again step
# %% again step
# %% counter
count = paddle.zeros([1])
# %% add
count += 1
count
# %% again add
# %% again add
# %% class
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2, weight_attr=nn.initializer.Constant(1.0))
    def forward(self, x):
        return self.fc(x)
# %% make
net = Net()
net(paddle.ones([1, 2]))
# %% class changed
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3, weight_attr=nn.initializer.Constant(2.0))
    def forward(self, x):
        return self.fc(x) - 1
# %% again make
# %% forward replaced
Net.forward = lambda self, x: self.fc(x) * 100
net(paddle.ones([1, 2]))
# %% lists that grow
history = []
# %% grow
history.append(paddle.full([2], len(history), dtype="float32"))
paddle.stack(history).sum()
# %% again grow
# %% again grow
# %% shapes that vary
for n in [1, 3, 2]:
    print(net(paddle.ones([n, 2])).shape)
# %% global setting
scale = 2.0
h = lambda x: x * scale
h(paddle.ones([1]))
scale = 5.0
h(paddle.ones([1]))
_
# %% last values
paddle.ones([2])
_ + 1
