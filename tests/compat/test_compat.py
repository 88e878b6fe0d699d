"""paddle.compat against the real Paddle: functions by case texts as in tests/ops, layers with the
same parameters."""

import numpy as np
import pytest

import paddle_jax
from tests.ops import harness as h

NAN, OUT, AT = (
    "const([1.0, float('nan'), 2.0, 3.0]).detach()",
    "paddle.zeros([2])",
    "paddle.zeros([2], 'int64')",
)
REDUCE = [
    "f(2,3)",
    "f(2,3), 1",
    "f(2,3), -1, True",
    "f(2,3), dim=0, keepdim=True",
    "f(2,3), f(3)",
    "f(2,3), other=f(3)",
    "i(2,3), 1",
    "f(), 0",
    "const([2.0, 2.0, 1.0])",
    "const([2.0, 2.0, 1.0]), 0",
    "const([2.0, 1.0]), const([2.0, 3.0])",
    NAN,
    "f(0,3), 1",
    "f(0)",
    "f(2,3), i(3)",
    "f(2,3), 2",
    "f(2,3), [0, 1]",
    "f(2,3), None",
    "f(2,3), True",
    "f(2,3), keepdim=True",
    "f(2,3), axis=1",
    "f(2,3), 1, dim=1",
    "[1.0]",
    "f(2,3), f(3), True",
    f"f(2,3), 1, out=({OUT}, {AT})",
    f"f(2,3), out={OUT}",
    f"f(2,3), 1, out={OUT}",
    f"f(2,3), out=({OUT}, {AT})",
]
MEDIAN = [
    "f(4)",
    "f(2,5), 1",
    "d(2,4), dim=-1, keepdim=True",
    "f(2,4), keepdim=True",
    "f(), 0",
    NAN,
    f"{NAN}, 0",
    "f(2,4), 2",
    "f(2,4), [0]",
    "f(2,4), axis=1",
    f"f(2,4), 1, out=({OUT}, {AT})",
]
CASES = {
    "max": REDUCE,
    "min": REDUCE,
    "median": MEDIAN,
    "nanmedian": MEDIAN,
    "sort": [
        "f(2,3)",
        "f(2,3), 0, True",
        "const([2.0, 1.0, 2.0]), descending=True, stable=True",
        "f(), 0",
        "f(0)",
        NAN,
        "f(3), 1",
        "f(3), axis=0",
        "f(3), None",
        f"f(3), out={OUT}",
        f"f(3), out=[{OUT}, {AT}]",
    ],
    "split": [
        "f(5), 2",
        "f(2,5), [2, 0, 3], 1",
        "f(2,3), 2, -1",
        "f(5), 7",
        "f(0), 2",
        "f(5), [2, 2]",
        "f(5), [6, -1]",
        "f(5), 0",
        "f(5), 2, 1",
        "f(5), 2, -2",
        "f(5), 2.0",
        "f(), 1",
        "f(5), 2, axis=0",
    ],
    "unique": [
        "const([3, 1, 2, 1])",
        "const([[3, 1], [2, 1]]), return_inverse=True",
        "const([[3, 1], [2, 1], [3, 1]]), True, True, True, 0",
        "const([3, 1]), dim=1",
        "f(3), axis=0",
    ],
    "equal": [
        "f(2), f(2)",
        "const([1, 2]), const([1.0, 2.0])",
        "const([1.0]), const([[1.0]])",
        "f(0), f(0)",
        "const([float('nan')]), const([float('nan')])",
        "f(2), 1.0",
        "x=f(2), y=f(2)",
    ],
    "slogdet": ["spd(3)", "f(2,2,2)", "f(2,3)", "f(0,3,3)", f"spd(3).detach(), out=({OUT}, {OUT})"],
    "nn.functional.linear": [
        "f(2,3), f(4,3), f(4)",
        "d(2,5,3), d(4,3)",
        "f(2,3), f(3)",
        "f(0,3), f(4,3)",
        "f(2,3), f(3,4)",
        "x=f(2,3), weight=f(4,3)",
    ],
    "nn.functional.softmax": [
        "f(2,3)",
        "f(2,3,2)",
        "f(3)",
        "f()",
        "f(2,3), 0",
        "f(2,3), dim=1, dtype='float64'",
        "f(2,3), 2",
        "f(2,3), axis=1",
    ],
    "nn.functional.pad": [
        "f(3), [1, 2]",
        "f(2,3), (1, 2, 0, 1), value=5.0",
        "f(1,2,3), [-1, 1]",
        "f(1,1,2,3), [1, 1, 1, 0], 'replicate'",
        "d(1,2,4), [-1, 2], 'reflect'",
        "f(1,1,2,3), [4, 1, -1, 0], 'circular'",
        "f(2,3), [1, 1], 'reflect'",
        "i(2,3), [1, 1], value=2",
        "f(1,2,2,3,2), [1, 1, 0, 1, 1, 0], 'reflect'",
        "f(1,2,3,1,2,2), [1] * 12",
        "f(3), [1, 1], 'reflect'",
        "f(1,2,3), [3, 1], 'reflect'",
        "f(1,2,3), [1] * 6, 'replicate'",
        "f(2,3), [1, 1], 'x'",
        "f(2,3), 1",
        "f(2,3), [1.5, 1]",
        "f(2,3), [1, 1], data_format='NCL'",
    ],
    "nn.functional.unfold": [
        "f(1,2,3,3), 2",
        "f(1,2,4,4), [2, 1], 1, [1, 0], (2, 1)",
        "f(2,4,4), 2",
        "f(1,2,4,4), 5",
        "f(1,2,4,4), 2.0",
        "f(1,2,4,4), kernel_sizes=2",
    ],
    "nn.functional.scaled_dot_product_attention": [
        "f(1,2,3,4), f(1,2,5,4), f(1,2,5,6)",
        "f(2,3,4), f(2,3,4), f(2,3,4), None, 0.0, True",
        "f(1,4,3,4), f(1,2,3,4), f(1,2,3,4), f(3,3), enable_gqa=True",
        "f(2,2,3,4), f(1,2,3,4), f(1,2,3,4), const(np.tril(np.ones((3, 3), bool))), scale=0.3",
        "f(1,2,3,4), f(1,2,3,4), f(1,2,3,4), dropout_p=1.0",
        "f(1,2,3,4), f(1,2,3,5), f(1,2,3,4)",
        "f(1,4,3,4), f(1,2,3,4), f(1,2,3,4)",
        "f(1,3,3,4), f(1,2,3,4), f(1,2,3,4), enable_gqa=True",
        "f(3,4), f(3,4), f(3,4)",
        "f(1,1,2,3,4), f(1,1,2,3,4), f(1,1,2,3,4)",
        "f(1,2,3,4), f(1,2,3,4), f(1,2,3,4), i(3,3)",
        "f(1,2,3,4), f(1,2,3,4), f(1,2,3,4), f(3,3), is_causal=True",
        "f(1,2,3,4), f(1,2,3,4), f(1,2,3,4), dropout_p=1.5",
    ],
}


