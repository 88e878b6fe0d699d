"""The workloads of `steps.py` written for Paddle: the same lines run in the real Paddle and, through
`python -m paddle_jax`, in paddle_jax.

With BENCHMARK_TO_STATIC=1 in the environment each step goes through `paddle.jit.to_static`.
"""

import dataclasses
import functools as ft
import os

import measure
import numpy as np
import paddle
import paddle.nn.functional as F
from measure import Work
from paddle import nn

OPS = 100  # operations in one step of an operation's workload

operations = {
    "add": lambda x, y: x + y,
    "add_number": lambda x, y: x + 1.5,
    "matmul": lambda x, y: x @ y,
    "tanh": lambda x, y: paddle.tanh(x),
    "sum": lambda x, y: x.sum(),
    "reshape": lambda x, y: x.reshape([16, 4]),
    "get": lambda x, y: x[3],
    "slice": lambda x, y: x[1:5, 2],
}


@ft.cache
def places():
    """An index, a mask, and an index for each row."""
    return (
        paddle.to_tensor([5, 1, 3]),
        paddle.arange(64).reshape([8, 8]) % 3 == 0,
        paddle.arange(16).reshape([8, 2]) % 8,
    )


indexing = {
    "get_step": lambda x, y: x[::2],
    "get_new_axis": lambda x, y: x[:, None, 1],
    "get_array": lambda x, y: x[places()[0]],
    "get_pairs": lambda x, y: x[places()[0], places()[0]],
    "get_mask": lambda x, y: x[places()[1]],
    "index_select": lambda x, y: paddle.index_select(x, places()[0], axis=1),
    "along_axis": lambda x, y: paddle.take_along_axis(x, places()[2], 1),
    "scatter": lambda x, y: paddle.scatter(x, places()[0], y[:3]),
    "sort": lambda x, y: paddle.sort(x),
    "argsort": lambda x, y: paddle.argsort(x),
    "topk": lambda x, y: paddle.topk(x, 3)[0],
    "cumsum": lambda x, y: paddle.cumsum(x, 0),
}
setting = {
    "set_slice": lambda: (slice(1, 5), 2),
    "set_array": lambda: places()[0],
    "set_mask": lambda: places()[1],
}


def pair(grad):
    x, y = paddle.randn([8, 8]), paddle.randn([8, 8])
    x.stop_gradient = y.stop_gradient = not grad
    return x, y


def operation(function, grad):
    x, y = pair(grad)

    def step():
        for _ in range(OPS):
            out = function(x, y)
        return out

    return Work(step, lambda out: out.numpy(), OPS)


def chained_add():
    x, y = pair(False)

    def step():
        out = x
        for _ in range(OPS):
            out = out + y
        return out

    return Work(step, lambda out: out.numpy(), OPS)


def set_row(grad):
    x, y = pair(grad)
    row = y[0].detach()

    def step():
        out = x * 1.0
        for _ in range(OPS):
            out[3] = row
        return out

    return Work(step, lambda out: out.numpy(), OPS)


def set_item(key, value):
    x, y = pair(False)
    at, value = key(), y[:3] if value is None else value

    def step():
        out = x * 1.0
        for _ in range(OPS):
            out[at] = value
        return out

    return Work(step, lambda out: out.numpy(), OPS)


def set_through():
    x, _ = pair(False)

    def step():
        out = x * 1.0
        for _ in range(OPS):
            out[3][1] = 0.0
        return out

    return Work(step, lambda out: out.numpy(), OPS)


def get_each():
    x, _ = pair(False)

    def step():
        for number in range(OPS):
            out = x[number % 8]
        return out

    return Work(step, lambda out: out.numpy(), OPS)


def item():
    x, _ = pair(False)

    def step():
        for _ in range(OPS):
            out = x[0, 0].item()
        return out

    return Work(step, float, OPS)


def chain20():
    x, y = pair(True)

    def step():
        x.clear_grad()
        y.clear_grad()
        out = x
        for _ in range(10):
            out = paddle.tanh(out * y)
        loss = out.sum()
        loss.backward()
        return loss

    return Work(step)


def third():
    x, _ = pair(True)

    def step():
        out = paddle.tanh(x * x) * paddle.sin(x)
        for order in range(3):  # the last one is not differentiated again
            (out,) = paddle.grad(out.sum(), x, create_graph=order < 2)
        return out.sum()

    return Work(step)


