# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
# %% weight decay by hand
w = paddle.to_tensor([1.0, -2.0, 3.0], stop_gradient=False)
l2 = (w**2).sum() / 2
l2
(0.1 * l2).backward()
w.grad
# %% weight decay of an optimizer
def run(**kwargs):
    p = paddle.create_parameter([3], "float32", default_initializer=nn.initializer.Assign(np.array([1.0, -2.0, 3.0], "float32")))
    opt = paddle.optimizer.SGD(0.1, parameters=[p], **kwargs)
    for _ in range(3):
        (p * paddle.to_tensor([1.0, 1.0, 1.0])).sum().backward()
        opt.step()
        opt.clear_grad()
    return p.detach()
run()
run(weight_decay=0.5)
run(weight_decay=paddle.regularizer.L2Decay(0.5))
run(weight_decay=paddle.regularizer.L1Decay(0.5))
run(grad_clip=nn.ClipGradByGlobalNorm(1.0))
run(grad_clip=nn.ClipGradByValue(0.5))
# %% dropout
x = paddle.ones([4, 5])
F.dropout(x, 0.0)
F.dropout(x, 1.0)
F.dropout(x, 0.5, training=False)
kept = F.dropout(paddle.ones([1000]), 0.5)
sorted(set(kept.tolist()))
# %% layers in both modes
d = nn.Dropout(0.5)
d.eval()
d(x).sum()
d.train()
d(x).shape
# %% batch normalisation
bn = nn.BatchNorm1D(3)
z = paddle.arange(12, dtype="float32").reshape([4, 3])
bn(z)
bn._mean, bn._variance
bn.eval()
bn(z)
# %% layer normalisation
nn.LayerNorm(3)(z)
F.layer_norm(z, [3])
# %% by hand
def batch_norm(X, gamma, beta, eps=1e-5):
    mean = X.mean(axis=0)
    var = ((X - mean) ** 2).mean(axis=0)
    return gamma * (X - mean) / paddle.sqrt(var + eps) + beta
batch_norm(z, paddle.ones([3]), paddle.zeros([3]))
# %% label smoothing
F.cross_entropy(z, paddle.to_tensor([0, 1, 2, 0]), label_smoothing=0.1)
F.label_smooth(F.one_hot(paddle.to_tensor([0, 2]), 3), epsilon=0.1)
