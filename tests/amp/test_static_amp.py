"""Static programs in mixed precision: dtypes as the oracle's guard gives them, training as
in dynamic mode."""

import numpy as np
import pytest

import paddle_jax as paddle

pytestmark = pytest.mark.own_process
F32, F16, BF16 = "float32", "float16", "bfloat16"


@pytest.fixture(autouse=True)
def _static():
    paddle.enable_static()
    with paddle.utils.unique_name.guard(), paddle.static.scope_guard(paddle.static.Scope()):
        yield
    paddle.disable_static()


def name(variable):
    return str(variable.dtype).rpartition(".")[2].split(":")[0].lower()


def model(module, guard=None):
    x, y = module.static.data("x", [None, 3]), module.static.data("y", [None, 1])
    hidden = module.nn.functional.relu(module.nn.Linear(3, 8)(x))
    out = module.nn.Linear(8, 1)(module.nn.LayerNorm(8)(hidden))
    return out, module.mean(module.square(out - y))


def trained(kwargs, factors=(1.0,) * 5, opt=None):
    """(dtypes of out, loss and parameters; losses and scales; values of the parameters) of training."""
    paddle.seed(0)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        out, loss = model(paddle)
        opt = paddle.optimizer.Adam(0.05) if opt is None else opt
        if kwargs is not None:
            opt = paddle.static.amp.decorate(opt, **kwargs)
        opt.minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    for p in main.all_parameters():
        value = np.random.default_rng(len(p.shape)).normal(size=p.shape).astype("float32")
        paddle.static.global_scope().find_var(p.name).get_tensor().set(value, paddle.CPUPlace())
    fetches = [loss]
    if kwargs is not None:
        opt.amp_init(paddle.CPUPlace(), rewrite_master_weight=True)
        fetches += [] if opt.get_loss_scaling() is None else [opt.get_loss_scaling()]
    seen = []
    for i, factor in enumerate(factors):
        data = np.random.default_rng(i).normal(size=(6, 3)).astype("float32")
        seen.append(
            [
                np.float32(v).ravel()[0]
                for v in exe.run(main, {"x": data * factor, "y": data.sum(1, keepdims=True)}, fetches)
            ]
        )
    values = [
        np.array(paddle.static.global_scope().find_var(p.name).get_tensor()).astype("float32")
        for p in main.all_parameters()
    ]
    return (name(out), name(loss), {p.avals[0].dtype.name for p in main.all_parameters()}), seen, values


@pytest.mark.parametrize(
    "kwargs, kinds",
    [
        ({"dtype": BF16}, (BF16, F32, {F32})),
        ({"init_loss_scaling": 64.0}, (F16, F32, {F32})),
        ({"use_bf16": True}, (BF16, F32, {F32})),
        ({"dtype": BF16, "level": "O2"}, (BF16, BF16, {F32, BF16})),
        ({"level": "O2", "master_grad": True, "init_loss_scaling": 64.0}, (F16, F16, {F32, F16})),
        ({"use_pure_fp16": True, "use_fp16_guard": False, "init_loss_scaling": 64.0}, (F16, F16, {F32, F16})),
        (
            {
                "amp_lists": paddle.static.amp.CustomOpLists(custom_black_list={"linear_v2"}),
                "init_loss_scaling": 64.0,
            },
            (F32, F32, {F32}),
        ),
    ],
    ids=range(7),
)
def test_trains_as_in_float32(kwargs, kinds):
    plain, found = trained(None), trained(kwargs)
    assert found[0] == kinds
    low = "O2" in str(kwargs) or "pure" in str(kwargs)
    np.testing.assert_allclose(
        [row[0] for row in found[1]], [row[0] for row in plain[1]], rtol=0.1 if low else 0.05
    )
    for a, b in zip(found[2], plain[2], strict=True):
        np.testing.assert_allclose(a, b, atol=0.03)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"init_loss_scaling": 64.0, "incr_every_n_steps": 2},
        {"init_loss_scaling": 64.0, "use_dynamic_loss_scaling": False},
        {"init_loss_scaling": 64.0, "level": "O2", "decr_ratio": 0.25},
    ],
    ids=str,
)
def test_a_step_that_overflows_changes_nothing(kwargs):
    _, seen, values = trained(kwargs, (1.0, 1.0, float("inf"), 1.0))
    scales = [row[1] for row in seen]
    dynamic = kwargs.get("use_dynamic_loss_scaling", True)
    grown = 128.0 if kwargs.get("incr_every_n_steps") else 64.0
    assert scales[2:] == ([grown * kwargs.get("decr_ratio", 0.5)] * 2 if dynamic else [64.0] * 2)
    assert np.isnan(seen[2][0]) and all(np.isfinite(v).all() for v in values)


