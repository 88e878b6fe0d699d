"""Which of torch's words for arguments a function takes, against the real Paddle: generated calls of every
op, and whole calls as programs make them."""

import pathlib

import pytest

import paddle_jax
from tests.ops import harness as h
from tests.ops.table import OPS, find, public_path

# what the real Paddle says of names that it takes or refuses
pytestmark = pytest.mark.filterwarnings("ignore")
WORDS = """
    input other dim size keepdim dims repeats sizes target tensor tensors mat1 mat2 vec vec2
    exponent value values src source index indices split_size_or_sections indices_or_sections
    sections chunks diagonal offset dim0 dim1 axis0 axis1 shifts start end steps boundaries
    sorted_sequence n m A B ord equation operands keepdims eps lambd return_indices output_size
    kernel_size stride padding dilation start_dim end_dim dimension count_include_pad x1 x2 input1
    input2 normalized_shape x y axis shape
""".split()
# The real Paddle ends the process at some of these calls of `sum`, and the values of `empty` are any; CALLS
# has the others. The cases of `yolo_loss` cannot be evaluated apart from a call.
LEFT_OUT = {"sum", "empty", "empty_like", "yolo_loss"}
NAMES = sorted(name for name in OPS if public_path(name) and not OPS[name].random and name not in LEFT_OUT)
# Calls one a line. A call that starts with `~` is compared by dtype and shape only.
CALLS = pathlib.Path(__file__).with_name("torch_calls.txt").read_text().splitlines()
# The real Paddle takes `input` of gather and scatter beside `dim` only; the others are a bool for `dim`, or
# an int where there is a `dim` already.
WIDER = {
    ("gather", "input"),
    ("scatter", "input"),
    ("argsort", "dim"),
    ("topk", "dim"),
    ("diff", "dim"),
    ("unique_consecutive", "dim"),
}


def values(module, result):
    """Results as the harness compares them; what is no tensor as text."""
    outs = []
    for item in h.flat(result, module.Tensor):
        if isinstance(item, module.Tensor):
            outs.append((h.name_of(item), list(item.shape), h.to_numpy(item)))
        elif isinstance(item, module.nn.Layer):
            outs.append(("layer", [list(p.shape) for p in item.parameters()], 0))
        else:
            outs.append(("text", str(item).replace("paddle_jax", "paddle"), 0))
    return outs


def recorded(*args, **kwargs):
    return args, kwargs


def arguments(module, op, case):
    """The arguments of a case by name, and the first one by itself; None where they are not plain."""
    args, kwargs = eval(f"__call__({case})", {**h.Maker(module).env(), "__call__": recorded})  # noqa: S307
    names = [p.name for p in op.params]
    if len(args) > len(names) or any(p.kind is p.VAR_POSITIONAL for p in op.params):
        return None
    return dict(zip(names, args, strict=False)) | kwargs


def outcome(module, function, named, first=None):
    """What a call gave: results, or its exception."""
    given = dict(named)
    leading = () if first is None else (given.pop(first),)
    try:
        with module.no_grad():
            return values(module, function(*leading, **given))
    except Exception as error:
        return error


def ordinary(oracle, name, path):
    """The case of most arguments that the real Paddle runs when all of them are named."""
    found = []
    for case in OPS[name].cases:
        named = arguments(oracle, OPS[name], case.lstrip("~ "))
        if named and not isinstance(outcome(oracle, find(oracle, path), named), Exception):
            found.append((len(named), case.lstrip("~ ")))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def accepted(module, name, path, case):
    """Pairs (argument, word) where a word in place of the argument's name gives the same results."""
    function, found = find(module, path), set()
    parameters = {p.name for p in OPS[name].params}
    named = arguments(module, OPS[name], case)
    plain = outcome(module, function, named)
    for argument in named.keys() - {"name"}:
        for word in set(WORDS) - parameters:
            other = {word if key == argument else key: value for key, value in named.items()}
            got = outcome(module, function, other)
            if isinstance(got, Exception):
                continue
            if h.compare_outputs(h.Result(outs=got), h.Result(outs=plain)) is None:
                found.add((argument, word))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_words_in_place_of_names(name, oracle):
    path = public_path(name)
    try:
        find(oracle, path)
    except AttributeError:
        pytest.skip(f"paddle.{path} is ours alone")
    case = ordinary(oracle, name, path)
    if case is None:
        pytest.skip("no ordinary call by names")
    want, got = accepted(oracle, name, path, case), accepted(paddle_jax, name, path, case)
    assert want <= got, f"{path}({case}): the oracle takes {sorted(want - got)}"
    more = {(a, word) for a, word in got - want if (name, word) not in WIDER}
    assert not more, f"{path}({case}): the oracle refuses {sorted(more)}"


def check_call(call, oracle):
    """Compares what a call gives or raises in both packages."""
    exact, call = not call.startswith("~"), call.lstrip("~ ")
    results = []
    for module in (oracle, paddle_jax):
        names = h.Maker(module).env() | {"F": module.nn.functional, "nn": module.nn}
        names["x"], names["y"] = names["pos"](2, 3).detach(), names["pos"](2, 3).detach()
        names["im"], names["row"] = names["pos"](1, 2, 4, 4).detach(), module.to_tensor([[0, 0, 0]])
        names["one"] = module.to_tensor([0])
        try:
            results.append(h.Result(outs=values(module, eval(call, names))))  # noqa: S307
        except Exception as error:
            results.append(h.Result(error=error))
    want, got = results
    if want.error is not None:
        assert got.error is not None and h.same_refusal(got.error, want.error), repr(got.error)
    else:
        assert got.error is None, repr(got.error)
        problem = h.compare_outputs(got, want, values=exact)
        assert problem is None, problem


@pytest.mark.parametrize("call", CALLS)
def test_call(call, oracle):
    check_call(call, oracle)


REFUSED = {
    "paddle.max(x, dim=0)": "paddle.compat.max",
    "x.min(other=x)": "paddle.compat.min",
    "paddle.max(input=x)": "paddle.compat.max",
    "x.sort(dim=0)": "paddle.compat.sort",
    "paddle.split(x, 2, dim=0)": "paddle.compat.split",
    "x.split(split_size_or_sections=1)": "paddle.compat.split",
    "nn.Linear(2, 3, bias=True)": "paddle.compat.nn.Linear",
    "nn.Unfold(kernel_size=2)": "paddle.compat.nn.Unfold",
}


@pytest.mark.parametrize("call", REFUSED)
def test_refusal_names_the_function_of_compat(call, oracle):
    for module in (oracle, paddle_jax):
        with pytest.raises(TypeError, match=REFUSED[call]):
            eval(call, {"paddle": module, "nn": module.nn, "x": module.ones([2, 2])})  # noqa: S307
