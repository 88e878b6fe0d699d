"""Derivatives of order 1 to 4 of a small network and the parameter gradients of a loss on them: Paddle code
under jax.jit against hand-written JAX.

    python -m paddle_jax benchmarks/derivatives.py [--points 500] [--orders 2,4] [--seconds 2]

"nested" is `paddle.grad(..., create_graph=True)` taken again and again, "taylor" `paddle.func.taylor`; their
peers are nested `jax.grad` and `jax.experimental.jet` on the same network. "eager" is the nested form without
jax.jit. All in one process, one after the other in turn.
"""

import argparse
import functools as ft
import time

import jax
import jax.numpy as jnp
import measure
import paddle
from jax.experimental import jet

SIZES = [1, 20, 20, 20, 1]


def ours(net, derivative):
    """A compiled step over the network's parameters."""
    names = [name for name, _ in net.named_parameters()]

    @jax.jit
    def step(values, x):
        def loss(state):
            def model(x):
                return paddle.func.functional_call(net, state, x)

            return (derivative(model, x) + 1.0).square().mean()

        value, grads = paddle.func.value_and_grad(loss)(dict(zip(names, values, strict=True)))
        return value, list(grads.values())

    return step


def nested(order, model, x):
    found = model(x)
    for _ in range(order):
        (found,) = paddle.grad(found.sum(), x, create_graph=True)
    return found


def taylor(order, model, x):
    return paddle.func.taylor(model, x, order=order)[order]


def forward(values, x):
    for w, b in zip(values[:-2:2], values[1:-2:2], strict=True):
        x = jnp.tanh(x @ w + b)
    return x @ values[-2] + values[-1]


def hand(derivative):
    return jax.jit(
        jax.value_and_grad(lambda values, x: ((derivative(ft.partial(forward, values), x) + 1.0) ** 2).mean())
    )


def hand_nested(order, model, x):
    for _ in range(order):
        model = jax.grad(lambda x, f=model: f(x).sum())
    return model(x)


def hand_jet(order, model, x):
    return jet.jet(model, (x,), ([jnp.ones_like(x)] + [jnp.zeros_like(x)] * (order - 1),))[1][-1]


def eager(net, order, x):
    def step(*_):
        loss = (nested(order, net, x) + 1.0).square().mean()
        loss.backward()
        grads = [p.grad for p in net.parameters()]
        net.clear_gradients()
        return loss, grads

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--orders", default="1,2,3,4")
    parser.add_argument("--seconds", type=float, default=2.0)
    args = parser.parse_args()
    paddle.seed(0)
    layers = [
        layer
        for a, b in zip(SIZES[:-1], SIZES[1:], strict=True)
        for layer in (paddle.nn.Linear(a, b), paddle.nn.Tanh())
    ][:-1]
    net, x = paddle.nn.Sequential(*layers), paddle.rand([args.points, 1])
    leaf = paddle.to_tensor(x, stop_gradient=False)
    values = [jnp.asarray(p) for p in net.parameters()]
    ratios = "nested / jax.grad | taylor / jet | taylor / jax.grad"
    print(
        f"| order | nested | taylor | jax.grad | jet | eager | {ratios} | first call nested, "
        "taylor, jax.grad, jet |"
    )
    print("| --- " * 10 + "|")
    for order in map(int, args.orders.split(",")):
        forms = {
            "nested": ours(net, ft.partial(nested, order)),
            "taylor": ours(net, ft.partial(taylor, order)),
            "jax.grad": hand(ft.partial(hand_nested, order)),
            "jet": hand(ft.partial(hand_jet, order)),
            "eager": eager(net, order, leaf),
        }
        works, firsts, seen = {}, {}, {}
        for name, step in forms.items():
            start = time.perf_counter()
            tensors = [paddle.to_tensor(v) for v in values]
            operands = (tensors, x) if name in ("nested", "taylor") else (values, x._value)
            works[name] = measure.Work(
                lambda step=step, operands=operands: step(*operands),
                lambda out: float(jax.block_until_ready(out)[0]),
            )
            seen[name] = measure.run(works[name], 1)[1]
            firsts[name] = time.perf_counter() - start
        wrong = {
            name: value
            for name, value in seen.items()
            if abs(value - seen["jax.grad"]) > 1e-3 * abs(seen["jax.grad"])
        }
        if wrong:
            raise SystemExit(f"order {order}: the losses differ from jax.grad's {seen['jax.grad']}: {wrong}")
        for work in works.values():
            measure.run(work, 8)
        times = {name: [] for name in works}
        for _ in range(3):  # in turn, so that what disturbs the machine disturbs all
            for name, work in works.items():
                times[name].append(measure.steady(work, 1, args.seconds / 3))
        t = {name: min(found) * 1e6 for name, found in times.items()}
        ratios = [t["nested"] / t["jax.grad"], t["taylor"] / t["jet"], t["taylor"] / t["jax.grad"]]
        cells = [str(order), *[f"{v:.0f} us" for v in t.values()], *[f"{r:.2f}" for r in ratios]]
        cells.append(", ".join(f"{firsts[n]:.1f}" for n in list(works)[:4]) + " s")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
