"""Problems for PaddleScience. Trains each named one and writes the losses of every step: `ppsci_problems.py
WEIGHTS OUT STEPS NAME...`.

Weights come from WEIGHTS/NAME.npz; where that file does not exist, the initial weights are written to it. Run
once by each engine.
"""

import pathlib
import sys

import numpy as np
import paddle
import ppsci
from ppsci.autodiff import hessian, jacobian

MSE, PI = ppsci.loss.MSELoss, np.pi


def points(count, dataset="IterableNamedArrayDataset"):
    return {"dataset": dataset, "batch_size": count, "iters_per_epoch": 1}


def batches(count):
    """What a DataLoader serves, in its order."""
    return {
        "dataset": "NamedArrayDataset", "batch_size": count, "iters_per_epoch": 1, "num_workers": 0,
        "sampler": {"name": "BatchSampler", "drop_last": True, "shuffle": False},
    }  # fmt: skip


def laplace():
    """Laplace in two dimensions on a square without a disk: constructive geometry, distances to the
    boundary as weights."""
    model, equation = ppsci.arch.MLP(("x", "y"), ("u",), 3, 16), ppsci.equation.Laplace(dim=2)
    domain = ppsci.geometry.Rectangle((0, 0), (1, 1)) - ppsci.geometry.Disk((0.5, 0.5), 0.2)
    exact = lambda d: np.cos(d["x"]) * np.cosh(d["y"])  # noqa: E731
    inside = ppsci.constraint.InteriorConstraint(
        equation.equations, {"laplace": 0}, domain, points(60), MSE("sum"), name="EQ"
    )
    edge = ppsci.constraint.BoundaryConstraint(
        {"u": lambda out: out["u"]}, {"u": exact}, domain, points(40), MSE("sum"), name="BC"
    )
    validator = ppsci.validate.GeometryValidator(
        {"u": lambda out: out["u"]},
        {"u": exact},
        domain,
        {"dataset": "NamedArrayDataset", "total_size": 50, "batch_size": 50},
        MSE("mean"),
        metric={"L2": ppsci.metric.L2Rel()},
        evenly=False,
        with_initial=False,
        name="check",
    )
    return model, [inside, edge], {"equation": {"laplace": equation}, "validator": {"check": validator}}


def allen_cahn():
    """Allen-Cahn with periodic features, random Fourier features, and a decaying rate."""
    model = ppsci.arch.MLP(
        ("t", "x"), ("u",), 3, 16, periods={"x": [2.0, False]}, fourier={"dim": 16, "scale": 1.0}
    )
    equation = ppsci.equation.AllenCahn(eps=0.01)
    rng = np.random.RandomState(3)
    t, x = rng.rand(50, 1).astype("float32"), rng.uniform(-1, 1, (50, 1)).astype("float32")
    inner = {
        "dataset": {
            "name": "IterableNamedArrayDataset",
            "input": {"t": t, "x": x},
            "label": {"allen_cahn": t * 0},
        }
    }
    start = {
        "dataset": {
            "name": "IterableNamedArrayDataset",
            "input": {"t": t * 0, "x": x},
            "label": {"u": x**2 * np.cos(PI * x)},
        }
    }
    pde = ppsci.constraint.SupervisedConstraint(inner, MSE("mean"), equation.equations, name="PDE")
    initial = ppsci.constraint.SupervisedConstraint(
        start, MSE("mean"), {"u": lambda out: out["u"]}, name="IC"
    )
    return (
        model,
        [pde, initial],
        {"lr": ppsci.optimizer.lr_scheduler.ExponentialDecay(1, 100, 1e-3, 0.9, 2, warmup_epoch=0)()},
    )


