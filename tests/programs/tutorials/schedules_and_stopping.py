# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
x = paddle.linspace(-1, 1, 16).unsqueeze(-1)
y = x**3
def make():
    net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    for k, p in enumerate(net.parameters()):
        p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32"))
    return net
# %% early stopping
net, best, patience, waited = make(), float("inf"), 2, 0
opt = paddle.optimizer.Adam(0.05, parameters=net.parameters())
for epoch in range(30):
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    if loss.item() < best - 1e-2:
        best, waited = loss.item(), 0
    else:
        waited += 1
    if waited > patience:
        break
epoch < 29, best < 1
# %% accumulated gradients
a, b = make(), make()
F.mse_loss(a(x), y).backward()
for part in range(4):
    (F.mse_loss(b(x[part * 4 : part * 4 + 4]), y[part * 4 : part * 4 + 4]) / 4).backward()
[bool(paddle.allclose(p.grad, q.grad, atol=1e-5)) for p, q in zip(a.parameters(), b.parameters())]
# %% moving averages of weights
ema = {name: p.clone().detach() for name, p in net.named_parameters()}
def update(decay=0.9):
    with paddle.no_grad():
        for name, p in net.named_parameters():
            ema[name] = decay * ema[name] + (1 - decay) * p
update()
[bool(paddle.allclose(ema[name], p)) for name, p in net.named_parameters()]
# %% learning rate in the loop
net = make()
sched = paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=4)
opt = paddle.optimizer.SGD(sched, parameters=net.parameters())
for epoch in range(4):
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    sched.step()
    print(epoch, round(opt.get_lr(), 4), f"{loss.item():.3f}")
# %% clipped
net = make()
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.1))
(F.mse_loss(net(x), y) * 100).backward()
before = net[2].bias.numpy().copy()
norm = paddle.sqrt(sum((p.grad**2).sum() for p in net.parameters()))
norm
opt.step()
net[2].bias - paddle.to_tensor(before)
nn.utils.clip_grad_norm_(net.parameters(), 0.5)
# %% parameters as a vector
v = nn.utils.parameters_to_vector(net.parameters())
v.shape
nn.utils.vector_to_parameters(v * 0, net.parameters())
net(x).abs().sum()
# %% folds
data = paddle.arange(10, dtype="float32")
for k in range(3):
    hold = data[k * 3 : (k + 1) * 3]
    rest = paddle.concat([data[: k * 3], data[(k + 1) * 3 :]])
    print(k, hold.numpy(), rest.mean().item())
# %% standardised columns
t = paddle.to_tensor([[1.0, 100.0], [2.0, 300.0], [3.0, 200.0]])
(t - t.mean(0)) / t.std(0)
# %% logarithm of the error
price, guess = paddle.to_tensor([100.0, 200.0]), paddle.to_tensor([110.0, 150.0])
paddle.sqrt(F.mse_loss(paddle.log(guess), paddle.log(price)))