def find(module, path):
    for part in path.split("."):
        module = getattr(module, part)
    return module


@pytest.mark.parametrize("path", CASES)
def test_functions(path, oracle):
    theirs, ours = find(oracle.compat, path), find(paddle_jax.compat, path)
    problems = [f"[{case}] {p}" for case in CASES[path] if (p := problem(oracle, theirs, ours, case))]
    assert not problems, "\n".join(problems)


def problem(oracle, theirs, ours, case):
    want, got = h.evaluate(oracle, theirs, case), h.evaluate(paddle_jax, ours, case)
    if want.error is not None:
        return (
            None
            if h.same_refusal(got.error, want.error)
            else f"the oracle raises {type(want.error).__name__}; ours: {got.error!r}"
        )
    if got.error is not None:
        return f"raises {got.error!r}"
    if text := h.compare_outputs(got, want):
        return text
    wanted = h.first_gradient(oracle, want)
    return None if wanted is None else h.compare_gradients(h.first_gradient(paddle_jax, got), wanted)


@pytest.mark.parametrize(
    ("call", "name", "fields"),
    [
        (lambda p: p.compat.max(p.ones([2]), 0), "MinMaxRetType", ("values", "indices")),
        (lambda p: p.compat.median(p.ones([2]), 0), "MedianRetType", ("values", "indices")),
        (lambda p: p.compat.sort(p.ones([2])), "SortRetType", ("values", "indices")),
        (lambda p: p.compat.slogdet(p.ones([1, 1])), "SlogdetResult", ("sign", "logabsdet")),
    ],
)
def test_results_have_names(call, name, fields, oracle):
    for result in (call(oracle), call(paddle_jax)):
        assert (type(result).__name__, result._fields) == (name, fields)


