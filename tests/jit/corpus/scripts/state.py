"""State that compiled functions change: buffers, attributes, Tensors in place."""

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn
from tests.jit.corpus.script import data, script, see, small


@script
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


@script
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


@script
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


@script
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


@script
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


@script
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


@script
def input_changed_in_place(compile):
    @compile
    def f(x, y):
        x.add_(y)
        x[0] = 7.0
        return x * 2

    x, y = data(3), data(3, seed=1)
    outs = [f(x, y).numpy() for _ in range(3)]
    return outs, x.numpy(), y.numpy()


@script
def two_tensors_of_one_array(compile):
    a = data(3)
    b = a.detach()

    @compile
    def f():
        a.add_(paddle.ones([3]))
        b.multiply_(paddle.full([3], 2.0))
        return a + b

    return [f().numpy() for _ in range(3)], a.numpy(), b.numpy()


@script
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


@script
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


@script
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