def training(layers, loss_of, optimizer=paddle.optimizer.Adam):
    """Trains the layers: forward, backward, update, clearing the gradients."""
    parameters = [p for layer in layers for p in layer.parameters()]
    update = optimizer(learning_rate=1e-3, parameters=parameters)

    def step():
        loss = loss_of()
        loss.backward()
        update.step()
        update.clear_grad()
        return loss

    return Work(step, parameters=sum(int(np.prod(p.shape)) for p in parameters if p.trainable))


def labels(count, classes=10):
    return paddle.to_tensor(np.arange(count) % classes)


def tanh_net(inputs, width, depth):
    sizes = [inputs] + [width] * depth
    hidden = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), nn.Tanh())]
    return nn.Sequential(*hidden, nn.Linear(width, 1))


def mlp():
    net, x, y = tanh_net(64, 64, 2), paddle.randn([32, 64]), paddle.randn([32, 1])
    return training([net], lambda: F.mse_loss(net(x), y))


def lenet():
    net, x, y = paddle.vision.models.LeNet(), paddle.randn([64, 1, 28, 28]), labels(64)
    return training([net], lambda: F.cross_entropy(net(x), y))


def resnet18():
    net, x, y = paddle.vision.models.resnet18(num_classes=10), paddle.randn([8, 3, 64, 64]), labels(8)
    return training([net], lambda: F.cross_entropy(net(x), y))


def transformer():
    net, head = (
        nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0), 4),
        nn.Linear(128, 10),
    )
    x, y = paddle.randn([8, 64, 128]), labels(8)
    return training(
        [net, head], lambda: F.cross_entropy(head(net(x).mean(axis=1)), y), paddle.optimizer.AdamW
    )


def lstm():
    net, head = nn.LSTM(32, 64, num_layers=2), nn.Linear(64, 5)
    x, y = paddle.randn([16, 50, 32]), labels(16, 5)
    return training([net, head], lambda: F.cross_entropy(head(net(x)[0][:, -1]), y))


def burgers():
    net, x = tanh_net(2, 32, 3), paddle.rand([2000, 2])
    x.stop_gradient = False

    def loss():
        u = net(x)
        (du,) = paddle.grad(u, x, create_graph=True)
        u_x, u_t = du[:, 0:1], du[:, 1:2]
        u_xx = paddle.grad(u_x, x, create_graph=True)[0][:, 0:1]
        return ((u_t + u * u_x - 0.01 * u_xx) ** 2).mean()

    return training([net], loss)


def beam():
    net, x = tanh_net(1, 20, 3), paddle.rand([500, 1])
    x.stop_gradient = False

    def loss():
        u = net(x)
        for _ in range(4):
            (u,) = paddle.grad(u, x, create_graph=True)
        return ((u + 1.0) ** 2).mean()

    return training([net], loss)


def adam1000():
    parameters = [paddle.create_parameter([32], "float32") for _ in range(1000)]
    for p in parameters:
        p.grad = paddle.randn([32])
    update = paddle.optimizer.Adam(learning_rate=1e-3, parameters=parameters)

    def step():
        update.step()
        return parameters[-1]

    return Work(step, lambda out: out.numpy(), parameters=32000)


def heat():
    start = paddle.rand([64, 64])

    def step():
        u = start
        for _ in range(10_000):
            u = u + 0.1 * (
                paddle.roll(u, 1, 0)
                + paddle.roll(u, -1, 0)
                + paddle.roll(u, 1, 1)
                + paddle.roll(u, -1, 1)
                - 4.0 * u
            )
        return u.sum()

    return Work(step)


WORKLOADS = {name: ft.partial(operation, function, False) for name, function in operations.items()}
WORKLOADS |= {name + "_grad": ft.partial(operation, function, True) for name, function in operations.items()}
WORKLOADS |= {"set": ft.partial(set_row, False), "set_grad": ft.partial(set_row, True)}
WORKLOADS |= {name: ft.partial(operation, function, False) for name, function in indexing.items()} | {
    "get_each": get_each
}
WORKLOADS["set_through"] = set_through
WORKLOADS |= {
    name: ft.partial(set_item, key, None if name == "set_array" else 0.0) for name, key in setting.items()
}
WORKLOADS |= {
    work.__name__: work
    for work in (
        chained_add,
        item,
        chain20,
        third,
        mlp,
        lenet,
        resnet18,
        transformer,
        lstm,
        burgers,
        beam,
        adam1000,
        heat,
    )
}


def through_to_static(build):
    work = build()
    return dataclasses.replace(work, step=paddle.jit.to_static(work.step))


if os.environ.get("BENCHMARK_TO_STATIC") == "1":
    WORKLOADS = {name: ft.partial(through_to_static, build) for name, build in WORKLOADS.items()}

if __name__ == "__main__":
    measure.main(WORKLOADS, paddle.set_device)