def test_out_is_filled():
    values, indices = paddle_jax.zeros([2]), paddle_jax.zeros([2], "int64")
    paddle_jax.compat.max(paddle_jax.to_tensor([[1.0, 3.0], [4.0, 2.0]]), 1, out=(values, indices))
    assert (values.tolist(), indices.tolist()) == ([3.0, 4.0], [1, 0])


def test_seed_draws_a_new_sequence():
    seed = paddle_jax.compat.seed()
    first = paddle_jax.rand([3]).tolist()
    paddle_jax.seed(seed)
    assert paddle_jax.rand([3]).tolist() == first


def test_numbers_of_pad_that_paddle_ignores_are_refused():
    for pad in ([1, 2, 0], [1, 1, 1, 1, 1, 1]):
        with pytest.raises(ValueError, match="pad"):
            paddle_jax.compat.nn.functional.pad(paddle_jax.ones([2, 3]), pad)


# layers -----------------------------------------------------------------------------------------------------

LAYERS = {
    "Linear": [((3, 2), {}, [(4, 3)]), ((3, 2, False), {"dtype": "float64"}, [(4, 3)])],
    "Softmax": [((), {}, [(2, 3)]), ((), {}, [(2, 3, 2)]), ((0,), {}, [(2, 3)])],
    "Unfold": [((2,), {"padding": 1, "stride": 2}, [(1, 2, 3, 3)])],
    "AvgPool1D": [((2,), {}, [(1, 2, 5)]), (([3], 2, 1), {"count_include_pad": False}, [(1, 2, 6)])],
    "AvgPool2d": [
        ((2,), {"divisor_override": 3}, [(1, 2, 4, 4)]),
        (((3, 2), 2, 1, True, False), {}, [(1, 2, 5, 6)]),
    ],
    "AvgPool3D": [((2, 2, 1), {}, [(1, 1, 4, 4, 4)])],
}


def tensors(module, arrays, dtype):
    return [module.to_tensor(np.asarray(a, dtype)) for a in arrays]


def parts(result):
    return [
        np.asarray(t.numpy()) for t in (result if isinstance(result, tuple) else (result,)) if t is not None
    ]


def same_layers(oracle, name, args, kwargs, shapes, call=None):
    """Runs a layer of both engines with the parameters of ours; compares outputs and gradients
    of the parameters."""
    dtype = kwargs.get("dtype", "float32")
    layers = [getattr(m.compat.nn, name)(*args, **kwargs) for m in (paddle_jax, oracle)]
    state = {k: v.numpy() for k, v in layers[0].state_dict().items()}
    assert {k: list(v.shape) for k, v in layers[1].state_dict().items()} == {
        k: list(v.shape) for k, v in state.items()
    }
    missing, unexpected = layers[1].set_state_dict({k: oracle.to_tensor(v) for k, v in state.items()})
    assert not missing and not unexpected
    arrays = [np.random.RandomState(i).randn(*s) for i, s in enumerate(shapes)]
    outs = []
    for module, layer in zip((paddle_jax, oracle), layers, strict=True):
        result = layer(*tensors(module, arrays, dtype), **({} if call is None else call(module)))
        first = result[0] if isinstance(result, tuple) else result
        if state:
            (first * first).sum().backward()
        grads = {k: p.grad.numpy() for k, p in layer.named_parameters() if p.grad is not None}
        outs.append((parts(result), grads))
    for got, want in zip(outs[0][0], outs[1][0], strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)
    assert outs[0][1].keys() == outs[1][1].keys()
    for key, want in outs[1][1].items():
        np.testing.assert_allclose(outs[0][1][key], want, rtol=1e-4, atol=1e-5, err_msg=key)
    return layers


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name, oracle):
    for args, kwargs, shapes in LAYERS[name]:
        ours, theirs = same_layers(oracle, name, args, kwargs, shapes)
        assert name == "Softmax" or repr(ours) == repr(theirs)  # the oracle's Softmax cannot be printed


def masks(**arrays):
    return lambda module: {
        k: module.to_tensor(np.asarray(v)) if isinstance(v, list | np.ndarray) else v
        for k, v in arrays.items()
    }


