# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
def filled(layer, scale=0.3):
    for k, p in enumerate(layer.parameters()):
        p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * scale)
    return layer
# %% words
source = [["go", "."], ["hi", "."], ["he", "runs", "."]]
target = [["va", "!"], ["salut", "!"], ["il", "court", "."]]
def vocabulary(sentences):
    words = ["<pad>", "<bos>", "<eos>"] + sorted({w for s in sentences for w in s})
    return {w: i for i, w in enumerate(words)}
sv, tv = vocabulary(source), vocabulary(target)
sv
def encode(sentences, vocab, n=5):
    rows = [[vocab[w] for w in s] + [vocab["<eos>"]] for s in sentences]
    return paddle.to_tensor([r + [vocab["<pad>"]] * (n - len(r)) for r in rows]), paddle.to_tensor([len(r) for r in rows])
X, X_len = encode(source, sv)
Y, Y_len = encode(target, tv)
X, X_len
# %% encoder
class Encoder(nn.Layer):
    def __init__(self, vocab, embed, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embed)
        self.rnn = nn.GRU(embed, hidden, num_layers=2)
    def forward(self, X):
        return self.rnn(self.embedding(X))
encoder = filled(Encoder(len(sv), 6, 8))
out, state = encoder(X)
out.shape, state.shape
# %% decoder
class Decoder(nn.Layer):
    def __init__(self, vocab, embed, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, embed)
        self.rnn = nn.GRU(embed + hidden, hidden, num_layers=2)
        self.dense = nn.Linear(hidden, vocab)
    def forward(self, X, state):
        context = state[-1].unsqueeze(1).expand([X.shape[0], X.shape[1], state.shape[-1]])
        out, state = self.rnn(paddle.concat([self.embedding(X), context], 2), state)
        return self.dense(out), state
decoder = filled(Decoder(len(tv), 6, 8))
decoder(Y, state)[0].shape
# %% masked loss
def masked_ce(pred, label, lens):
    mask = (paddle.arange(label.shape[1]).unsqueeze(0) < lens.unsqueeze(1)).astype("float32")
    loss = F.cross_entropy(pred, label, reduction="none").squeeze(-1) if F.cross_entropy(pred, label, reduction="none").ndim == 3 else F.cross_entropy(pred, label, reduction="none")
    return (loss * mask).mean(axis=1)
masked_ce(paddle.ones([3, 4, 10]), paddle.ones([3, 4], "int64"), paddle.to_tensor([4, 2, 0]))
# %% train
params = encoder.parameters() + decoder.parameters()
opt = paddle.optimizer.Adam(0.02, parameters=params, grad_clip=nn.ClipGradByGlobalNorm(1.0))
bos = paddle.full([3, 1], tv["<bos>"], dtype="int64")
for epoch in range(12):
    _, state = encoder(X)
    logits, _ = decoder(paddle.concat([bos, Y[:, :-1]], 1), state)
    loss = masked_ce(logits, Y, Y_len).sum()
    loss.backward()
    opt.step()
    opt.clear_grad()
    if epoch % 4 == 0:
        print(epoch, f"{loss.item():.2f}")
# %% predict
def translate(words, longest=4):
    ids, _ = encode([words], sv)
    _, state = encoder(ids)
    x, found = paddle.to_tensor([[tv["<bos>"]]]), []
    for _ in range(longest):
        y, state = decoder(x, state)
        x = y.argmax(2)
        if int(x) == tv["<eos>"]:
            break
        found.append(int(x))
    return found
type(translate(["go", "."]))
# %% score
def bleu(pred, label, k=2):
    import collections, math
    score = math.exp(min(0, 1 - len(label) / len(pred)))
    for n in range(1, k + 1):
        have = collections.Counter(tuple(label[i : i + n]) for i in range(len(label) - n + 1))
        hits = 0
        for i in range(len(pred) - n + 1):
            if have[tuple(pred[i : i + n])] > 0:
                hits += 1
                have[tuple(pred[i : i + n])] -= 1
        score *= (hits / (len(pred) - n + 1)) ** (0.5**n)
    return score
round(bleu(["il", "court", "!"], ["il", "court", "."]), 4)
