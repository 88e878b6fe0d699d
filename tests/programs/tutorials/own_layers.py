# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
# %% without parameters
class Centered(nn.Layer):
    def forward(self, X):
        return X - X.mean()
layer = Centered()
layer(paddle.to_tensor([1.0, 2, 3, 4, 5]))
layer
net = nn.Sequential(nn.Linear(8, 4), Centered())
abs(net(paddle.ones([2, 8])).mean().item()) < 1e-5
# %% with parameters
class MyLinear(nn.Layer):
    def __init__(self, i, o):
        super().__init__()
        self.weight = self.create_parameter([i, o], default_initializer=nn.initializer.Constant(0.1))
        self.bias = self.create_parameter([o], is_bias=True)
    def forward(self, X):
        return F.relu(paddle.matmul(X, self.weight) + self.bias)
l = MyLinear(5, 3)
l.weight
l(paddle.ones([2, 5]))
nn.Sequential(MyLinear(4, 2), MyLinear(2, 1))(paddle.ones([2, 4]))
# %% attributes
attr = paddle.ParamAttr(name="w_named", initializer=nn.initializer.Constant(3.0), learning_rate=0.5, trainable=False)
q = nn.Linear(2, 2, weight_attr=attr)
q.weight.name, q.weight.trainable, q.weight.optimize_attr
q.weight
# %% initialisers
def show(init, shape=(2, 2)):
    return paddle.create_parameter(list(shape), "float32", default_initializer=init)
show(nn.initializer.Constant(0.5))
show(nn.initializer.Assign(np.array([[1, 2], [3, 4]], "float32")))
show(nn.initializer.Dirac(), (2, 2, 3))
o = show(nn.initializer.Orthogonal(), (3, 3))
paddle.allclose(o @ o.T, paddle.eye(3), atol=1e-5)
u = show(nn.initializer.Uniform(-0.1, 0.1), (50, 50))
bool((u.abs() <= 0.1).all()), u.shape
nn.initializer.calculate_gain("relu"), nn.initializer.calculate_gain("leaky_relu", 0.1)
# %% own initialisation
def init(m):
    if type(m) == nn.Linear:
        nn.initializer.Constant(1.0)(m.weight)
        m.bias.set_value(paddle.zeros(m.bias.shape))
n = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
n.apply(init)
n[0].weight, n[2].bias
# %% tied
shared = nn.Linear(2, 2)
shared.weight.set_value(paddle.eye(2))
tied = nn.Sequential(nn.Linear(2, 2), shared, nn.ReLU(), shared)
len(tied.parameters())
tied[1].weight is tied[3].weight
with paddle.no_grad():
    tied[1].weight[0, 0] = 100
tied[3].weight
# %% lazily
class Lazy(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = None
    def forward(self, x):
        if self.fc is None:
            self.fc = nn.Linear(x.shape[-1], 2)
            self.fc.weight.set_value(paddle.ones(self.fc.weight.shape))
        return self.fc(x)
z = Lazy()
z(paddle.ones([1, 3]))
z
# %% removing and replacing
tied[2] = nn.Sigmoid()
tied
del z.fc
z.state_dict()
# %% buffers
class Mean(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", paddle.zeros([2]))
        self.register_buffer("hidden", paddle.ones([1]), persistable=False)
    def forward(self, x):
        self.total = self.total + x.sum(0)
        return self.total
mm = Mean()
mm(paddle.ones([3, 2])), mm(paddle.ones([1, 2]))
list(mm.state_dict()), [name for name, _ in mm.named_buffers()]
# %% refused
class Bad(nn.Layer):
    def __init__(self):
        self.fc = nn.Linear(2, 2)
Bad()
# %% refused forward
nn.Layer()(paddle.ones([1]))
