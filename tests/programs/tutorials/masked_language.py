# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
words = "<pad> <mask> <cls> <sep> the cat sat on a mat dog ran".split()
vocab = {w: i for i, w in enumerate(words)}
def encode(a, b):
    ids = ["<cls>"] + a.split() + ["<sep>"] + b.split() + ["<sep>"]
    segments = [0] * (len(a.split()) + 2) + [1] * (len(b.split()) + 1)
    return [vocab[w] for w in ids], segments
ids, segments = encode("the cat sat", "on a mat")
ids, segments
# %% padding
rows = [encode("the cat sat", "on a mat"), encode("the dog ran", "on")]
longest = max(len(r[0]) for r in rows)
def pad(r, value=0):
    return r + [value] * (longest - len(r))
tokens = paddle.to_tensor([pad(r[0]) for r in rows])
seg = paddle.to_tensor([pad(r[1]) for r in rows])
valid = tokens != vocab["<pad>"]
tokens, valid.sum(1)
# %% masking
labels = tokens.clone()
masked = tokens.clone()
masked[0, 2] = vocab["<mask>"]
masked[1, 3] = vocab["<mask>"]
targets = paddle.where(masked == vocab["<mask>"], labels, paddle.full_like(labels, -100))
targets
# %% model
class Bert(nn.Layer):
    def __init__(self, n, width=8, layers=1):
        super().__init__()
        self.token, self.segment = nn.Embedding(n, width), nn.Embedding(2, width)
        self.pos = self.create_parameter([1, 16, width])
        layer = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.0, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head, self.next = nn.Linear(width, n), nn.Linear(width, 2)
    def forward(self, ids, seg, valid):
        x = self.token(ids) + self.segment(seg) + self.pos[:, : ids.shape[1]]
        mask = paddle.where(valid, paddle.zeros([1]), paddle.full([1], -1e4)).unsqueeze([1, 2])
        x = self.encoder(x, mask)
        return self.head(x), self.next(x[:, 0])
net = Bert(len(words))
for k, (name, p) in enumerate(net.named_parameters()):
    if "norm" not in name:
        p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.3)
mlm, nsp = net(masked, seg, valid)
mlm.shape
nsp
# %% losses
F.cross_entropy(mlm.reshape([-1, len(words)]), targets.reshape([-1]), ignore_index=-100)
F.cross_entropy(nsp, paddle.to_tensor([0, 1]))
picked = paddle.nonzero(targets != -100)
picked
paddle.gather_nd(mlm, picked).shape
# %% training
opt = paddle.optimizer.AdamW(0.01, parameters=net.parameters(), weight_decay=0.01, apply_decay_param_fun=lambda n: "b_0" not in n)
for step in range(5):
    mlm, nsp = net(masked, seg, valid)
    loss = F.cross_entropy(mlm.reshape([-1, len(words)]), targets.reshape([-1]), ignore_index=-100)
    loss.backward()
    opt.step()
    opt.clear_grad()
print(f"{loss.item():.3f}")
# %% padding does not matter
with paddle.no_grad():
    short = net(tokens[1:2, :6], seg[1:2, :6], valid[1:2, :6])[1]
    long = net(tokens[1:2], seg[1:2], valid[1:2])[1]
paddle.allclose(short, long, atol=1e-4)
# %% reading the result
int(mlm[0, 2].argmax()) < len(words)
F.softmax(mlm[0, 2]).sum()
