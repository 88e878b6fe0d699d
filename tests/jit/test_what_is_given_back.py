"""What compiled functions give back and write: objects are new at each call, texts have the values of
the call."""

import collections
import dataclasses
import functools as ft
import logging
import types
import warnings

import numpy as np
import pytest

import paddle_jax as paddle


@dataclasses.dataclass
class Output:
    value: object
    more: dict


@dataclasses.dataclass(frozen=True, slots=True)
class Small:
    value: object


class Plain:
    def __init__(self, value):
        self.value, self.items = value, [value, 1]


class Named(collections.OrderedDict):
    def __getattr__(self, name):
        return self[name]


Pair = collections.namedtuple("Pair", "first second")
MADE = {
    "dataclass": lambda x: Output(x + 1, {"double": x * 2}),
    "frozen slots": lambda x: Small(x + 1),
    "object": lambda x: Plain(x + 1),
    "nested": lambda x: [Plain(Small(x * 3)), {"b": Pair(x, 2), "a": Output(x, {})}],
    "own dict": lambda x: Named(z=x + 1, a=x * 2),
    "ordered": lambda x: collections.OrderedDict(z={"y": x, "b": 1}, a=x),
    "default dict": lambda x: collections.defaultdict(list, k=[x + 1]),
    "deque": lambda x: collections.deque([x, x + 1], maxlen=5),
    "array": lambda x: (np.arange(3), x),
    "set": lambda x: ({1, 2}, x),
    "function": lambda x: lambda y=x * 2: y + 1,
    "partial": lambda x: ft.partial(paddle.add, x * 2, x),
    "method": lambda x: (x * 2).sum,
    "values": lambda x: {"a": x * 2}.values(),
    "bound": lambda x: [x * 2, x].pop,
    "proxy": lambda x: types.MappingProxyType({"a": x * 2}),
    "generator": lambda x: (x * i for i in range(3)),
    "iterator": lambda x: iter([x + 1, 2]),
}


def seen(value):
    """What can be compared of a result; functions are called, iterators used up."""
    if isinstance(value, paddle.Tensor | np.ndarray):
        return value.tolist()
    if isinstance(value, collections.abc.Mapping):
        return type(value).__name__, [(key, seen(item)) for key, item in value.items()]
    if isinstance(value, collections.abc.Collection | collections.abc.Iterator):
        return type(value).__name__, [seen(item) for item in value]
    if callable(value):
        return seen(value())
    if hasattr(value, "value"):
        fields = getattr(value, "__dict__", None) or {"value": value.value}
        return type(value).__name__, {name: seen(field) for name, field in fields.items()}
    return value


@pytest.mark.parametrize("name", MADE)
def test_each_call_makes_its_own(name):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*runs op by op")
        compiled = paddle.jit.to_static(MADE[name])
        results = [compiled(paddle.to_tensor([float(k)])) for k in (1, 2, 3)]
    assert len(set(map(id, results))) == 3
    for k, result in enumerate(results, 1):
        assert seen(result) == seen(MADE[name](paddle.to_tensor([float(k)])))


@pytest.mark.parametrize("name", ["dataclass", "frozen slots", "object", "nested", "own dict", "deque"])
def test_what_can_be_made_anew_is_compiled(name):
    compiled = paddle.jit.to_static(MADE[name], full_graph=True)
    x = paddle.to_tensor([2.0])
    assert seen(compiled(x)) == seen(compiled(x)) == seen(MADE[name](x))


def test_gradients_flow_through_objects():
    x = paddle.to_tensor([3.0], stop_gradient=False)
    paddle.jit.to_static(lambda x: Plain(x * x), full_graph=True)(x).value.backward()
    assert x.grad.tolist() == [6.0]


def test_an_array_that_is_given_back_may_be_changed():
    compiled = paddle.jit.to_static(lambda x: (np.zeros(2), x + 1))
    for _ in range(3):
        array = compiled(paddle.ones([1]))[0]
        assert array.tolist() == [0.0, 0.0]
        array += 1


