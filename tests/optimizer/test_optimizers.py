"""Optimizers against the real Paddle: ten steps, groups, clipping, decay, states through files."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_jax as ours
import paddle_jax.nn
import paddle_jax.optimizer
import paddle_jax.regularizer
from paddle_jax.framework.io import load, save
from paddle_jax.nn import clip
from paddle_jax.optimizer import update

oracle = pytest.importorskip("paddle")

SHAPES = ((2, 3), (2, 3), (4,), (1,), ())
RNG = np.random.default_rng(0)
VALUES = [RNG.standard_normal(s).astype("float32") for s in SHAPES]
GRADS = [[RNG.standard_normal(s).astype("float32") for s in SHAPES] for _ in range(10)]


def parameter(module, value, name):
    if module is ours:
        # another object with the same name, as in a process that goes on
        return ours.nn.Parameter(jnp.asarray(value), name=name)
    param = oracle.create_parameter(list(value.shape), str(value.dtype), name=name)
    param.set_value(value)
    return param


class Case:
    """Parameters of one library and the settings that differ between the two in where they are found."""

    def __init__(self, module, values, label):
        self.module = module
        self.params = [parameter(module, v, f"{label}_{i}.w_0") for i, v in enumerate(values)]
        self.lr, self.regularizer = module.optimizer.lr, module.regularizer
        self.clip = clip if module is ours else oracle.nn

    def build(self, name, settings):
        settings = settings(self) if callable(settings) else settings
        return getattr(self.module.optimizer, name)(**{"parameters": self.params, **settings})


def walk(case, optimizer, grads=GRADS, missing=lambda step, i: False):
    for step, row in enumerate(grads):
        for i, (param, grad) in enumerate(zip(case.params, row, strict=True)):
            param.grad = None if missing(step, i) else case.module.to_tensor(grad)
        optimizer.step()
        rate = optimizer._learning_rate
        if isinstance(rate, case.lr.LRScheduler):
            rate.step()


def states(optimizer):
    return {k: v.numpy() for k, v in optimizer.state_dict().items() if hasattr(v, "numpy")}


def compare(
    name,
    settings,
    values=VALUES,
    grads=GRADS,
    rtol=1e-6,
    setup=lambda case: None,
    missing=lambda step, i: False,
):
    label = re.sub(r"\W", "", f"{name}{np.random.default_rng().integers(1 << 60)}")
    cases = [Case(module, values, label) for module in (ours, oracle)]
    optimizers = []
    for case in cases:
        setup(case)
        optimizers.append(case.build(name, settings))
        walk(case, optimizers[-1], grads, missing)
    for mine, theirs in zip(*(c.params for c in cases), strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=rtol, atol=rtol)
    mine, theirs = map(states, optimizers)
    assert sorted(mine) == sorted(theirs)
    for key, value in theirs.items():
        assert mine[key].shape == value.shape and mine[key].dtype == value.dtype, key
        np.testing.assert_allclose(mine[key], value, rtol=5 * rtol, atol=rtol, err_msg=key)
    return cases, optimizers


RULES = {
    "SGD": ("SGD", {}),
    "Momentum": ("Momentum", {}),
    "Momentum_nesterov": ("Momentum", {"use_nesterov": True, "momentum": 0.8}),
    "Adam": ("Adam", {"learning_rate": 0.01}),
    "Adam_amsgrad": (
        "Adam",
        {"learning_rate": 0.01, "amsgrad": True, "beta1": 0.5, "beta2": 0.6, "epsilon": 1e-3},
    ),
    "AdamW": ("AdamW", {"learning_rate": 0.01}),
    "AdamW_amsgrad": ("AdamW", {"learning_rate": 0.01, "amsgrad": True, "weight_decay": 0.5}),
    "Adagrad": ("Adagrad", {"learning_rate": 0.1, "initial_accumulator_value": 0.5}),
    "RMSProp": ("RMSProp", {"learning_rate": 0.01, "momentum": 0.5}),
    "RMSProp_centered": ("RMSProp", {"learning_rate": 0.01, "centered": True, "rho": 0.9, "epsilon": 1e-3}),
    "Lamb": ("Lamb", {"learning_rate": 0.01}),
    "Lamb_no_decay": ("Lamb", {"learning_rate": 0.01, "lamb_weight_decay": 0.0}),
    "Lamb_always": ("Lamb", {"learning_rate": 0.01, "lamb_weight_decay": 0.0, "always_adapt": True}),
    "Adamax": ("Adamax", {"learning_rate": 0.01}),
    "Adadelta": ("Adadelta", {"learning_rate": 1.0}),
    "NAdam": ("NAdam", {"learning_rate": 0.01}),
    "RAdam": ("RAdam", {"learning_rate": 0.01}),
    "ASGD": ("ASGD", {"batch_num": 3}),
    "Rprop": ("Rprop", {"learning_rate": 0.01}),
}


@pytest.mark.parametrize("rule", RULES)
def test_ten_steps(rule):
    compare(*RULES[rule])


@pytest.mark.parametrize(
    "rule, rtol",
    [
        ("SGD", 1e-12),
        ("Adam", 1e-12),
        ("Adagrad", 1e-6),
        ("Momentum", 1e-6),
        ("Lamb", 1e-6),
        ("RMSProp", 1e-6),
    ],
)
def test_float64(rule, rtol):
    """Some of Paddle's kernels hold their settings in float32 also here."""
    name, settings = RULES[rule]
    compare(
        name,
        settings,
        [v.astype("float64") for v in VALUES],
        [[g.astype("float64") for g in row] for row in GRADS],
        rtol=rtol,
    )


