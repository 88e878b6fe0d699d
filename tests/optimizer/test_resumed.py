"""Training that is stopped, saved and resumed with fresh objects goes on as if it had not been stopped."""

import math

import numpy as np
import pytest

import paddle_jax as paddle

lr = paddle.optimizer.lr

SCHEDULERS = {
    "noam": lambda: lr.NoamDecay(64, 5),
    "piecewise": lambda: lr.PiecewiseDecay([3, 6, 9], [1.0, 0.5, 0.2, 0.1]),
    "natural": lambda: lr.NaturalExpDecay(0.5, 0.1),
    "inverse": lambda: lr.InverseTimeDecay(0.5, 0.1),
    "polynomial": lambda: lr.PolynomialDecay(0.5, 7),
    "polynomial, cycles": lambda: lr.PolynomialDecay(0.5, 5, cycle=True),
    "exponential": lambda: lr.ExponentialDecay(0.5, 0.9),
    "milestones": lambda: lr.MultiStepDecay(0.5, [2, 5, 9]),
    "steps": lambda: lr.StepDecay(0.5, 3),
    "lambda": lambda: lr.LambdaDecay(0.5, lambda epoch: 0.9**epoch),
    "multiplicative": lambda: lr.MultiplicativeDecay(0.5, lambda epoch: 0.9 if epoch % 2 else 0.8),
    "cosine": lambda: lr.CosineAnnealingDecay(0.5, 5, 0.1),
    "one cycle": lambda: lr.OneCycleLR(0.5, 60, three_phase=True, phase_pct=0.3),
    "cyclic": lambda: lr.CyclicLR(0.1, 0.5, 3, 4, mode="triangular2"),
    "linear": lambda: lr.LinearLR(0.5, 6, 0.2, 0.9),
    "restarts": lambda: lr.CosineAnnealingWarmRestarts(0.5, 4, 1, 0.1),
    "longer restarts": lambda: lr.CosineAnnealingWarmRestarts(0.5, 2, 2),
    "restarts, late": lambda: lr.CosineAnnealingWarmRestarts(0.5, 3, 2, last_epoch=10),
    "warm-up": lambda: lr.LinearWarmup(0.5, 4, 0.0, 0.5),
    "warm-up of restarts": lambda: lr.LinearWarmup(SCHEDULERS["longer restarts"](), 4, 0.0, 0.5),
    "warm-up of cycles": lambda: lr.LinearWarmup(SCHEDULERS["cyclic"](), 4, 0.0, 0.5),
    "warm-up of warm-up": lambda: lr.LinearWarmup(
        lr.LinearWarmup(lr.StepDecay(0.5, 2), 3, 0.1, 0.2), 4, 0.0, 0.1
    ),
}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_schedulers(name):
    make = SCHEDULERS[name]
    for at in (0, 1, 3, 4, 7, 13):
        one = make()
        for _ in range(at):
            one.step()
        other = make()
        other.step()
        other.set_state_dict(one.state_dict())
        for _ in range(10):
            assert math.isclose(other(), one(), rel_tol=1e-9, abs_tol=1e-12), f"resumed after {at} steps"
            one.step()
            other.step()


def test_restarts_between_epochs():
    one = lr.CosineAnnealingWarmRestarts(0.5, 2, 3)
    one.step(3.25)
    other = lr.CosineAnnealingWarmRestarts(0.5, 2, 3)
    other.set_dict(one.state_dict())
    for position in (1.25, 2.25, 3.25):  # of a period of 6 steps
        assert one() == other() == pytest.approx(0.25 * (1 + math.cos(math.pi * position / 6)))
        one.step()
        other.step()


def test_the_state_of_whole_epochs_has_the_names_of_paddle():
    rate = lr.CosineAnnealingWarmRestarts(0.5, 2, 2)
    for _ in range(5):
        rate.step()
    assert set(rate.state_dict()) == {"last_epoch", "last_lr"}


@pytest.mark.parametrize("epochs, position, length", [(10, 2, 12), (2, 0, 6), (0, 1, 3)])
def test_restarts_from_a_later_epoch(epochs, position, length):
    # periods of 3, 6, 12, ... steps; `last_epoch` is the epoch before the first one
    rate = lr.CosineAnnealingWarmRestarts(0.5, 3, 2, last_epoch=epochs)
    assert rate() == pytest.approx(0.25 * (1 + math.cos(math.pi * position / length)))


@pytest.mark.parametrize("multiplier, restarts", [(5, 3), (3, 5), (10, 3)])
def test_a_jump_to_a_restart(multiplier, restarts):
    # the logarithm of 243 to base 3 is a little less than 5 in floating point
    rate = lr.CosineAnnealingWarmRestarts(0.5, multiplier - 1, multiplier)
    rate.step(multiplier**restarts - 1)
    assert rate() == 0.5


def plateau_rates(scheduler, losses):
    rates = []
    for loss in losses:
        scheduler.step(loss)
        rates.append(scheduler())
    return rates


def test_plateau():
    losses = [1.0, 0.9, 0.9, 0.95, 0.9, 0.8, 0.85, 0.8, 0.8, 0.8, 0.8, 0.8]

    def make():
        return lr.ReduceOnPlateau(1.0, factor=0.5, patience=1, cooldown=1)

    want = plateau_rates(make(), losses)
    for at in range(len(losses)):
        one, other = make(), make()
        plateau_rates(one, losses[:at])
        other.set_state_dict(one.state_dict())
        assert plateau_rates(other, losses[at:]) == want[at:]


optim, incubate = paddle.optimizer, paddle.incubate

OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(0.1, parameters=p),
    "Momentum": lambda p: optim.Momentum(0.1, parameters=p, use_nesterov=True, weight_decay=0.01),
    "Adam": lambda p: optim.Adam(0.1, parameters=p, amsgrad=True),
    "Adam, restarts": lambda p: optim.Adam(SCHEDULERS["longer restarts"](), parameters=p),
    "AdamW": lambda p: optim.AdamW(0.1, parameters=p),
    "AdamW, groups": lambda p: optim.AdamW(
        lr.StepDecay(0.1, 2), parameters=[{"params": p[:2], "learning_rate": 0.5}, {"params": p[2:]}]
    ),
    "Adamax": lambda p: optim.Adamax(0.1, parameters=p),
    "Adagrad": lambda p: optim.Adagrad(0.1, parameters=p),
    "Adadelta": lambda p: optim.Adadelta(0.1, parameters=p),
    "RMSProp": lambda p: optim.RMSProp(0.1, momentum=0.9, centered=True, parameters=p),
    "Lamb": lambda p: optim.Lamb(0.1, parameters=p),
    "NAdam": lambda p: optim.NAdam(0.1, parameters=p),
    "RAdam": lambda p: optim.RAdam(0.1, parameters=p),
    "ASGD": lambda p: optim.ASGD(0.1, batch_num=3, parameters=p),
    "Rprop": lambda p: optim.Rprop(0.1, parameters=p),
    "LookAhead": lambda p: incubate.LookAhead(optim.SGD(0.1, parameters=p), k=3),
    "LookAhead of Adam": lambda p: incubate.LookAhead(optim.Adam(0.1, parameters=p), k=4),
    "Lars": lambda p: incubate.optimizer.LarsMomentumOptimizer(0.1, 0.9, parameter_list=p),
}


class Training:
    """A small network with its optimizer. The second layer is used from step 6 on.

    Attributes:
        net: LayerList.
        optimizer: what is tested.
        scaler: GradScaler, or None.
    """

    def __init__(self, make, scaled=False):
        paddle.seed(0)
        with paddle.utils.unique_name.guard():
            self.net = paddle.nn.LayerList([paddle.nn.Linear(3, 2), paddle.nn.Linear(3, 2)])
        self.optimizer = make(self.net.parameters())
        self.scaler = paddle.amp.GradScaler(init_loss_scaling=64.0, incr_every_n_steps=2) if scaled else None

    def loss(self, index):
        x = paddle.to_tensor(np.random.RandomState(index).rand(5, 3).astype("float32"))
        y = self.net[0](x)
        if index >= 6:
            y = y + self.net[1](x)
        return ((y - 1) ** 2).mean()

    def step(self, index):
        if self.scaler is None:
            self.loss(index).backward()
            self.optimizer.step()
        else:
            with paddle.amp.auto_cast(dtype="float16"):
                loss = self.loss(index).astype("float32")
            if index % 4 == 3:
                loss = loss * float("inf")
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        self.optimizer.clear_grad()
        scheduler = getattr(self.optimizer, "_learning_rate", None)
        if isinstance(scheduler, lr.LRScheduler):
            scheduler.step()

    def resume(self, other, folder):
        paddle.save(other.net.state_dict(), f"{folder}/net.pdparams")
        self.net.set_state_dict(paddle.load(f"{folder}/net.pdparams"))
        if state := other.optimizer.state_dict():
            paddle.save(state, f"{folder}/net.pdopt")
            self.optimizer.set_state_dict(paddle.load(f"{folder}/net.pdopt"))
        if self.scaler is not None:
            self.scaler.load_state_dict(other.scaler.state_dict())


def check_resumed(make, at, folder, scaled=False):
    one = Training(make, scaled)
    for index in range(at):
        one.step(index)
    other = Training(make, scaled)
    other.resume(one, folder)
    for index in range(at, at + 10):
        one.step(index)
        other.step(index)
        for a, b in zip(one.net.parameters(), other.net.parameters(), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6, err_msg=f"step {index}")
    if scaled:
        assert one.scaler.state_dict() == other.scaler.state_dict()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name, tmp_path):
    for at in (1, 8):
        check_resumed(OPTIMIZERS[name], at, tmp_path)


@pytest.mark.parametrize("at", [1, 4, 7])
def test_grad_scaler(at, tmp_path):
    check_resumed(OPTIMIZERS["Adam"], at, tmp_path, scaled=True)


def test_a_scaler_that_switched_itself_off_can_be_resumed():
    one = paddle.amp.GradScaler(init_loss_scaling=64.0)
    with paddle.amp.auto_cast(dtype="bfloat16"), pytest.warns(UserWarning, match="does nothing"):
        one.scale(paddle.ones([1]))
    other = paddle.amp.GradScaler()
    other.load_state_dict(one.state_dict())
    assert other.state_dict()["scale"].tolist() == [64.0]


def test_states_of_another_model_are_refused():
    one = Training(OPTIMIZERS["Adam"])
    one.step(0)
    with paddle.utils.unique_name.guard("other_"):
        layer = paddle.nn.Linear(3, 2)
    optimizer = OPTIMIZERS["Adam"](layer.parameters())
    optimizer.set_state_dict(one.optimizer.state_dict())
    layer(paddle.ones([1, 3])).sum().backward()
    with pytest.raises(AssertionError, match="moment1_0 is missing"):
        optimizer.step()


def test_look_ahead_takes_slow_weights_alone():
    """As a file of Paddle has them."""
    one = Training(OPTIMIZERS["LookAhead"])
    for index in range(4):
        one.step(index)
    state = {name: value for name, value in one.optimizer.state_dict().items() if "slow" in name}
    other = Training(OPTIMIZERS["LookAhead"])
    other.optimizer.set_state_dict(state)
    for name, value in state.items():
        np.testing.assert_array_equal(other.optimizer.state_dict()[name].numpy(), value.numpy())
