# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F

def filled(layer, scale=0.3):
    for k, p in enumerate(layer.parameters()):
        p.set_value(paddle.to_tensor(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * scale))
    return layer
# %% a chain
net = filled(nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 4)))
net
X = paddle.arange(40, dtype="float32").reshape([2, 20]) / 40
net(X)
net[0]
net[2].bias
# %% own block
class MLP(nn.Layer):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(20, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(F.relu(self.hidden(x)))

mlp = filled(MLP())
print(mlp)
mlp(X)
# %% own chain
class Chain(nn.Layer):
    def __init__(self, *parts):
        super().__init__()
        for k, part in enumerate(parts):
            self.add_sublayer(str(k), part)

    def forward(self, x):
        for part in self._sub_layers.values():
            x = part(x)
        return x

chain = filled(Chain(nn.Linear(20, 4), nn.Tanh(), nn.Linear(4, 1)))
chain
chain(X)
# %% code in forward
class Fixed(nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = paddle.ones([20, 20]) * 0.05
        self.linear = nn.Linear(20, 20)

    def forward(self, x):
        x = self.linear(x)
        x = F.relu(paddle.matmul(x, self.weight) + 1)
        x = self.linear(x)
        while x.abs().sum() > 1:
            x /= 2
        return x.sum()

filled(Fixed())(X)
# %% nested
nested = filled(nn.Sequential(chain, nn.Linear(1, 5), nn.Sequential(nn.Sigmoid(), nn.Linear(5, 2))))
nested
nested(X)
# %% names
[(name, tuple(p.shape)) for name, p in nested.named_parameters()]
[name for name, _ in nested.named_sublayers()]
list(nested.state_dict().keys())
nested.full_name(), chain.full_name()
# %% parameters
net[0].weight.name, net[0].weight.trainable, net[0].weight.stop_gradient, net[0].weight.persistable
net.state_dict()["2.bias"]
len(net.parameters()), sum(p.numel().item() for p in net.parameters())
type(net[0].weight)
# %% apply
def zero(layer):
    if isinstance(layer, nn.Linear):
        layer.weight.set_value(paddle.zeros(layer.weight.shape))
net.apply(zero)
net(X)
# %% modes
net.training, net.eval().training if net.eval() else net.training
net.train()
net.training
# %% refused
net(paddle.ones([2, 3]))
# %% refused attribute
net.nothing
# %% layers as lists and dicts
ll = nn.LayerList([nn.Linear(2, 2) for _ in range(2)])
ll.append(nn.ReLU())
ll
ld = nn.LayerDict({"a": nn.Linear(2, 3), "b": nn.GELU()})
ld
len(ll), list(ld.keys())
# %% own parameters
class Scale(nn.Layer):
    def __init__(self, n):
        super().__init__()
        self.gain = self.create_parameter([n], default_initializer=nn.initializer.Constant(2.0))
        self.register_buffer("seen", paddle.zeros([1]))

    def forward(self, x):
        self.seen += 1
        return x * self.gain

    def extra_repr(self):
        return "n=3"
s = Scale(3)
s
s(paddle.ones([2, 3])), s(paddle.ones([1, 3]))
s.seen
s.state_dict()
