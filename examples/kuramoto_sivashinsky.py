"""Finding a coefficient of a chaotic equation from data, with gradients through a spectral solver.

    python -m paddle_jax examples/kuramoto_sivashinsky.py
    python examples/kuramoto_sivashinsky.py            # the same file with the real Paddle

    u_t + u u_x + u_xx + nu u_xxxx = 0,   x in [0, 32 pi), periodic

The solver works on Fourier coefficients: derivatives are products, the stiff linear part is integrated
exactly (exponential time differencing of second order). Data come from nu = 1; starting from a wrong nu, Adam
recovers it from the gradient of the misfit through every step of the solver. Source of the scheme: S. M. Cox,
P. C. Matthews, Exponential time differencing for stiff systems, J. Comput. Phys. 176 (2002).
"""

import argparse
import math
import sys
import time

import numpy as np
import paddle


class Solver:
    """The equation on a grid. A state is the real Fourier transform of u."""

    def __init__(self, size, dt):
        self.size, self.dt = size, dt
        k = np.arange(size // 2 + 1) / 16.0  # wave numbers of a domain of length 32 pi
        self.growth = paddle.to_tensor(k**2)
        self.damping = paddle.to_tensor(k**4)
        kept = k < 2 / 3 * k[-1]  # products of what is left out would come back under a false frequency
        self.advection = paddle.to_tensor(-0.5j * k * kept)

    def nonlinear(self, state):
        """The transform of -u u_x."""
        u = paddle.fft.irfft(state, n=self.size)
        return self.advection * paddle.fft.rfft(u * u)

    def coefficients(self, nu):
        """exp(L h) and the two weights of the nonlinear terms for the linear part L = k^2 - nu k^4."""
        z = (self.growth - nu * self.damping) * self.dt
        flat = z.abs() < 1e-2
        safe = paddle.where(flat, paddle.ones_like(z), z)
        first = paddle.where(flat, 1 + z / 2 + z * z / 6, (paddle.exp(safe) - 1) / safe)
        second = paddle.where(flat, 0.5 + z / 6 + z * z / 24, (paddle.exp(safe) - 1 - safe) / (safe * safe))
        return paddle.exp(z), self.dt * first, self.dt * second

    def run(self, state, nu, steps):
        """The states after each step."""
        e, f, g = self.coefficients(nu)
        found = []
        for _ in range(steps):
            now = self.nonlinear(state)
            guess = e * state + f * now
            state = guess + g * (self.nonlinear(guess) - now)
            found.append(state)
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--steps", type=int, default=40, help="time steps of the observed window")
    parser.add_argument("--warm-up", type=int, default=400, help="time steps before it")
    parser.add_argument("--iterations", type=int, default=80)
    parser.add_argument("--start", type=float, default=1.3, help="first guess of nu")
    args = parser.parse_args()
    paddle.set_default_dtype("float64")

    solver = Solver(args.size, dt=0.1)
    x = np.arange(args.size) * 32 * math.pi / args.size
    with paddle.no_grad():
        state = paddle.fft.rfft(paddle.to_tensor(np.cos(x / 16) * (1 + np.sin(x / 16))))
        for _ in range(args.warm_up):
            state = solver.run(state, paddle.to_tensor(1.0), 1)[0]
        start = state
        data = [
            paddle.fft.irfft(s, n=args.size) for s in solver.run(start, paddle.to_tensor(1.0), args.steps)
        ]

    nu = paddle.create_parameter(
        [], "float64", default_initializer=paddle.nn.initializer.Constant(args.start)
    )
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.05, T_max=args.iterations)
    optimizer = paddle.optimizer.Adam(learning_rate=schedule, parameters=[nu])
    begin = time.perf_counter()
    for i in range(1, args.iterations + 1):
        states = solver.run(start, nu, args.steps)
        loss = (
            sum(
                ((paddle.fft.irfft(s, n=args.size) - u) ** 2).mean()
                for s, u in zip(states, data, strict=True)
            )
            / args.steps
        )
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        if i % max(1, args.iterations // 5) == 0:
            each = (time.perf_counter() - begin) / i * 1e3
            print(
                f"iteration {i:3d}  misfit {float(loss):.3e}  nu {float(nu):.5f}  {each:.1f} ms each",
                flush=True,
            )
    error = abs(float(nu) - 1.0)
    print(f"error of nu: {error:.1e}")
    if args.iterations >= parser.get_default("iterations") and not error < 0.01:
        sys.exit(f"error of nu {error:.1e} is above 0.01")


if __name__ == "__main__":
    main()
