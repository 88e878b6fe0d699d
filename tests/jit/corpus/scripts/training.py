"""Training steps with every optimizer, and what changes between steps."""

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn
from paddle_jax.nn import functional as F
from tests.jit.corpus.script import Script, add, data, script, see, small, trainer

OPTIMIZERS = {
    "SGD": {},
    "Momentum": {"momentum": 0.9},
    "Adam": {},
    "AdamW": {"weight_decay": 0.1},
    "Adagrad": {},
    "Adadelta": {},
    "Adamax": {},
    "Lamb": {},
    "RMSProp": {"momentum": 0.5},
    "NAdam": {},
    "RAdam": {},
    "ASGD": {"batch_num": 2},
    "Rprop": {"learning_rate_range": (1e-4, 1.0)},
}

for _name, _more in OPTIMIZERS.items():

    def _train(compile, name=_name, more=_more):
        net = small()
        sgd = getattr(paddle.optimizer, name)(learning_rate=0.05, parameters=net.parameters(), **more)

        @compile
        def step(x, y):
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            sgd.step()
            sgd.clear_grad()
            return loss

        losses = [step(data(5, 3, seed=i), data(5, 2, seed=9)).item() for i in range(4)]
        return (
            losses,
            see(net),
            [
                np.asarray(v)
                for k, v in sgd.state_dict().items()
                if k not in ("LR_Scheduler", "master_weights")
            ],
        )

    add(Script(f"train with {_name}", _train))


@script
def whole_step_with_everything(compile):
    paddle.seed(1)
    # no bias before the normalization: its gradient is zero but for rounding, of which Adam would make whole
    # steps
    net = nn.Sequential(
        nn.Linear(3, 6, bias_attr=False), nn.BatchNorm1D(6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 2)
    )
    rate = paddle.optimizer.lr.StepDecay(0.1, 2)
    opt = paddle.optimizer.Adam(
        rate, parameters=net.parameters(), weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(0.5)
    )

    @compile
    def step(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        rate.step()
        return loss, {"n": 3, "none": None}

    seen = []
    for i in range(5):
        loss, more = step(data(4, 3, seed=i), paddle.to_tensor([0, 1, 1, 0]))
        seen.append((loss.item(), more, opt.get_lr(), rate.last_epoch))
    return seen, see(net), paddle.rand([2]).numpy()


@script
def gradients_accumulate(compile):
    net = small()
    sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    @compile
    def add(x):
        loss = net(x).sum()
        loss.backward()
        return loss

    for i in range(3):
        add(data(2, 3, seed=i))
    grads = [p.grad.numpy() for p in net.parameters()]
    sgd.step()
    sgd.clear_grad(set_to_zero=False)
    gone = [p.grad is None for p in net.parameters()]
    add(data(2, 3))
    return grads, gone, [p.grad.numpy() for p in net.parameters()], see(net)


@script
def gradients_cleared_to_none_inside(compile):
    net = small()
    opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters())

    @compile
    def step(x):
        net(x).sum().backward()
        opt.step()
        opt.clear_grad(set_to_zero=False)

    out = [step(data(2, 3, seed=i)) for i in range(3)]
    return out, [p.grad is None for p in net.parameters()], see(net)


@script
def step_only(compile):
    net = small()
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    update = compile(lambda: opt.step())
    for i in range(3):
        net(data(2, 3, seed=i)).sum().backward()
        update()
        opt.clear_grad()
    return see(net)


@script
def a_parameter_without_gradient(compile):
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    for layer in (a, b):
        layer.weight.set_value(np.eye(2, dtype="float32"))
    opt = paddle.optimizer.AdamW(0.1, parameters=[*a.parameters(), *b.parameters()])

    @compile
    def step(x, both):
        y = a(x)
        (b(y) if both else y).sum().backward()
        opt.step()
        opt.clear_grad()

    for i, both in enumerate((False, False, True, False)):
        step(data(3, 2, seed=i), both)
    return see(a), see(b)


@script
def train_and_eval(compile):
    paddle.seed(4)
    net = compile(nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1D(3)))
    x, seen = data(4, 3), []
    for mode in (True, True, False, False, True):
        net.train() if mode else net.eval()
        seen.append(net(x).numpy())
    return seen, see(net)


@script
def frozen_on_the_way(compile):
    net = small()
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    step = compile(trainer(net, opt))

    for i in range(4):
        net[0].weight.stop_gradient = i in (1, 2)
        step(data(2, 3, seed=i))
    return see(net)