SOME = np.array([[True, True, True], [False, False, True], [True, False, False]])
PADDED = [[False, False, True], [False, True, True]]
ATTENTION = [
    ({}, [(3, 2, 4)] * 3, masks()),
    (
        {"batch_first": True, "kdim": 3, "vdim": 5},
        [(2, 3, 4), (2, 5, 3), (2, 5, 5)],
        masks(average_attn_weights=False),
    ),
    ({"bias": False}, [(3, 4), (5, 4), (5, 4)], masks()),
    ({}, [(3, 2, 4)] * 3, masks(attn_mask=SOME, key_padding_mask=PADDED)),
    ({"dtype": "float64"}, [(3, 2, 4)] * 3, masks(attn_mask=SOME, need_weights=False)),
    (
        {"add_bias_kv": True, "add_zero_attn": True},
        [(3, 2, 4)] * 3,
        masks(is_causal=True, key_padding_mask=PADDED),
    ),
    (
        {},
        [(3, 2, 4), (5, 2, 4), (5, 2, 4)],
        masks(attn_mask=np.random.RandomState(9).randn(4, 3, 5).astype("float32"), is_causal=True),
    ),
    ({"dropout": 1.0}, [(3, 2, 4)] * 3, masks()),
]


@pytest.mark.parametrize("case", range(len(ATTENTION)))
def test_attention(case, oracle):
    kwargs, shapes, call = ATTENTION[case]
    ours, theirs = same_layers(oracle, "MultiheadAttention", (4, 2), kwargs, shapes, call)
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("module", ["oracle", "ours"])
def test_attention_refuses(module, oracle):
    p = oracle if module == "oracle" else paddle_jax
    with pytest.raises(AssertionError):
        p.compat.nn.MultiheadAttention(5, 2)
    layer, x = p.compat.nn.MultiheadAttention(4, 2), p.ones([3, 2, 4])
    with pytest.raises(AssertionError):
        layer(x, x, x, p.zeros([3, 2], "bool"))
    with pytest.raises(TypeError):
        layer(x, x, x, p.zeros([2, 3], "int64"))
    for bad in (p.ones([3, 2, 5]), p.ones([4, 2, 4])):
        with pytest.raises(ValueError):  # noqa: PT011
            layer(x, x, bad)


@pytest.mark.parametrize("name", ["Linear", "Softmax", "Unfold", "AvgPool2D"])
def test_paddles_own_keywords_are_refused(name, oracle):
    keyword = {
        "Linear": "weight_attr",
        "Softmax": "axis",
        "Unfold": "kernel_sizes",
        "AvgPool2D": "exclusive",
    }[name]
    for module in (oracle, paddle_jax):
        with pytest.raises(TypeError):
            getattr(module.compat.nn, name)(**{keyword: 1})


def test_linear_starts_as_in_pytorch():
    layer = paddle_jax.compat.nn.Linear(400, 300)
    for _ in range(2):
        for parameter in layer.parameters():
            assert 0.045 < float(parameter.abs().max()) <= 0.05
        before = layer.weight.numpy()
        layer.reset_parameters()
        assert (layer.weight.numpy() != before).any()


# `import torch` ---------------------------------------------------------------------------------------------


def test_import_torch_gives_this_package():
    paddle_jax.enable_compat()
    try:
        import torch
        import torch.nn.functional as F
        from torch.linalg import norm
        from torch.nn import Conv2d, Linear

        assert torch.nn.functional is F and torch.cat is paddle_jax.concat and norm is paddle_jax.linalg.norm
        assert Linear is paddle_jax.compat.nn.Linear and Conv2d is paddle_jax.nn.Conv2D
        assert F.unfold is paddle_jax.compat.nn.functional.unfold and F.relu is paddle_jax.nn.functional.relu
        with pytest.raises(ModuleNotFoundError):
            import torch.nowhere
        with pytest.raises(ImportError):
            from torch import nothing  # noqa: F401
    finally:
        paddle_jax.disable_compat()


def test_import_torch_only_where_asked_for():
    source = "import torch.nn as nn\nfound = nn.Linear"
    with paddle_jax.use_compat_guard(scope={"here"}):
        for name, concerned in (("here", True), ("here.below", True), ("elsewhere", False)):
            space = {"__name__": name, "__builtins__": __builtins__}
            try:
                exec(source, space)  # noqa: S102
            except ModuleNotFoundError:
                space["found"] = None  # PyTorch is not installed
            assert (space["found"] is paddle_jax.compat.nn.Linear) is concerned
    with pytest.raises(AssertionError):
        paddle_jax.enable_compat(backend="tensorflow")
