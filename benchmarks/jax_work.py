"""The workloads of `paddle_work.py` written by hand for JAX: one `jax.jit` per training step, optax, donated
buffers; same sizes, same layers.

An operation's workload is one jitted call per operation. There is no `_grad` row: JAX records nothing.
"""

import functools as ft
from itertools import count

import jax
import jax.numpy as jnp
import measure
import numpy as np
import optax
from jax import lax
from measure import Work

OPS = 100
seeds = count()

operations = {
    "add": lambda x, y: x + y,
    "add_number": lambda x, y: x + 1.5,
    "matmul": lambda x, y: x @ y,
    "tanh": lambda x, y: jnp.tanh(x),
    "sum": lambda x, y: x.sum(),
    "reshape": lambda x, y: x.reshape(16, 4),
    "get": lambda x, y: x[3],
    "slice": lambda x, y: x[1:5, 2],
}


def normal(*shape, scale=1.0):
    return jnp.asarray(np.random.default_rng(next(seeds)).normal(size=shape) * scale, jnp.float32)


def operation(function):
    function, x, y = jax.jit(function), normal(8, 8), normal(8, 8)

    def step():
        for _ in range(OPS):
            out = function(x, y)
        return out

    return Work(step, np.asarray, OPS)


def repeated(function):
    """OPS calls, each on the result of the one before."""
    function, x, y = jax.jit(function), normal(8, 8), normal(8, 8)

    def step():
        out = x
        for _ in range(OPS):
            out = function(out, y)
        return out

    return Work(step, np.asarray, OPS)


def item():
    function, x = jax.jit(lambda x: x[0, 0]), normal(8, 8)

    def step():
        for _ in range(OPS):
            out = function(x).item()
        return out

    return Work(step, float, OPS)


def chain20():
    def loss(x, y):
        out = x
        for _ in range(10):
            out = jnp.tanh(out * y)
        return out.sum()

    function, x, y = jax.jit(jax.value_and_grad(loss, (0, 1))), normal(8, 8), normal(8, 8)
    return Work(lambda: function(x, y)[0])


def third():
    def function(x):
        return jnp.tanh(x * x) * jnp.sin(x)

    for _ in range(3):
        function = jax.grad(lambda x, inner=function: inner(x).sum())
    last, x = jax.jit(lambda x: function(x).sum()), normal(8, 8)
    return Work(lambda: last(x))


def training(parameters, loss_of, *batch, optimizer=optax.adam, state=None):
    """Trains with `loss_of(parameters, *batch)`; with state, such as running means, `loss_of(parameters,
    state, *batch) -> (loss, state)`."""
    update = optimizer(1e-3)

    def with_state(parameters, state, batch):
        return (
            loss_of(parameters, state, *batch) if state is not None else (loss_of(parameters, *batch), None)
        )

    @ft.partial(jax.jit, donate_argnums=0)
    def advance(held, batch):
        parameters, state, moments = held
        (loss, state), gradients = jax.value_and_grad(with_state, has_aux=True)(parameters, state, batch)
        change, moments = update.update(gradients, moments, parameters)
        return loss, (optax.apply_updates(parameters, change), state, moments)

    held = (parameters, state, update.init(parameters))

    def step():
        nonlocal held
        loss, held = advance(held, batch)
        return loss

    return Work(step, parameters=sum(p.size for p in jax.tree.leaves(parameters)))


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def labels(count, classes=10):
    return jnp.arange(count) % classes


def linear(inputs, outputs):
    return {"w": normal(inputs, outputs, scale=inputs**-0.5), "b": jnp.zeros(outputs)}


def dense(p, x):
    return x @ p["w"] + p["b"]


def tanh_net(inputs, width, depth):
    return [linear(inputs, width)] + [linear(width, width) for _ in range(depth - 1)] + [linear(width, 1)]


