"""A physics-informed neural network for Burgers' equation.

    python -m paddle_jax examples/pinn_burgers.py      # on JAX
    python examples/pinn_burgers.py                    # the same file with the real Paddle

    u_t + u u_x = nu u_xx,   x in [-1, 1],  t in [0, 1],   u(x, 0) = -sin(pi x),   u(-1, t) = u(1, t) = 0

A steep front forms at x = 0. The network sees no solution values: its loss is the residual of the equation at
random points, with the derivatives taken by `paddle.grad(..., create_graph=True)`. The answer is compared
with the exact solution (Cole-Hopf formula).
"""

import argparse
import importlib.util
import math
import sys
import time
from itertools import pairwise

import numpy as np
import paddle
from paddle import nn


class Solution(nn.Layer):
    """u(x, t) = -sin(pi x) + t (1 - x^2) net(x, t): right at t = 0 and x = -1, 1 whatever
    the network says."""

    def __init__(self, width=32, depth=4):
        super().__init__()
        sizes = [2] + [width] * depth
        hidden = [step for a, b in pairwise(sizes) for step in (nn.Linear(a, b), nn.Tanh())]
        self.net = nn.Sequential(*hidden, nn.Linear(width, 1))

    def forward(self, x, t):
        inner = self.net(paddle.concat([x, 2 * t - 1], axis=1))
        return -paddle.sin(math.pi * x) + t * (1 - x * x) * inner


def residual(model, x, t, viscosity):
    """u_t + u u_x - nu u_xx at the points (x, t); zero where the equation holds."""
    x.stop_gradient = t.stop_gradient = False
    u = model(x, t)
    u_x, u_t = paddle.grad(u, [x, t], create_graph=True)
    (u_xx,) = paddle.grad(u_x, x, create_graph=True)
    return u_t + u * u_x - viscosity * u_xx


def exact(x, t, viscosity, nodes=100):
    """The solution by Cole-Hopf: u = -E[sin(pi y) f(y)] / E[f(y)], y = x - sqrt(4 nu t) z, with Gauss-Hermite
    quadrature over z.

    See C. Basdevant et al., Spectral and finite difference solutions of the Burgers equation, Computers &
    Fluids 14 (1986).
    """
    z, weight = np.polynomial.hermite.hermgauss(nodes)
    y = x[..., None] - np.sqrt(4 * viscosity * t)[..., None] * z
    f = weight * np.exp(-(np.cos(np.pi * y) + 1) / (2 * np.pi * viscosity))
    return -(np.sin(np.pi * y) * f).sum(-1) / f.sum(-1)


def sample(points):
    """Random points of the domain: x in [-1, 1] and t in [0, 1], each [points, 1]."""
    return paddle.uniform([points, 1], min=-1.0, max=1.0), paddle.uniform([points, 1], min=0.0, max=1.0)


def train(model, steps, points, viscosity, learning_rate=5e-3):
    """Adam with a cosine learning rate on fresh random points every step; returns the loss of every step."""
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(learning_rate, T_max=steps)
    optimizer = paddle.optimizer.Adam(learning_rate=schedule, parameters=model.parameters())
    losses, start = [], time.perf_counter()
    for step in range(1, steps + 1):
        x, t = sample(points)
        loss = (residual(model, x, t, viscosity) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        losses.append(float(loss))
        if step % max(1, steps // 10) == 0:
            print(
                f"step {step:5d}/{steps}  loss {losses[-1]:.2e}  "
                f"{(time.perf_counter() - start) / step * 1e3:.2f} ms per step",
                flush=True,
            )
    return losses


def evaluate(model, viscosity, size=101):
    """Network and exact solution on a grid, and the relative L2 error."""
    t, x = np.meshgrid(np.linspace(0, 1, size), np.linspace(-1, 1, 2 * size - 1), indexing="ij")
    column = [paddle.to_tensor(v.reshape(-1, 1).astype("float32")) for v in (x, t)]
    with paddle.no_grad():
        guess = model(*column).numpy().reshape(x.shape)
    truth = exact(x, t, viscosity)
    return guess, truth, float(np.linalg.norm(guess - truth) / np.linalg.norm(truth))


def plot(guess, truth, path):
    """The network's u(x, t) as a map, and three cuts in time against the exact solution."""
    import matplotlib

    if path:
        matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    image = left.imshow(guess.T, extent=(0, 1, -1, 1), origin="lower", aspect="auto", cmap="RdBu_r")
    left.set(xlabel="t", ylabel="x", title="u(x, t) of the network")
    figure.colorbar(image, ax=left)
    x = np.linspace(-1, 1, truth.shape[1])
    for color, moment in (("C0", 0.25), ("C1", 0.5), ("C2", 1.0)):
        row = round(moment * (len(truth) - 1))
        right.plot(x, truth[row], color=color, label=f"exact, t = {moment}")
        right.plot(x, guess[row], "--", color="black")
    right.set(xlabel="x", title="dashed: network")
    right.legend()
    if path:
        figure.savefig(path, dpi=120)
        plt.close(figure)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--viscosity", type=float, default=0.05 / math.pi)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", default="burgers.png", help="PNG file to write; '' for none")
    args = parser.parse_args()
    paddle.seed(args.seed)

    model = Solution()
    train(model, args.steps, args.points, args.viscosity)
    guess, truth, error = evaluate(model, args.viscosity)
    print(f"relative L2 error against the exact solution: {error:.2e}")
    if args.plot and importlib.util.find_spec("matplotlib") is None:
        print("matplotlib is not installed: no plot")
    elif args.plot:
        plot(guess, truth, args.plot)
        print(f"saved {args.plot}")
    if args.steps >= parser.get_default("steps") and not error < 0.03:
        sys.exit(f"relative L2 error {error:.2e} is above 3e-2")


if __name__ == "__main__":
    main()
