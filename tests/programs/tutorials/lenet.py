# %% import
import numpy as np
import paddle
from paddle import nn
def filled(layer, scale=0.3):
    for k, p in enumerate(layer.parameters()):
        p.set_value(np.sin(np.arange(p.size) * 1.3 + k).reshape(p.shape).astype("float32") * scale)
    return layer
# %% the network
net = filled(nn.Sequential(
    nn.Conv2D(1, 6, kernel_size=5, padding=2), nn.Sigmoid(), nn.AvgPool2D(kernel_size=2, stride=2),
    nn.Conv2D(6, 16, kernel_size=5), nn.Sigmoid(), nn.AvgPool2D(kernel_size=2, stride=2),
    nn.Flatten(), nn.Linear(16 * 5 * 5, 120), nn.Sigmoid(), nn.Linear(120, 84), nn.Sigmoid(), nn.Linear(84, 10)))
X = paddle.to_tensor(np.cos(np.arange(784)).reshape([1, 1, 28, 28]).astype("float32"))
# %% shapes
for layer in net:
    X = layer(X)
    print(layer.__class__.__name__, "output shape:", X.shape)
X
# %% data
r = np.random.RandomState(1)
images = np.zeros([24, 1, 28, 28], "float32")
labels = np.arange(24) % 3
for k, c in enumerate(labels):
    images[k, 0, 8 * c : 8 * c + 8] = 1 + 0.1 * r.randn(8, 28)
# %% training
small = filled(nn.Sequential(nn.Conv2D(1, 4, 5, stride=2), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(4 * 6 * 6, 3)), 0.1)
opt = paddle.optimizer.Momentum(0.02, parameters=small.parameters())
ce = nn.CrossEntropyLoss()
small.train()
for epoch in range(4):
    total = 0.0
    for k in range(0, 24, 8):
        loss = ce(small(paddle.to_tensor(images[k : k + 8])), paddle.to_tensor(labels[k : k + 8]))
        loss.backward()
        opt.step()
        opt.clear_grad()
        total += loss.item()
    print(epoch, round(total, 2))
# %% evaluation
small.eval()
with paddle.no_grad():
    logits = small(paddle.to_tensor(images))
(logits.argmax(1) == paddle.to_tensor(labels)).astype("float32").mean()
logits.stop_gradient
# %% metric
m = paddle.metric.Accuracy()
m.update(m.compute(logits, paddle.to_tensor(labels).unsqueeze(-1)))
m.accumulate(), m.name()
