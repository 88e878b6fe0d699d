"""A program as people write it, which a type checker has nothing to say against
(tests/tools/test_stubs.py). It is not run."""

from typing import reveal_type

import paddle_jax as paddle
import paddle_jax.nn.functional as F
from paddle_jax import nn

x = paddle.to_tensor([1.0, 2.0])
y = x.sum() + x.mean(axis=0)
z = 2 * x - y / 3
w: paddle.Tensor = paddle.matmul(x, x).reshape([1]) @ x
host = F.relu(x).exp().numpy()
best, where = paddle.topk(x, 1)
parts = paddle.split(x, 2)
parts[0].backward()
mask = (x > 0) & (y == 1)
print(x[mask], x[0, None], -x, len(x), float(x[0]), x.shape[0], x.dtype == paddle.float32)
for row in x:
    row.stop_gradient = False
    print(row.item() + 1)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.scale = self.create_parameter([1])

    def forward(self, x: paddle.Tensor):
        h = F.softmax(self.fc(x), axis=-1) * self.scale
        return h.max(axis=-1).unsqueeze(0)


net = Net()
opt = paddle.optimizer.Adam(learning_rate=0.1, parameters=net.parameters())
loss = F.mse_loss(net(x), y)
loss.backward()
opt.step()
opt.clear_grad()
if x.grad is not None:
    print(x.grad.norm())
with paddle.no_grad():
    x.add_(y).clip_(0, 1)
paddle.save(net.state_dict(), "a.pdparams")


@paddle.no_grad()
def evaluate(t: paddle.Tensor) -> float:
    return t.mean().item()


values, vectors = paddle.linalg.eigh(x)
print(
    paddle.linalg.norm(x).item(), paddle.zeros([2]).astype("int64"), x.T, x.tolist(), paddle.arange(3).cpu()
)
reveal_type(host)
reveal_type(loss)
reveal_type(parts)
reveal_type(values)
reveal_type(x.shape)
reveal_type(x[0])
reveal_type(2 * x)
reveal_type(paddle.sum)
