"""A program in Paddle's style with a place for each kind of difference: `program.py KIND`. What only
paddle_jax has tells the engines apart."""

import sys

import numpy as np
import paddle

FAULT = sys.argv[1] if len(sys.argv) > 1 and hasattr(paddle, "explain") else ""
F = paddle.nn.functional


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.Dropout(0.5))
        self.rnn = paddle.nn.LSTM(8, 8)
        self.encoder = paddle.nn.TransformerEncoderLayer(8, 2, 16)
        self.scale = self.create_parameter([3])
        self.head = paddle.nn.Linear(8, 3)

    def forward(self, x):
        h = self.encoder(self.rnn(self.inner(x).unsqueeze(0))[0])[0]
        return self.head(F.dropout(h, 0.5)) * self.scale


net = Net()
adam = paddle.optimizer.AdamW(
    1e-2, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)
)
step = paddle.jit.to_static(lambda x, label: F.cross_entropy(net(x), label))
x, label = paddle.rand([6, 4]), paddle.to_tensor(np.random.randint(0, 3, 6))
for i in range(3):
    loss = step(x, label)
    if FAULT == "gradient" and i == 1:
        net.head.weight.register_hook(lambda g: g * 1.01)
    loss.backward()  # line: gradient
    adam.step()
    adam.clear_grad()
y = paddle.sort(x, axis=1)
y[0] = 1.0 if FAULT != "value" else 1.001  # line: value
y = paddle.exp(y)
turned = y.t()
try:
    z = paddle.matmul(y, y if FAULT != "exception" else turned)  # line: exception
except ValueError:
    z = y
z = z.cast("float64" if FAULT == "dtype" else "float32")  # line: dtype
if FAULT == "path":
    z = z + 1  # line: path
z = paddle.concat([z, z])
if FAULT == "end":
    raise SystemExit(3)