def test_an_object_kept_by_a_layer_holds_the_values_of_the_call():
    class Keeps(paddle.nn.Layer):
        def forward(self, x):
            self.last = Output(x * 2, {"sum": x.sum()})
            return x + 1

    layer = paddle.jit.to_static(Keeps())
    for k in (1.0, 2.0, 3.0):
        layer(paddle.to_tensor([k]))
        assert layer.last.value.tolist() == [2 * k] and layer.last.more["sum"].item() == k


# texts ------------------------------------------------------------------------------------------------------


def tells(x):
    print("shape", x.shape, sep="=")
    y = x * 2
    print(y, "and", x.mean())
    for k in range(2):
        print(k, end=" ")
    return y


def branches(x):
    print("before")
    if x.sum() > 0:
        print("positive", x)
        x = x + 1
    else:
        print("negative")
    print("after")
    return x


@pytest.mark.parametrize("full_graph", [False, True])
@pytest.mark.parametrize("function", [tells, branches, lambda x: print("no tensor") or x + 1])
def test_prints_at_each_call(function, full_graph, capsys):
    compiled = paddle.jit.to_static(function, full_graph=full_graph)
    for k in (1.0, -2.0, 3.0):
        function(paddle.to_tensor([k]))
        expected = capsys.readouterr().out
        compiled(paddle.to_tensor([k]))
        assert capsys.readouterr().out == expected


TEXTS = {
    "str": str,
    "repr": repr,
    "f": lambda x: f"<{x}>",
    "join": lambda x: "".join(map(str, [x])),
    "format": lambda x: f"{x:.3f}",
    "list": lambda x: str([x, {"a": x}]),
    "name": lambda x: x.name,
}


@pytest.mark.filterwarnings("ignore:.*runs op by op")
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_has_the_value_of_the_call(name):
    compiled = paddle.jit.to_static(TEXTS[name])
    for k in (1.0, 2.0):
        x = paddle.to_tensor(k)
        assert compiled(x) == TEXTS[name](x)


@pytest.mark.filterwarnings("ignore:.*runs op by op")
def test_logs_at_each_call(caplog):
    logger = logging.getLogger("tests.compiled")

    def plain(x):
        logger.info("shape %s", x.shape)
        logger.debug("not shown")
        return x + 1

    def of_a_tensor(x):
        logger.info("value %s", x)
        return x + 1

    with caplog.at_level("INFO", "tests.compiled"):
        for function in (plain, of_a_tensor):
            compiled = paddle.jit.to_static(function)
            for k in (1.0, 2.0, 3.0):
                function(paddle.to_tensor([k]))
                compiled(paddle.to_tensor([k]))
                first, second = caplog.messages
                assert first == second
                caplog.clear()


@pytest.mark.filterwarnings("ignore:.*runs op by op")
def test_a_cache_of_the_user_gets_no_value_of_the_run():
    double = ft.lru_cache(lambda x: x * 2)
    compiled = paddle.jit.to_static(lambda x: double(x) + double(x))
    for k in (1.0, 2.0):
        x = paddle.to_tensor([k])
        assert compiled(x).tolist() == [4 * k] and double(x).tolist() == [2 * k]


def test_one_object_in_two_places_stays_one():
    def function(x):
        shared = Plain(x)
        return shared, [shared, Output(shared, {})]

    compiled = paddle.jit.to_static(function, full_graph=True)
    for k in (1.0, 2.0):
        first, (second, third) = compiled(paddle.to_tensor([k]))
        assert first is second is third.value and first.value.tolist() == [k]


@pytest.mark.filterwarnings("ignore:.*runs op by op")
def test_what_holds_itself_runs_eagerly():
    def function(x):
        ring = Plain(x)
        ring.items.append(ring)
        return ring

    compiled = paddle.jit.to_static(function)
    for k in (1.0, 2.0):
        ring = compiled(paddle.to_tensor([k]))
        assert ring.items[-1] is ring and ring.value.tolist() == [k]


