"""What is changed of parameters and optimizers in the middle of training counts from the next step on: in the
real Paddle, eagerly and compiled."""

import numpy as np
import pytest

CHANGES = {
    "a rate of its own": lambda p, net, opt: net.weight.optimize_attr.update(learning_rate=3.0),
    "no rate": lambda p, net, opt: setattr(net.weight, "optimize_attr", {"learning_rate": 0.0}),
    "L2 of a parameter": lambda p, net, opt: setattr(net.weight, "regularizer", p.regularizer.L2Decay(0.5)),
    "L1 of a parameter": lambda p, net, opt: setattr(net.bias, "regularizer", p.regularizer.L1Decay(0.5)),
    "L2 of all": lambda p, net, opt: setattr(opt, "regularization", p.regularizer.L2Decay(0.9)),
    "clipping": lambda p, net, opt: setattr(opt, "_grad_clip", p.nn.ClipGradByGlobalNorm(0.1)),
    "clipping of one": lambda p, net, opt: (
        setattr(opt, "_grad_clip", p.nn.ClipGradByGlobalNorm(0.1)),
        setattr(net.weight, "need_clip", False),
    ),
    "frozen": lambda p, net, opt: setattr(net.weight, "stop_gradient", True),
    "another parameter": lambda p, net, opt: setattr(net, "weight", constant(p, [2, 1], 4.0)),
    "one less": lambda p, net, opt: opt._parameter_list.pop(),
    "one more": lambda p, net, opt: opt._parameter_list.append(net.scale),
}


def constant(paddle, shape, value):
    return paddle.create_parameter(
        shape, "float32", default_initializer=paddle.nn.initializer.Constant(value)
    )


def train(paddle, kind, change, compiled=False):
    """Losses and parameters of three steps, a change, and three steps more."""
    ones = paddle.nn.initializer.Constant(1.0)
    net = paddle.nn.Linear(2, 1, weight_attr=ones)
    net.scale = constant(paddle, [1], 2.0)
    adam = getattr(paddle.optimizer, kind)(0.1, parameters=[net.weight, net.bias])
    x, before = paddle.to_tensor([[1.0, 2.0]]), net.weight

    def step():  # the optimizer is met before the network
        adam.clear_grad()
        loss = (net(x) * net.scale).sum()
        loss.backward()
        adam.step()
        return loss

    step = paddle.jit.to_static(step, full_graph=True) if compiled else step
    losses = [float(step()) for _ in range(3)]
    change(paddle, net, adam)
    losses += [float(step()) for _ in range(3)]
    return [np.array(losses), *[t.numpy() for t in (before, net.weight, net.bias, net.scale)]]


@pytest.mark.parametrize("kind", ["SGD", "Momentum", "Adam", "AdamW"])
@pytest.mark.parametrize("change", CHANGES)
def test_counts_from_the_next_step_on(kind, change, oracle, paddle):
    expected = train(oracle, kind, CHANGES[change])
    for compiled in (False, True):
        for a, b in zip(train(paddle, kind, CHANGES[change], compiled), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6, err_msg=f"compiled: {compiled}")


def test_a_function_that_changes_a_rate_itself(paddle):
    """The state is arranged again in the middle of a run that is to be compiled, which then runs eagerly;
    nothing of it is lost."""

    def run(wrap):
        net = paddle.nn.Linear(2, 1, weight_attr=paddle.nn.initializer.Constant(1.0))
        adam = paddle.optimizer.Adam(0.1, parameters=net.parameters())

        def step(rate):
            for factor in (1.0, rate):
                net.weight.optimize_attr["learning_rate"] = factor
                (net(paddle.ones([1, 2])) ** 2).sum().backward()
                adam.step()
                adam.clear_grad()

        step = wrap(step)
        for rate in (0.5, 1.0, 0.5, 2.0):
            step(rate)
        return [v.numpy() for v in (*net.parameters(), *adam.state_dict().values())]

    with pytest.warns(UserWarning, match="arranged again"):
        got = run(paddle.jit.to_static)
    for a, b in zip(got, run(lambda f: f), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5)


GROUP_CHANGES = {
    "clipping": lambda p, groups: groups[1].update(grad_clip=p.nn.ClipGradByNorm(0.01)),
    "the bound of clipping": lambda p, groups: setattr(groups[0]["grad_clip"], "clip_norm", 0.001),
}


@pytest.mark.parametrize("change", GROUP_CHANGES)
def test_settings_of_a_group(change, oracle, paddle):
    def run(engine, wrap):
        ones = engine.nn.initializer.Constant(0.5)
        net = engine.nn.Sequential(
            engine.nn.Linear(2, 2, weight_attr=ones), engine.nn.Linear(2, 1, weight_attr=ones)
        )
        groups = [
            {"params": net[0].parameters(), "grad_clip": engine.nn.ClipGradByNorm(1.0)},
            {"params": net[1].parameters()},
        ]
        momentum = engine.optimizer.Momentum(0.1, parameters=groups)

        def step():
            (net(engine.ones([3, 2])) ** 2).mean().backward()
            momentum.step()
            momentum.clear_grad()

        step = wrap(step)
        for i in range(6):
            if i == 3:
                GROUP_CHANGES[change](engine, momentum._param_groups)
            step()
        return [p.numpy() for p in net.parameters()]

    expected = run(oracle, lambda f: f)
    for wrap in (lambda f: f, lambda f: paddle.jit.to_static(f, full_graph=True)):
        for a, b in zip(run(paddle, wrap), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