def tanh_forward(net, x):
    for p in net[:-1]:
        x = jnp.tanh(dense(p, x))
    return dense(net[-1], x)


def mlp():
    return training(
        tanh_net(64, 64, 2),
        lambda net, x, y: ((tanh_forward(net, x) - y) ** 2).mean(),
        normal(32, 64),
        normal(32, 1),
    )


def kernel(outputs, inputs, size):
    return normal(outputs, inputs, size, size, scale=(inputs * size * size) ** -0.5)


def convolve(x, w, stride=1, padding=0):
    return lax.conv_general_dilated(
        x, w, (stride, stride), [(padding, padding)] * 2, dimension_numbers=("NCHW", "OIHW", "NCHW")
    )


def max_pool(x, size=2, stride=2, padding=0):
    pad = [(0, 0), (0, 0), (padding, padding), (padding, padding)]
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, size, size), (1, 1, stride, stride), pad)


def lenet():
    net = {
        "c": [(kernel(6, 1, 3), jnp.zeros(6)), (kernel(16, 6, 5), jnp.zeros(16))],
        "d": [linear(400, 120), linear(120, 84), linear(84, 10)],
    }

    def loss(net, x, y):
        for (w, b), padding in zip(net["c"], (1, 0), strict=True):
            x = max_pool(jax.nn.relu(convolve(x, w, padding=padding) + b[:, None, None]))
        return cross_entropy(ft.reduce(lambda x, p: dense(p, x), net["d"], x.reshape(64, -1)), y)

    return training(net, loss, normal(64, 1, 28, 28), labels(64))


def conv_norm(inputs, outputs, size):
    return {"w": kernel(outputs, inputs, size), "g": jnp.ones(outputs), "b": jnp.zeros(outputs)}


def normalised(p, running, x, stride=1):
    """Convolution and batch normalisation in training mode: (output, new running mean and variance)."""
    x = convolve(x, p["w"], stride, p["w"].shape[-1] // 2)
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    scale = lax.rsqrt(variance + 1e-5) * p["g"]
    running = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, running, (mean, variance))
    return x * scale[:, None, None] + (p["b"] - mean * scale)[:, None, None], running


def resnet18():
    stages = [
        (64, 64, 1),
        (64, 64, 1),
        (64, 128, 2),
        (128, 128, 1),
        (128, 256, 2),
        (256, 256, 1),
        (256, 512, 2),
        (512, 512, 1),
    ]
    names = {"stem": conv_norm(3, 64, 7)}
    for i, (a, b, _) in enumerate(stages):
        names |= {f"{i}a": conv_norm(a, b, 3), f"{i}b": conv_norm(b, b, 3)} | (
            {f"{i}s": conv_norm(a, b, 1)} if a != b else {}
        )
    running = {name: (jnp.zeros_like(p["b"]), jnp.ones_like(p["b"])) for name, p in names.items()}

    def loss(net, running, x, y):
        new = {}

        def layer(name, x, stride=1):
            x, new[name] = normalised(net["conv"][name], running[name], x, stride)
            return x

        x = max_pool(jax.nn.relu(layer("stem", x, 2)), 3, 2, 1)
        for i, (a, b, stride) in enumerate(stages):
            side = x if a == b else layer(f"{i}s", x, stride)
            x = jax.nn.relu(layer(f"{i}b", jax.nn.relu(layer(f"{i}a", x, stride))) + side)
        return cross_entropy(dense(net["head"], x.mean((2, 3))), y), new

    return training(
        {"conv": names, "head": linear(512, 10)}, loss, normal(8, 3, 64, 64), labels(8), state=running
    )


