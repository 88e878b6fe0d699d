# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
# %% one dimension by hand
def corr1d(X, K):
    w = K.shape[0]
    Y = paddle.zeros([X.shape[0] - w + 1])
    for i in range(Y.shape[0]):
        Y[i] = (X[i : i + w] * K).sum()
    return Y
X, K = paddle.to_tensor([0.0, 1, 2, 3, 4, 5, 6]), paddle.to_tensor([1.0, 2])
corr1d(X, K)
def corr1d_multi_in(X, K):
    return sum(corr1d(x, k) for x, k in zip(X, K))
corr1d_multi_in(paddle.stack([X, X + 1, X + 2]), paddle.to_tensor([[1.0, 2], [3, 4], [-1, -3]]))
# %% reviews
reviews = ["good good film", "bad bad film", "a good plot", "a bad plot", "good", "bad"]
labels = paddle.to_tensor([1, 0, 1, 0, 1, 0])
words = sorted({w for r in reviews for w in r.split()})
vocab = {w: i + 1 for i, w in enumerate(words)}
def encode(r, n=4):
    ids = [vocab[w] for w in r.split()][:n]
    return ids + [0] * (n - len(ids))
ids = paddle.to_tensor([encode(r) for r in reviews])
ids
# %% network
class TextCNN(nn.Layer):
    def __init__(self, vocab, width, kernels, channels):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.constant = nn.Embedding(vocab, width)
        self.dropout = nn.Dropout(0.0)
        self.decoder = nn.Linear(sum(channels), 2)
        self.pool = nn.AdaptiveMaxPool1D(1)
        self.convs = nn.LayerList([nn.Conv1D(2 * width, c, k) for c, k in zip(channels, kernels)])
    def forward(self, x):
        e = paddle.concat((self.embedding(x), self.constant(x)), axis=2).transpose([0, 2, 1])
        found = paddle.concat([self.pool(F.relu(conv(e))).squeeze(-1) for conv in self.convs], axis=1)
        return self.decoder(self.dropout(found))
net = TextCNN(len(vocab) + 1, 4, [2, 3], [3, 3])
for k, p in enumerate(net.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.4)
net.constant.weight.stop_gradient = True
net
net(ids)
# %% training
opt = paddle.optimizer.Adam(0.05, parameters=[p for p in net.parameters() if not p.stop_gradient])
for epoch in range(8):
    loss = F.cross_entropy(net(ids), labels)
    loss.backward()
    opt.step()
    opt.clear_grad()
print(f"{loss.item():.3f}")
net(ids).argmax(1)
# %% bidirectional
class BiRNN(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(vocab) + 1, 4)
        self.encoder = nn.LSTM(4, 3, num_layers=2, direction="bidirectional", time_major=True)
        self.decoder = nn.Linear(12, 2)
    def forward(self, x):
        out, _ = self.encoder(self.embedding(x.T))
        return self.decoder(paddle.concat((out[0], out[-1]), axis=1))
rnn = BiRNN()
for k, p in enumerate(rnn.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.4)
rnn(ids)
rnn.encoder
