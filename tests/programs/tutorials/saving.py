# %% import
import os
import numpy as np
import paddle
from paddle import nn
# %% tensors
x = paddle.arange(4)
paddle.save(x, "x.pdtensor")
x2 = paddle.load("x.pdtensor")
x2
os.path.exists("x.pdtensor")
# %% lists and dicts
y = paddle.zeros([2])
paddle.save([x, y], "pair")
paddle.load("pair")
paddle.save({"x": x, "y": y, "epoch": 3, "name": "run"}, "dict.pdparams")
paddle.load("dict.pdparams")
# %% layers
net = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1))
for k, p in enumerate(net.parameters()):
    p.set_value(np.full(p.shape, 0.1 * (k + 1), "float32"))
paddle.save(net.state_dict(), "net.pdparams")
again = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1))
again.set_state_dict(paddle.load("net.pdparams"))
again(paddle.ones([1, 3])), net(paddle.ones([1, 3]))
again[2].weight
# %% optimizers
opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
net(paddle.ones([2, 3])).sum().backward()
opt.step()
paddle.save(opt.state_dict(), "opt.pdopt")
state = paddle.load("opt.pdopt")
sorted(k.split(".")[-1] for k in state)[:3], len(state)
opt2 = paddle.optimizer.Adam(0.1, parameters=net.parameters())
opt2.set_state_dict(state)
# %% as arrays
paddle.load("net.pdparams", return_numpy=True)["0.bias"]
# %% refused file
paddle.load("nowhere.pdparams")
# %% wrong shapes
other = nn.Sequential(nn.Linear(4, 2), nn.ReLU(), nn.Linear(2, 1))
import warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    missing, unexpected = other.set_state_dict(paddle.load("net.pdparams"))
missing, unexpected
# %% state dict
net.state_dict()
# %% checkpoint
paddle.save({"model": net.state_dict(), "opt": opt.state_dict(), "epoch": 7}, "ck.pdparams")
ck = paddle.load("ck.pdparams")
ck["epoch"], list(ck["model"])
net.set_state_dict(ck["model"])
