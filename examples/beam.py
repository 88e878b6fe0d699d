"""A physics-informed neural network with fourth derivatives: the Euler-Bernoulli beam.

    python -m paddle_jax examples/beam.py              # on JAX; --taylor takes all derivatives in one pass
    python examples/beam.py                            # the same file with the real Paddle

    u''''(x) = q(x) on [0, 1],   clamped at x = 0: u = u' = 0,   free at x = 1: u'' = u''' = 0

The load is q(x) = -sin(pi x), so the exact deflection is known. The network learns from the equation alone.
"""

import argparse
import math
import sys
import time

import numpy as np
import paddle
from paddle import nn

PI = math.pi


def exact(x):
    """The deflection: -sin(pi x) integrated four times, with the constants of integration from the four
    boundary conditions."""
    return -np.sin(PI * x) / PI**4 + x / PI**3 - x**2 / (2 * PI) + x**3 / (6 * PI)


def network(width, depth):
    layers = [nn.Linear(1, width), nn.Tanh()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(width, 1))


def nested(model, x):
    """u and its first four derivatives by nested gradients."""
    x.stop_gradient = False
    found = [model(x)]
    for _ in range(4):
        found += paddle.grad(found[-1], x, create_graph=True)
    return found


def taylor(model, x):
    """The same numbers in one pass of Taylor mode, which only paddle_jax has."""
    return paddle.func.taylor(model, x, order=4)


def train(model, derivatives, steps, points, learning_rate):
    """Adam on fixed points; returns the loss of every step. The unknown is scaled by the size of the exact
    deflection, about 0.01."""
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(learning_rate, T_max=steps)
    optimizer = paddle.optimizer.Adam(learning_rate=schedule, parameters=model.parameters())
    x = paddle.linspace(0.0, 1.0, points).reshape([-1, 1])
    load = -paddle.sin(PI * x)
    losses, start = [], time.perf_counter()
    for step in range(1, steps + 1):
        u, slope, moment, shear, force = derivatives(model, x)
        loss = ((force - load) ** 2).mean() + 100 * (
            u[0] ** 2 + slope[0] ** 2 + moment[-1] ** 2 + shear[-1] ** 2
        ).sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        losses.append(loss)
        if step % max(1, steps // 5) == 0:
            print(
                f"step {step:5d}/{steps}  loss {float(loss):.2e}  "
                f"{(time.perf_counter() - start) / step * 1e3:.2f} ms per step",
                flush=True,
            )
    return [float(loss) for loss in losses]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--points", type=int, default=64)
    parser.add_argument("--width", type=int, default=20)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--taylor", action="store_true", help="all four derivatives in one pass (paddle_jax only)"
    )
    args = parser.parse_args()
    paddle.seed(args.seed)

    model = network(args.width, args.depth)
    train(model, taylor if args.taylor else nested, args.steps, args.points, 2e-3)
    x = np.linspace(0, 1, 101).astype("float32")[:, None]
    with paddle.no_grad():
        guess = model(paddle.to_tensor(x)).numpy()
    error = float(np.linalg.norm(guess - exact(x)) / np.linalg.norm(exact(x)))
    print(f"relative L2 error against the exact deflection: {error:.2e}")
    if args.steps >= parser.get_default("steps") and not error < 0.03:
        sys.exit(f"relative L2 error {error:.2e} is above 3e-2")


if __name__ == "__main__":
    main()