SETTINGS = {
    "l2_float": ("Adam", lambda c: {"weight_decay": 0.1}),
    "l2": ("SGD", lambda c: {"weight_decay": c.regularizer.L2Decay(0.1)}),
    "l1": ("SGD", lambda c: {"weight_decay": c.regularizer.L1Decay(0.1)}),
    "l2_momentum": ("Momentum", lambda c: {"weight_decay": 0.1, "use_nesterov": True}),
    "clip_value": ("SGD", lambda c: {"grad_clip": c.clip.ClipGradByValue(0.5)}),
    "clip_norm": ("Adam", lambda c: {"grad_clip": c.clip.ClipGradByNorm(0.5)}),
    "clip_global": ("SGD", lambda c: {"grad_clip": c.clip.ClipGradByGlobalNorm(0.5)}),
    "clip_global_loose": ("SGD", lambda c: {"grad_clip": c.clip.ClipGradByGlobalNorm(500.0)}),
    "clip_and_decay": (
        "Momentum",
        lambda c: {"grad_clip": c.clip.ClipGradByGlobalNorm(0.5), "weight_decay": 0.3},
    ),
    "clip_and_l1": (
        "Adam",
        lambda c: {"grad_clip": c.clip.ClipGradByValue(0.2), "weight_decay": c.regularizer.L1Decay(0.3)},
    ),
    "adamw_fun": (
        "AdamW",
        lambda c: {"weight_decay": 0.5, "apply_decay_param_fun": lambda n: n.endswith(("_0.w_0", "_2.w_0"))},
    ),
    "lamb_fun": (
        "Lamb",
        lambda c: {
            "lamb_weight_decay": 0.5,
            "exclude_from_weight_decay_fn": lambda p: p.name.endswith("_1.w_0"),
        },
    ),
    "scheduler": ("Adam", lambda c: {"learning_rate": c.lr.CosineAnnealingDecay(0.1, 4)}),
    "named": ("Adam", lambda c: {"name": "run"}),
    "groups": (
        "Adam",
        lambda c: {
            "weight_decay": 0.05,
            "parameters": [
                {"params": c.params[:2]},
                {"params": c.params[2:4], "learning_rate": 0.5, "weight_decay": 0.2, "beta1": 0.5},
                {"params": c.params[4:], "weight_decay": 0.0, "grad_clip": c.clip.ClipGradByValue(0.1)},
            ],
        },
    ),
    "groups_adamw": (
        "AdamW",
        lambda c: {
            "learning_rate": 0.1,
            "grad_clip": c.clip.ClipGradByGlobalNorm(0.5),
            "parameters": [
                {"params": c.params[:2], "weight_decay": 0.3},
                {"params": c.params[2:], "learning_rate": 0.1},
            ],
        },
    ),
    "groups_momentum": (
        "Momentum",
        lambda c: {
            "weight_decay": 0.1,
            "parameters": [
                {"params": c.params[:2], "weight_decay": 0.3},
                {"params": c.params[2:], "learning_rate": 0.1},
            ],
        },
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name):
    compare(*SETTINGS[name])


@pytest.mark.parametrize("rule", ["SGD", "Momentum", "Adam", "AdamW"])
def test_settings_of_parameters(rule):
    def setup(case):
        case.params[0].regularizer = case.regularizer.L1Decay(0.3)
        case.params[1].optimize_attr["learning_rate"] = 0.25
        case.params[2].need_clip = False
        case.params[3].stop_gradient = True

    compare(rule, lambda c: {"grad_clip": c.clip.ClipGradByGlobalNorm(0.5)}, setup=setup)
    compare(rule, lambda c: {"grad_clip": c.clip.ClipGradByNorm(0.5)}, setup=setup)


@pytest.mark.parametrize("rule", ["Momentum", "Adam", "ASGD", "NAdam", "Rprop"])
def test_missing_gradients(rule):
    """A parameter without a gradient keeps value and state; one that gets its first gradient
    late starts then."""
    name, settings = RULES[rule]
    compare(
        name,
        settings,
        missing=lambda step, i: (i == 1 and step < 3) or (i == 0 and step in (4, 5)) or (i == 4) or step == 7,
    )


@pytest.mark.parametrize("kind", ["ClipGradByGlobalNorm", None])
def test_many_parameters(kind):
    """More parameters than one call and one stack hold, small and large, with a norm over all of them."""
    shapes = [(2, 2)] * 70 + [(3,)] * 40 + [(130, 130)] * 3
    values = [RNG.standard_normal(s).astype("float32") for s in shapes]
    grads = [[RNG.standard_normal(s).astype("float32") for s in shapes] for _ in range(2)]
    compare(
        "Adam",
        lambda c: {"learning_rate": 0.01, "grad_clip": getattr(c.clip, kind)(2.0) if kind else None},
        values,
        grads,
    )


@pytest.mark.own_process
@pytest.mark.filterwarnings("ignore:.*state dict is empty")
@pytest.mark.parametrize("rule", [r for r in RULES if r != "ASGD"])
def test_states_through_files(rule, tmp_path):
    """Half the steps in one library, the state through real files, the other half in the other one."""
    name, settings = RULES[rule]
    label = f"file{rule}"
    straight = Case(oracle, VALUES, label)
    whole = straight.build(name, settings)
    walk(straight, whole)
    for first, second in ((ours, oracle), (oracle, ours)):
        writer, reader = (save, oracle.load) if first is ours else (oracle.save, load)
        with oracle.utils.unique_name.guard():
            begun = Case(first, VALUES, label)
            optimizer = begun.build(name, settings)
            walk(begun, optimizer, GRADS[:5])
            writer(optimizer.state_dict(), str(tmp_path / "x.pdopt"))
        with oracle.utils.unique_name.guard():
            resumed = Case(second, [p.numpy() for p in begun.params], label)
            optimizer = resumed.build(name, settings)
            optimizer.set_state_dict(reader(str(tmp_path / "x.pdopt")))
            walk(resumed, optimizer, GRADS[5:])
        for mine, theirs in zip(resumed.params, straight.params, strict=True):
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=2e-6, atol=2e-6)


