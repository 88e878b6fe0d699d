# %% data
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
users = paddle.to_tensor([0, 0, 1, 1, 2, 2, 3, 3])
items = paddle.to_tensor([0, 1, 0, 2, 1, 3, 2, 3])
scores = paddle.to_tensor([5.0, 3.0, 4.0, 1.0, 1.0, 5.0, 2.0, 4.0])
table = paddle.zeros([4, 4])
for u, i, r in zip(users.tolist(), items.tolist(), scores.tolist()):
    table[u, i] = r
table
# %% factorisation
class MF(nn.Layer):
    def __init__(self, factors, n_users, n_items):
        super().__init__()
        self.P, self.Q = nn.Embedding(n_users, factors), nn.Embedding(n_items, factors)
        self.user_bias, self.item_bias = nn.Embedding(n_users, 1), nn.Embedding(n_items, 1)
    def forward(self, u, i):
        out = (self.P(u) * self.Q(i)).sum(axis=1) + self.user_bias(u).squeeze(-1) + self.item_bias(i).squeeze(-1)
        return out
net = MF(3, 4, 4)
for k, p in enumerate(net.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.5)
net(users, items)
opt = paddle.optimizer.Adam(0.05, parameters=net.parameters())
for epoch in range(10):
    loss = F.mse_loss(net(users, items), scores)
    loss.backward()
    opt.step()
    opt.clear_grad()
    if epoch % 3 == 0:
        print(epoch, f"{loss.item() ** 0.5:.3f}")
# %% ranking
def bpr(pos, neg):
    return -F.log_sigmoid(pos - neg).sum()
bpr(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([0.5, 3.0]))
def hinge(pos, neg, margin=1.0):
    return F.relu(neg - pos + margin).sum()
hinge(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([0.5, 3.0]))
F.margin_ranking_loss(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([0.5, 3.0]), paddle.ones([2]))
# %% factorisation machine
class FM(nn.Layer):
    def __init__(self, fields, factors):
        super().__init__()
        n = sum(fields)
        self.embedding, self.fc = nn.Embedding(n, factors), nn.Embedding(n, 1)
        self.linear = nn.Linear(1, 1)
        self.register_buffer("offsets", paddle.to_tensor(np.cumsum([0] + fields[:-1])))
    def forward(self, x):
        x = x + self.offsets
        e = self.embedding(x)
        square_of_sum, sum_of_square = e.sum(axis=1) ** 2, (e**2).sum(axis=1)
        y = self.linear(self.fc(x).sum(1)) + 0.5 * (square_of_sum - sum_of_square).sum(1, keepdim=True)
        return F.sigmoid(y)
fm = FM([3, 4, 2], 4)
for k, p in enumerate(fm.parameters()):
    p.set_value(np.cos(np.arange(p.size) * 1.3 + k).reshape(p.shape).astype("float32") * 0.3)
x = paddle.to_tensor([[0, 1, 1], [2, 3, 0]])
fm(x)
F.binary_cross_entropy(fm(x), paddle.to_tensor([[1.0], [0.0]]))
fm.state_dict()["offsets"]
# %% best of the rest
pred = net.P.weight @ net.Q.weight.T
paddle.where(table > 0, paddle.full_like(pred, -1e9), pred).argmax(1).shape
values, at = paddle.topk(table, k=2, axis=1)
values
paddle.sort(table, axis=1, descending=True)[:, :2]
