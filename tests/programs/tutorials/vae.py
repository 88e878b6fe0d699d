# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
x = paddle.to_tensor((np.sin(np.arange(16 * 8) * 0.37).reshape([16, 8]) > 0).astype("float32"))
eps = paddle.to_tensor(np.cos(np.arange(16 * 2) * 1.9).reshape([16, 2]).astype("float32"))
# %% model
class VAE(nn.Layer):
    def __init__(self, n=8, hidden=12, latent=2):
        super().__init__()
        self.enc, self.mu, self.logvar = nn.Linear(n, hidden), nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, n))
    def encode(self, x):
        h = F.relu(self.enc(x))
        return self.mu(h), self.logvar(h)
    def reparameterize(self, mu, logvar, eps):
        return mu + eps * paddle.exp(0.5 * logvar)
    def forward(self, x, eps):
        mu, logvar = self.encode(x)
        return self.dec(self.reparameterize(mu, logvar, eps)), mu, logvar
vae = VAE()
for k, p in enumerate(vae.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.3)
vae
# %% loss
def elbo(logits, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kl = -0.5 * paddle.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return rec, kl
rec, kl = elbo(vae(x, eps)[0], x, *vae.encode(x))
rec, kl
# %% training
opt = paddle.optimizer.Adam(0.01, parameters=vae.parameters())
for epoch in range(8):
    logits, mu, logvar = vae(x, eps)
    rec, kl = elbo(logits, x, mu, logvar)
    loss = rec + kl
    loss.backward()
    opt.step()
    opt.clear_grad()
    if epoch % 2 == 0:
        print(epoch, f"{loss.item() / 16:.3f} {kl.item() / 16:.3f}")
# %% sampling
vae.eval()
with paddle.no_grad():
    p = F.sigmoid(vae.dec(paddle.to_tensor([[0.0, 0.0], [1.0, -1.0]])))
p
paddle.randn([4, 2]).shape, paddle.randn_like(x).dtype
# %% an autoencoder
ae = nn.Sequential(nn.Linear(8, 3), nn.Tanh(), nn.Linear(3, 8), nn.Sigmoid())
for k, q in enumerate(ae.parameters()):
    q.set_value(np.sin(np.arange(q.size) + k).reshape(q.shape).astype("float32") * 0.5)
opt = paddle.optimizer.RMSProp(0.01, parameters=ae.parameters())
losses = []
for _ in range(6):
    l = F.mse_loss(ae(x), x)
    l.backward()
    opt.step()
    opt.clear_grad()
    losses.append(l.item())
[round(v, 3) for v in losses]
ae[:2](x[:2])
