"""Programs that are run twice, op by op and compiled; each returns what a user could see of it."""

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn
from paddle_jax.nn import functional as F

OPTIMIZERS = {
    "SGD": {}, "Momentum": {"momentum": 0.9}, "Adam": {}, "AdamW": {"weight_decay": 0.1}, "Adagrad": {}, "Adadelta": {}, "Adamax": {}, "Lamb": {},
    "RMSProp": {"momentum": 0.5}, "NAdam": {}, "RAdam": {}, "ASGD": {"batch_num": 2}, "Rprop": {"learning_rate_range": (1e-4, 1.0)},
}
SCENARIOS = {}


def scenario(function):
    """`function(compile)` -> values; `compile` is to_static or the identity."""
    SCENARIOS[function.__name__] = function
    return function


def data(*shape, seed=0, dtype="float32"):
    return paddle.to_tensor(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def small():
    paddle.seed(3)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def trainer(net, opt):
    """A training step on the sum of a network's outputs."""

    def step(x):
        loss = net(x).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def see(layer):
    return [value.numpy() for value in layer.state_dict().values()]


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
        return losses, see(net), [np.asarray(v) for k, v in sgd.state_dict().items() if k not in ("LR_Scheduler", "master_weights")]

    SCENARIOS[f"train with {_name}"] = _train


@scenario
def whole_step_with_everything(compile):
    paddle.seed(1)
    # no bias before the normalization: its gradient is zero but for rounding, of which Adam would make whole steps
    net = nn.Sequential(nn.Linear(3, 6, bias_attr=False), nn.BatchNorm1D(6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 2))
    rate = paddle.optimizer.lr.StepDecay(0.1, 2)
    opt = paddle.optimizer.Adam(rate, parameters=net.parameters(), weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(0.5))

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


@scenario
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


@scenario
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


@scenario
def step_only(compile):
    net = small()
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    update = compile(lambda: opt.step())
    for i in range(3):
        net(data(2, 3, seed=i)).sum().backward()
        update()
        opt.clear_grad()
    return see(net)


@scenario
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


@scenario
def forward_compiled_backward_outside(compile):
    net = small()
    f = compile(lambda x: net(x))
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    seen = []
    for i in range(3):
        x = data(2, 3, seed=i)
        x.stop_gradient = False
        y = f(x)
        (y * y).sum().backward()
        seen += [x.grad.numpy(), *[p.grad.numpy() for p in net.parameters()]]
        opt.step()
        opt.clear_grad()
    return seen


@scenario
def layer_compiled(compile):
    net = compile(small())
    x = data(2, 3)
    y = net(x)
    y.sum().backward()
    net.eval()
    with paddle.no_grad():
        z = net(x)
    return y.numpy(), y.stop_gradient, z.stop_gradient, z.numpy(), [p.grad.numpy() for p in net.parameters()], list(net.state_dict())


@scenario
def second_and_third_derivatives(compile):
    net = small()
    f = compile(lambda x: paddle.sin(net(x)).sum())
    x = data(2, 3)
    x.stop_gradient = False
    first = paddle.grad(f(x), x, create_graph=True)[0]
    second = paddle.grad((first**2).sum(), x, create_graph=True)[0]
    third = paddle.grad(second.sum(), x)[0]
    return first.numpy(), second.numpy(), third.numpy()


@scenario
def derivatives_inside(compile):
    net = small()
    opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())

    @compile
    def step(x):
        x.stop_gradient = False
        u = net(x)
        du = paddle.grad(u.sum(), x, create_graph=True)[0]
        ddu = paddle.grad(du[:, 0].sum(), x, create_graph=True)[0]
        loss = ((ddu[:, 1] + u[:, 0]) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return [step(data(4, 3, seed=i)).item() for i in range(3)], see(net)


@scenario
def buffers_count(compile):
    class Counter(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", paddle.zeros([1]))
            self.register_buffer("last", paddle.zeros([2]))

        def forward(self, x):
            self.n += 1
            self.last.set_value(x * self.n)
            return x + self.n

    layer = Counter()
    f = compile(layer)
    return [f(data(2, seed=i)).numpy() for i in range(3)], see(layer)


@scenario
def attribute_replaced(compile):
    class Cell(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.linear.weight.set_value(np.ones((2, 2), "float32"))
            self.h = paddle.zeros([2])

        def forward(self, x):
            self.h = paddle.tanh(self.linear(x) + self.h)
            self.seen = x * 2
            return self.h

    cell = Cell()
    f = compile(cell)
    out = [f(data(2, seed=i)) for i in range(3)]
    out[-1].sum().backward()
    return [o.numpy() for o in out], cell.h.numpy(), cell.seen.numpy(), cell.linear.weight.grad.numpy()


@scenario
def lists_of_tensors_as_attribute(compile):
    class Cache(nn.Layer):
        def forward(self, x):
            self.cache = [x + 1, {"k": x * 2}]
            return x

    layer = Cache()
    f = compile(layer)
    for i in range(2):
        f(data(2, seed=i))
    return layer.cache[0].numpy(), layer.cache[1]["k"].numpy()


@scenario
def shape_kept_as_attribute(compile):
    class Keeps(nn.Layer):
        def forward(self, x):
            self.size = tuple(x.shape)
            return x.sum()

    layer = Keeps()
    f = compile(layer)
    seen = []
    for shape in ((2, 3), (2, 3), (4,), (2, 3)):
        f(data(*shape))
        seen.append(layer.size)
    return seen


@scenario
def plain_values_change(compile):
    factor = 2.0

    class Scale(nn.Layer):
        def __init__(self):
            super().__init__()
            self.k = 1.0

        def forward(self, x):
            return x * self.k * factor

    layer = Scale()
    f = compile(layer)
    x = data(2)
    a = f(x).numpy()
    layer.k = 3.0
    b = f(x).numpy()
    factor = 5.0
    return a, b, f(x).numpy()


@scenario
def plain_object(compile):
    class Solver:
        def __init__(self):
            self.net, self.weight, self.history = small(), 1.0, []
            self.opt = paddle.optimizer.Adam(0.01, parameters=self.net.parameters())
            self.step = compile(self.step)

        def step(self, x):
            loss = (self.net(x) ** 2).mean() * self.weight
            loss.backward()
            self.opt.step()
            self.opt.clear_grad()
            return loss

    solver = Solver()
    seen = []
    for i in range(4):
        solver.weight = 1.0 if i < 2 else 10.0
        seen.append(solver.step(data(2, 3, seed=i)).item())
    return seen, see(solver.net)


@scenario
def train_and_eval(compile):
    paddle.seed(4)
    net = compile(nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1D(3)))
    x, seen = data(4, 3), []
    for mode in (True, True, False, False, True):
        net.train() if mode else net.eval()
        seen.append(net(x).numpy())
    return seen, see(net)


@scenario
def frozen_on_the_way(compile):
    net = small()
    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    step = compile(trainer(net, opt))

    for i in range(4):
        net[0].weight.stop_gradient = i in (1, 2)
        step(data(2, 3, seed=i))
    return see(net)


@scenario
def input_changed_in_place(compile):
    @compile
    def f(x, y):
        x.add_(y)
        x[0] = 7.0
        return x * 2

    x, y = data(3), data(3, seed=1)
    outs = [f(x, y).numpy() for _ in range(3)]
    return outs, x.numpy(), y.numpy()


@scenario
def gradient_through_a_change_in_place(compile):
    @compile
    def f(x, w):
        x.multiply_(w)
        return x.sum()

    w = data(3, seed=1)
    w.stop_gradient = False
    x = data(3)
    loss = f(x, w) + (x * x).sum()
    loss.backward()
    return x.numpy(), w.grad.numpy(), x.stop_gradient


@scenario
def what_is_returned_keeps_its_identity(compile):
    net = small()
    f = compile(lambda x: (x, net[0].weight, [x + 1]))
    x = data(2)
    seen = []
    for _ in range(2):
        a, b, c = f(x)
        seen.append((a is x, b is net[0].weight, type(c).__name__))
    return seen


@scenario
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


@scenario
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


@scenario
def two_tensors_of_one_array(compile):
    a = data(3)
    b = a.detach()

    @compile
    def f():
        a.add_(paddle.ones([3]))
        b.multiply_(paddle.full([3], 2.0))
        return a + b

    return [f().numpy() for _ in range(3)], a.numpy(), b.numpy()


@scenario
def the_same_tensor_twice(compile):
    f = compile(lambda x, y: (x.add_(paddle.ones([2])), y * 2)[1])
    x, y = data(2), data(2, seed=1)
    return f(x, y).numpy(), f(x, x).numpy(), f(x, y).numpy(), f(y, y).numpy()


@scenario
def a_parameter_as_argument(compile):
    net = small()
    f = compile(lambda w, x: (w * w).sum() + net(x).sum())
    x = data(1, 3)
    return f(net[0].weight, x).numpy(), f(data(3, 4), x).numpy(), f(net[0].weight, x).numpy()


@scenario
def numpy_arguments(compile):
    f = compile(lambda x, k=1.0, *, flags=(): x * k + len(flags))
    x = np.arange(3, dtype="float32")
    return [paddle.to_tensor(f(a, k, flags=g)).numpy() for a in (x, x + 1) for k in (1.0, 2.0) for g in ((), ("a",))]


@scenario
def nested_arguments_and_results(compile):
    @compile
    def f(batch, names):
        return {"sum": batch["x"][0] + batch["x"][1], names[0]: (batch["y"], 5, "text")}

    out = [f({"x": [data(2), data(2, seed=i)], "y": data(1)}, ["label"]) for i in range(2)]
    return [(o["sum"].numpy(), o["label"][0].numpy(), o["label"][1:]) for o in out]


class Decorated(nn.Layer):
    def __init__(self, k):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.linear.weight.set_value(np.full((2, 2), k, "float32"))

    def forward(self, x, scale=1.0):
        return self.other(self.linear(x)) * scale

    def other(self, x):
        return paddle.tanh(x)


@scenario
def decorated_methods(compile):
    kind = type("Compiled", (Decorated,), {"forward": compile(Decorated.forward), "other": compile(Decorated.other)})
    a, b = kind(0.5), kind(2.0)
    x = data(3, 2)
    return [layer(x, scale).numpy() for layer in (a, b) for scale in (1.0, 2.0)], a.other(x).numpy()


@scenario
def integers_on_the_host(compile):
    size = paddle.to_tensor(2)

    @compile
    def f(x):
        return x[: size.item()].sum()

    x = data(4)
    a = f(x).numpy()
    size.set_value(np.array(3))
    return a, f(x).numpy()


@scenario
def random_numbers(compile):
    paddle.seed(11)
    f = compile(lambda x: (x + paddle.rand([3]), F.dropout(x, 0.5), paddle.randint(0, 100, [4])))
    first = [[t.numpy() for t in f(data(3))] for _ in range(3)]
    paddle.seed(11)
    return first, [t.numpy() for t in f(data(3))], paddle.rand([2]).numpy()


@scenario
def grad_modes(compile):
    net = small()

    @compile
    def f(x):
        with paddle.no_grad():
            a = net(x)
        return a, net(x), paddle.is_grad_enabled()

    x, seen = data(1, 3), []
    for mode in (True, False, True):
        with paddle.set_grad_enabled(mode):
            a, b, on = f(x)
            seen.append((a.stop_gradient, b.stop_gradient, on))
    return seen


class Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return dy * 3 * x**2 + 1


@scenario
def own_gradient(compile):
    f = compile(lambda x: Cube.apply(x).sum())

    @compile
    def g(x):
        Cube.apply(x).sum().backward()
        return x.grad

    x, y = data(3), data(3)
    x.stop_gradient = y.stop_gradient = False
    f(x).backward()
    return x.grad.numpy(), g(y).numpy(), y.grad.numpy()


@scenario
def transforms_inside(compile):
    net = small()

    @compile
    def f(x):
        per_sample = paddle.func.vmap(lambda s: net(s).sum())(x)
        return per_sample, paddle.func.jacrev(lambda s: net(s))(x[0]), paddle.autograd.jacobian(net(x[0]), net[2].bias)[:]

    return [[t.numpy() for t in f(data(2, 3, seed=i))] for i in range(2)]


@scenario
def compiled_inside_compiled(compile):
    net = compile(small())
    inner = compile(lambda x: net(x) * 2)
    outer = compile(lambda x: inner(x) + 1)
    return [outer(data(2, 3, seed=i)).numpy() for i in range(2)]


@scenario
def hooks_on_parameters(compile):
    net = small()
    net[0].weight.register_hook(lambda g: g * 10)

    @compile
    def step(x):
        net(x).sum().backward()

    step(data(2, 3))
    f = compile(lambda x: net(x))
    f(data(2, 3)).sum().backward()
    return [p.grad.numpy() for p in net.parameters()]


@scenario
def hooks_inside(compile):
    net = small()

    @compile
    def step(x):
        h = net[0](x)
        h.register_hook(lambda g: g * 3)
        net[2](h).sum().backward()

    step(data(2, 3))
    return [p.grad.numpy() for p in net.parameters()]


@scenario
def layer_hooks(compile):
    net = small()
    net[0].register_forward_post_hook(lambda layer, args, out: out * 2)
    f = compile(net)
    f.register_forward_pre_hook(lambda layer, args: (args[0] + 1,))
    return [f(data(2, 3, seed=i)).numpy() for i in range(2)]


@scenario
def created_inside(compile):
    @compile
    def f(x):
        total = paddle.zeros([2])
        total += x
        total[0] = total[0] + 1
        mask = paddle.to_tensor([1.0, 0.0])
        return total * mask + paddle.arange(2, dtype="float32")

    return [f(data(2, seed=i)).numpy() for i in range(3)]


@scenario
def a_leaf_made_inside(compile):
    @compile
    def f(x):
        w = paddle.ones([2])
        w.stop_gradient = False
        (w * x).sum().backward()
        return w.grad

    return [f(data(2, seed=i)).numpy() for i in range(2)]


@scenario
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


@scenario
def recurrent(compile):
    paddle.seed(2)
    net = nn.LSTM(3, 4, 2)
    f = compile(lambda x: net(x)[0])
    x = data(2, 5, 3)
    out = f(x)
    out.sum().backward()
    return out.numpy(), [p.grad.numpy() for p in net.parameters()]


@scenario
def two_optimizers(compile):
    a, b = small(), small()
    first, second = paddle.optimizer.Adam(0.1, parameters=a.parameters()), paddle.optimizer.SGD(0.1, parameters=b.parameters())

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


@scenario
def tuple_of_learning_rates(compile):
    net = small()
    groups = [{"params": net[0].parameters(), "learning_rate": 0.1}, {"params": net[2].parameters(), "weight_decay": 0.1}]
    rate = paddle.optimizer.lr.LinearWarmup(0.1, 3, 0.0, 0.1)
    opt = paddle.optimizer.AdamW(rate, parameters=groups)
    step = compile(trainer(net, opt))

    for i in range(5):
        step(data(2, 3, seed=i))
        rate.step()
    return see(net), opt.get_lr()


@scenario
def tensors_deep_in_objects(compile):
    class Box:
        def __init__(self, inside):
            self.inside = inside

    class Module:
        pass

    boxes = Box(Box(Box(Box(Box(Box(data(2)))))))
    state = Box(Box(Box(Box(Box(Box(data(2, seed=1)))))))

    def deep(box):
        while isinstance(box, Box):
            last, box = box, box.inside
        return last

    @compile
    def f(x):
        a, b = deep(boxes).inside, deep(state).inside
        b.add_(x)
        return a.detach() + paddle.to_tensor(a) + b

    out = [f(data(2, seed=2)).numpy()]
    deep(boxes).inside.set_value(np.array([5.0, 6.0], "float32"))
    out.append(f(data(2, seed=3)).numpy())
    return out, deep(state).inside.numpy()


@scenario
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


@scenario
def large_unused_parameters(compile):
    a, b = nn.Linear(2, 2), nn.Linear(100, 100)
    for p in (*a.parameters(), *b.parameters()):
        p.set_value(np.full(p.shape, 0.5, "float32"))
    opt = paddle.optimizer.Adam(0.1, parameters=[*a.parameters(), *b.parameters()], weight_decay=0.1, grad_clip=nn.ClipGradByGlobalNorm(1.0))
    b(paddle.ones([1, 100])).sum().backward()

    @compile
    def step(x):
        a(x).sum().backward()
        opt.step()
        opt.clear_grad()

    for i in range(3):
        step(data(3, 2, seed=i))
    return see(a), see(b)


@scenario
def versions_and_flags(compile):
    @compile
    def f(x, w):
        x.add_(w)
        x[0] = 1.0
        w.stop_gradient = False
        return (x * w).sum()

    x, w = data(2), data(2, seed=1)
    f(x, w)
    return x.inplace_version, w.inplace_version, w.stop_gradient, x.stop_gradient


@scenario
def attributes_of_plain_objects(compile):
    class Trainer:
        def __init__(self):
            self.net, self.loss, self.best = small(), None, None

        def step(self, x):
            self.loss = self.net(x).sum()
            self.parts = [self.loss * 2, "text"]
            return self.loss

    trainer = Trainer()
    f = compile(trainer.step)
    seen = []
    for i in range(3):
        f(data(2, 3, seed=i))
        trainer.best = trainer.loss
        seen.append((trainer.loss.item(), trainer.parts[0].item(), trainer.parts[1]))
    trainer.loss.backward()
    return seen, [p.grad.numpy() for p in trainer.net.parameters()]


def _scaled(compile, level, dtype, parts=False, dynamic=True, master_grad=False, clip=None):
    """Training steps in mixed precision whose third one overflows; the scale grows after two good steps."""
    net = small()
    opt = paddle.optimizer.AdamW(0.05, parameters=net.parameters(), grad_clip=clip)
    if level == "O2":
        net, opt = paddle.amp.decorate(net, opt, level=level, dtype=dtype, master_grad=master_grad)
    scaler = paddle.amp.GradScaler(init_loss_scaling=32.0, incr_every_n_steps=2, use_dynamic_loss_scaling=dynamic)

    @compile
    def step(x, y, factor):
        with paddle.amp.auto_cast(level=level, dtype=dtype):
            out = net(x)
            loss = ((out - y) ** 2).mean() * factor
        scaler.scale(loss).backward()
        if parts:
            scaler.unscale_(opt)
            grads = [p.grad.astype("float32").sum() for p in net.parameters()]
        scaler.step(opt)
        scaler.update()
        opt.clear_grad()
        return loss, out, grads if parts else None

    seen = []
    for i, factor in enumerate([1.0, 1.0, float("inf"), 1.0, 1.0, 1.0]):
        loss, out, grads = step(data(5, 3, seed=i), data(5, 2, seed=9), paddle.to_tensor(factor))
        seen.append((loss.item(), out.astype("float32").numpy(), grads if i == 2 or grads is None else [g.item() for g in grads]) if i != 2 else ())
        seen.append([np.asarray(v) for v in scaler.state_dict().values()])
    states = [np.asarray(v.astype("float32")) for k, v in opt.state_dict().items() if k != "master_weights"]
    return seen, [p.astype("float32").numpy() for p in net.parameters()], states


for _name, _more in {
    "float16": ("O1", "float16"), "float16, unscale_": ("O1", "float16", True), "a fixed scale": ("O1", "float16", True, False),
    "level O2": ("O2", "float16"), "level O2, float32 gradients": ("O2", "float16", False, True, True),
    "clipping": ("O1", "float16", False, True, False, nn.ClipGradByGlobalNorm(0.1)), "bfloat16": ("O1", "bfloat16"),
}.items():

    def _scaling(compile, more=_more):
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that the scaler does nothing for bfloat16
            return _scaled(compile, *more)

    SCENARIOS[f"loss scaling, {_name}"] = _scaling


@scenario
def loss_scaling_in_parts(compile):
    """The parts of a step are compiled one by one; what the scaler remembers between them goes from one to the next."""
    net = small()
    opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
    scaler = paddle.amp.GradScaler(init_loss_scaling=32.0, incr_every_n_steps=2)

    @compile
    def back(x):
        with paddle.amp.auto_cast():
            loss = net(x).sum()
        scaler.scale(loss).backward()

    unscale, step = compile(lambda: scaler.unscale_(opt)), compile(lambda: scaler.step(opt))
    seen = []
    for i in range(4):
        back(data(2, 3, seed=i))
        if i % 2:
            unscale()
        step()
        try:
            scaler.step(opt)
        except RuntimeError as error:
            seen.append(type(error).__name__)
        scaler.update()
        opt.clear_grad()
        seen.append([np.asarray(v) for v in scaler.state_dict().values()])
    return seen, see(net)


@scenario
def guard_around_a_compiled_function(compile):
    net = small()
    f = compile(lambda x: net(x))
    seen = [f(data(2, 3)).dtype.name]
    for more in ({"dtype": "bfloat16"}, {"dtype": "float16"}, {"dtype": "bfloat16", "custom_black_list": ["linear_v2"]}, {"enable": False}):
        with paddle.amp.auto_cast(**more):
            seen.append(f(data(2, 3)).dtype.name)
    return seen