def test_loading_rules():
    case = Case(ours, VALUES, "loading")
    optimizer = case.build("Adam", {"learning_rate": case.lr.StepDecay(0.1, 2)})
    walk(case, optimizer)
    saved = optimizer.state_dict()
    copies = {k: v.numpy() for k, v in saved.items() if k != "LR_Scheduler"}
    walk(case, optimizer)
    assert all((v.numpy() == copies[k]).all() for k, v in saved.items() if k in copies), (
        "a snapshot does not change with later steps"
    )

    fresh = case.build("Adam", {"learning_rate": case.lr.StepDecay(0.5, 2)})
    fresh.set_state_dict(saved)
    assert fresh.get_lr() == saved["LR_Scheduler"]["last_lr"]
    assert sorted(fresh.state_dict()) == sorted(saved), "what was loaded is saved again before the first step"
    fresh.set_state_dict(
        {
            k.replace("_0'", "_1'") if k == "LR_Scheduler" else re.sub("_0$", "_1", k): v
            for k, v in saved.items()
        }
    )
    walk(case, fresh, GRADS[:1], missing=lambda step, i: i == 1)
    assert sorted(fresh.state_dict()) == sorted(saved), (
        "states of parameters without a gradient so far are kept"
    )

    for change, message in (
        (lambda k, v: {}, "missing"),
        (lambda k, v: {k: ours.to_tensor([1.0, 2.0])}, "needed"),
        (lambda k, v: {k: v.numpy().astype("float64")}, "needed"),
    ):
        key = next(iter(saved))
        broken = {k: v for k, v in saved.items() if k != key} | change(key, saved[key])
        with pytest.raises(AssertionError, match=message):
            optimizer.set_state_dict(broken)
    with pytest.raises(AssertionError, match="LR_Scheduler"):
        optimizer.set_state_dict({})


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("rule", ["SGD", "Momentum", "Adam", "AdamW", "Lamb"])
def test_multi_precision(rule, dtype):
    """Low-precision parameters follow Paddle's float32 run on the same gradients, rounded; the masters
    follow it exactly."""
    name, settings = RULES[rule]
    values = [np.asarray(jnp.asarray(v, dtype).astype("float32")) for v in VALUES]
    grads = [[np.asarray(jnp.asarray(g, dtype).astype("float32")) for g in row] for row in GRADS]
    theirs = Case(oracle, values, f"mp{rule}{dtype}")
    walk(theirs, theirs.build(name, settings), grads)

    mine = Case(ours, values, f"mp{rule}{dtype}")
    mine.params = [
        ours.nn.Parameter(jnp.asarray(v, dtype), name=p.name)
        for v, p in zip(values, mine.params, strict=True)
    ]
    optimizer = mine.build(name, {**settings, "multi_precision": True})
    for row in grads:
        for param, grad in zip(mine.params, row, strict=True):
            param.grad = ours.to_tensor(grad).astype(dtype)
        optimizer.step()
    state = optimizer.state_dict()
    for param, expected in zip(mine.params, theirs.params, strict=True):
        master = state["master_weights"][param.name]
        assert master.name == f"{param.name}_fp32_master_0" and str(param.dtype) == f"paddle.{dtype}"
        np.testing.assert_allclose(master.numpy(), expected.numpy(), rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(np.asarray(param._value), np.asarray(master._value.astype(dtype)))
    assert all("_fp32_master_0_" in key for key in state if key != "master_weights")

    again = mine.build(name, {**settings, "multi_precision": True})
    again.set_state_dict(state)
    for param in mine.params:
        param.grad = ours.zeros(param.shape, "float32").astype(dtype)
    optimizer.step()
    before = [np.asarray(p._value) for p in mine.params]
    for param, master in zip(mine.params, state["master_weights"].values(), strict=True):
        param._rebind(master._value.astype(dtype))
    again.step()
    for param, expected in zip(mine.params, before, strict=True):
        np.testing.assert_array_equal(np.asarray(param._value), expected)


CALLS = {
    "no_parameters": lambda o, p: o.SGD(0.1),
    "one_tensor": lambda o, p: o.SGD(0.1, parameters=p),
    "dict": lambda o, p: o.SGD(0.1, parameters={"a": p}),
    "lr_text": lambda o, p: o.SGD("a", parameters=[p]),
    "lr_int": lambda o, p: o.SGD(1, parameters=[p]),
    "lr_none": lambda o, p: o.SGD(None, parameters=[p]),
    "clip_type": lambda o, p: o.SGD(0.1, parameters=[p], grad_clip=3),
    "beta1_high": lambda o, p: o.Adam(beta1=1.0, parameters=[p]),
    "beta1_none": lambda o, p: o.Adam(beta1=None, parameters=[p]),
    "beta2_low": lambda o, p: o.AdamW(beta2=-0.1, parameters=[p]),
    "epsilon": lambda o, p: o.Adam(epsilon=-1, parameters=[p]),
    "adam_lr": lambda o, p: o.Adam(learning_rate=None, parameters=[p]),
    "adamw_decay": lambda o, p: o.AdamW(weight_decay=None, parameters=[p]),
    "adamw_ratio": lambda o, p: o.AdamW(lr_ratio=3, parameters=[p]),
    "momentum": lambda o, p: o.Momentum(momentum=None, parameters=[p]),
    "rmsprop_lr": lambda o, p: o.RMSProp(None, parameters=[p]),
    "rmsprop_rho": lambda o, p: o.RMSProp(0.1, rho=-1.0, parameters=[p]),
    "rmsprop_none": lambda o, p: o.RMSProp(0.1, momentum=None, parameters=[p]),
    "adagrad": lambda o, p: o.Adagrad(None, parameters=[p]),
    "adagrad_epsilon": lambda o, p: o.Adagrad(0.1, epsilon=None, parameters=[p]),
    "adamax": lambda o, p: o.Adamax(beta2=-1.0, parameters=[p]),
    "adadelta": lambda o, p: o.Adadelta(rho=None, parameters=[p]),
    "lamb": lambda o, p: o.Lamb(beta1=None, parameters=[p]),
    "nadam": lambda o, p: o.NAdam(momentum_decay=-1.0, parameters=[p]),
    "radam": lambda o, p: o.RAdam(beta2=1.0, parameters=[p]),
    "asgd": lambda o, p: o.ASGD(batch_num=0, parameters=[p]),
    "rprop_range": lambda o, p: o.Rprop(learning_rate_range=(1.0, 2.0), parameters=[p]),
    "rprop_etas": lambda o, p: o.Rprop(etas=(0.5, 0.9), parameters=[p]),
    "group_twice": lambda o, p: o.SGD(0.1, parameters=[{"params": [p]}, {"params": [p]}]),
    "group_key": lambda o, p: o.SGD(0.1, parameters=[{"p": [p]}]),
    "group_mixed": lambda o, p: o.SGD(0.1, parameters=[{"params": [p]}, p]),
    "set_lr": lambda o, p: o.SGD(0.1, parameters=[p]).set_lr("a"),
    "set_lr_scheduler": lambda o, p: o.SGD(0.1, parameters=[p]).set_lr_scheduler(3),
    "set_lr_scheduled": lambda o, p: o.SGD(o.lr.StepDecay(0.1, 2), parameters=[p]).set_lr(0.1),
    "accumulator": lambda o, p: o.Adam(0.1, parameters=[p])._get_accumulator("nothing", p),
}


@pytest.mark.parametrize("call", CALLS)
def test_error_class(call):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        CALLS[call](oracle.optimizer, parameter(oracle, VALUES[0], f"theirs_{call}"))
    with pytest.raises(theirs.type):
        CALLS[call](ours.optimizer, parameter(ours, VALUES[0], f"ours_{call}"))


def test_rates_and_gradients():
    def run(module):
        p = parameter(module, VALUES[2], "rates.w_0")
        o = module.optimizer.SGD(0.1, parameters=[p])
        out = [
            o.get_lr(),
            o.step(),
            o.set_lr(1),
            o.get_lr(),
            o.set_lr_scheduler(module.optimizer.lr.StepDecay(0.3, 2)),
            o.get_lr(),
        ]
        (p * p).sum().backward()
        for clear in (
            o.clear_grad,
            lambda: o.clear_grad(set_to_zero=False),
            o.zero_grad,
            lambda: o.zero_grad(set_to_none=False),
            o.clear_gradients,
        ):
            p.grad = module.to_tensor(VALUES[2])
            clear()
            out.append(p.grad if p.grad is None else p.grad.tolist())
        p.grad = module.to_tensor(VALUES[2])
        out += [[(a is p, g.tolist()) for a, g in o.minimize((p * p).sum())[1]], p.tolist()]
        out += [o.apply_gradients([(p, module.to_tensor(VALUES[2]))]), p.tolist()]
        return out, list(o.state_dict())

    mine, theirs = run(ours), run(oracle)
    assert np.allclose(mine[0].pop(), theirs[0].pop()) and np.allclose(mine[0].pop(-2), theirs[0].pop(-2))
    assert mine == theirs


def test_one_program_for_all_rates():
    case = Case(ours, VALUES, "rate")
    optimizer = case.build("Adam", {"learning_rate": 0.1})
    walk(case, optimizer, GRADS[:2])
    program = update.compiled(type(optimizer)._rule, optimizer._hyper({}), None).function
    count = program._cache_size()
    for rate in (0.2, 0.3, 0.4):
        optimizer.set_lr(rate)
        walk(case, optimizer, GRADS[:1])
    assert program._cache_size() == count


def test_aliases_survive():
    """Arrays that a user took from a parameter, a gradient or a state stay readable after later steps, and
    are not changed."""
    case = Case(ours, VALUES, "alias")
    optimizer = case.build("Adam", {"learning_rate": 0.1})
    walk(case, optimizer, GRADS[:2])
    kept = (
        [p.detach() for p in case.params]
        + [ours.to_tensor(p.grad) for p in case.params]
        + [v.detach() for v in optimizer.state_dict().values()]
    )
    kept.append(optimizer._get_accumulator("moment1", case.params[0]))
    copies = [np.array(k.numpy()) for k in kept]
    walk(case, optimizer, GRADS[2:])
    for tensor, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(tensor.numpy(), copy)


def test_own_clipping():
    class Half(clip.ClipGradBase):
        def __call__(self, params_grads):
            return [(p, ours.to_tensor(g.numpy() / 2)) for p, g in params_grads]

    mine, plain = Case(ours, VALUES, "half"), Case(ours, VALUES, "plain")
    walk(mine, mine.build("Momentum", {"grad_clip": Half()}))
    walk(plain, plain.build("Momentum", {}), [[g / 2 for g in row] for row in GRADS])
    for a, b in zip(mine.params, plain.params, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_clipping_set_later():
    early, late = Case(ours, VALUES, "early"), Case(ours, VALUES, "late")
    walk(early, early.build("SGD", {"grad_clip": clip.ClipGradByNorm(0.1)}))
    optimizer = late.build("SGD", {})
    optimizer._grad_clip = clip.ClipGradByNorm(0.1)
    walk(late, optimizer)
    for a, b in zip(early.params, late.params, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.filterwarnings("ignore:.*rescale_grad")
def test_rescale_grad_has_no_effect():
    compare("Momentum", {"rescale_grad": 0.5})


def test_lr_ratio():
    """A factor of 0.5 on the rate of every parameter is the same as half the rate (Paddle has no
    CPU kernel for it)."""
    mine, plain = Case(ours, VALUES, "ratio"), Case(ours, VALUES, "noratio")
    walk(mine, mine.build("AdamW", {"learning_rate": 0.1, "lr_ratio": lambda p: 0.5}))
    walk(plain, plain.build("AdamW", {"learning_rate": 0.05}))
    for a, b in zip(mine.params, plain.params, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_integer_parameters_are_refused():
    p = ours.nn.Parameter(jnp.asarray([1, 2]), name="integers")
    with pytest.raises(RuntimeError, match="floating"):
        ours.optimizer.SGD(0.1, parameters=[p]).apply_gradients([(p, ours.to_tensor([1, 1]))])


def test_step_inside_jit():
    """A step can be traced: state and parameters are then values of the program, and nothing of the
    trace stays behind."""
    case = Case(ours, VALUES, "traced")
    optimizer = case.build("Adam", {"learning_rate": 0.1})
    walk(case, optimizer, GRADS[:1])
    tensors = [*case.params, *(t for g in optimizer._groups for s in g.stacks for t in s.state.values())]
    start = [t._value for t in tensors]
    grads = [jnp.asarray(g) for g in GRADS[1]]

    def program(values, grads):
        for tensor, value in zip(tensors, values, strict=True):
            tensor._value = value
        optimizer.apply_gradients([(p, ours.to_tensor(g)) for p, g in zip(case.params, grads, strict=True)])
        return [t._value for t in tensors]

    ended = jax.jit(program)([jnp.array(s) for s in start], grads)
    plain = Case(ours, VALUES, "untraced")
    walk(plain, plain.build("Adam", {"learning_rate": 0.1}), GRADS[:2])
    for a, b in zip(ended, plain.params, strict=False):
        np.testing.assert_allclose(np.asarray(a), b.numpy(), rtol=1e-6)


def test_names():
    assert ours.optimizer.__all__ == oracle.optimizer.__all__
    assert str(ours.optimizer.AdamW(parameters=[])) == str(oracle.optimizer.AdamW(parameters=[]))
