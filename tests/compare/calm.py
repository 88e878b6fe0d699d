"""A program with mixed precision, dropout, random functions and compiled functions: it agrees, since what
differs by nature is taken out."""

import paddle
import paddle.nn.functional as F

net = paddle.nn.Sequential(
    paddle.nn.Linear(8, 16), paddle.nn.RReLU(), paddle.nn.Dropout(0.5), paddle.nn.Linear(16, 4)
)
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
net, opt = paddle.amp.decorate(net, opt, level="O2", dtype="bfloat16")
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)


@paddle.jit.to_static
def smooth(x):
    if x.sum() > -1000:  # always, though only known when it runs
        return F.gumbel_softmax(x, hard=True)
    return F.alpha_dropout(x, 0.2)


for _ in range(2):
    x, y = paddle.randn([4, 8]), paddle.randint(0, 4, [4])
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        loss = F.cross_entropy(net(x), y)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
    opt.clear_grad()
made = smooth(paddle.randn([3, 4])) + paddle.bernoulli(paddle.full([3, 4], 0.5)) + paddle.empty([3, 4])
