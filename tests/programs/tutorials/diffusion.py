# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
T = 10
betas = paddle.linspace(1e-3, 0.2, T)
alphas = 1 - betas
abar = paddle.cumprod(alphas, dim=0)
abar
# %% noising
x0 = paddle.to_tensor(np.cos(np.arange(16)).reshape(8, 2).astype("float32"))
eps = paddle.to_tensor(np.sin(np.arange(16) * 2.1).reshape(8, 2).astype("float32"))
def noised(x, t, eps):
    a = abar[t].unsqueeze(-1)
    return a.sqrt() * x + (1 - a).sqrt() * eps
t = paddle.to_tensor([0, 1, 2, 3, 4, 5, 8, 9])
noised(x0, t, eps)
# %% time embedding
def embed(t, width=8):
    freq = paddle.exp(-np.log(100.0) * paddle.arange(width // 2, dtype="float32") / (width // 2))
    a = t.astype("float32").unsqueeze(-1) * freq
    return paddle.concat([a.sin(), a.cos()], axis=-1)
embed(paddle.to_tensor([0, 3]))
# %% network
class Denoiser(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 16), nn.Silu(), nn.Linear(16, 2))
    def forward(self, x, t):
        return self.net(paddle.concat([x, embed(t)], -1))
model = Denoiser()
for k, p in enumerate(model.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.3)
opt = paddle.optimizer.AdamW(0.01, parameters=model.parameters())
for step in range(9):
    loss = F.mse_loss(model(noised(x0, t, eps), t), eps)
    loss.backward()
    opt.step()
    opt.clear_grad()
    if step % 4 == 0:
        print(step, f"{loss.item():.3f}")
# %% going back
@paddle.no_grad()
def back(x):
    for k in reversed(range(T)):
        e = model(x, paddle.full([len(x)], k, dtype="int64"))
        x = (x - betas[k] / (1 - abar[k]).sqrt() * e) / alphas[k].sqrt()
    return x
out = back(eps)
out.shape, out.stop_gradient, bool(paddle.isfinite(out).all())
# %% schedules
s = paddle.cos((paddle.arange(T + 1, dtype="float32") / T + 0.008) / 1.008 * np.pi / 2) ** 2
paddle.clip(1 - s[1:] / s[:-1], max=0.999)
# %% signal to noise
snr = abar / (1 - abar)
paddle.log(snr)
