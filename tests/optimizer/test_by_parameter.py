"""Optimizers that define `_append_optimize_op`, as libraries of models have them, in both engines."""

import re
from collections import defaultdict

import numpy as np
import pytest

import paddle_jax as ours


def heavy_ball(m):
    """Derived from the base class, with states of its own."""

    class HeavyBall(m.optimizer.Optimizer):
        def _create_accumulators(self, block, parameters):
            assert isinstance(block, m.base.framework.Block)
            if isinstance(parameters, dict):
                parameters = self._update_param_group(parameters)
            for p in parameters:
                if p.name not in self._already_create_accumulator:
                    self._add_accumulator("velocity", p)
                    self._add_accumulator("count", p, "float32", 2.0, [1])
                    self._already_create_accumulator.add(p.name)

        def _update_param_group(self, parameters):
            return parameters["params"]

        def _append_optimize_op(self, block, param_and_grad):
            if isinstance(param_and_grad, dict):
                param_and_grad = self._update_param_group(param_and_grad)
            param, grad = param_and_grad
            velocity, count = (self._get_accumulator(name, param) for name in ("velocity", "count"))
            velocity.set_value(0.9 * velocity + grad)
            count.set_value(count + 1)
            param.set_value(param - self._create_param_lr(param_and_grad) * velocity / count)

    return HeavyBall


def layerwise(m):
    """AdamW with a rate for each parameter, put there just for the update of the class itself."""

    class Layerwise(m.optimizer.AdamW):
        def _append_optimize_op(self, block, param_and_grad):
            param = param_and_grad[0]
            before = param.optimize_attr["learning_rate"]
            param.optimize_attr["learning_rate"] = before * (0.5 if len(param.shape) == 1 else 2.0)
            super()._append_optimize_op(block, param_and_grad)
            param.optimize_attr["learning_rate"] = before

    return Layerwise


def by_kernel(m):
    """AdamW whose update is the kernel of Paddle."""

    class ByKernel(m.optimizer.AdamW):
        def _append_optimize_op(self, block, param_and_grad):
            param, grad = param_and_grad
            states = [
                self._get_accumulator_master(name, param)
                for name in (self._moment1_acc_str, self._moment2_acc_str)
            ]
            powers = [
                self._get_accumulator_master(name, param)
                for name in (self._beta1_pow_acc_str, self._beta2_pow_acc_str)
            ]
            wide = self._multi_precision and self._is_dtype_fp16_or_bf16(param.dtype)
            m._C_ops.adamw_(
                param,
                grad,
                self._create_param_lr(param_and_grad),
                *states,
                None,
                *powers,
                self._master_weights[param.name] if wide else None,
                self._get_auxiliary_var("found_inf"),
                self._beta1,
                self._beta2,
                self._epsilon,
                1.0,
                0.1,
                True,
                self._lazy_mode,
                1000,
                wide,
                False,
                False,
            )

    return ByKernel


def stepping(m):
    """With a step of its own, which hands the gradients on; group by group where there are groups."""

    class Stepping(heavy_ball(m)):
        count = 0

        @m.no_grad()
        def step(self):
            self.count += 1
            groups = self._param_groups
            if not isinstance(groups[0], dict):
                groups = [{"params": groups}]
            for group in groups:
                pairs = [(p, p._grad_ivar()) for p in group["params"] if p._grad_ivar() is not None]
                given = {**group, "params": pairs} if len(group) > 1 else pairs
                self._apply_optimize(loss=None, startup_program=None, params_grads=given)

        def _append_optimize_op(self, block, param_and_grad):
            self.scale = 1.0 + self.count
            super()._append_optimize_op(block, param_and_grad)
            param = (param_and_grad["params"] if isinstance(param_and_grad, dict) else param_and_grad)[0]
            prefix = "" if self._name is None else self._name + "_"
            velocity = self._accumulators[prefix + "velocity"][param.name]
            param.set_value(param - 0.01 * velocity / self.scale)

    return Stepping