def test_what_a_pylayer_notes_is_of_the_call():
    class Scaled(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.factor, ctx.more = factor, x * 2
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensor()
            return grad * x * ctx.factor + ctx.more

    compiled = paddle.jit.to_static(lambda x: Scaled.apply(x, 3), full_graph=True)
    for k in (1.0, 2.0):
        x = paddle.to_tensor([k], stop_gradient=False)
        out = compiled(x)
        assert out.tolist() == [3 * k]
        out.backward()
        assert x.grad.tolist() == [5 * k]


NUMBERS = {
    "float": float,
    "int": int,
    "bool": bool,
    "item": lambda x: {"loss": x.item(), "next": x + 1},
    "not": lambda x: not x > 1,
    "branch": lambda x: (x + 1, 3) if x > 1 else (x - 1, 4),
    "bools": lambda x: (x, True) if x > 1 else (x, False),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_python_stay_numbers(name):
    def function(x):
        return NUMBERS[name](x)

    compiled = paddle.jit.to_static(lambda x: function(x))
    for k in (0.5, 2.25, 0.5):
        x = paddle.to_tensor(k)
        expected, result = function(x), compiled(x)
        pairs = [(expected, result)]
        if isinstance(expected, tuple | dict):
            pairs = list(
                zip(
                    *[each.values() if isinstance(each, dict) else each for each in (expected, result)],
                    strict=True,
                )
            )
        for one, other in pairs:
            assert type(one) is type(other) and one == other


def assigned_at_times(x):
    if x.sum() > 0:
        y = x * 2
    return y


def used_at_times(x):
    if x.sum() > 0:
        k = x.mean()
    return x * k


@pytest.mark.filterwarnings("ignore:.*runs op by op")
@pytest.mark.parametrize("function", [assigned_at_times, used_at_times])
def test_a_variable_without_a_value_is_an_error(function):
    compiled = paddle.jit.to_static(function)
    assert compiled(paddle.to_tensor([1.0])).tolist() == function(paddle.to_tensor([1.0])).tolist()
    with pytest.raises(UnboundLocalError):
        compiled(paddle.to_tensor([-1.0]))


def test_a_variable_of_one_branch_may_stay_unused():
    def function(x):
        if x.sum() > 0:
            y = x * 2
            x = y + 1
        if x.sum() > 1:
            return x * 2
        return x

    compiled = paddle.jit.to_static(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in (1.0, -1.0):
            assert compiled(paddle.to_tensor([k])).tolist() == function(paddle.to_tensor([k])).tolist()


def test_a_container_from_outside_stays_the_same():
    held, kept = [1, 2], {"weights": [paddle.ones([2])]}
    compiled = paddle.jit.to_static(lambda x: (x * held[0], held, kept["weights"]))
    for k in (1.0, 2.0, 3.0):
        value, first, second = compiled(paddle.to_tensor([k]))
        assert value.tolist() == [k * held[0]] and first is held and second is kept["weights"]
        held[0] += 1


@dataclasses.dataclass
class ModelOutput(collections.OrderedDict):
    loss: object = None
    logits: object = None
    start: dataclasses.InitVar = 1

    def __post_init__(self, start):
        for name, value in list(vars(self).items()):
            if value is not None:
                self[name] = value + start if scaled else value


scaled = True


@pytest.mark.parametrize("full_graph", [False, True])
def test_what_a_dataclass_does_at_the_end_is_observed(full_graph):
    def function(x):
        return ModelOutput(x.mean(), x * 2 if x.sum() > 0 else x, 3)

    compiled = paddle.jit.to_static(function, full_graph=full_graph)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("error")
        for k in (1.0, -2.0):
            for value in (True, False):
                patch.setitem(globals(), "scaled", value)
                x = paddle.to_tensor([k, 1.0])
                expected, out = function(x), compiled(x)
                assert type(out) is ModelOutput and seen(out) == seen(expected)
                assert vars(out).keys() == vars(expected).keys()
                assert out.logits.tolist() == expected.logits.tolist()
