# %% import
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
# %% data
grid = np.stack(np.meshgrid(np.linspace(-1, 1, 8), np.linspace(-1, 1, 8)), -1).reshape(-1, 2).astype("float32")
target = (np.sum(grid**2, 1) < 0.5).astype("int64")
x, y = paddle.to_tensor(grid), paddle.to_tensor(target)
x.shape, y.sum()
# %% model
class Net(nn.Layer):
    def __init__(self, width=16):
        super().__init__()
        self.fc1 = nn.Linear(2, width)
        self.fc2 = nn.Linear(width, 2)
    def forward(self, x):
        return self.fc2(paddle.tanh(self.fc1(x)))
net = Net()
for k, p in enumerate(net.parameters()):
    p.set_value((np.cos(np.arange(p.size) * 2.3 + k) * 0.5).reshape(p.shape).astype("float32"))
net
# %% loss before
loss_fn = nn.CrossEntropyLoss()
loss_fn(net(x), y)
# %% train
opt = paddle.optimizer.Adam(0.05, parameters=net.parameters())
history = []
for step in range(20):
    loss = loss_fn(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    history.append(loss.item())
print([round(v, 3) for v in history[::5]])
history[0] > history[-1]
# %% accuracy
pred = net(x).argmax(-1)
(pred == y).astype("float32").mean()
paddle.metric.accuracy(net(x), y.unsqueeze(-1))
# %% gradients
F.cross_entropy(net(x), y).backward()
net.fc2.bias.grad
net.fc1.weight.grad.shape
# %% optimizer state
sorted(k.split("_")[-2] for k in opt.state_dict() if "bias" not in k and "LR" not in k)[:4]
opt.get_lr()
# %% freeze
net.fc1.weight.stop_gradient = True
net.clear_gradients()
F.cross_entropy(net(x), y).backward()
net.fc1.weight.grad, net.fc1.bias.grad is not None
# %% another run of training from here
for step in range(5):
    loss = loss_fn(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
print(loss)