def without_constructor(m):
    """As copies of Paddle's classes are written: every attribute is set here."""

    class Bare(stepping(m)):
        def __init__(self, learning_rate, parameters, weight_decay=None, grad_clip=None, name=None):
            self._parameter_list, self._learning_rate, self._name = list(parameters), learning_rate, name
            self._dtype, self.helper, self.type = None, None, "bare"
            self._learning_rate_map, self._accumulators_holder, self._param_device_map = {}, {}, {}
            self._accumulators = defaultdict(dict)
            self._master_weights, self._auxiliary_vars, self._opti_name_list = {}, {}, []
            self._grad_clip, self.regularization = grad_clip, None
            if weight_decay is not None:
                decays = isinstance(weight_decay, float)
                self.regularization = m.regularizer.L2Decay(weight_decay) if decays else weight_decay
            self._default_dict = {"weight_decay": self.regularization, "grad_clip": grad_clip}
            self._param_groups = self._parameter_list
            self._use_multi_tensor, self._master_grads, self._master_grad = None, {}, False
            self._already_create_accumulator, self._need_refuse = set(), False
            self._use_fusion_storage, self.merged_model_params = False, None

    return Bare


def by_kind(m):
    """AdamW with one second moment for all elements of a matrix."""

    class ByKind(m.optimizer.AdamW):
        def __init__(self, *args, **kwargs):
            self._already_create_accumulator = set()
            super().__init__(*args, **kwargs)

        def _add_moments_pows(self, p):
            if p.ndim == 1:
                super()._add_moments_pows(p)
                return
            self._add_accumulator(self._moment1_acc_str, p)
            self._add_accumulator(self._moment2_acc_str, p, shape=[1])

        def _create_accumulators(self, block, parameters):
            if isinstance(parameters, dict):
                parameters = self._update_param_group(parameters)
            for p in parameters:
                if p.name not in self._already_create_accumulator:
                    self._add_moments_pows(p)
                    self._already_create_accumulator.add(p.name)

        def _append_optimize_op(self, block, param_and_grad):
            if isinstance(param_and_grad, dict):
                param_and_grad = self._update_param_group(param_and_grad)
            param, grad = param_and_grad
            if param.ndim == 1:
                super()._append_optimize_op(block, param_and_grad)
                return
            first, second = (
                self._get_accumulator_master(name, param)
                for name in (self._moment1_acc_str, self._moment2_acc_str)
            )
            first[:] = first * self._beta1 + grad * (1 - self._beta1)
            second[:] = second * self._beta2 + (grad * grad).mean() * (1 - self._beta2)
            rate = self._create_param_lr(param_and_grad)
            param[:] = param * (1 - rate * self._weight_decay) - rate * first / (second.sqrt() + 0.1)

    return ByKind


def network(m):
    with m.utils.unique_name.guard():
        net = m.nn.Sequential(m.nn.Linear(3, 4), m.nn.Tanh(), m.nn.Linear(4, 1))
    r = np.random.RandomState(0)
    for p in net.parameters():
        p.set_value(r.randn(*p.shape).astype("float32"))
    return net


X = np.random.RandomState(1).randn(5, 3).astype("float32")


def trained(m, net, optimizer, steps=4):
    for _ in range(steps):
        (net(m.to_tensor(X).astype(net[0].weight.dtype)) ** 2).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
    return [p.astype("float32").numpy() for p in net.parameters()]


def settings(m, kind):
    if kind == "clipped and decayed":
        return {"weight_decay": 0.1, "grad_clip": m.nn.ClipGradByGlobalNorm(0.5), "name": "own"}
    return {"weight_decay": m.regularizer.L1Decay(0.1)} if kind == "l1" else {}


