"""A program as people write it, which a type checker has nothing to say against
(tests/tools/test_editors.py). It is not run."""

from typing import reveal_type

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.io import DataLoader, Dataset
from paddle.nn.layer.transformer import MultiHeadAttention
from paddle.optimizer.lr import LRScheduler
from paddle.vision import MNIST, transforms

x = paddle.to_tensor([1.0, 2.0])
y = x.sum() + x.mean(axis=0)
z = 2 * x - y / 3
w: paddle.Tensor = paddle.matmul(x, x).reshape([1]) @ x
host = F.relu(x).exp().numpy()
best, where = paddle.topk(x, 1)
parts = paddle.split(x, 2)
parts[0].backward()
mask = (x > 0) & (y == 1)
print(x[mask], x[0, None], -x, len(x), float(x[0]), x.shape[0] + 1, x.dtype == paddle.float32)
for row in x:
    row.stop_gradient = False
    print(row.item() + 1)


class Points(Dataset):
    def __getitem__(self, idx):
        return paddle.zeros([2]), idx

    def __len__(self):
        return 8


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.body = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2))
        self.attention = MultiHeadAttention(4, 2)
        self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, x: paddle.Tensor):
        h = F.softmax(self.fc(x), axis=-1) * self.scale
        h = self.body(h).flatten(1)
        return self.attention(h).max(axis=-1).unsqueeze(0)


net = Net()
schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=10)
opt = paddle.optimizer.AdamW(
    learning_rate=schedule, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0)
)
loader = DataLoader(Points(), batch_size=4, shuffle=True, num_workers=0)
criterion = nn.CrossEntropyLoss()
for points, label in loader:
    with paddle.amp.auto_cast():
        loss = criterion(net(points), label)
    loss.backward()
    opt.step()
    opt.clear_grad()
    schedule.step()
if x.grad is not None:
    print(x.grad.norm())
with paddle.no_grad():
    x.add_(y).clip_(0, 1)
paddle.save(net.state_dict(), "a.pdparams")
net.set_state_dict(paddle.load("a.pdparams"))
digits = MNIST(mode="train", transform=transforms.Compose([transforms.ToTensor()]))


@paddle.no_grad()
def evaluate(t: paddle.Tensor) -> float:
    return t.mean().item()


values, vectors = paddle.linalg.eigh(x)
print(
    paddle.linalg.norm(x).item(), paddle.zeros([2]).astype("int64"), x.T, x.tolist(), paddle.arange(3).cpu()
)
rate: LRScheduler = schedule
hidden, (h, c) = nn.LSTM(2, 3)(x)
reveal_type(host)
reveal_type(criterion(net(x), y))
reveal_type(parts)
reveal_type(values)
reveal_type(x.shape)
reveal_type(x.shape[0])
reveal_type(x[0])
reveal_type(2 * x)
reveal_type(net(x))
reveal_type(net.fc)
reveal_type(nn.Linear(2, 3).weight)
reveal_type(nn.Linear(2, 3)(x))
reveal_type(net.scale)
reveal_type(hidden)
reveal_type(opt)
reveal_type(schedule.get_lr())
reveal_type(loader)
reveal_type(paddle.vision.models.resnet18()(x))
reveal_type(paddle.float32)
reveal_type(paddle.__version__)
