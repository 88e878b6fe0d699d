"""Names outside the documentation that code bases import, against the real Paddle."""

import importlib

import numpy as np
import pytest

import paddle_jax


@pytest.fixture(params=["oracle", "ours"])
def module(request, oracle):
    return oracle if request.param == "oracle" else paddle_jax


def found(module, path, name):
    return getattr(importlib.import_module(f"{module.__name__}.{path}"), name)


FILLED = [
    "[2], 'float32', 1",
    "(2, 3), 'int64', 2.7",
    "2, 'float32', 1",
    "[], 'bool', 1",
    "[2], 'float32', 'inf'",
    "[2], 'uint8', 300",
    "[2], 'float32', T(3.0)",
    "T([2]), 'int32', T(2.5)",
    "[T(2), 1], 'float16', 1",
    "[2], 'complex64', 1",
    "[2], 'float32', 1, False, None, 'cpu', 'a'",
    "shape=[2], dtype='float32', value=1.5, force_cpu=True",
    "[2], 'float32', None",
    "[-1], 'float32', 1",
    "[1.5], 'int32', 2",
    "[2], 'float32', T([1.0, 2.0])",
]


@pytest.mark.parametrize("arguments", FILLED)
def test_fill_constant(arguments, oracle):
    results = []
    for module in (oracle, paddle_jax):
        names = {"f": found(module, "tensor", "fill_constant"), "T": module.to_tensor}
        assert names["f"] is found(module, "tensor.creation", "fill_constant")
        try:
            made = eval(f"f({arguments})", names)  # noqa: S307
            results.append((made.dtype.name, made.numpy()))
        except (ValueError, TypeError) as error:
            results.append(error)
    want, got = results
    if isinstance(want, Exception):
        assert isinstance(got, type(want))
    else:
        assert got[0] == want[0]
        np.testing.assert_array_equal(got[1], want[1])


GAUSSIAN = [
    "[2, 3]",
    "[2], 1.0, 0.5, 7, 'float64'",
    "(3,), dtype='complex64'",
    "T([2, 2])",
    "[2], std=T(2.0)",
    "[3], dtype='int32'",
    "[1.5]",
]


@pytest.mark.parametrize("arguments", GAUSSIAN)
def test_gaussian(arguments, oracle):
    def outcome(module):
        names = {"f": found(module, "tensor.random", "gaussian"), "T": module.to_tensor}
        made = eval(f"f({arguments})", names)  # noqa: S307
        return made.dtype.name, list(made.shape), made.stop_gradient

    try:
        want = outcome(oracle)
    except (ValueError, TypeError, RuntimeError) as error:
        with pytest.raises(type(error)):
            outcome(paddle_jax)
    else:
        assert outcome(paddle_jax) == want


def test_numbers_of_gaussian():
    gaussian = found(paddle_jax, "tensor.random", "gaussian")
    numbers = gaussian([10000], mean=5.0, std=0.5).numpy()
    assert abs(numbers.mean() - 5) < 0.05 and abs(numbers.std() - 0.5) < 0.05
    assert gaussian([3], seed=7).tolist() == gaussian([3], seed=7).tolist() != gaussian([3], seed=8).tolist()


def test_small_helpers(module):
    assert len(found(module, "distributed.utils.launch_utils", "find_free_ports")(2)) == 2
    kinds = found(module, "distributed.fleet.meta_parallel.sharding.group_sharded_utils", "Type")
    assert {kind.name: kind.value for kind in kinds} == {
        "fp16": module.float16,
        "bf16": module.bfloat16,
        "fp32": module.float32,
    }
    assert found(module, "utils.download", "logger").info("") is None
    unwrap = found(module, "distributed.fleet.utils.hybrid_parallel_util", "unwrap_optimizer")
    inner, wrapper = object(), type("Wrapper", (), {})
    outer = wrapper()
    outer._inner_opt = inner
    assert unwrap(outer, (wrapper,)) is inner and unwrap(outer) is outer


