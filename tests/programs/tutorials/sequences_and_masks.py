# %% import
import paddle
import paddle.nn.functional as F
# %% masks of lengths
F.sequence_mask(paddle.to_tensor([1, 3, 2]), maxlen=4)
lens = paddle.to_tensor([2, 3])
mask = paddle.arange(4) < lens.unsqueeze(-1)
mask
mask.astype("float32").sum(-1)
paddle.tril(paddle.ones([3, 3], "bool"))
# %% masked means
x = paddle.arange(8, dtype="float32").reshape([2, 4])
(x * mask.astype("float32")).sum(-1) / mask.sum(-1).astype("float32")
paddle.where(mask, x, paddle.to_tensor(float("-inf")))
F.softmax(paddle.where(mask, x, paddle.to_tensor(float("-inf"))), axis=-1)
x.masked_fill(~mask, -1.0)
# %% padding a batch
rows = [[1, 2], [3, 4, 5], [6]]
longest = max(map(len, rows))
batch = paddle.to_tensor([r + [0] * (longest - len(r)) for r in rows])
batch
(batch != 0).sum(1)
# %% greedy and beams
logits = paddle.to_tensor([[[0.1, 2.0, 0.3], [1.5, 0.2, 0.1]]])
logits.argmax(-1)
logp = F.log_softmax(logits, -1)
first = logp[0, 0]
scores, ids = paddle.topk(first, 2)
both = scores.unsqueeze(-1) + logp[0, 1]
both
flat, at = paddle.topk(both.flatten(), 2)
at // 3, at % 3
# %% temperature
for t in (0.5, 1.0, 2.0):
    print(t, F.softmax(first / t).numpy().round(3))
# %% nucleus
p = paddle.to_tensor([0.5, 0.3, 0.15, 0.05])
keep = paddle.cumsum(p) - p < 0.7
kept = p * keep.astype("float32")
kept / kept.sum()
# %% CTC
log_probs = F.log_softmax(paddle.arange(24, dtype="float32").reshape([4, 2, 3]) / 10, -1)
F.ctc_loss(log_probs, paddle.to_tensor([[1, 2], [1, 1]], dtype="int32"), paddle.to_tensor([4, 4]), paddle.to_tensor([2, 1]), blank=0)
# %% edit distances
def edit(a, b):
    d = paddle.zeros([len(a) + 1, len(b) + 1], dtype="int64")
    d[:, 0], d[0, :] = paddle.arange(len(a) + 1), paddle.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + int(a[i - 1] != b[j - 1]))
    return int(d[-1, -1])
edit("kitten", "sitting")
# %% moving windows
s = paddle.arange(6, dtype="float32")
s.unfold(0, 3, 1)
F.avg_pool1d(s.reshape([1, 1, 6]), 3, 1)
paddle.stack([s[i : i + 3] for i in range(4)])
# %% differences in time
s[1:] - s[:-1], paddle.roll(s, 1), paddle.cummax(paddle.to_tensor([1.0, 3.0, 2.0]))
