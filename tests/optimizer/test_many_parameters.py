"""Steps over more parameters than are updated in one recorded operation: nothing is compiled while they are
new, and the numbers are those of the real Paddle."""

import numpy as np
import pytest

import paddle_jax
from paddle_jax.optimizer import stack

pytestmark = pytest.mark.own_process

COUNT = stack.RECORDED + 20


def parameters(P):
    """Small ones of a few shapes, and a large one."""
    rng = np.random.default_rng(0)
    shapes = [[(2,), (3, 2), (4,)][i % 3] for i in range(COUNT)] + [(70, 300)]
    made = []
    for shape in shapes:
        made.append(P.create_parameter(list(shape), "float32"))
        made[-1].set_value(rng.standard_normal(shape).astype("float32"))
    return made


def clipping(P):
    return {
        "none": None,
        "global norm": P.nn.ClipGradByGlobalNorm(0.5),
        "norm": P.nn.ClipGradByNorm(0.1),
        "value": P.nn.ClipGradByValue(0.05),
    }


OPTIMIZERS = {
    "SGD": lambda P, p, clip: P.optimizer.SGD(0.1, p, grad_clip=clip),
    "Momentum": lambda P, p, clip: P.optimizer.Momentum(
        0.1, 0.9, p, use_nesterov=True, weight_decay=0.01, grad_clip=clip
    ),
    "Adam": lambda P, p, clip: P.optimizer.Adam(0.01, parameters=p, grad_clip=clip),
    "AdamW": lambda P, p, clip: P.optimizer.AdamW(0.01, parameters=p, weight_decay=0.1, grad_clip=clip),
}


def trained(P, name, clip, steps=3):
    """(the parameters after some steps, one gradient after the last)."""
    made = parameters(P)
    optimizer = OPTIMIZERS[name](P, made, clipping(P)[clip])
    for step in range(steps):
        loss = sum(((p * (i % 5 - 2) + step) ** 2).mean() for i, p in enumerate(made))
        loss.backward()
        optimizer.step()
        gradient = made[3].grad.numpy()
        optimizer.clear_grad()
    return [p.numpy() for p in made], gradient


@pytest.mark.parametrize(
    ("name", "clip"),
    [
        *[(name, "none") for name in OPTIMIZERS],
        *[("Adam", clip) for clip in ("global norm", "norm", "value")],
        ("AdamW", "global norm"),
    ],
)
def test_the_numbers_are_those_of_paddle(oracle, name, clip):
    compiled = paddle_jax.metrics.snapshot()["compile"]
    ours, gradient = trained(paddle_jax, name, clip)
    assert paddle_jax.metrics.snapshot()["compile"] == compiled
    want, wanted_gradient = trained(oracle, name, clip)
    for got, expected in zip(ours, want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(gradient, wanted_gradient, rtol=2e-5, atol=2e-6)


def test_compiled_and_interpreted_steps_give_the_same(monkeypatch):
    """Some calls are compiled while others are still interpreted."""
    from paddle_jax._core.runner import run_segment

    interpreted, _ = trained(paddle_jax, "Adam", "global norm", steps=4)
    calls = []

    def in_turn(kernel, raws):
        calls.append(kernel)
        return None if len(calls) % 2 else run_segment.interpret_now(kernel, raws)

    monkeypatch.setattr(stack, "interpret_now", in_turn)
    mixed, _ = trained(paddle_jax, "Adam", "global norm", steps=4)
    for one, other in zip(interpreted, mixed, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


def test_a_scaler_skips_a_step_with_infinite_gradients():
    made = parameters(paddle_jax)
    optimizer = paddle_jax.optimizer.Adam(0.1, parameters=made)
    scaler = paddle_jax.amp.GradScaler(init_loss_scaling=2.0**10)
    before = [p.numpy() for p in made]
    for factor in (np.inf, 1.0):
        with paddle_jax.amp.auto_cast(dtype="float16"):
            loss = sum((p * factor).mean() for p in made)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        changed = [not np.array_equal(p.numpy(), old) for p, old in zip(made, before, strict=True)]
        assert not any(changed) if factor == np.inf else all(changed)


def test_states_are_saved_and_loaded_without_compiling():
    """Each parameter has another place in the arrays of the states."""
    layers = [paddle_jax.nn.Linear(i, i + 1) for i in range(1, 6)]
    # One that stands alone.
    net = paddle_jax.nn.Sequential(*layers, paddle_jax.nn.Linear(6, 4000))
    optimizer = paddle_jax.optimizer.Adam(parameters=net.parameters())
    net(paddle_jax.ones([2, 1])).sum().backward()
    optimizer.step()
    compiled = paddle_jax.metrics.snapshot()["compile"]
    saved = {name: state.numpy() for name, state in optimizer.state_dict().items()}
    optimizer.set_state_dict(saved)
    for name, state in optimizer.state_dict().items():
        np.testing.assert_array_equal(state.numpy(), saved[name])
    assert paddle_jax.metrics.snapshot()["compile"] == compiled
    for param in net.parameters():
        # The first moment after a step is a tenth of the gradient.
        np.testing.assert_allclose(saved[param.name + "_moment1_0"], 0.1 * param.grad.numpy(), rtol=1e-6)


@pytest.mark.parametrize("rule", ["Adam", "Lamb"])  # one with flat stacks, one with stacks of a shape
def test_master_weights_are_made_without_compiling(rule):
    compiled = paddle_jax.metrics.snapshot()["compile"]
    net = paddle_jax.nn.Sequential(*[paddle_jax.nn.Linear(i, i + 1) for i in range(2, 5)]).bfloat16()
    before = {param.name: param.astype("float32").numpy() for param in net.parameters()}
    optimizer = getattr(paddle_jax.optimizer, rule)(0.0, parameters=net.parameters(), multi_precision=True)
    net(paddle_jax.ones([1, 2], "bfloat16")).sum().backward()
    optimizer.step()
    masters = optimizer.state_dict()["master_weights"]
    # A rate of zero changes nothing.
    for name, value in before.items():
        np.testing.assert_array_equal(masters[name].numpy(), value)
    assert paddle_jax.metrics.snapshot()["compile"] == compiled