def test_rewriting_gives_the_dtypes_of_a_guard():
    def recorded(guarded):
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            with paddle.amp.auto_cast(guarded, dtype=BF16):
                x, w = paddle.static.data("x", [4, 4]), paddle.static.data("w", [4, 4])
                product = paddle.matmul(x, w)
                found = [
                    product,
                    product.exp(),
                    product + product,
                    product + x,
                    product.sum(),
                    paddle.concat([product, product]),
                    x * 2.0,
                    product.reshape([16]),
                    product.cast("float64"),
                ]
        return main, found

    (_, wanted), (main, found) = recorded(True), recorded(False)
    paddle.static.amp.cast_model_to_fp16(main, use_fp16_guard=False, dest_type=BF16, level="O1")
    assert list(map(name, found)) == list(map(name, wanted))
    data = np.random.default_rng(0).normal(size=(4, 4)).astype("float32")
    exe = paddle.static.Executor()
    results = [
        exe.run(fetched[0]._raw.program, {"x": data, "w": data}, fetched) for fetched in (wanted, found)
    ]
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


def test_guards_and_names_of_variables():
    def run(lists=None, guard=True):
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [4, 4])
            with paddle.static.amp.fp16_guard():
                inside = paddle.matmul(x, x)
            outside = paddle.matmul(inside, x)
        paddle.static.amp.cast_model_to_fp16(main, lists, guard, BF16)
        return name(inside), name(outside)

    assert run() == (BF16, F32) and run(guard=False) == (BF16, BF16)
    assert run(paddle.static.amp.AutoMixedPrecisionLists(custom_black_varnames={"x"}, dtype=BF16)) == (
        F32,
        F32,
    )
    assert run(
        paddle.static.amp.AutoMixedPrecisionLists(custom_black_list={"matmul_v2"}, dtype=BF16), False
    ) == (F32, F32)


def test_control_flow_and_running_statistics_keep_their_dtypes():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [4, 3])
        h = paddle.nn.BatchNorm1D(3)(paddle.nn.Linear(3, 3)(x))
        out = paddle.static.nn.cond(h.sum() > 0, lambda: h * 2, lambda: h - 1)
        loss = out.mean()
        paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), dtype=BF16).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    for _ in range(2):
        (value,) = exe.run(main, {"x": np.ones((4, 3), "float32")}, [loss])
    assert np.isfinite(np.float32(value))


def test_recording_inside_a_guard_as_the_oracle(oracle):
    def run(module):
        with module.static.program_guard(module.static.Program(), module.static.Program()):
            with module.amp.auto_cast(dtype=BF16):
                x = module.static.data("x", [4, 3])
                h = module.matmul(x, module.static.data("w", [3, 3]))
                return [
                    name(t)
                    for t in (
                        h,
                        module.nn.functional.relu(h),
                        module.nn.functional.softmax(h),
                        h.mean(),
                        h + x,
                    )
                ]

    oracle.enable_static()
    try:
        want = run(oracle)
    finally:
        oracle.disable_static()
    assert run(paddle) == want


def test_lists_and_refusals():
    lists = paddle.static.amp.AutoMixedPrecisionLists({"exp"}, {"matmul_v2"})
    assert "exp" in lists.white_list - lists.black_list and "matmul_v2" in lists.black_list - lists.white_list
    with pytest.raises(ValueError):
        paddle.static.amp.CustomOpLists({"exp"}, {"exp"})
    with pytest.raises(ValueError):
        paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), level="O3")
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        _, loss = model(paddle)
        paddle.optimizer.SGD(0.1).minimize(loss)
        with pytest.raises(ValueError):
            paddle.static.amp.cast_model_to_fp16(main)
