# %% import
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
def filled(layer, scale=0.3):
    for k, (name, p) in enumerate(layer.named_parameters()):
        if "norm" not in name:
            p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * scale)
    return layer
# %% positions
class PositionalEncoding(nn.Layer):
    def __init__(self, width, longest=50):
        super().__init__()
        P = paddle.zeros([1, longest, width])
        X = paddle.arange(longest, dtype="float32").reshape([-1, 1]) / paddle.pow(paddle.to_tensor(10000.0), paddle.arange(0, width, 2, dtype="float32") / width)
        P[:, :, 0::2] = paddle.sin(X)
        P[:, :, 1::2] = paddle.cos(X)
        self.register_buffer("P", P)
    def forward(self, X):
        return X + self.P[:, : X.shape[1], :]
pe = PositionalEncoding(6)
pe(paddle.zeros([1, 3, 6]))
pe.P.shape
# %% feed forward
class FFN(nn.Layer):
    def __init__(self, width, hidden):
        super().__init__()
        self.a, self.b = nn.Linear(width, hidden), nn.Linear(hidden, width)
    def forward(self, x):
        return self.b(F.relu(self.a(x)))
filled(FFN(4, 8))(paddle.ones([2, 3, 4]))[0]
# %% heads
class Heads(nn.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
    def split(self, x):
        b, t, c = x.shape
        return x.reshape([b, t, self.heads, c // self.heads]).transpose([0, 2, 1, 3])
    def forward(self, x, memory=None, mask=None):
        memory = x if memory is None else memory
        q, k, v = self.split(self.q(x)), self.split(self.k(memory)), self.split(self.v(memory))
        s = q @ k.transpose([0, 1, 3, 2]) / math.sqrt(q.shape[-1])
        if mask is not None:
            s = paddle.where(mask, s, paddle.to_tensor(-1e9))
        out = (F.softmax(s, -1) @ v).transpose([0, 2, 1, 3])
        return self.o(out.reshape([x.shape[0], x.shape[1], -1]))
x = paddle.to_tensor(np.cos(np.arange(1 * 4 * 8)).reshape([1, 4, 8]).astype("float32"))
h = filled(Heads(8, 2))
h(x)
h(x, mask=paddle.tril(paddle.ones([4, 4], "bool")))
# %% block
class Block(nn.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.ffn = Heads(width, heads), FFN(width, 2 * width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
    def forward(self, x, mask=None):
        x = self.norm1(x + self.attention(x, mask=mask))
        return self.norm2(x + self.ffn(x))
block = filled(Block(8, 2))
block
block(x)
# %% a small language model
class GPT(nn.Layer):
    def __init__(self, vocab=7, width=8, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.position = PositionalEncoding(width)
        self.blocks = nn.LayerList([Block(width, 2) for _ in range(depth)])
        self.head = nn.Linear(width, vocab)
    def forward(self, ids):
        t = ids.shape[1]
        mask = paddle.tril(paddle.ones([t, t], "bool"))
        x = self.position(self.embed(ids))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)
gpt = filled(GPT())
ids = paddle.to_tensor([[1, 2, 3, 4, 5, 6], [0, 2, 4, 6, 1, 3]])
logits = gpt(ids[:, :-1])
logits.shape
loss = F.cross_entropy(logits.reshape([-1, 7]), ids[:, 1:].reshape([-1]))
loss
# %% training
opt = paddle.optimizer.AdamW(0.01, parameters=gpt.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
for step in range(10):
    loss = F.cross_entropy(gpt(ids[:, :-1]).reshape([-1, 7]), ids[:, 1:].reshape([-1]))
    loss.backward()
    opt.step()
    opt.clear_grad()
    if step % 3 == 0:
        print(step, f"{loss.item():.3f}")
# %% causality
a, b = gpt(ids)[0, :2], gpt(paddle.concat([ids[:, :2], ids[:, :3] * 0], 1))[0, :2]
paddle.allclose(a, b, atol=1e-5)
# %% other lengths
gpt(paddle.to_tensor([[1]])).shape, gpt(paddle.ones([3, 11], "int64")).shape
sum(p.size for p in gpt.parameters())
