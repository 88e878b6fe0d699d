# %% import
import paddle
from paddle import nn
# %% on tensors
x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
handle = x.register_hook(lambda g: print("got", g) or g * 2)
(x * 3).sum().backward()
x.grad
handle.remove()
x.clear_grad()
(x * 3).sum().backward()
x.grad
# %% inside
y = x * x
seen = []
y.register_hook(lambda g: seen.append(g.tolist()))
(y * 5).sum().backward()
seen
# %% on layers
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
net[0].weight.set_value(paddle.eye(2))
def after(layer, inputs, output):
    print(type(layer).__name__, len(inputs), output.shape)
h1 = net[0].register_forward_post_hook(after)
def before(layer, inputs):
    return (inputs[0] * 10,)
h2 = net[0].register_forward_pre_hook(before)
net(paddle.ones([1, 2]))
h1.remove(), h2.remove()
net(paddle.ones([1, 2]))
# %% changed results
h = net.register_forward_post_hook(lambda layer, i, o: o + 100)
net(paddle.ones([1, 2]))
h.remove()
# %% features
feats = {}
def keep(name):
    def hook(layer, i, o):
        feats[name] = o.detach()
    return hook
for name, layer in net.named_sublayers():
    layer.register_forward_post_hook(keep(name))
out = net(paddle.to_tensor([[1.0, -1.0]]))
feats
# %% refused
paddle.ones([2]).register_hook(lambda g: g)
# %% clipping by a hook
w = paddle.to_tensor([3.0], stop_gradient=False)
w.register_hook(lambda g: paddle.clip(g, -1, 1))
(w * 100).backward()
w.grad
# %% own functions
from paddle.autograd import PyLayer
class Cube(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3
    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return dy * 3 * x**2
z = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
out = Cube.apply(z)
out
out.sum().backward()
z.grad.numpy()
class Straight(PyLayer):
    @staticmethod
    def forward(ctx, x, scale=1.0):
        ctx.scale = scale
        return (x > 0).astype("float32")
    @staticmethod
    def backward(ctx, g):
        return g * ctx.scale
z.clear_grad()
Straight.apply(z, scale=3.0).sum().backward()
z.grad.numpy()
class Two(PyLayer):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b, a + b
    @staticmethod
    def backward(ctx, g1, g2):
        a, b = ctx.saved_tensor()
        return g1 * b + g2, g1 * a + g2
p, q = (paddle.to_tensor([v], stop_gradient=False) for v in (2.0, 5.0))
m, n = Two.apply(p, q)
(m + 10 * n).backward()
p.grad.numpy(), q.grad.numpy()
# %% refused number of gradients
class Wrong(PyLayer):
    @staticmethod
    def forward(ctx, a, b):
        return a + b
    @staticmethod
    def backward(ctx, g):
        return g
Wrong.apply(p, q).backward()
