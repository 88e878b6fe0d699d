"""Problems for DeepXDE. Trains each named one and writes the losses of every step: `deepxde_problems.py
WEIGHTS OUT STEPS DTYPE NAME...`.

With COMPILED in the environment each step goes through `paddle.jit.to_static`. Weights come from
WEIGHTS/NAME.npz; where that file does not exist, the initial weights are written to it. Run
once by each engine.
"""

import os
import pathlib
import sys

import deepxde as dde
import numpy as np
import paddle
from deepxde import backend as bkd

SINE = lambda x: np.sin(np.pi * x[:, 0:1])  # noqa: E731


def constant(value):
    return lambda _: value


def net(*sizes, **options):
    return dde.nn.FNN(list(sizes), "tanh", "Glorot uniform", **options)


def function():
    """Fits a function, with two metrics and L2 decay."""
    data = dde.data.Function(
        dde.geometry.Interval(-1, 1), lambda x: x * np.sin(5 * x), num_train=16, num_test=50
    )
    return (
        dde.Model(data, net(1, 20, 20, 1, regularization=["l2", 1e-4])),
        {"metrics": ["l2 relative error", "MSE"]},
    )


def strip(t=1.0, low=-1, high=1):
    return dde.geometry.GeometryXTime(dde.geometry.Interval(low, high), dde.geometry.TimeDomain(0, t))


def fixed(domain, pde, conditions, train=60, edge=20, start=20, **options):
    numbers = {"num_domain": train, "num_boundary": edge, "num_initial": start}
    return dde.data.TimePDE(domain, pde, conditions, **numbers, train_distribution="Hammersley", **options)


def burgers():
    """u_t + u u_x = 0.01 / pi u_xx: first and second derivatives."""

    def pde(x, u):
        u_x, u_t = dde.grad.jacobian(u, x, i=0, j=0), dde.grad.jacobian(u, x, i=0, j=1)
        return u_t + u * u_x - 0.01 / np.pi * dde.grad.hessian(u, x, i=0, j=0)

    domain = strip()
    edge = dde.icbc.DirichletBC(domain, lambda x: 0, lambda _, on: on)
    start = dde.icbc.IC(domain, lambda x: -SINE(x), lambda _, initial: initial)
    return dde.Model(fixed(domain, pde, [edge, start]), net(2, 20, 20, 20, 1)), {}


def heat():
    """u_t = 0.4 u_xx with an exact solution as reference, resampled points and weighted losses."""

    def pde(x, u):
        return dde.grad.jacobian(u, x, j=1) - 0.4 * dde.grad.hessian(u, x, i=0, j=0)

    domain = strip(low=0)
    edge = dde.icbc.DirichletBC(domain, lambda x: 0, lambda _, on: on)
    start = dde.icbc.IC(domain, SINE, lambda _, initial: initial)
    exact = lambda x: np.exp(-(np.pi**2) * 0.4 * x[:, 1:]) * SINE(x)  # noqa: E731
    data = fixed(domain, pde, [edge, start], solution=exact, num_test=50)
    return dde.Model(data, net(2, 20, 20, 1)), {"metrics": ["l2 relative error"], "loss_weights": [1, 2, 0.5]}


def reaction():
    """Diffusion-reaction system whose two coefficients are found from measured points."""
    kf, d = dde.Variable(0.05), dde.Variable(1.0)

    def pde(x, y):
        ca, cb = y[:, 0:1], y[:, 1:2]
        rate = kf * ca * cb**2
        a = (
            dde.grad.jacobian(y, x, i=0, j=1)
            - 1e-3 * d * dde.grad.hessian(y, x, component=0, i=0, j=0)
            + rate
        )
        b = (
            dde.grad.jacobian(y, x, i=1, j=1)
            - 1e-3 * d * dde.grad.hessian(y, x, component=1, i=0, j=0)
            + 2 * rate
        )
        return [a, b]

    domain, everywhere = strip(t=10, low=0), lambda x: np.exp(-20 * x[:, 0:1])
    conditions = [dde.icbc.DirichletBC(domain, lambda x: 1, lambda _, on: on, component=c) for c in (0, 1)]
    conditions += [dde.icbc.IC(domain, everywhere, lambda _, initial: initial, component=c) for c in (0, 1)]
    points = np.stack([np.linspace(0.1, 0.9, 12), np.linspace(1, 9, 12)], 1)
    conditions += [dde.icbc.PointSetBC(points, np.exp(-points[:, :1]), component=c) for c in (0, 1)]
    model = dde.Model(
        fixed(domain, pde, conditions, anchors=points),
        dde.nn.PFNN([2, [16, 16], [16, 16], 2], "tanh", "Glorot uniform"),
    )
    return model, {"external_trainable_variables": [kf, d]}


