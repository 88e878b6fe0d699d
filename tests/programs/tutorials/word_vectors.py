# %% import
import collections
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
text = "the quick brown fox jumps over the lazy dog the fox is quick and the dog is lazy".split()
count = collections.Counter(text)
words = sorted(count)
index = {w: i for i, w in enumerate(words)}
len(words), index["fox"]
# %% pairs
pairs = [(index[text[i]], index[text[j]]) for i in range(len(text)) for j in range(max(0, i - 1), min(len(text), i + 2)) if i != j]
centers, contexts = paddle.to_tensor([a for a, _ in pairs]), paddle.to_tensor([b for _, b in pairs])
len(pairs), centers[:4], contexts[:4]
# %% embedding layer
embed = nn.Embedding(20, 4)
embed.weight.set_value(paddle.arange(80, dtype="float32").reshape([20, 4]))
embed(paddle.to_tensor([[1, 2, 3], [4, 5, 6]]))
embed.weight.shape, embed.weight.dtype
# %% skip-gram
def skip_gram(center, contexts_and_negatives, v, u):
    return paddle.bmm(v(center), u(contexts_and_negatives).transpose([0, 2, 1]))
skip_gram(paddle.ones([2, 1], "int64"), paddle.ones([2, 4], "int64"), embed, embed).shape
# %% masked loss
class SigmoidBCE(nn.Layer):
    def forward(self, x, y, mask=None):
        out = F.binary_cross_entropy_with_logits(x, y, weight=mask, reduction="none")
        return out.mean(axis=1)
loss = SigmoidBCE()
pred = paddle.to_tensor([[1.1, -2.2, 3.3, -4.4]] * 2)
label = paddle.to_tensor([[1.0, 0, 0, 0], [0, 1, 0, 0]])
mask = paddle.to_tensor([[1.0, 1, 1, 1], [1, 1, 0, 0]])
loss(pred, label, mask) * mask.shape[1] / mask.sum(axis=1)
# %% training
n = len(words)
v, u = nn.Embedding(n, 5), nn.Embedding(n, 5)
for k, e in enumerate((v, u)):
    e.weight.set_value(np.sin(np.arange(n * 5) * (k + 1.3)).reshape(n, 5).astype("float32") * 0.5)
opt = paddle.optimizer.Adam(0.05, parameters=[v.weight, u.weight])
negatives = paddle.to_tensor([[(7 * i + k) % n for k in range(3)] for i in range(len(pairs))])
for epoch in range(5):
    both = paddle.concat([contexts.unsqueeze(1), negatives], 1)
    labels = paddle.concat([paddle.ones([len(pairs), 1]), paddle.zeros([len(pairs), 3])], 1)
    scores = skip_gram(centers.unsqueeze(1), both, v, u).squeeze(1)
    l = loss(scores, labels).mean()
    l.backward()
    opt.step()
    opt.clear_grad()
    print(epoch, f"{l.item():.4f}")
# %% neighbours
def similar(word, k=3):
    W = v.weight
    x = W[index[word]]
    cos = paddle.mv(W, x) / paddle.sqrt((W * W).sum(1) * (x * x).sum() + 1e-9)
    values, at = paddle.topk(cos, k + 1)
    return [(words[i], round(float(c), 2)) for c, i in zip(values[1:2], at[1:2].tolist())]
len(similar("fox"))
F.cosine_similarity(v.weight[0:2], v.weight[2:4])
# %% padding
padded = nn.Embedding(4, 2, padding_idx=0)
padded.weight[0]
padded(paddle.to_tensor([0, 1])).sum().backward()
padded.weight.grad[0]
# %% sparse gradient
se = nn.Embedding(4, 2, sparse=True)
se
# %% refused
embed(paddle.to_tensor([25]))