def cavity():
    """Steady Navier-Stokes in a driven cavity: symbolic equations, three outputs, a DataLoader."""
    model, equation = (
        ppsci.arch.MLP(("x", "y"), ("u", "v", "p"), 3, 16, "silu"),
        ppsci.equation.NavierStokes(0.01, 1.0, 2, False),
    )
    domain = ppsci.geometry.Rectangle((-0.05, -0.05), (0.05, 0.05))
    rows = {"continuity": 0, "momentum_x": 0, "momentum_y": 0}
    options = {"evenly": True, "weight_dict": dict.fromkeys(rows, "sdf"), "name": "EQ"}
    inside = ppsci.constraint.InteriorConstraint(
        equation.equations, rows, domain, batches(64), MSE("sum"), **options
    )
    lid = ppsci.constraint.BoundaryConstraint(
        {"u": lambda out: out["u"], "v": lambda out: out["v"]},
        {"u": 1, "v": 0},
        domain,
        batches(20),
        MSE("sum"),
        criteria=lambda x, y: np.isclose(y, 0.05),
        weight_dict={"u": lambda d: 1 - 20 * np.abs(d["x"])},
        name="lid",
    )
    return model, [inside, lid], {"equation": {"ns": equation}}


def beam():
    """Euler beam: a fourth derivative and conditions on derivatives."""
    model, equation = ppsci.arch.MLP(("x",), ("u",), 3, 20), ppsci.equation.Biharmonic(dim=1, q=-1.0, D=1.0)
    domain = ppsci.geometry.Interval(0, 1)
    inside = ppsci.constraint.InteriorConstraint(
        equation.equations, {"biharmonic": 0}, domain, points(20), MSE("mean"), random="Halton", name="EQ"
    )
    ends = {
        "u0": lambda d: d["u"][0:1],
        "u__x": lambda d: jacobian(d["u"], d["x"])[1:2],
        "u__x__x": lambda d: hessian(d["u"], d["x"])[2:3],
        "u__x__x__x": lambda d: jacobian(hessian(d["u"], d["x"]), d["x"])[3:4],
    }
    edge = ppsci.constraint.BoundaryConstraint(
        ends, dict.fromkeys(ends, 0), domain, points(4), MSE("sum"), evenly=True, name="BC"
    )
    return model, [inside, edge], {"equation": {"beam": equation}}


def volterra():
    """An integro-differential equation: points of a quadrature are added to every batch."""
    model = ppsci.arch.MLP(("x",), ("u",), 3, 16)
    domain = ppsci.geometry.TimeDomain(0, 5)
    equation = ppsci.equation.Volterra(
        0, 6, 8, lambda t, s: np.exp(s - t), lambda out: jacobian(out["u"], out["x"]) + out["u"]
    )

    def with_quadrature(inputs, label, weight):
        x = equation.get_quad_points(inputs["x"]).reshape([-1, 1])
        return {"x": paddle.concat((inputs["x"], x), axis=0)}, label, weight

    data = {
        "dataset": {
            "name": "IterableNamedArrayDataset",
            "transforms": [{"FunctionalTransform": {"transform_func": with_quadrature}}],
        }
    }
    inside = ppsci.constraint.InteriorConstraint(
        equation.equations,
        {"volterra": 0},
        domain,
        {**data, "batch_size": 6, "iters_per_epoch": 1},
        MSE("mean"),
        evenly=True,
        name="EQ",
    )
    start = ppsci.constraint.BoundaryConstraint(
        {"u": lambda out: out["u"]},
        {"u": 1},
        domain,
        points(1),
        MSE("mean"),
        criteria=lambda x: x == 0,
        name="IC",
    )
    return model, [inside, start], {"equation": {"volterra": equation}}


def deeponet():
    """DeepONet on pairs made here, and L2 metrics."""
    model = ppsci.arch.DeepONet(
        "u", "y", "G", 20, 12, 2, 2, 16, 16, branch_activation="relu", trunk_activation="relu"
    )
    s, k, y = np.linspace(0, 1, 20), np.arange(1, 41)[:, None] / 8, np.random.RandomState(1).rand(40, 1)
    inputs = {"u": np.cos(k * s).astype("float32"), "y": y.astype("float32")}
    data = {
        "dataset": {
            "name": "IterableNamedArrayDataset",
            "input": inputs,
            "label": {"G": (np.sin(k * y) / k).astype("float32")},
        }
    }
    return (
        model,
        [ppsci.constraint.SupervisedConstraint(data, MSE("mean"), {"G": lambda out: out["G"]}, name="Sup")],
        {},
    )