def beam():
    """Euler beam: a fourth derivative, and conditions on first to third ones."""
    second = lambda y, x: dde.grad.hessian(y, x)  # noqa: E731

    def pde(x, y):
        return dde.grad.hessian(second(y, x), x) + 1

    domain = dde.geometry.Interval(0, 1)
    left, right = (lambda x, on: on and x[0] < 0.5), (lambda x, on: on and x[0] > 0.5)
    conditions = [
        dde.icbc.DirichletBC(domain, lambda x: 0, left),
        dde.icbc.NeumannBC(domain, lambda x: 0, left),
        dde.icbc.OperatorBC(domain, lambda x, y, _: second(y, x), right),
        dde.icbc.OperatorBC(domain, lambda x, y, _: dde.grad.jacobian(second(y, x), x), right),
    ]
    exact = lambda x: -(x**4) / 24 + x**3 / 6 - x**2 / 4  # noqa: E731
    data = dde.data.PDE(
        domain, pde, conditions, 10, 2, solution=exact, num_test=20, train_distribution="uniform"
    )
    return dde.Model(data, net(1, 20, 20, 20, 1)), {"metrics": ["l2 relative error"]}


def poisson_data():
    def pde(x, y):
        return -dde.grad.hessian(y, x) - np.pi**2 * bkd.sin(np.pi * x)

    domain = dde.geometry.Interval(-1, 1)
    edge = dde.icbc.DirichletBC(domain, SINE, lambda x, on: on)
    return dde.data.PDE(domain, pde, edge, 16, 2, solution=SINE, num_test=50, train_distribution="uniform")


def poisson():
    """Poisson in one dimension by L-BFGS."""
    return (
        dde.Model(poisson_data(), net(1, 20, 20, 1)),
        {"optimizer": "L-BFGS", "metrics": ["l2 relative error"]},
    )


def lorenz():
    """Three unknown constants of the Lorenz system, and an input transform."""
    unknown = [dde.Variable(1.0) for _ in range(3)]

    def ode(t, y):
        a, b, c = y[:, 0:1], y[:, 1:2], y[:, 2:]
        da, db, dc = (dde.grad.jacobian(y, t, i=i) for i in range(3))
        return [da - unknown[0] * (b - a), db - a * (unknown[1] - c) + b, dc - a * b + unknown[2] * c]

    domain = dde.geometry.TimeDomain(0, 3)
    start = [
        dde.icbc.IC(domain, constant(v), lambda _, on: on, component=i) for i, v in enumerate((-8, 7, 27))
    ]
    t = np.linspace(0, 3, 15)[:, None]
    seen = [dde.icbc.PointSetBC(t, np.sin(t + i), component=i) for i in range(3)]
    data = dde.data.PDE(
        domain, ode, start + seen, num_domain=40, num_boundary=2, anchors=t, train_distribution="uniform"
    )
    network = net(1, 16, 16, 16, 3)
    network.apply_feature_transform(
        lambda t: bkd.concat([t, bkd.sin(t), bkd.cos(2 * t)], 1) @ paddle.ones([3, 1])
    )
    return dde.Model(data, network), {"external_trainable_variables": unknown}


def operator():
    """DeepONet on aligned data: from a function's values to its integral."""
    grid, k = (
        np.linspace(0, 1, 20, dtype=dde.config.real(np)),
        np.arange(1, 13, dtype=dde.config.real(np))[:, None],
    )
    inputs, outputs = np.cos(k * grid / 3), 3 / k * np.sin(k * grid / 3)
    data = dde.data.TripleCartesianProd(
        (inputs[::2], grid[:, None]), outputs[::2], (inputs[1::2], grid[:, None]), outputs[1::2]
    )
    return (
        dde.Model(data, dde.nn.DeepONetCartesianProd([20, 16, 16], [1, 16, 16], "relu", "Glorot normal")),
        {"metrics": ["mean l2 relative error"]},
    )