@pytest.mark.parametrize("scale", [None, 1.0, 0.25])
def test_gradients_of_one_process(scale):  # the real Paddle wants an initialized group
    weight, unused = (paddle_jax.create_parameter([2], "float32") for _ in range(2))
    (weight * 3).sum().backward()
    path = "distributed.fleet.utils.hybrid_parallel_util"
    found(paddle_jax, path, "fused_allreduce_gradients_with_group")([weight, unused], None, scale=scale)
    assert weight.grad.tolist() == [3.0 * (1.0 if scale is None else scale)] * 2


def test_stop_watches(module, capsys, monkeypatch):
    helper = importlib.import_module(f"{module.__name__}.distributed.fleet.utils.timer_helper")
    monkeypatch.setattr(helper, "_GLOBAL_TIMERS", None)
    with pytest.raises(AssertionError):
        helper.get_timers()
    helper.set_timers()
    assert helper.is_timer_initialized()
    with pytest.raises(AssertionError):
        helper.set_timers()
    timers = helper.get_timers()
    timers("b").elapsed_, timers("a").elapsed_ = 0.5, 1.25
    with pytest.raises(AssertionError):
        timers("a", use_event=True)
    timers.log(["b", "a"], 2.0, reset=False)
    timers.log(["b"])
    timers.log(["b"])
    assert capsys.readouterr().out.splitlines() == [
        "time (ms) | b: 250.00 | a: 625.00",
        "time (ms) | b: 500.00",
        "time (ms) | b: 0.00",
    ]
    assert timers("a").elapsed() == 1.25 and timers("a").elapsed_ == 0
    with pytest.raises(KeyError):
        timers.log(["c"])
    with pytest.raises(AssertionError):
        timers("a").stop()
    if module is paddle_jax:  # the real one needs a GPU
        timers("a").start()
        with pytest.raises(AssertionError):
            timers("a").start()
        assert timers("a").elapsed(reset=False) > 0 and timers("a").started_


def test_create_tensor(module):
    made = found(module, "tensor", "create_tensor")("float32", name="empty_one", persistable=True)
    assert (made.name, made.persistable, made.dtype, made.stop_gradient) == (
        "empty_one",
        True,
        module.float32,
        True,
    )
    assert module.assign(module.ones([2]), output=made) is made
    assert made.tolist() == [1.0, 1.0]


def test_suffixes_of_files(module):
    names = "INFER_MODEL_SUFFIX INFER_PARAMS_SUFFIX INFER_PARAMS_INFO_SUFFIX INFER_PROPERTY_SUFFIX".split()
    assert [found(module, "jit.translated_layer", name) for name in names] == [
        ".pdmodel",
        ".pdiparams",
        ".pdiparams.info",
        ".meta",
    ]


def test_lists_of_operations_that_stay_whole(module):
    core = module.framework.core
    core._set_prim_backward_blacklist("tanh_grad", "exp_grad")
    core._set_prim_forward_blacklist("tanh")
    core._set_prim_backward_blacklist()
    assert core.prim_config["forward_blacklist"] >= {"tanh"}
    assert core.prim_config["backward_blacklist"] >= {"matmul_grad", "tanh_grad", "exp_grad"}
    assert core.prim_config["composite_ops_record"] == set()
    with pytest.raises(TypeError):
        core._set_prim_backward_blacklist(["tanh_grad"])
    x = module.to_tensor([0.5], stop_gradient=False)
    (slope,) = module.grad(module.tanh(x), x, create_graph=True)
    (second,) = module.grad(slope, x)
    t = np.tanh(0.5)
    np.testing.assert_allclose(second.numpy(), [-2 * t * (1 - t * t)], rtol=1e-5)


@pytest.mark.parametrize("text", ["1", "True", "yes", ""])
def test_log_of_primitive_operations(text, oracle, monkeypatch):
    monkeypatch.setenv("FLAGS_prim_log", text)
    want, got = (module.base.core._prim_return_log() for module in (oracle, paddle_jax))
    assert got is want


def test_kind_of_gpu(module):
    kind = found(module, "nn.quant.quantized_linear", "_get_arch_info")()
    assert kind == 0 or module.is_compiled_with_cuda()