def vibration():
    """Vortex-induced vibration: two constants of the equation are trained as well."""
    model, equation = ppsci.arch.MLP(("t_f",), ("eta",), 3, 16, "tanh"), ppsci.equation.Vibration(2, -4, 0)
    t = np.linspace(0, 1, 50, dtype="float32")[:, None]
    inputs, label = {"t_f": t}, {"eta": np.sin(5 * t), "f": np.cos(3 * t)}
    data = {"dataset": {"name": "IterableNamedArrayDataset", "input": inputs, "label": label}}
    sup = ppsci.constraint.SupervisedConstraint(
        data, MSE("mean"), {"eta": lambda out: out["eta"], **equation.equations}, name="Sup"
    )
    return model, [sup], {"equation": {"VIV": equation}, "train": (model, equation)}


def sympy_heat():
    """A hand-written symbolic equation with a trained coefficient, turned into functions; L-BFGS."""
    import sympy

    model = ppsci.arch.MLP(("t", "x"), ("u",), 2, 12)
    t, x = sympy.symbols("t x")
    u = sympy.Function("u")(t, x)
    domain = ppsci.geometry.TimeXGeometry(
        ppsci.geometry.TimeDomain(0, 1, time_step=0.1), ppsci.geometry.Interval(0, 1)
    )
    residual = {"heat": u.diff(t) - 0.3 * u.diff(x, 2) + sympy.sin(3.14159 * x) * sympy.exp(-t)}
    inside = ppsci.constraint.InteriorConstraint(
        residual, {"heat": 0}, domain, points(40), MSE("mean"), random="Halton", name="EQ"
    )
    start = ppsci.constraint.InitialConstraint(
        {"u": lambda out: out["u"]},
        {"u": lambda d: np.sin(PI * d["x"])},
        domain,
        points(20),
        MSE("mean"),
        evenly=True,
        name="IC",
    )
    return model, [inside, start], {"optimizer": ppsci.optimizer.LBFGS(max_iter=3)}


def train(name, folder, steps):
    """The losses of every step of one problem: an array [steps, losses]."""
    ppsci.utils.misc.set_random_seed(11)
    model, constraints, options = globals()[name]()
    file = pathlib.Path(folder) / f"{name}.npz"
    state = [p for p in model.parameters()] + [b for b in model.buffers()]
    if file.exists():
        kept = np.load(file)
        for weight, key in zip(state, kept.files, strict=True):
            weight.set_value(kept[key])
    else:
        np.savez(file, *[weight.numpy() for weight in state])
    validators, trained = options.pop("validator", None), options.pop("train", model)
    optimizer = options.pop("optimizer", None) or ppsci.optimizer.Adam(options.pop("lr", 1e-3))
    solver = ppsci.solver.Solver(
        model,
        {c.name: c for c in constraints},
        f"{folder}/{name}",
        optimizer(trained),
        epochs=steps,
        iters_per_epoch=1,
        log_freq=1000,
        save_freq=0,
        validator=validators,
        **options,
    )
    solver.train()
    found = [np.array(meter.history) for meter in solver.train_loss_info.values()]
    if validators:
        found.append(np.full(steps, float(solver.eval()[0])))
    return np.stack(found, 1)


if __name__ == "__main__":
    folder, out, steps, *names = sys.argv[1:]
    ppsci.utils.logger.init_logger("ppsci", None, 40)
    np.savez(
        out,
        engine=pathlib.Path(paddle.__file__).parent.name,
        **{name: train(name, folder, int(steps)) for name in names},
    )