def advection():
    """Physics-informed DeepONet on functions drawn from a Gaussian field."""

    def pde(x, y, v):
        return dde.grad.jacobian(y, x, j=1) + dde.grad.jacobian(y, x, j=0)

    domain = strip(low=0)
    start = dde.icbc.IC(domain, lambda x, v: v, lambda _, initial: initial)
    data = dde.data.TimePDE(
        domain, pde, start, num_domain=30, num_initial=10, train_distribution="Hammersley"
    )
    functions = dde.data.GRF(1.0, length_scale=0.5)
    data = dde.data.PDEOperator(data, functions, np.linspace(0, 1, 15)[:, None], 6, function_variables=[0])
    return dde.Model(data, dde.nn.DeepONet([15, 16, 16], [2, 16, 16], "tanh", "Glorot normal")), {}


def hard():
    """Boundary values that the network has by construction, on a disk cut out of a square; a decaying rate,
    and another optimizer."""

    def pde(x, y):
        return dde.grad.hessian(y, x, i=0, j=0) + dde.grad.hessian(y, x, i=1, j=1) + 1

    domain = dde.geometry.Rectangle([-1, -1], [1, 1]) - dde.geometry.Disk([0, 0], 0.4)
    network = net(2, 20, 20, 1)
    network.apply_output_transform(lambda x, y: (1 - x[:, 0:1] ** 2) * (1 - x[:, 1:2] ** 2) * y)
    edge = dde.icbc.RobinBC(domain, lambda x, y: -y, lambda x, on: on and np.hypot(*x) < 0.5)
    data = dde.data.PDE(domain, pde, edge, num_domain=40, num_boundary=30)
    return dde.Model(data, network), {"optimizer": "rmsprop", "decay": ("inverse time", 0.01)}


def volterra():
    """An integro-differential equation: the integral is a quadrature over a matrix."""

    def ide(x, y, quadrature):
        integral = bkd.matmul(bkd.as_tensor(quadrature), y)
        return (dde.grad.jacobian(y, x) + y)[: len(integral)] - integral

    domain = dde.geometry.TimeDomain(0, 5)
    start = dde.icbc.IC(domain, lambda x: 1, lambda _, on: on)
    data = dde.data.IDE(
        domain,
        ide,
        start,
        8,
        kernel=lambda x, s: np.exp(s - x),
        num_domain=6,
        num_boundary=2,
        train_distribution="uniform",
    )
    return dde.Model(data, net(1, 16, 16, 1)), {}


def quadrant():
    """Multi-fidelity network."""
    x = np.linspace(0, 1, 20)[:, None].astype(dde.config.real(np))
    low, high = np.sin(8 * x), (x - 1.4) * np.sin(8 * x) ** 2
    data = dde.data.MfDataSet(
        X_lo_train=x, X_hi_train=x[::4], y_lo_train=low, y_hi_train=high[::4], X_hi_test=x, y_hi_test=high
    )
    return dde.Model(data, dde.nn.MfNN([1, 16, 16, 1], [8, 1], "tanh", "Glorot uniform")), {}


def weights(model):
    return list(model.net.parameters())


def train(name, folder, steps):
    """The losses of every step of one problem, one line per step: training, then test, then metrics."""
    dde.config.set_random_seed(7)
    model, options = globals()[name]()
    file = pathlib.Path(folder) / f"{name}.npz"
    if file.exists():
        kept = np.load(file)
        for weight, key in zip(weights(model), kept.files, strict=True):
            weight.set_value(kept[key])
    else:
        np.savez(file, *[weight.numpy() for weight in weights(model)])
    optimizer = options.pop("optimizer", "adam")
    if optimizer == "L-BFGS":
        dde.optimizers.set_LBFGS_options(maxiter=steps)
        dde.optimizers.config.LBFGS_options["iter_per_step"] = 5
        model.compile(optimizer, **options, verbose=0)
        history, _ = model.train(verbose=0, display_every=1)
    else:
        model.compile(optimizer, lr=5e-4, **options, verbose=0)
        if os.environ.get("COMPILED"):
            model.train_step = paddle.jit.to_static(model.train_step, full_graph=True)
        history, _ = model.train(iterations=steps, display_every=1, verbose=0)
    return np.array(
        [
            np.hstack([a, b, c or []])
            for a, b, c in zip(history.loss_train, history.loss_test, history.metrics_test, strict=True)
        ]
    )


if __name__ == "__main__":
    folder, out, steps, dtype, *names = sys.argv[1:]
    dde.config.set_default_float(dtype)
    np.savez(
        out,
        engine=pathlib.Path(paddle.__file__).parent.name,
        **{name: train(name, folder, int(steps)) for name in names},
    )