@script
def snapshots_survive(compile):
    net = small()
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    step = compile(trainer(net, opt))

    snapshots = []
    for i in range(3):
        snapshots.append(([p.detach() for p in net.parameters()], opt.state_dict()))
        step(data(2, 3, seed=i))
    states = [np.asarray(v) for _, state in snapshots for v in state.values() if hasattr(v, "numpy")]
    return [[t.numpy() for t in params] for params, _ in snapshots], states


@script
def values_set_between_calls(compile):
    net = small()
    start = {k: v.numpy() for k, v in net.state_dict().items()}
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    step = compile(trainer(net, opt))

    x, seen = data(2, 3), []
    seen.append(step(x).item())
    state = opt.state_dict()
    seen.append(step(x).item())
    net.set_state_dict(start)
    opt.set_state_dict(state)
    opt.set_lr(0.5)
    seen.append(step(x).item())
    net[0].weight.set_value(np.zeros((3, 4), "float32"))
    seen.append(step(x).item())
    return seen, see(net)


@script
def tied_and_shared(compile):
    a = nn.Linear(3, 3)
    b = nn.Linear(3, 3)
    b.weight = a.weight
    for p in (a.weight, a.bias, b.bias):
        p.set_value(np.full(p.shape, 0.3, "float32"))
    opt = paddle.optimizer.Adam(0.1, parameters=[a.weight, a.bias, b.bias])

    @compile
    def step(x):
        loss = b(paddle.tanh(a(x))).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return [step(data(2, 3, seed=i)).item() for i in range(3)], see(a), see(b)


@script
def recurrent(compile):
    paddle.seed(2)
    net = nn.LSTM(3, 4, 2)
    f = compile(lambda x: net(x)[0])
    x = data(2, 5, 3)
    out = f(x)
    out.sum().backward()
    return out.numpy(), [p.grad.numpy() for p in net.parameters()]


@script
def two_optimizers(compile):
    a, b = small(), small()
    first, second = (
        paddle.optimizer.Adam(0.1, parameters=a.parameters()),
        paddle.optimizer.SGD(0.1, parameters=b.parameters()),
    )

    @compile
    def step(x):
        fake = b(a(x).detach() @ paddle.ones([2, 3])).mean()
        fake.backward()
        second.step()
        second.clear_grad()
        real = a(x).mean()
        real.backward()
        first.step()
        first.clear_grad()
        return fake, real

    return [[t.item() for t in step(data(2, 3, seed=i))] for i in range(3)], see(a), see(b)


@script
def tuple_of_learning_rates(compile):
    net = small()
    groups = [
        {"params": net[0].parameters(), "learning_rate": 0.1},
        {"params": net[2].parameters(), "weight_decay": 0.1},
    ]
    rate = paddle.optimizer.lr.LinearWarmup(0.1, 3, 0.0, 0.1)
    opt = paddle.optimizer.AdamW(rate, parameters=groups)
    step = compile(trainer(net, opt))

    for i in range(5):
        step(data(2, 3, seed=i))
        rate.step()
    return see(net), opt.get_lr()


@script
def buffers_set_from_others(compile):
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    for i, p in enumerate([*a.parameters(), *b.parameters()]):
        p.set_value(np.full(p.shape, i + 1.0, "float32"))

    @compile
    def average(x):  # an exponential moving average, as in self-supervised learning
        with paddle.no_grad():
            for p, q in zip(a.parameters(), b.parameters(), strict=True):
                q.set_value(q * 0.9 + p * 0.1)
        a.bias.set_value(x)
        return b(paddle.ones([1, 2]))

    return [average(data(2, seed=i)).numpy() for i in range(3)], see(a), see(b)


@script
def large_unused_parameters(compile):
    a, b = nn.Linear(2, 2), nn.Linear(100, 100)
    for p in (*a.parameters(), *b.parameters()):
        p.set_value(np.full(p.shape, 0.5, "float32"))
    opt = paddle.optimizer.Adam(
        0.1,
        parameters=[*a.parameters(), *b.parameters()],
        weight_decay=0.1,
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )
    b(paddle.ones([1, 100])).sum().backward()

    @compile
    def step(x):
        a(x).sum().backward()
        opt.step()
        opt.clear_grad()

    for i in range(3):
        step(data(3, 2, seed=i))
    return see(a), see(b)
