"""What compiled functions take and return, and what they make themselves."""

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn
from paddle_jax.nn import functional as F
from tests.jit.corpus.script import data, script, small


@script
def what_is_returned_keeps_its_identity(compile):
    net = small()
    f = compile(lambda x: (x, net[0].weight, [x + 1]))
    x = data(2)
    seen = []
    for _ in range(2):
        a, b, c = f(x)
        seen.append((a is x, b is net[0].weight, type(c).__name__))
    return seen


@script
def the_same_tensor_twice(compile):
    f = compile(lambda x, y: (x.add_(paddle.ones([2])), y * 2)[1])
    x, y = data(2), data(2, seed=1)
    return f(x, y).numpy(), f(x, x).numpy(), f(x, y).numpy(), f(y, y).numpy()


@script
def a_parameter_as_argument(compile):
    net = small()
    f = compile(lambda w, x: (w * w).sum() + net(x).sum())
    x = data(1, 3)
    return f(net[0].weight, x).numpy(), f(data(3, 4), x).numpy(), f(net[0].weight, x).numpy()


@script
def numpy_arguments(compile):
    f = compile(lambda x, k=1.0, *, flags=(): x * k + len(flags))
    x = np.arange(3, dtype="float32")
    return [
        paddle.to_tensor(f(a, k, flags=g)).numpy()
        for a in (x, x + 1)
        for k in (1.0, 2.0)
        for g in ((), ("a",))
    ]


@script
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


@script
def decorated_methods(compile):
    kind = type(
        "Compiled", (Decorated,), {"forward": compile(Decorated.forward), "other": compile(Decorated.other)}
    )
    a, b = kind(0.5), kind(2.0)
    x = data(3, 2)
    return [layer(x, scale).numpy() for layer in (a, b) for scale in (1.0, 2.0)], a.other(x).numpy()


@script
def integers_on_the_host(compile):
    size = paddle.to_tensor(2)

    @compile
    def f(x):
        return x[: size.item()].sum()

    x = data(4)
    a = f(x).numpy()
    size.set_value(np.array(3))
    return a, f(x).numpy()


@script
def random_numbers(compile):
    paddle.seed(11)
    f = compile(lambda x: (x + paddle.rand([3]), F.dropout(x, 0.5), paddle.randint(0, 100, [4])))
    first = [[t.numpy() for t in f(data(3))] for _ in range(3)]
    paddle.seed(11)
    return first, [t.numpy() for t in f(data(3))], paddle.rand([2]).numpy()


@script
def compiled_inside_compiled(compile):
    net = compile(small())
    inner = compile(lambda x: net(x) * 2)
    outer = compile(lambda x: inner(x) + 1)
    return [outer(data(2, 3, seed=i)).numpy() for i in range(2)]


@script
def created_inside(compile):
    @compile
    def f(x):
        total = paddle.zeros([2])
        total += x
        total[0] = total[0] + 1
        mask = paddle.to_tensor([1.0, 0.0])
        return total * mask + paddle.arange(2, dtype="float32")

    return [f(data(2, seed=i)).numpy() for i in range(3)]
