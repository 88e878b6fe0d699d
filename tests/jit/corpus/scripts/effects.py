"""What code does besides computing, where it is called from a branch on a Tensor or where it
cannot be put off."""

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn
from tests.jit.corpus.script import data, effect, small


class Thing:
    """A plain object, global as in scripts."""

    count = 0


thing = Thing()


def in_a_branch(function):
    """A function that calls another one in a branch on a Tensor."""

    def run(x):
        if x.sum() > -1e9:
            y = function(x)
        else:
            y = function(x * 2)
        return y

    return run


def counted(x):
    thing.count += 1
    return x * thing.count


def kept(x):
    thing.last = thing.last + x
    return thing.last * 2


def listed(x):
    thing.items.append(1.0)
    return x * len(thing.items)


@effect
def an_object_counts_in_a_branch(compile):
    thing.count = 0
    f = compile(in_a_branch(counted))
    return [f(data(2)).numpy() for _ in range(3)], thing.count


@effect
def an_object_keeps_a_tensor_in_a_branch(compile):
    thing.last = paddle.zeros([2])
    f = compile(in_a_branch(kept))
    return [f(data(2)).numpy() for _ in range(3)], thing.last.numpy()


@effect
def an_object_keeps_a_list_in_a_branch(compile):
    thing.items = []
    f = compile(in_a_branch(listed))
    return [f(data(2)).numpy() for _ in range(3)], len(thing.items)


class Running(nn.Layer):
    """Keeps a buffer, a number and a flag, as layers with statistics of their own do."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", paddle.zeros([2]))
        self.steps, self.ready = 0, False

    def forward(self, x):
        self.mean = self.mean * 0.9 + x.mean(0) * 0.1
        self.steps += 1
        if not self.ready:
            self.ready = True
            return x
        return x - self.mean


running = Running()


@effect
def a_layer_changes_in_a_branch(compile):
    running.__init__()
    f = compile(in_a_branch(lambda x: running(x)))
    return [f(data(3, 2)).numpy() for _ in range(3)], running.mean.numpy(), running.steps, running.ready


@effect
def an_object_made_in_a_branch(compile):
    class Pair:
        def __init__(self, x):
            self.first = x
            self.second = x * 2

        def total(self):
            self.seen = True
            return self.first + self.second

    f = compile(in_a_branch(lambda x: Pair(x).total()))
    return [f(data(2)).numpy() for _ in range(2)]


@effect
def a_function_counts_its_calls(compile):
    def counting(function):
        def inner(x):
            inner.calls += 1
            return function(x) * inner.calls

        inner.calls = 0
        return inner

    inner = counting(lambda x: x + 1)
    f = compile(lambda x: inner(x))
    return [f(data(2)).numpy() for _ in range(3)], inner.calls


@effect
def a_class_counts(compile):
    class Counter:
        calls, last = 0, None

    def run(x):
        Counter.calls += 1
        Counter.last = "run"
        return x * Counter.calls

    f, out = compile(run), []
    for _ in range(3):
        out.append(f(data(2)).numpy())
        out.append(Counter.last)
        Counter.last = None
    return out, Counter.calls


@effect
def a_scheduler_is_told_the_loss(compile):
    net = small()
    rate = paddle.optimizer.lr.ReduceOnPlateau(0.5, patience=0, factor=0.5, threshold=10.0)
    opt = paddle.optimizer.SGD(rate, parameters=net.parameters())

    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        rate.step(loss)
        return loss

    f = compile(step)
    return [f(data(4, 3)).numpy() for _ in range(5)], rate.last_lr


@effect
def a_layer_is_made_inside(compile):
    fill = nn.initializer.Constant(0.5)
    f = compile(lambda x: nn.Linear(2, 2, weight_attr=fill, bias_attr=False)(x))
    return [f(data(3, 2)).numpy() for _ in range(2)]


@effect
def a_layer_is_made_in_a_branch(compile):
    fill = nn.initializer.Constant(0.5)
    f = compile(in_a_branch(lambda x: nn.Linear(2, 2, weight_attr=fill, bias_attr=False)(x)))
    return [f(data(3, 2)).numpy() for _ in range(2)]


@effect
def weight_norm_in_a_branch(compile):
    layer = nn.Linear(2, 2)
    nn.utils.weight_norm(layer)
    f = compile(in_a_branch(lambda x: layer(x)))
    before = f(data(3, 2)).numpy() - layer(data(3, 2)).numpy()
    layer.weight_g.set_value(layer.weight_g * 3)
    return before, f(data(3, 2)).numpy() - layer(data(3, 2)).numpy()


@effect
def arguments_whose_equality_tells_little(compile):
    class Setting:
        def __init__(self, scale):
            self.scale = scale

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

    f = compile(lambda x, setting: x * setting.scale)
    return [f(data(2), Setting(scale)).numpy() for scale in (2.0, 3.0, 2.0)]


@effect
def a_slot_counts(compile):
    class Slots:
        __slots__ = ("n",)

    slots = Slots()
    slots.n = 0

    def run(x):
        slots.n = slots.n + 1
        return x * slots.n

    f = compile(run)
    return [f(data(2)).numpy() for _ in range(3)], slots.n


@effect
def an_own_setattr_keeps_a_log(compile):
    class Logged:
        log = []

        def __setattr__(self, name, value):
            self.log.append(name)
            object.__setattr__(self, name, value)

    logged = Logged()

    def run(x):
        logged.scale = 2.0
        return x * logged.scale

    f = compile(run)
    return [f(data(2)).numpy() for _ in range(3)], list(logged.log)


@effect
def an_array_is_counted_up(compile):
    held = np.zeros(2)

    def run(x):
        held[0] += 1
        return x * float(held[0])

    f = compile(run)
    return [f(data(2)).numpy() for _ in range(3)], held.tolist()


@effect
def a_buffer_is_registered_at_the_first_call(compile):
    class Rotary(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", None)

        def forward(self, x):
            if self.table is None:
                self.register_buffer("table", paddle.cos(paddle.arange(2).astype("float32")))
            return x * self.table

    layer = Rotary()
    f = compile(layer)
    return [f(data(3, 2)).numpy() for _ in range(2)], layer.table.numpy()


@effect
def weights_are_tied_in_forward(compile):
    class Tied(nn.Layer):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x):
            self.two.weight = self.one.weight
            return self.two(x)

    layer = Tied()
    f = compile(layer)
    out = [f(data(3, 2)).numpy() for _ in range(2)]
    layer.one.weight.set_value(paddle.ones([2, 2]))
    return out, f(data(3, 2)).numpy(), layer.two.weight is layer.one.weight
