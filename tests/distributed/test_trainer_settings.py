"""Settings and states as trainers of PaddleNLP and PaddleClas write them, against the real Paddle."""

import importlib

import numpy as np
import pytest

import paddle_jax as paddle

MESH = np.arange(4).reshape(2, 2)
SHARE = 0.75


@pytest.mark.parametrize("name", ["_shape", "_process_ids", "_dim_names"])
def test_private_names_of_meshes(oracle, name):
    found = [
        getattr(module.distributed.ProcessMesh(MESH, dim_names=["dp", "mp"]), name)
        for module in (paddle, oracle)
    ]
    assert found[0] == found[1]


def build_settings(module):
    """What a DistributedStrategy keeps of a BuildStrategy: before, after, and after a change of a copy."""
    strategy = module.distributed.fleet.DistributedStrategy()
    found = [strategy.build_strategy.enable_inplace, strategy.build_strategy.fuse_broadcast_ops]
    build = module.static.BuildStrategy()
    build.fuse_elewise_add_act_ops = True
    build.sync_batch_norm = True
    strategy.build_strategy = build
    strategy.build_strategy.fuse_bn_act_ops = True
    build.fuse_bn_act_ops = True
    kept = strategy.build_strategy
    found += [kept.enable_inplace, kept.fuse_elewise_add_act_ops, kept.fuse_bn_act_ops, kept.sync_batch_norm]
    with pytest.raises(AttributeError):
        strategy.build_strategy = 3
    return found


@pytest.mark.parametrize("is_grouped", [False, True])
@pytest.mark.parametrize("is_wide", [False, True])
def test_zeros_for_missing_gradients(oracle, is_grouped, is_wide):
    for module in (paddle, oracle):
        utils = importlib.import_module(f"{module.__name__}.distributed.auto_parallel._utils")
        net, frozen = module.nn.Linear(2, 3), module.nn.Linear(2, 3)
        half = module.nn.Linear(2, 3)
        half.to(dtype="bfloat16")
        half.bias.main_grad, frozen.weight.stop_gradient, frozen.bias.stop_gradient = None, True, True
        net.bias.grad = module.ones([3])
        parameters = [*net.parameters(), *half.parameters(), *frozen.parameters()]
        given = [{"params": parameters}] if is_grouped else parameters
        optimizer = module.optimizer.SGD(0.1, parameters=given)
        step = utils._patch_grads_for_step(is_wide)(lambda self, text: text)
        assert step(optimizer, "ran") == "ran"
        grads = [one.grad for one in parameters]
        assert grads[0].tolist() == [[0.0] * 3] * 2 and grads[1].tolist() == [1.0] * 3
        assert grads[2].dtype == (module.float32 if is_wide else module.bfloat16)
        assert half.bias.main_grad.dtype == module.float32 and grads[3:] == [None] * 3


def test_build_strategies(oracle):
    assert build_settings(paddle) == build_settings(oracle)


def resumed_rate(module, scheduler, state):
    """The learning rate of an optimizer after it has taken a state, or the class of the error."""
    optimizer = module.optimizer.SGD(scheduler(module.optimizer.lr), parameters=[])
    try:
        optimizer.set_state_dict(state)
    except AssertionError:
        return AssertionError
    return optimizer.get_lr()


@pytest.mark.parametrize(
    "scheduler",
    [lambda lr: lr.LambdaDecay(0.5, lambda step: SHARE**step), lambda lr: lr.StepDecay(0.5, 2)],
    ids=["LambdaDecay", "StepDecay"],
)
@pytest.mark.parametrize("state", [{}, {"LR_Scheduler": {"last_epoch": 2, "last_lr": 0.25}}], ids=str)
def test_states_without_a_scheduler(oracle, scheduler, state):
    assert resumed_rate(paddle, scheduler, state) == resumed_rate(oracle, scheduler, state)


def test_experts_in_mixed_precision():
    paddle.seed(1)
    experts = paddle.nn.LayerList([paddle.nn.Linear(4, 4) for _ in range(2)])
    gate = {"type": "naive", "top_k": 2}
    layer = paddle.incubate.distributed.models.moe.MoELayer(4, experts, gate=gate)
    x = paddle.to_tensor(np.random.RandomState(0).randn(1, 3, 4).astype("float32"))
    expected = layer(x)
    with paddle.amp.auto_cast(dtype="bfloat16"):
        found = layer(x)
    assert found.dtype == paddle.bfloat16
    np.testing.assert_allclose(found.astype("float32").numpy(), expected.numpy(), atol=0.05)


def test_a_clone_before_mixed_precision_stays_as_it_is():
    """PaddleClas evaluates with a clone that it takes before `minimize`."""
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [None, 3])
            net = paddle.nn.Linear(3, 2)
            loss = paddle.tanh(net(x)).mean()
            test = main.clone(for_test=True)
            rate = paddle.optimizer.SGD(0.1)
            amp = paddle.static.amp.decorate(rate, init_loss_scaling=8.0, use_dynamic_loss_scaling=False)
            amp.minimize(loss)
        scope = paddle.static.Scope()
        with paddle.static.scope_guard(scope):
            exe = paddle.static.Executor()
            exe.run(startup)
            rows = np.random.RandomState(0).randn(4, 3).astype("float32")
            exe.run(main, feed={"x": rows}, fetch_list=[loss])
            weight, bias, found = exe.run(test, feed={"x": rows}, fetch_list=[net.weight, net.bias, loss])
    finally:
        paddle.disable_static()
    # Float32 throughout: mixed precision is 1e-3 away.
    np.testing.assert_allclose(found, np.tanh(rows @ weight + bias).mean(), rtol=1e-6)


def settings_of_engines(module):
    """All settings of an Engine's Strategy in sections, before and after a few are set."""
    auto = module.distributed.fleet.auto
    given = {"recompute": {"enable": True}, "fused_passes": {"fused_passes_list": ["fuse_gemm_epilogue"]}}
    found = []
    for strategy in (auto.Strategy(), auto.Strategy(given)):
        strategy.amp.level = "o2"
        strategy.seed = 3
        for name in [name for name in dir(strategy) if not name.startswith("_")]:
            section = getattr(strategy, name)
            if hasattr(section, "enable"):
                values = {key: value for key, value in vars(section).items() if key[0] != "_"}
                found.append((name, values))
    return found


def test_settings_of_engines(oracle):
    ours = settings_of_engines(paddle)
    assert dict(ours).keys() >= {"amp", "recompute", "qat", "tuning", "sharding", "gradient_merge"}
    assert ours == settings_of_engines(oracle)
    auto = paddle.distributed.fleet.auto
    for section in ("qat", "tuning", "dataset"):
        with pytest.raises(NotImplementedError, match=f"strategy.{section}"):
            auto.Engine(paddle.nn.Linear(2, 2), strategy=auto.Strategy({section: {"enable": True}}))
    with pytest.raises(ValueError, match="must be a dict"):
        auto.Strategy("amp")