def layer_norm(p, x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * p["g"] + p["b"]


def transformer():
    def block():
        norms = {name: {"g": jnp.ones(128), "b": jnp.zeros(128)} for name in ("n1", "n2")}
        return norms | {
            "in": linear(128, 384),
            "out": linear(128, 128),
            "up": linear(128, 512),
            "down": linear(512, 128),
        }

    def loss(net, x, y):
        for p in net["blocks"]:
            q, k, v = jnp.moveaxis(dense(p["in"], x).reshape(8, 64, 3, 4, 32), 2, 0)
            weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 32**0.5)
            x = layer_norm(
                p["n1"], x + dense(p["out"], jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(8, 64, 128))
            )
            x = layer_norm(p["n2"], x + dense(p["down"], jax.nn.relu(dense(p["up"], x))))
        return cross_entropy(dense(net["head"], x.mean(1)), y)

    return training(
        {"blocks": [block() for _ in range(4)], "head": linear(128, 10)},
        loss,
        normal(8, 64, 128),
        labels(8),
        optimizer=optax.adamw,
    )


def lstm():
    layers = [{"in": linear(inputs, 256), "again": linear(64, 256)} for inputs in (32, 64)]

    def cell(p, carry, gates):
        hidden, memory = carry
        i, f, g, o = jnp.split(gates + dense(p["again"], hidden), 4, -1)
        memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(memory)
        return (hidden, memory), hidden

    def loss(net, x, y):
        x = x.swapaxes(0, 1)
        for p in net["layers"]:
            _, x = lax.scan(ft.partial(cell, p), (jnp.zeros((16, 64)),) * 2, dense(p["in"], x))
        return cross_entropy(dense(net["head"], x[-1]), y)

    return training({"layers": layers, "head": linear(64, 5)}, loss, normal(16, 50, 32), labels(16, 5))


def derivative(u):
    return jax.grad(lambda x: u(x).sum())


def burgers():
    def loss(net, x):
        u = ft.partial(tanh_forward, net)
        du = derivative(u)
        u_xx = derivative(lambda x: du(x)[:, 0:1])(x)[:, 0:1]
        return ((du(x)[:, 1:2] + u(x) * du(x)[:, 0:1] - 0.01 * u_xx) ** 2).mean()

    return training(tanh_net(2, 32, 3), loss, jax.nn.sigmoid(normal(2000, 2)))


def beam():
    def loss(net, x):
        fourth = ft.reduce(lambda u, _: derivative(u), range(4), ft.partial(tanh_forward, net))
        return ((fourth(x) + 1.0) ** 2).mean()

    return training(tanh_net(1, 20, 3), loss, jax.nn.sigmoid(normal(500, 1)))


def adam1000():
    update, gradients, parameters = (
        optax.adam(1e-3),
        [normal(32) for _ in range(1000)],
        [normal(32) for _ in range(1000)],
    )

    @ft.partial(jax.jit, donate_argnums=0)
    def advance(held, gradients):
        change, moments = update.update(gradients, held[1])
        return optax.apply_updates(held[0], change), moments

    held = (parameters, update.init(parameters))

    def step():
        nonlocal held
        held = advance(held, gradients)
        return held[0][-1]

    return Work(step, np.asarray, parameters=32000)


def heat():
    def body(_, u):
        return u + 0.1 * (
            jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4.0 * u
        )

    function, start = (
        jax.jit(lambda u: lax.fori_loop(0, 10_000, body, u).sum()),
        jax.nn.sigmoid(normal(64, 64)),
    )
    return Work(lambda: function(start))


WORKLOADS = {name: ft.partial(operation, function) for name, function in operations.items()}
WORKLOADS |= {
    "set": ft.partial(repeated, lambda x, y: x.at[3].set(y[0])),
    "chained_add": ft.partial(repeated, lambda x, y: x + y),
}
WORKLOADS |= {
    work.__name__: work
    for work in (item, chain20, third, mlp, lenet, resnet18, transformer, lstm, burgers, beam, adam1000, heat)
}


def set_device(name):
    if name == "cpu":  # for anything else JAX's default device is the one
        jax.config.update("jax_platforms", "cpu")


if __name__ == "__main__":
    measure.main(WORKLOADS, set_device)
