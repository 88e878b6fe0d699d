# %% import
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
# %% features
x = paddle.linspace(-1, 1, 12).reshape([-1, 1])
powers = paddle.concat([x**k / math.factorial(k) for k in range(5)], axis=1)
powers[:2]
true_w = paddle.to_tensor([5.0, 1.2, -3.4, 5.6, 0.0]).unsqueeze(-1)
y = powers @ true_w
y[:3]
# %% closed form
w = paddle.linalg.solve(powers.T @ powers + 1e-4 * paddle.eye(5), powers.T @ y)
w.flatten().shape
F.mse_loss(powers @ w, y) < 1e-2
# %% trained with few or many columns
def train(columns, steps=40):
    net = nn.Linear(columns, 1, bias_attr=False)
    net.weight.set_value(paddle.zeros([columns, 1]))
    opt = paddle.optimizer.SGD(0.3, parameters=net.parameters())
    for _ in range(steps):
        loss = F.mse_loss(net(powers[:, :columns]), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
    return f"{loss.item():.3f}"
train(2), train(4)
# %% activations
t = paddle.arange(-3, 3.5, 1.5)
F.relu(t), F.sigmoid(t), F.tanh(t), F.gelu(t), F.silu(t), F.elu(t), F.softplus(t), F.leaky_relu(t), F.hardswish(t), F.mish(t)
t.stop_gradient = False
F.sigmoid(t).sum().backward()
t.grad
# %% Horner
def horner(c, x):
    out = paddle.zeros_like(x)
    for k in reversed(range(len(c))):
        out = out * x + c[k]
    return out
horner(paddle.to_tensor([1.0, -2.0, 3.0]), paddle.to_tensor([0.0, 1.0, 2.0]))
# %% Newton's method
z = paddle.to_tensor(1.5, stop_gradient=False)
for _ in range(4):
    f = z**3 - 2
    (d,) = paddle.grad(f, z)
    z = (z - f / d).detach()
    z.stop_gradient = False
    print(f"{z.item():.5f}")
# %% integration
u = paddle.linspace(0, math.pi, 101)
paddle.trapezoid(paddle.sin(u), u), paddle.cumulative_trapezoid(paddle.ones([4]))
paddle.diff(paddle.to_tensor([1.0, 4.0, 9.0])), paddle.cumprod(paddle.to_tensor([1.0, 2.0, 3.0]), dim=0)
# %% interpolation
paddle.lerp(paddle.to_tensor([0.0, 10.0]), paddle.to_tensor([10.0, 20.0]), 0.3)
paddle.bucketize(paddle.to_tensor([0.5, 2.5]), paddle.to_tensor([1.0, 2.0, 3.0]))
paddle.vander(paddle.to_tensor([1.0, 2.0, 3.0]), 3)
