"""A physics-informed network that learns the noise of its measurements, too.

    python -m paddle_jax examples/learned_noise.py  # on JAX
    python examples/learned_noise.py                # the same file with the real Paddle

A damped oscillator u'' + c u' + k u = 0 is measured at some times, with normally distributed errors. Unknown
are the damping c, the stiffness k and the standard deviation of the errors. All are found together with the
network u(t): what is maximised is the likelihood of the measurements, and of residuals of the equation with a
small standard deviation that is given. The program ends with exit code 1 when a full-size run misses one of
the three by more than a fifth.
"""

import argparse
import math
import sys
import time

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.distribution import Normal

DAMPING, STIFFNESS, NOISE, END = 0.6, 4.0, 0.08, 6.0
RESIDUAL = 0.3  # standard deviation that residuals of the equation are allowed


def exact(t):
    """The solution from rest at 1."""
    decay, frequency = DAMPING / 2, math.sqrt(STIFFNESS - DAMPING**2 / 4)
    return np.exp(-decay * t) * (np.cos(frequency * t) + decay / frequency * np.sin(frequency * t))


class Oscillator(nn.Layer):
    """u(t) as a network, and the unknown numbers, kept positive."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        start = {"damping": 1.0, "stiffness": 1.0, "noise": 0.2}
        for name, value in start.items():
            raw = nn.initializer.Constant(math.log(math.expm1(value)))
            setattr(self, f"raw_{name}", self.create_parameter([1], default_initializer=raw))

    def value(self, name):
        return F.softplus(getattr(self, f"raw_{name}"))

    def forward(self, t):
        """u and its first and second derivatives."""
        u = self.body(t * (4 / END) - 2)
        first = paddle.grad(u, t, paddle.ones_like(u), create_graph=True)[0]
        second = paddle.grad(first, t, paddle.ones_like(first), create_graph=True)[0]
        return u, first, second

    def surprise(self, times, measured, places):
        """Minus the log-likelihood of the measurements and of residuals at `places`, per measurement."""
        u, first, second = self(paddle.concat([times, places]))
        data = Normal(u[: len(times)], self.value("noise")).log_prob(measured).mean()
        residual = second + self.value("damping") * first + self.value("stiffness") * u
        physics = Normal(0.0, RESIDUAL).log_prob(residual[len(times) :]).mean()
        return -data - physics


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--measurements", type=int, default=200)
    parser.add_argument(
        "--points", type=int, default=100, help="times at which the equation is asked to hold"
    )
    parser.add_argument("--width", type=int, default=32)
    args = parser.parse_args()
    paddle.seed(0)
    random = np.random.default_rng(0)
    t = np.sort(random.uniform(0, END, (args.measurements, 1)), 0)
    measured = exact(t) + NOISE * random.standard_normal(t.shape)
    times, measured = (paddle.to_tensor(v.astype("float32")) for v in (t, measured))
    places = paddle.linspace(0, END, args.points).unsqueeze(-1)
    times.stop_gradient = places.stop_gradient = False
    net = Oscillator(args.width)
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(5e-3, T_max=args.steps)
    optimizer = paddle.optimizer.Adam(schedule, parameters=net.parameters())
    start = time.perf_counter()
    for step in range(1, args.steps + 1):
        loss = net.surprise(times, measured, places)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        if step % max(1, args.steps // 6) == 0:
            found = "  ".join(
                f"{name} {float(net.value(name)):.3f}" for name in ("damping", "stiffness", "noise")
            )
            print(
                f"step {step:5d}  loss {float(loss):7.3f}  {found}  "
                f"{1e3 * (time.perf_counter() - start) / step:.1f} ms per step",
                flush=True,
            )
    wanted = {"damping": DAMPING, "stiffness": STIFFNESS, "noise": NOISE}
    errors = {name: abs(float(net.value(name)) / value - 1) for name, value in wanted.items()}
    print("relative errors: " + ", ".join(f"{name} {error:.3f}" for name, error in errors.items()))
    return int(args.steps >= 3000 and max(errors.values()) > 0.2)


if __name__ == "__main__":
    sys.exit(main())
