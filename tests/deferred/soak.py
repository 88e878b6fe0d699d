"""Runs training for many steps and says how memory and objects grew: `python -m tests.deferred.soak 20000`.
`python -m tests.deferred.soak shapes 50000`: how memory grows while a program meets new shapes.

The programs do what leaks in lazy engines: values held and dropped, snapshots, hooks, exceptions, changing
shapes, higher derivatives, scalars that change at every step.
"""

import gc
import itertools
import sys
import time
from pathlib import Path

import jax
import numpy as np

import paddle_jax as paddle
from paddle_jax._core.lazy.signature_cache import SignatureCache


def resident():
    """Resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


class Soak:
    """A network in training, with everything around it that a program does."""

    def __init__(self):
        paddle.seed(0)
        self.net = paddle.nn.Sequential(
            paddle.nn.Linear(8, 32),
            paddle.nn.BatchNorm1D(32),
            paddle.nn.Dropout(0.2),
            paddle.nn.Tanh(),
            paddle.nn.Linear(32, 1),
        )
        self.rate = paddle.optimizer.lr.CosineAnnealingDecay(0.01, 100)
        self.opt = paddle.optimizer.Adam(
            self.rate, parameters=self.net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)
        )
        self.random, self.kept, self.seen, self.average = np.random.RandomState(0), [], 0.0, paddle.zeros([1])

    def step(self, i):
        """One training step; now and then something else."""
        x = paddle.to_tensor(self.random.uniform(-1, 1, (16 if i % 50 else 7, 8)).astype("float32"))
        y = self.net(x)
        y.register_hook(lambda g: g * 1.0)
        loss = ((y - paddle.sin(x.sum(1, keepdim=True))) ** 2).mean() * (1.0 + 1e-6 * (i % 1000))
        loss.backward()
        self.opt.step()
        self.opt.clear_grad()
        self.rate.step()
        self.average = self.average * 0.99 + 0.01 * loss.detach()
        self.kept = [*self.kept[-9:], loss]
        if i % 10 == 0:
            self.seen = float(self.average)
        if i % 100 == 0:
            self.seldom()

    def seldom(self):
        """An evaluation, snapshots, a caught error, a third derivative, a cycle of objects,
        an in-place loop."""
        self.net.eval()
        with paddle.no_grad():
            self.net(paddle.ones([4, 8])).numpy()
        self.net.train()
        self.kept.append([p.clone() for p in self.net.parameters()])
        self.opt.state_dict()
        try:
            paddle.ones([2, 3]) + paddle.ones([7])
        except ValueError:
            pass
        z = paddle.ones([3]) * 0.3
        z.stop_gradient = False
        d = paddle.tanh(z)
        for _ in range(3):
            (d,) = paddle.grad(d.sum(), z, create_graph=True)
        cycle = [d, z]
        cycle.append(cycle)
        u = paddle.zeros([5])
        for j in range(20):
            u[j % 5] = float(j)
        self.kept.append(u)


def run(steps, warm=1100, report=print):
    """Returns how resident memory (MB), live JAX arrays and Python objects grew after the warm-up, and how
    many segments were compiled in it."""
    soak, figures = Soak(), []
    began = time.monotonic()
    for i in range(steps):
        soak.step(i)
        if i == warm or i == steps - 1:
            soak.kept.clear()
            float(soak.average)
            gc.collect()
            figures.append(
                (resident(), len(jax.live_arrays()), len(gc.get_objects()), paddle.explain().compiles)
            )
            mb, arrays, objects, compiles = figures[-1]
            report(
                f"step {i}: {mb:.0f} MB, {arrays} arrays, {objects} objects, {compiles} segments "
                f"compiled, {time.monotonic() - began:.0f} s"
            )
    if not np.isfinite(soak.seen):
        raise ArithmeticError(f"the loss became {soak.seen}")
    return [b - a for a, b in zip(*figures, strict=True)]


def shapes(count, every=5000, report=print):
    """Meets `count` combinations of shapes and operations, none of them twice; returns the resident memory
    (MB) after each `every`."""
    began, met, figures = time.monotonic(), 0, []
    for n in itertools.count(1):
        a, b = divmod(n, 200)
        x = paddle.rand([a + 1, b + 1])
        x.stop_gradient = False
        loss = (paddle.tanh(x) * x.mean()).sum()
        loss.backward()
        assert np.isfinite(float(loss))
        assert np.isfinite(float(x.grad[0, 0]))
        now = SignatureCache.total_signatures
        if now // every > met // every:
            figures.append(resident())
            maps = Path("/proc/self/maps").read_bytes().count(b"\n")
            report(
                f"{now} signatures: {figures[-1]:.0f} MB, {maps} memory maps, "
                f"{time.monotonic() - began:.0f} s"
            )
        met = now
        if met >= count:
            return figures


if __name__ == "__main__":
    if sys.argv[1:2] == ["shapes"]:
        shapes(int(sys.argv[2]) if len(sys.argv) > 2 else 50_000)
    else:
        run(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
