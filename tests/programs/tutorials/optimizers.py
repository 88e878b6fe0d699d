# %% import
import numpy as np
import paddle
O = paddle.optimizer
# %% a valley
def descend(make, steps=4):
    p = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Assign(np.array([1.0, -2.0], "float32")))
    opt = make([p])
    for _ in range(steps):
        loss = 0.5 * p[0] ** 2 + 2 * p[1] ** 2
        loss.backward()
        opt.step()
        opt.clear_grad()
    return p.numpy().round(4).tolist(), round(loss.item(), 4)
# %% each
descend(lambda ps: O.SGD(0.1, parameters=ps))
descend(lambda ps: O.Momentum(0.1, 0.9, parameters=ps))
descend(lambda ps: O.Momentum(0.1, 0.9, parameters=ps, use_nesterov=True))
descend(lambda ps: O.Adam(0.1, parameters=ps))
descend(lambda ps: O.AdamW(0.1, parameters=ps, weight_decay=0.1))
descend(lambda ps: O.Adamax(0.1, parameters=ps))
descend(lambda ps: O.Adagrad(0.1, parameters=ps))
descend(lambda ps: O.Adadelta(0.1, parameters=ps))
descend(lambda ps: O.RMSProp(0.1, parameters=ps))
descend(lambda ps: O.Lamb(0.1, parameters=ps))
descend(lambda ps: O.NAdam(0.1, parameters=ps))
descend(lambda ps: O.RAdam(0.1, parameters=ps))
# %% groups
a, b = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2)
for layer in (a, b):
    layer.weight.set_value(paddle.ones([2, 2]))
opt = O.SGD(0.1, parameters=[{"params": a.parameters()}, {"params": b.parameters(), "learning_rate": 0.1}])
(a(paddle.ones([1, 2])).sum() + b(paddle.ones([1, 2])).sum()).backward()
opt.step()
a.weight, b.weight
# %% minimize
w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(3.0))
opt = O.SGD(0.1, parameters=[w])
opt.minimize((w * w).sum())
w
# %% by hand: momentum
def sgd_momentum(params, states, lr, beta):
    for p, v in zip(params, states):
        with paddle.no_grad():
            v.set_value(beta * v + p.grad)
            p.set_value(p - lr * v)
        p.clear_grad()
p = paddle.to_tensor([1.0, -2.0], stop_gradient=False)
v = paddle.zeros([2])
for _ in range(3):
    (0.5 * p[0] ** 2 + 2 * p[1] ** 2).backward()
    sgd_momentum([p], [v], 0.1, 0.5)
    print(p.numpy())
# %% L-BFGS
w = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Assign(np.array([1.0, -2.0], "float32")))
bfgs = O.LBFGS(learning_rate=0.5, max_iter=10, parameters=[w])
def closure():
    bfgs.clear_grad()
    loss = 0.5 * w[0] ** 2 + 2 * w[1] ** 2
    loss.backward()
    return loss
bfgs.step(closure)
w.abs().max() < 0.1
# %% refused
O.SGD(0.1, parameters=paddle.ones([2]))
