# %% import
import numpy as np
import paddle
from paddle import nn
def filled(layer):
    for k, p in enumerate(layer.parameters()):
        p.set_value(np.sin(np.arange(p.size) * 1.1 + k).reshape(p.shape).astype("float32") * 0.4)
    return layer
x = paddle.to_tensor(np.cos(np.arange(2 * 3 * 4)).reshape([2, 3, 4]).astype("float32"))
# %% simple
out, h = filled(nn.SimpleRNN(4, 5))(x)
out
h
# %% long short-term memory
out, (h, c) = filled(nn.LSTM(4, 5, num_layers=2))(x)
out.shape, h.shape, c.shape
h
c[-1]
# %% gated
out, h = filled(nn.GRU(4, 3, direction="bidirect"))(x)
out
h.shape
# %% lengths
out, h = filled(nn.GRU(4, 3))(x, sequence_length=paddle.to_tensor([3, 1]))
out
h
# %% cells
cell = filled(nn.LSTMCell(4, 3))
y, (h, c) = cell(x[:, 0])
y, c
y, states = filled(nn.GRUCell(4, 3))(x[:, 0], paddle.ones([2, 3]))
y
# %% own cell
class Cell(nn.Layer):
    def __init__(self):
        super().__init__()
        self.ih, self.hh = nn.Linear(4, 3), nn.Linear(3, 3)
    def forward(self, inputs, states):
        h = paddle.tanh(self.ih(inputs) + self.hh(states))
        return h, h
    @property
    def state_shape(self):
        return (3,)
rnn = nn.RNN(filled(Cell()))
out, h = rnn(x, paddle.zeros([2, 3]))
out
# %% gated unit by hand
def gru(x, H, W, U, b):
    Z = paddle.nn.functional.sigmoid(x @ W[0] + H @ U[0] + b)
    R = paddle.nn.functional.sigmoid(x @ W[1] + H @ U[1] + b)
    T = paddle.tanh(x @ W[2] + (R * H) @ U[2] + b)
    return Z * H + (1 - Z) * T
W = [paddle.full([4, 3], 0.1 * k) for k in (1, 2, 3)]
U = [paddle.eye(3) * 0.1 * k for k in (1, 2, 3)]
H = paddle.zeros([2, 3])
for t in range(3):
    H = gru(x[:, t], H, W, U, 0.0)
H
# %% gradient through time
lstm = filled(nn.LSTM(4, 5))
x.stop_gradient = False
out, _ = lstm(x)
out[:, -1].sum().backward()
x.grad[0]
lstm.weight_hh_l0.grad.shape
[name for name, _ in lstm.named_parameters()]
