"""Static programs of two processes that average Parameters or exchange parts of gradients, compared with the
formulas in NumPy."""

import json

import numpy as np
import pytest

from tests.distributed import pairs
from tests.distributed.programs.static_exchanges import CASES, RATE, batches


@pytest.fixture(scope="module")
def results():
    ended = pairs.run("static_exchanges.py", count=2, seconds=100)
    for rank, process in enumerate(ended):
        assert process.code == 0, f"rank {rank}\n{process.out}\n{process.err}"
    return [json.loads(process.out.splitlines()[-1]) for process in ended]


class Simulation:
    """Both processes in float64: the weights of each, and the loss and gradient of a step."""

    def __init__(self, case):
        self.case = case
        self.weights = np.full([2, 4, case.get("width", 1)], 0.5)  # those of the first process
        self.velocities = np.zeros_like(self.weights)
        self.losses = np.zeros(2)

    def gradients(self, rows, labels):
        """The gradient of each process."""
        errors = rows @ self.weights - labels
        self.losses = (errors**2).sum(2).mean(1)
        gradients = 2 / rows.shape[1] * np.swapaxes(rows, 1, 2) @ errors
        return gradients + self.case.get("weight_decay", 0.0) * self.weights

    def update(self, gradients):
        """A step of each process by its gradient."""
        self.velocities = self.case.get("momentum", 0.0) * self.velocities + gradients
        self.weights = self.weights - RATE * self.velocities

    def average(self):
        self.weights = np.broadcast_to(self.weights.mean(0), self.weights.shape)


def local_steps(case):
    """(losses, weights) of each step: averages at each of the first runs, then every few runs."""
    adaptive = "adaptive_localsgd" in case
    configs = case["adaptive_localsgd"] if adaptive else case["localsgd"]
    first = interval = configs["init_k_steps"] if adaptive else configs["k_steps"]
    simulation = Simulation(case)
    losses, weights, first_loss, last = [], [], None, configs["begin_step"]
    for step, (rows, labels) in enumerate(batches(), 1):
        simulation.update(simulation.gradients(rows, labels))
        first_loss = simulation.losses.mean() if step == 1 else first_loss
        is_local = step > configs["begin_step"]
        if not is_local or step - last == interval:
            simulation.average()
            last = step
            if adaptive and is_local:
                ratio = simulation.losses.mean() / first_loss * first
                interval = int(np.clip(np.ceil(np.sqrt(ratio)), 1, 16))
        losses.append(simulation.losses)
        weights.append(simulation.weights)
    return np.array(losses), np.array(weights)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if "localsgd" in name])
def test_parameters_are_averaged_now_and_then(results, name):
    losses, weights = local_steps(CASES[name])
    rtol, atol = (0.02, 0.005) if "amp" in CASES[name] else (1e-4, 1e-6)
    for rank, one in enumerate(results):
        found = one["results"][name]
        np.testing.assert_allclose(found["losses"], losses[:, rank], rtol=rtol, atol=atol)
        np.testing.assert_allclose(found["weights"], weights[:, rank, :, 0], rtol=rtol, atol=atol)
        assert {"@STEP_COUNTER@", "last_step", "k_steps"} <= set(found["saved"])
    # in between the processes differ
    first, second = (one["results"][name]["weights"] for one in results)
    assert first != second


def compressed_steps(case):
    """(losses, weights) of each step, by the formulas of Lin et al."""
    configs = case["dgc"]
    factor = case["momentum"]
    simulation = Simulation(case)
    momenta = np.zeros_like(simulation.weights)
    rests = np.zeros_like(simulation.weights)
    losses, weights = [], []
    for step, (rows, labels) in enumerate(batches(case.get("width", 1))):
        gradients = simulation.gradients(rows, labels)
        sparse_step = step - configs["rampup_begin_step"]
        if sparse_step < 0 or gradients[0].size < 16384:
            simulation.update(np.broadcast_to(gradients.mean(0), gradients.shape))
        else:
            shares = configs["sparsity"]
            share = shares[min(sparse_step * len(shares) // configs["rampup_step"], len(shares) - 1)]
            if case.get("use_nesterov"):
                momenta = factor * (momenta + gradients)
                rests = rests + momenta + gradients
            else:
                momenta = factor * momenta + gradients
                rests = rests + momenta
            sent = np.zeros_like(rests)
            count = int(rests[0].size * (1 - share) + 1e-6)
            for one in range(2):
                largest = np.argsort(-np.abs(rests[one]).ravel())[:count]
                sent[one].ravel()[largest] = rests[one].ravel()[largest]
            rests = np.where(sent != 0, 0, rests)
            momenta = np.where(sent != 0, 0, momenta)
            simulation.weights = simulation.weights - RATE * sent.mean(0)
        losses.append(simulation.losses)
        weights.append(simulation.weights)
    return np.array(losses), np.array(weights)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if "dgc" in name])
def test_parts_of_gradients_are_exchanged(results, name):
    losses, weights = compressed_steps(CASES[name])
    for rank, one in enumerate(results):
        found = one["results"][name]
        np.testing.assert_allclose(found["losses"], losses[:, rank], rtol=1e-3)
        expected = weights[:, rank, :, :16].reshape(len(weights), -1)
        np.testing.assert_allclose(found["weights"], expected, rtol=1e-3, atol=1e-4)
        assert "__g_dgc_counter__" in found["saved"]


@pytest.mark.slow
def test_what_does_not_go_together_is_refused(results):
    for one in results:
        with_adam, both, merged, with_sgd, with_amp, clipped = one["refused"]
        assert "localsgd with Adam; give SGD or Momentum" in with_adam
        assert "choose one of them" in both
        assert "localsgd together with gradient_merge" in merged
        assert "dgc with SGD; give Momentum" in with_sgd
        assert "dgc together with amp" in with_amp
        assert "dgc with grad_clip" in clipped
