"""Training steps of DeepXDE's own examples, for whatever backend DDE_BACKEND names: what a child process of
`deepxde_steps.py` does.

The loss is not read, as in DeepXDE's loop; a step ends with the new bias of the last layer on the host.
"""

import os
import sys

os.environ.setdefault("DDE_BACKEND", "paddle")
sys.stdout, output = sys.stderr, sys.stdout  # DeepXDE prints; the results alone go to the standard output

import deepxde as dde  # noqa: E402
import measure  # noqa: E402
import numpy as np  # noqa: E402
from measure import Work  # noqa: E402

BACKEND = dde.backend.backend_name


def work(data, *sizes):
    """One Adam step of a tanh net on all points."""
    dde.config.set_random_seed(1)
    model = dde.Model(data, dde.nn.FNN(list(sizes), "tanh", "Glorot normal"))
    model.compile("adam", lr=1e-3, verbose=0)
    if os.environ.get("BENCHMARK_TO_STATIC"):
        import paddle

        model.train_step = paddle.jit.to_static(model.train_step, full_graph=True)
    model.train_state.set_data_train(*data.train_next_batch(None))
    state = model.train_state

    def step():
        model._train_step(state.X_train, state.y_train, state.train_aux_vars)
        if BACKEND == "jax":
            return dde.backend.jax.tree.leaves(model.params)[-2]
        return model.net.linears[-1].bias

    def read(bias):
        return float((np.asarray(bias) if BACKEND == "jax" else bias.detach().numpy())[0])

    return Work(step, read, parameters=sum((a + 1) * b for a, b in zip(sizes, sizes[1:], strict=False)))


def sine(x):
    return -np.sin(np.pi * x[:, 0:1])


def value(found):
    """The numbers: for the JAX backend outputs and derivatives are pairs of numbers and function."""
    return found[0] if BACKEND == "jax" else found


def burgers():
    """The documented example: 2540 points inside, 240 at the edges, three layers of 20."""

    def pde(x, y):
        y_x, y_t = value(dde.grad.jacobian(y, x, i=0, j=0)), value(dde.grad.jacobian(y, x, i=0, j=1))
        return y_t + value(y) * y_x - 0.01 / np.pi * value(dde.grad.hessian(y, x, i=0, j=0))

    domain = dde.geometry.GeometryXTime(dde.geometry.Interval(-1, 1), dde.geometry.TimeDomain(0, 0.99))
    edge = dde.icbc.DirichletBC(domain, lambda x: 0, lambda _, on: on)
    start = dde.icbc.IC(domain, sine, lambda _, initial: initial)
    return work(
        dde.data.TimePDE(domain, pde, [edge, start], num_domain=2540, num_boundary=80, num_initial=160),
        2,
        20,
        20,
        20,
        1,
    )


def fourth(x, y):
    """Load minus fourth derivative."""
    return value(dde.grad.hessian(dde.grad.hessian(y, x), x)) + 1


def clamped(points):
    """A beam's equation with values given at both ends, which DeepXDE's JAX backend can do as well."""
    domain = dde.geometry.Interval(0, 1)
    ends = dde.icbc.DirichletBC(domain, lambda x: 0, lambda _, on: on)
    return work(dde.data.PDE(domain, fourth, ends, points, 2), 1, 20, 20, 20, 1)


def beam(points):
    """The documented example: conditions on first, second and third derivatives."""
    domain = dde.geometry.Interval(0, 1)
    left, right = (lambda x, on: on and x[0] < 0.5), (lambda x, on: on and x[0] > 0.5)
    conditions = [
        dde.icbc.DirichletBC(domain, lambda x: 0, left),
        dde.icbc.NeumannBC(domain, lambda x: 0, left),
        dde.icbc.OperatorBC(domain, lambda x, y, _: dde.grad.hessian(y, x), right),
        dde.icbc.OperatorBC(domain, lambda x, y, _: dde.grad.jacobian(dde.grad.hessian(y, x), x), right),
    ]
    return work(dde.data.PDE(domain, fourth, conditions, points, 2), 1, 20, 20, 20, 1)


def poisson():
    """The documented example: 16 points."""
    domain = dde.geometry.Interval(-1, 1)
    edge = dde.icbc.DirichletBC(domain, sine, lambda _, on: on)

    def pde(x, y):
        return -value(dde.grad.hessian(y, x)) - np.pi**2 * dde.backend.sin(np.pi * x)

    return work(dde.data.PDE(domain, pde, edge, 16, 2), 1, 50, 50, 50, 1)


WORKLOADS = {
    "dde_burgers": burgers,
    "dde_poisson": poisson,
    "dde_clamped": lambda: clamped(10),
    "dde_clamped500": lambda: clamped(500),
}
if BACKEND != "jax":  # where conditions on derivatives do not work
    WORKLOADS |= {"dde_beam": lambda: beam(10), "dde_beam500": lambda: beam(500)}


def set_device(name):
    """DeepXDE chooses the device by itself."""


if __name__ == "__main__":
    sys.stdout = output
    measure.main(WORKLOADS, set_device)
