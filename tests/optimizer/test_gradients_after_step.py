"""What a step leaves in `p.grad`, against the real Paddle: gradients are not cleared between two steps, so a
clipped one is seen by the next."""

import numpy as np
import pytest

import paddle_jax as ours

oracle = pytest.importorskip("paddle")

CLIPS = {
    "none": lambda nn: None,
    "value": lambda nn: nn.ClipGradByValue(0.5),
    "norm": lambda nn: nn.ClipGradByNorm(0.5),
    "global": lambda nn: nn.ClipGradByGlobalNorm(0.5),
    "global_loose": lambda nn: nn.ClipGradByGlobalNorm(500.0),
    "global_skip": lambda nn: nn.ClipGradByGlobalNorm(0.5, auto_skip_clip=True),
}
DECAYS = {"none": lambda p: None, "l1": lambda p: p.regularizer.L1Decay(0.1), "l2": lambda p: 0.1}
RULES = (
    "SGD",
    "Adam",
    "AdamW",
    "Momentum",
    "RMSProp",
    "Adagrad",
    "Adadelta",
    "Adamax",
    "ASGD",
    "NAdam",
    "RAdam",
)
SHAPES = ([2, 2], [3], [2, 2])


def parameters(paddle, shapes=SHAPES):
    made = paddle.nn.initializer.Constant
    return [
        paddle.create_parameter(shape, "float32", default_initializer=made(1.0 + i % 3))
        for i, shape in enumerate(shapes)
    ]


def step(optimizer, loss, params):
    optimizer.step()
    return []


def minimize(optimizer, loss, params):
    return [g.numpy() for _, g in optimizer.minimize(loss)[1]]


def apply(optimizer, loss, params):
    optimizer.apply_gradients([(p, p.grad) for p in params if p.grad is not None])
    return []


def seen(paddle, params, optimizer, update=step, unused=()):
    """Gradients before (the object that the user has kept) and after a step, and parameters,
    for three steps."""
    found = []
    for i in range(3):
        loss = sum(
            ((p * p * (3 + k)).sum() for k, p in enumerate(params) if (i, k) not in unused), paddle.zeros([])
        )
        loss.backward()
        kept = [p.grad for p in params]
        found += update(optimizer, loss, params)
        found += [g.numpy() for g in (*kept, *(p.grad for p in params)) if g is not None] + [
            p.numpy() for p in params
        ]
    return found


def compare(run):
    mine, theirs = run(ours), run(oracle)
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


@pytest.fixture(params=["sync", "off"])
def _tier(request):
    before = ours.get_flags("FLAGS_deferred")
    ours.set_flags({"FLAGS_deferred": request.param})
    yield
    ours.set_flags(before)


@pytest.mark.usefixtures("_tier")
@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("clip", CLIPS)
def test_clips(clip, decay):
    def run(paddle):
        params = parameters(paddle)
        return seen(
            paddle, params, paddle.optimizer.SGD(0.1, params, DECAYS[decay](paddle), CLIPS[clip](paddle.nn))
        )

    compare(run)


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule):
    def run(paddle):
        params = parameters(paddle)
        settings = {"weight_decay": 0.1, "grad_clip": paddle.nn.ClipGradByGlobalNorm(0.5)}
        return seen(
            paddle, params, getattr(paddle.optimizer, rule)(learning_rate=0.1, parameters=params, **settings)
        )

    compare(run)


@pytest.mark.parametrize("update", [minimize, apply])
def test_other_ways_to_step(update):
    def run(paddle):
        params = parameters(paddle)
        return seen(
            paddle,
            params,
            paddle.optimizer.SGD(0.1, params, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)),
            update,
        )

    compare(run)


@pytest.mark.usefixtures("_tier")
def test_some_take_part():
    """One parameter is not to be clipped, one has no gradient at first, one is in a group with a
    rule of its own."""

    def run(paddle):
        params = parameters(paddle, (*SHAPES, [2]))
        params[1].need_clip = False
        groups = [{"params": params[:3]}, {"params": params[3:], "grad_clip": paddle.nn.ClipGradByValue(0.1)}]
        return seen(
            paddle,
            params,
            paddle.optimizer.SGD(0.1, groups, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)),
            unused={(0, 2)},
        )

    compare(run)


def test_more_parameters_than_a_call_takes():
    def run(paddle):
        params = parameters(paddle, [[1 + i % 3] for i in range(300)])
        return seen(
            paddle, params, paddle.optimizer.SGD(0.001, params, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))
        )

    compare(run)


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_not_finite(bad):
    def run(paddle):
        params = parameters(paddle, ([2], [1]))
        (params[0] * paddle.to_tensor([bad, 1.0])).sum().backward()
        (params[1] * 3).sum().backward()
        paddle.optimizer.SGD(0.1, params, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)).step()
        return [p.grad.numpy() for p in params] + [p.numpy() for p in params]

    compare(run)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_low_precision_keeps_its_dtype(dtype):
    """The real Paddle has no kernel for this on the CPU; expected: (3, 4) scaled to a norm of 1."""
    layer = ours.nn.Linear(2, 1, bias_attr=False).astype(dtype)
    layer.weight.grad = ours.to_tensor([[3.0], [4.0]]).astype(dtype)
    clip = ours.nn.ClipGradByGlobalNorm(1.0)
    ours.optimizer.Adam(0.1, parameters=layer.parameters(), grad_clip=clip, multi_precision=True).step()
    assert layer.weight.grad.dtype == layer.weight.dtype
    np.testing.assert_allclose(layer.weight.grad.astype("float32").numpy(), [[0.6], [0.8]], rtol=4e-3)


def test_a_skipped_step_leaves_the_gradient():
    """A loss scaler that finds an infinity must not spread it by clipping: the gradient stays as
    it was unscaled."""
    (param,) = parameters(ours, ([2],))
    optimizer = ours.optimizer.SGD(0.1, [param], grad_clip=ours.nn.ClipGradByGlobalNorm(0.5))
    param.grad = ours.to_tensor([float("inf"), 4.0])
    optimizer._skip = ours.to_tensor(True)._raw
    optimizer.step()
    assert param.grad.tolist() == [float("inf"), 4.0] and param.tolist() == [1.0, 1.0]


def test_a_rule_of_ones_own():
    """A subclass that overrides the method Paddle calls decides alone what is clipped."""

    def run(paddle):
        class Half(paddle.nn.ClipGradByGlobalNorm):
            def _dygraph_clip(self, params_grads):
                return [(p, g * 0.5) for p, g in params_grads]

        params = parameters(paddle)
        return seen(paddle, params, paddle.optimizer.SGD(0.1, params, grad_clip=Half(0.1)))

    compare(run)
