# %% import
import numpy as np
import paddle
from paddle import nn
# %% casts
x = paddle.to_tensor([1.0, 2.5, 65504.0])
x.astype("float16"), x.astype("bfloat16")
x.astype("float16") * 2
paddle.ones([2], "bfloat16") + 0.1
paddle.finfo("float16").max, paddle.finfo(paddle.bfloat16).eps, paddle.iinfo("int8").max
# %% autocast
net = nn.Linear(4, 3)
net.weight.set_value(np.arange(12).reshape(4, 3).astype("float32") / 8)
a = paddle.ones([2, 4])
with paddle.amp.auto_cast(dtype="bfloat16"):
    y = net(a)
y.astype("float32")
net.weight.dtype, a.dtype
# %% off
with paddle.amp.auto_cast(False):
    print(net(a).dtype)
# %% training
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for _ in range(3):
    with paddle.amp.auto_cast(dtype="bfloat16"):
        loss = net(a).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(net.weight.dtype, net.weight.grad is None or net.weight.grad.dtype)
# %% scaler
scaler = paddle.amp.GradScaler(enable=False)
scaled = scaler.scale(net(a).mean())
scaled.backward()
scaler.step(opt)
scaler.update()
scaler.is_enable(), scaler.state_dict()
# %% half a layer
half = nn.Linear(2, 2)
half.to(dtype="float64")
half.weight.dtype, half(paddle.ones([1, 2], "float64")).dtype
half.bfloat16().weight.dtype
# %% refused
with paddle.amp.auto_cast(level="O7"):
    pass
# %% tolerances
b = paddle.full([3], 0.1, "bfloat16")
b, b.astype("float32")
paddle.full([3], 0.1, "float16").astype("float64")
(b * 3).sum(), b.dtype
