"""Physics-informed operator learning: a DeepONet that solves u'' = f for any f, trained without solutions.

    python -m paddle_jax examples/operator_learning.py

    u''(x) = f(x) on [0, 1],   u(0) = u(1) = 0

The branch net sees f at 50 sensors, the trunk net a position x; their product, times x (1 - x), is u. The
loss is the residual u'' - f for random smooth f at random positions. `paddle.func.taylor` gives u'' for all
positions of one f in one pass, and `vmap` for all f of a batch. Source: L. Lu et al., Learning nonlinear
operators via DeepONet, Nature Machine Intelligence 3 (2021); S. Wang, H. Wang, P. Perdikaris, Learning the
solution operator of parametric partial differential equations with physics-informed DeepONets, Science
Advances 7 (2021).
"""

import argparse
import sys
import time

import numpy as np
import paddle
from paddle import nn

SENSORS, MODES = 50, 5


class DeepONet(nn.Layer):
    """u(f)(x) = x (1 - x) branch(f) . trunk(x)."""

    def __init__(self, width=64, features=32):
        super().__init__()
        self.branch = nn.Sequential(nn.Linear(SENSORS, width), nn.Tanh(), nn.Linear(width, features))
        self.trunk = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, features)
        )

    def forward(self, f, x):
        """f: [sensors]. x: [points, 1]. Returns [points, 1]."""
        return x * (1 - x) * (self.trunk(x) * self.branch(f)).sum(-1, keepdim=True)


def sines(amplitudes, x, power=0):
    """sum_k a_k sin(k pi x) / (-(k pi)^2)^power for [functions, modes] and [..., points]: power 1 is the
    solution of u'' = f."""
    k = np.arange(1, MODES + 1) * np.pi
    return np.einsum("fk,fkp->fp", amplitudes / (-(k**2)) ** power, np.sin(k[:, None] * x[:, None, :]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--functions", type=int, default=32)
    parser.add_argument("--points", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    paddle.seed(args.seed)
    random = np.random.RandomState(args.seed)
    net = DeepONet()
    sensors = np.linspace(0, 1, SENSORS)

    def batch(functions, points):
        """Amplitudes, values at the sensors and positions of random functions."""
        a = random.randn(functions, MODES) / np.sqrt(MODES)
        x = random.rand(functions, points)
        return a, sines(a, np.broadcast_to(sensors, (functions, SENSORS))), x

    def residual(f, x, wanted):
        return paddle.func.taylor(lambda x: net(f, x), x, order=2)[2] - wanted

    residuals = paddle.func.vmap(residual)
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(3e-3, T_max=args.steps)
    optimizer = paddle.optimizer.Adam(learning_rate=schedule, parameters=net.parameters())
    start = time.perf_counter()
    for step in range(1, args.steps + 1):
        a, f, x = batch(args.functions, args.points)
        f, wanted, x = (
            paddle.to_tensor(v.astype("float32")) for v in (f, sines(a, x)[..., None], x[..., None])
        )
        loss = residuals(f, x, wanted).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        if step % max(1, args.steps // 5) == 0:
            print(
                f"step {step:5d}/{args.steps}  residual {float(loss):.2e}  "
                f"{(time.perf_counter() - start) / step * 1e3:.1f} ms each",
                flush=True,
            )

    a, f, x = batch(100, 64)
    truth = sines(a, x, power=1)
    with paddle.no_grad():
        guess = paddle.func.vmap(net)(
            paddle.to_tensor(f.astype("float32")), paddle.to_tensor(x[..., None].astype("float32"))
        ).numpy()[..., 0]
    error = float(np.linalg.norm(guess - truth) / np.linalg.norm(truth))
    print(f"relative L2 error on 100 new functions: {error:.2e}")
    if args.steps >= parser.get_default("steps") and not error < 0.05:
        sys.exit(f"relative L2 error {error:.2e} is above 5e-2")


if __name__ == "__main__":
    main()
