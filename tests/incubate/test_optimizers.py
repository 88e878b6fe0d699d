"""LookAhead, ModelAverage and the minimisers of functions against the real Paddle, and against SciPy."""

import numpy as np
import pytest
import scipy.optimize

from tests.nn.scripts import same

START = [
    "l = nn.Linear(2, 1, bias_attr=False)",
    "l.weight.set_value(np.array([[1.0], [2.0]], 'float32'))",
    "x = paddle.to_tensor([[1.0, 2.0]])",
    "sgd = paddle.optimizer.SGD(0.1, parameters=l.parameters())",
    "I = paddle.incubate",
]
GO = (
    "go = lambda opt, *more: [l(x).sum().backward(), opt.step(), *[m.step() for m in more], "
    "opt.clear_grad(), l.weight.numpy()][-1]"
)
STATE = "state = lambda opt: sorted((k, v.numpy()) for k, v in opt.state_dict().items())"
SLOW = STATE.replace("items()", "items() if 'slow' in k")
LARS = [
    *START[:3],
    "I = paddle.incubate.optimizer",
    "make = lambda **more: I.LarsMomentumOptimizer(0.1, 0.9, parameter_list=l.parameters(), **more)",
    (
        "go = lambda opt, f=1.0: [(f * l(x) ** 2).sum().backward(), opt.step(), opt.clear_grad(), "
        "l.weight.numpy(), l.bias.numpy()][-2:]"
    ),
]
SCRIPTS = {
    **{
        f"lars {settings}": [
            *LARS,
            STATE,
            f"o = make({settings})",
            *["go(o)"] * 3,
            "go(o, 0.0)",
            "go(o)",
            "state(o)",
        ]
        for settings in (
            "",
            "lars_coeff=0.01, lars_weight_decay=0.1",
            "exclude_from_weight_decay=[l.bias.name, 'nothing']",
            "epsilon=0.5",
            "exclude_from_weight_decay=['_0']",
            "rescale_grad=0.5",
            "regularization=paddle.regularizer.L2Decay(0.1)",
            "grad_clip=nn.ClipGradByGlobalNorm(0.1)",
            "lars_weight_decay=0.0",
        )
    },
    "lars, refusals": [
        *LARS,
        "I.LarsMomentumOptimizer(None, 0.9, parameter_list=l.parameters())",
        "I.LarsMomentumOptimizer(0.1, 0.9)",
        "I.LarsMomentumOptimizer(0.1, None, parameter_list=l.parameters())",
        "make().minimize((l(x) ** 2).sum())[0]",
        "l.weight.numpy()",
    ],
    "look ahead": [
        *START,
        GO,
        SLOW,
        "o = I.LookAhead(sgd, alpha=0.2, k=3)",
        *["go(o)", "state(o)"] * 8,
        "o.get_lr()",
        "I.LookAhead(sgd, alpha=2.0)",
        "I.LookAhead(sgd, k=0)",
        "I.LookAhead(sgd, k=2.5)",
        "I.LookAhead(None)",
        "I.LookAhead(3)",
        "p = I.LookAhead(sgd, k=1)",
        "go(p)",
        "go(p)",
        "q = I.LookAhead(sgd, 0.5, 2)",
        "l(x).sum().backward()",
        "r = q.minimize(l(x).sum())",
        "len(r), r[0], r[1][0][0].numpy()",
        "l.weight.numpy()",
    ],
    "averages": [
        *START,
        GO,
        STATE,
        ("a = I.ModelAverage(0.5, parameters=l.parameters(), min_average_window=2, max_average_window=4)"),
        *[
            "go(sgd, a)",
            "state(a)",
            "c = a.apply()",
            "c.__enter__()",
            "l.weight.numpy()",
            "c.__exit__(None, None, None)",
            "l.weight.numpy()",
        ]
        * 9,
        "a.minimize(l(x).sum())",
        "state(a)",
        "c = a.apply(need_restore=False)",
        "c.__enter__()",
        "l.weight.numpy()",
        "c.__exit__(None, None, None)",
        "l.weight.numpy()",
        "a.restore()",
        "l.weight.numpy()",
        "I.ModelAverage(0.5)",
    ],
    "refusals": [
        "import importlib",
        "O = importlib.import_module(paddle.__name__ + '.incubate.optimizer.functional')",
        "f = lambda x: (x * x).sum()",
        "x = paddle.to_tensor([1.3, 2.7])",
        *[
            f"O.{name}(f, x, {bad})"
            for name in ("minimize_bfgs", "minimize_lbfgs")
            for bad in (
                "line_search_fn='a'",
                "dtype='int32'",
                "initial_inverse_hessian_estimate=paddle.to_tensor([[0.5, 1.0], [0.0, 0.5]])",
                "initial_inverse_hessian_estimate=paddle.to_tensor([[-0.5, 0.0], [0.0, 0.5]])",
            )
        ],
        "O.minimize_bfgs(f, x.astype('float64'))",
    ],
    "simple minima": [
        "import importlib",
        "O = importlib.import_module(paddle.__name__ + '.incubate.optimizer.functional')",
        "x = paddle.to_tensor([1.3, 2.7])",
        *[
            f"[t.numpy() for i, t in enumerate(O.{name}({call})) if i != 1]"
            for name in ("minimize_bfgs", "minimize_lbfgs")
            for call in (
                "lambda x: paddle.dot(x, x), x",
                "lambda x: (x**2).sum(), paddle.to_tensor([3.0])",
                (
                    "lambda x: paddle.dot(x, x), x, initial_inverse_hessian_estimate=paddle.to_tensor([[0.5, "
                    "0.0], [0.0, 0.5]])"
                ),
                "lambda x: x.sum() * x.sum() - 8 * x[0] + x[0] ** 2, x, max_iters=0",
            )
        ],
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.filterwarnings("ignore")
def test_behaves_alike(script, oracle, paddle):
    same(script, oracle, paddle)


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@pytest.mark.parametrize("name", ["minimize_bfgs", "minimize_lbfgs"])
def test_finds_the_minimum_in_few_steps(paddle, name):
    start = np.array([1.3, 0.7, 0.8, 1.9])
    found = getattr(paddle.incubate.optimizer.functional, name)(
        rosenbrock, paddle.to_tensor(start), max_iters=100, dtype="float64"
    )
    assert found[0].tolist() == [True] and found[1].dtype == paddle.int64 and 4 < found[1].item() < 100
    np.testing.assert_allclose(found[2].numpy(), np.ones(4), atol=1e-6)
    assert found[3].shape == [] and found[3].item() < 1e-12 and abs(found[4]).max().item() < 1e-5
    if len(found) == 6:
        np.testing.assert_allclose(
            np.linalg.inv(found[5].numpy()), scipy.optimize.rosen_hess(np.ones(4)), rtol=0.1, atol=5
        )


def test_what_has_no_minimum(paddle):
    for minimize in (
        paddle.incubate.optimizer.functional.minimize_bfgs,
        paddle.incubate.optimizer.functional.minimize_lbfgs,
    ):
        found = minimize(lambda x: x.sum(), paddle.to_tensor([1.0, 2.0]), max_iters=3)
        assert found[0].tolist() == [False] and found[3].item() < 0
        assert minimize(lambda x: x.sum() * 0 + 1, paddle.to_tensor([1.0, 2.0]))[0].tolist() == [True]


@pytest.mark.parametrize("kind", ["LookAhead", "ModelAverage"])
def test_states_go_on_where_they_were(paddle, kind):
    def made(weight):
        layer = paddle.nn.Linear(2, 1, bias_attr=False)
        layer.weight.set_value(weight)
        sgd = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        args = (sgd, 0.5, 2) if kind == "LookAhead" else (0.5, layer.parameters(), 2, 4)
        return layer, sgd, getattr(paddle.incubate, kind)(*args)

    def steps(layer, sgd, outer, count):
        for _ in range(count):
            layer(paddle.to_tensor([[1.0, 2.0]])).sum().backward()
            if kind != "LookAhead":
                sgd.step()
            outer.step()
            sgd.clear_grad()

    with paddle.utils.unique_name.guard():
        one = made(np.array([[1.0], [2.0]], "float32"))
    steps(*one, 4)
    with paddle.utils.unique_name.guard():
        other = made(one[0].weight.numpy())
    other[2].set_state_dict(one[2].state_dict())
    for engine in (one, other):
        steps(*engine, 3)
    np.testing.assert_allclose(one[0].weight.numpy(), other[0].weight.numpy(), rtol=1e-6)
    for (name, a), b in zip(one[2].state_dict().items(), other[2].state_dict().values(), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6, err_msg=name)


def test_in_a_compiled_step(paddle):
    def trained(compiled):
        layer = paddle.nn.Linear(2, 1, bias_attr=False)
        layer.weight.set_value(np.array([[1.0], [2.0]], "float32"))
        sgd = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        outer, average = (
            paddle.incubate.LookAhead(sgd, 0.5, 2),
            paddle.incubate.ModelAverage(0.5, layer.parameters(), 2, 4),
        )

        def step(x):
            layer(x).sum().backward()
            outer.step()
            average.step()
            outer.clear_grad()

        run = paddle.jit.to_static(step) if compiled else step
        for _ in range(7):
            run(paddle.to_tensor([[1.0, 2.0]]))
        return [
            layer.weight.numpy(),
            *[t.numpy() for t in (*outer.state_dict().values(), *average.state_dict().values())],
        ]

    for got, want in zip(trained(True), trained(False), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_settings_for_tuning_are_checked(paddle, tmp_path):
    set_config = paddle.incubate.autotune.set_config
    (tmp_path / "good.json").write_text('{"kernel": {"enable": true, "tuning_range": [1, 3]}}')
    for good in (
        None,
        {"kernel": {"enable": False}, "dataloader": {"enable": True, "tuning_steps": 3}},
        str(tmp_path / "good.json"),
    ):
        set_config(good)
    for bad in (
        {"kernel": {"enable": 3}},
        {"layout": {"enable": 1}},
        {"dataloader": {"tuning_steps": "a"}},
        str(tmp_path / "none.json"),
    ):
        with pytest.warns(UserWarning, match="set_config"):
            set_config(bad)
