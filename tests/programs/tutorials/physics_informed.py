# %% import
import math
import numpy as np
import paddle
from paddle import nn
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
for k, p in enumerate(net.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.5)
# %% derivatives of the network
x = paddle.linspace(0, 1, 9).unsqueeze(-1)
x.stop_gradient = False
u = net(x)
(ux,) = paddle.grad(u, x, create_graph=True)
(uxx,) = paddle.grad(ux, x, create_graph=True)
u.shape, ux.shape
ux[:3]
uxx[:3]
# %% residual
def loss_of():
    u = net(x)
    (ux,) = paddle.grad(u, x, paddle.ones_like(u), create_graph=True)
    (uxx,) = paddle.grad(ux, x, paddle.ones_like(ux), create_graph=True)
    f = uxx + (math.pi**2) * paddle.sin(math.pi * x)
    ends = net(paddle.to_tensor([[0.0], [1.0]]))
    return (f**2).mean(), (ends**2).mean()
loss_of()
# %% training
opt = paddle.optimizer.Adam(0.005, parameters=net.parameters())
for step in range(9):
    pde, bc = loss_of()
    loss = pde + 10 * bc
    loss.backward()
    opt.step()
    opt.clear_grad()
    if step % 4 == 0:
        print(step, f"{pde.item():.2f} {bc.item():.3f}")
# %% two inputs
xt = paddle.to_tensor([[0.1, 0.2], [0.3, 0.4]], stop_gradient=False)
w = paddle.sin(xt[:, 0:1]) * paddle.exp(-xt[:, 1:2])
(g,) = paddle.grad(w, xt, create_graph=True)
wx, wt = g[:, 0:1], g[:, 1:2]
(gx,) = paddle.grad(wx, xt, create_graph=True)
gx[:, 0:1] + w
wt + w
# %% finite differences
h = 1 / 8
A = paddle.diag(paddle.full([7], -2.0)) + paddle.diag(paddle.ones([6]), 1) + paddle.diag(paddle.ones([6]), -1)
inner = paddle.linspace(0, 1, 9)[1:-1]
sol = paddle.linalg.solve(A / h**2, -(math.pi**2) * paddle.sin(math.pi * inner))
sol
(sol - paddle.sin(math.pi * inner)).abs().max() < 0.02
# %% heat
T = paddle.sin(math.pi * paddle.linspace(0, 1, 9))
for _ in range(10):
    T = T.clone()
    T[1:-1] = T[1:-1] + 0.4 * (T[2:] - 2 * T[1:-1] + T[:-2])
T
# %% ordinary equation
def rk4(f, y, t, dt):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    k3 = f(t + dt / 2, y + dt / 2 * k2)
    k4 = f(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
y = paddle.to_tensor([1.0, 0.0])
rot = paddle.to_tensor([[0.0, 1.0], [-1.0, 0.0]])
for k in range(10):
    y = rk4(lambda t, y: rot @ y, y, 0.1 * k, 0.1)
y, math.cos(1.0)