@pytest.mark.parametrize("kind", ["plain", "clipped and decayed", "l1"])
@pytest.mark.parametrize(
    "make",
    [heavy_ball, layerwise, by_kernel, stepping, without_constructor, by_kind],
    ids=lambda f: f.__name__,
)
def test_as_the_oracle(oracle, make, kind):
    if kind == "l1" and make in (layerwise, by_kernel, by_kind):
        pytest.skip("AdamW takes a number")
    found = []
    for m in (oracle, ours):
        net = network(m)
        optimizer = make(m)(learning_rate=0.05, parameters=net.parameters(), **settings(m, kind))
        values = trained(m, net, optimizer)
        state = {re.sub(r"_\d+$", "", name): value.numpy() for name, value in optimizer.state_dict().items()}
        found.append((values, state))
    (want, states), (got, mine) = found
    assert mine.keys() == states.keys()
    for a, b in [*zip(got, want, strict=True), *((mine[name], states[name]) for name in states)]:
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("make", [heavy_ball, stepping, by_kind], ids=lambda f: f.__name__)
def test_groups_as_the_oracle(oracle, make):
    found = []
    for m in (oracle, ours):
        net = network(m)
        groups = [
            {"params": net[0].parameters(), "learning_rate": 0.1},
            {"params": net[2].parameters(), "weight_decay": 0.3},
        ]
        optimizer = make(m)(learning_rate=0.05, parameters=groups, weight_decay=0.1)
        found.append(trained(m, net, optimizer))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "low"),
    [(heavy_ball, False), (layerwise, False), (by_kernel, False), (layerwise, True), (by_kernel, True)],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_a_loaded_state_goes_on(make, low):
    def started():
        net = network(ours)
        options = {} if make is heavy_ball else {"multi_precision": low}
        if low:
            net = net.bfloat16()
        return net, make(ours)(learning_rate=0.05, parameters=net.parameters(), **options)

    net, optimizer = started()
    trained(ours, net, optimizer, 2)
    weights, state = {k: v.clone() for k, v in net.state_dict().items()}, optimizer.state_dict()
    want = trained(ours, net, optimizer, 2)
    for before in (0, 2):  # into states that are not there yet, and into those of two steps
        other, second = started()
        trained(ours, other, second, before)
        other.set_state_dict(weights)
        second.set_state_dict(state)
        assert second.state_dict().keys() == state.keys()
        for a, b in zip(trained(ours, other, second, 2), want, strict=True):
            np.testing.assert_array_equal(a, b)
    if low:
        assert sorted(state["master_weights"]) == sorted(p.name for p in net.parameters())


@pytest.mark.parametrize("make", [layerwise, by_kernel], ids=lambda f: f.__name__)
def test_half_precision_with_float32_copies_as_the_class_itself(make):
    results = []
    for cls in (make(ours), ours.optimizer.AdamW):
        net = network(ours).bfloat16()
        optimizer = cls(0.05, parameters=net.parameters(), multi_precision=True, weight_decay=0.1)
        if cls is ours.optimizer.AdamW and make is layerwise:
            for p in net.parameters():
                p.optimize_attr["learning_rate"] = 0.5 if p.ndim == 1 else 2.0
        results.append(trained(ours, net, optimizer))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-2, atol=1e-2)


def test_minimize_leaves_a_step_of_the_class_alone(oracle):
    found = []
    for m in (oracle, ours):
        net = network(m)
        optimizer = stepping(m)(learning_rate=0.05, parameters=net.parameters())
        loss = (net(m.to_tensor(X)) ** 2).mean()
        loss.backward()
        optimizer.minimize(loss)
        found.append([p.numpy() for p in net.parameters()])
        assert optimizer.count == 0
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def test_a_scaler_skips_and_minimize_updates():
    net = network(ours)
    optimizer = heavy_ball(ours)(learning_rate=0.05, parameters=net.parameters())
    scaler = ours.amp.GradScaler(init_loss_scaling=4.0)
    before = [p.numpy() for p in net.parameters()]
    with ours.amp.auto_cast(dtype="float16"):
        loss = (net(ours.to_tensor(X)) * float("inf")).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    for p, old in zip(net.parameters(), before, strict=True):
        np.testing.assert_array_equal(p.numpy(), old)
    optimizer.clear_grad()
    loss = (net(ours.to_tensor(X)) ** 2).mean()
    loss.backward()
    optimizer.minimize(loss)
    assert all((p.numpy() != old).any() for p, old in zip(net.parameters(), before, strict=True))


def test_a_static_program_refuses_such_an_update():
    ours.enable_static()
    try:
        with ours.static.program_guard(ours.static.Program(), ours.static.Program()):
            x = ours.static.data("x", [2, 3])
            loss = ours.nn.Linear(3, 1)(x).mean()
            with pytest.raises(NotImplementedError, match="_append_optimize_op"):
                layerwise(ours)(learning_rate=0.1).minimize(loss)
    finally:
        ours.disable_static()
