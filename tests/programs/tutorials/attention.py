# %% import
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
# %% masked softmax
def masked_softmax(X, lens):
    if lens is None:
        return F.softmax(X, axis=-1)
    shape = X.shape
    lens = paddle.repeat_interleave(lens, shape[1]) if lens.dim() == 1 else lens.reshape([-1])
    X = X.reshape([-1, shape[-1]])
    mask = paddle.arange(shape[-1])[None, :] < lens[:, None]
    X = paddle.where(mask, X, paddle.full_like(X, -1e6))
    return F.softmax(X.reshape(shape), axis=-1)
scores = paddle.to_tensor(np.sin(np.arange(16)).reshape([2, 2, 4]).astype("float32"))
masked_softmax(scores, paddle.to_tensor([2, 3]))
masked_softmax(scores, paddle.to_tensor([[1, 3], [2, 4]]))
# %% dot product
def dot_attention(q, k, v, lens=None):
    w = masked_softmax(paddle.bmm(q, k.transpose([0, 2, 1])) / math.sqrt(q.shape[-1]), lens)
    return paddle.bmm(w, v), w
q = paddle.ones([2, 1, 2])
keys, values = paddle.ones([2, 10, 2]), paddle.arange(40, dtype="float32").reshape([1, 10, 4]).tile([2, 1, 1])
out, w = dot_attention(q, keys, values, paddle.to_tensor([2, 6]))
out
w
# %% additive
class Additive(nn.Layer):
    def __init__(self, q, k, hidden):
        super().__init__()
        self.W_k, self.W_q, self.w_v = nn.Linear(k, hidden, bias_attr=False), nn.Linear(q, hidden, bias_attr=False), nn.Linear(hidden, 1, bias_attr=False)
    def forward(self, q, k, v, lens):
        f = paddle.tanh(self.W_q(q).unsqueeze(2) + self.W_k(k).unsqueeze(1))
        return paddle.bmm(masked_softmax(self.w_v(f).squeeze(-1), lens), v)
att = Additive(20, 2, 8)
for k, p in enumerate(att.parameters()):
    p.set_value(np.sin(np.arange(p.size) + k).reshape(p.shape).astype("float32"))
att(paddle.ones([2, 1, 20]), keys, values, paddle.to_tensor([2, 6]))
# %% several heads
mha = nn.MultiHeadAttention(8, 2)
for k, p in enumerate(mha.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.3 + k).reshape(p.shape).astype("float32") * 0.3)
x = paddle.to_tensor(np.cos(np.arange(2 * 3 * 8)).reshape([2, 3, 8]).astype("float32"))
mha(x)
mha(x, x, x, attn_mask=paddle.tril(paddle.ones([3, 3], "bool")))
# %% function
y = F.scaled_dot_product_attention(x.reshape([2, 3, 2, 4]), x.reshape([2, 3, 2, 4]), x.reshape([2, 3, 2, 4]), is_causal=True)
y.shape
y[0, 0]
# %% kernel regression
def f(x):
    return 2 * paddle.sin(x) + x**0.8
x_train = paddle.linspace(0.1, 5, 10)
y_train = f(x_train)
x_test = paddle.arange(0, 5, 1.0)
weights = F.softmax(-((x_test.unsqueeze(1) - x_train.unsqueeze(0)) ** 2) / 2, axis=1)
weights @ y_train
weights.sum(1)
