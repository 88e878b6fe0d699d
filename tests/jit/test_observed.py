"""The observer of reads: code computes the same while it is observed, and what it reads, and nothing
else, becomes a fact."""

import contextlib
import cProfile
import gc
import os
import random
import subprocess
import sys
import time
import types
import weakref

import numpy as np
import pytest
from jax import monitoring

import paddle_jax as paddle
from paddle_jax._core.base.interrupt_safe import UserCodeHook, run_unrecorded
from paddle_jax._core.execution.python_state import same_value
from paddle_jax._program.guards.read_guards import ReadGuards
from paddle_jax._program.guards.state_observer import StateObserver
from paddle_jax._program.rewrite.source import NoSource, syntax_of

_Lower__offset = 2  # a private name in the class Lower
LIMIT, table = 3, {"a": 1, "b": [1, 2, 3]}


class Upper:
    factor = 2

    def weigh(self, n):
        return n * self.factor


class Lower(Upper):
    def __init__(self):
        self.__kept, self.items = 5, [1, 2]
        self.__kept += 1

    def weigh(self, n):
        self.__kept -= __offset  # noqa: F821
        return super().weigh(n) + self.__kept

    @property
    def double(self):
        return self.__kept * 2


def many_forms(n, *rest, key="b", **named):
    first, *others = rest or (0,)
    found = {k: v for k, v in zip("ab", (n, LIMIT), strict=True) if v}
    total: int = sum([i * j for i in range(n) for j in table[key] if i != j], start=first)
    try:
        total += found["missing"]
    except KeyError as error:
        total += len(str(error))
    else:
        total = 0
    finally:
        total -= 1
    while total > 1000:
        total -= 7
        if total % 3 == 0:
            break
    thing = Lower()
    thing.items[0] += 4
    thing.items[1:] = [7, 8]
    thing.extra = thing.weigh(2) + thing.double
    inner = lambda a, b=total: a + b + n  # noqa: E731

    def generate(stop):
        yield from range(stop)
        yield stop

    class Local:
        size = n

        def get(self):
            return self.size + n

    match n:
        case 1 | 2:
            total += 1
        case [a, *_] if a:
            total += 2
        case _:
            total += 3
    with np.errstate(all="ignore"):
        total += not others
    if (m := inner(1)) > 2 and n or m:
        total += m
    text = f"{total:>5}|{thing.factor}"
    return [
        total,
        *thing.items,
        thing.extra,
        *generate(2),
        Local().get(),
        text,
        named.get("z", -1),
        {*others},
        n if n > 1 else -n,
    ]


def observed(function, *args, **named):
    observer = StateObserver(lambda tensor, store, key: False, ())
    observer.begin()
    try:
        return observer.call(function, args, named), observer
    finally:
        observer.end()


@pytest.mark.parametrize("args", [(1,), (2, 5), (3, 1, 2, 3)])
def test_code_computes_the_same(args):
    got, observer = observed(many_forms, *args, key="b", z=4)
    assert got == many_forms(*args, key="b", z=4)
    assert observer.reason is None


def test_what_is_read_is_a_fact_and_nothing_else():
    place = types.SimpleNamespace(used=1, other=2)
    _, observer = observed(lambda: place.used + table["a"])
    assert observer.reason is None and observer.guards.check() is None
    place.other, table["c"] = 3, 4
    assert observer.guards.check() is None
    table["a"] = 2
    assert str(observer.guards.check()).startswith("table['a'] was 1 and is 2 (read at ")
    table["a"] = 1
    assert observer.guards.check() is None
    del place.used
    assert "used" in str(observer.guards.check())


STREAM, MANY = iter([1]), list(range(10_000))


@pytest.mark.parametrize(
    "function",
    [
        lambda: time.time(),
        lambda: eval("1"),
        lambda: np.random.rand(),
        lambda: next(STREAM),
        lambda: random.random(),
    ],
)
def test_what_cannot_be_observed_is_known(function):
    from paddle_jax._core.base.errors import Unsupported

    try:
        reason = observed(function)[1].reason
    except Unsupported as error:  # before something is done that cannot be done again
        reason = str(error)
    assert reason is not None and next(STREAM, 1) == 1


def test_lambdas_in_one_line_are_told_apart():
    functions = [lambda: 1, lambda: 2, lambda: LIMIT]
    assert [observed(f)[0] for f in functions] == [1, 2, 3]


def test_a_file_that_was_edited_is_not_the_source(tmp_path):
    path, scope = tmp_path / "edited.py", {"__name__": "edited"}
    path.write_text("def f():\n    return 1\n")
    exec(compile(path.read_text(), str(path), "exec"), scope)
    assert syntax_of(scope["f"]).name == "f"
    path.write_text("def f():\n    return 2 + 2\n")
    with pytest.raises(NoSource, match="not what was loaded"):
        syntax_of(scope["f"])


@pytest.mark.parametrize(
    "a, b, expected",
    [
        (1, 1, True),
        (1, 1.0, False),
        (0.0, -0.0, False),
        (float("nan"), float("nan"), True),
        ("a", "b", False),
        ((1, (2,)), (1, (2,)), True),
        ((1, 2), (1, 3), False),
        (np.float32(1), np.float32(1), True),
        (True, 1, False),
        ([1], [1], True),
        ({"a": 1}, {"a": 2}, False),
        (Upper().weigh, Upper().weigh, False),
        (object(), object(), False),
        (frozenset("ab"), frozenset("ba"), True),
    ],
)
def test_same(a, b, expected):
    assert same_value(a, b) is expected


def test_content_of_arrays_counts():
    guards, held = ReadGuards(), np.zeros(5)
    guards.guard_array(held)
    assert guards.check() is None
    held[3] = 1
    assert guards.check() is not None


@pytest.mark.parametrize(
    "function",
    [
        lambda: len(MANY),
        lambda: paddle.is_grad_enabled(),
        lambda: os.path.basename("a/b"),  # noqa: PTH119
        lambda: 1 if MANY else 2,
    ],
)
def test_what_takes_one_fact(function):
    got, observer = observed(function)
    assert got == function() and observer.reason is None and len(observer.guards) <= 8


@pytest.mark.parametrize("function", [lambda: sum(MANY), lambda: os.path.exists("/")])  # noqa: PTH110
def test_what_is_too_much(function):
    assert observed(function)[1].reason is not None


def test_grad_mode_in_a_block_is_no_fact():
    def step(x):
        with paddle.no_grad():
            return x * (1 if paddle.is_grad_enabled() else 2)

    got = paddle.jit.to_static(step, full_graph=True)(paddle.ones([2]))
    assert got.tolist() == [2, 2]


def test_compiling_under_a_profiler():
    step = paddle.jit.to_static(lambda x: x * LIMIT, full_graph=True)
    profiler = cProfile.Profile()
    with profiler:
        assert step(paddle.ones([2])).tolist() == [3, 3]
        step(paddle.ones([2]))
    assert step.get_traced_count() == 1 and sys.gettrace() is None


def test_what_the_collector_calls_is_no_part_of_the_function():
    """Such a function is the user's, yet it may run in the middle of any other."""
    ran = []

    class Watcher:
        def __call__(self, phase, info):
            ran.append(self.word(phase))

        def word(self, phase):
            return phase[:LIMIT]

    def watch(phase, info):
        ran.append(phase)

    class Circle:
        def __init__(self):
            self.me = self
            weakref.finalize(self, watch, "finalized", None)

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        return collect(x) * 2

    def collect(x):
        return x + 1

    watcher, kept = Watcher(), gc.get_threshold()
    gc.callbacks.extend((watch, watcher, watcher.__call__))
    try:
        Circle()
        gc.set_threshold(1, 1, 1)
        assert step(paddle.ones([2])).tolist() == [4, 4]
    finally:
        gc.set_threshold(*kept)
        del gc.callbacks[-3:]
    assert {"start", "sta", "finalized"} <= set(ran)
    ran.clear()
    assert step(paddle.ones([2])).tolist() == [4, 4] and step.get_traced_count() == 1


class Counting:
    def __init__(self):
        self.seen = 0

    def next(self):
        self.seen += 1
        return self.seen


def test_going_through_objects_reads_no_more_than_that():
    """Objects in a container may change; what the function asks them for counts."""

    class Part:
        def __init__(self, scale):
            self.scale, self.calls = scale, 0

    parts, seen = [Part(2.0), Part(3.0)], []
    named = {"a": parts[0], "b": parts[1]}

    @paddle.jit.to_static
    def step(x):
        own = Counting(), 1
        counter, one = own
        for part, factor in zip(parts, [1.0, one], strict=True):
            x = x * part.scale * factor
        for _, part in named.items():
            x = x + part.scale + counter.next()
        return x

    assert step(paddle.ones([1])).tolist() == [6 + 5 + 3]
    for part in parts:
        part.calls += 1
    seen.append(step(paddle.ones([1])))
    assert step.get_traced_count() == 1
    parts[1].scale = 4.0
    assert step(paddle.ones([1])).tolist() == [8 + 6 + 3]
    parts.append(Part(1.0))
    with pytest.raises(ValueError):
        step(paddle.ones([1]))


def test_views_of_a_dict_follow_it():
    given = {"a": 1.0}

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        own = {"m": x, "n": 0}
        views = own.keys(), own.items()
        for i in range(2):
            for key, value in own.items():
                own[key] = value + i + sum(given.values())
            own.update({f"{key}{i}": i for key in own})
        return [own[key] for key in views[0]], dict(views[1]), len(list(own.values()))

    for _ in range(2):
        values, shown, count = step(paddle.ones([1]))
        assert [float(v) for v in values] == [4, 3, 2, 2, 1, 1, 1, 1]
        assert list(shown) == ["m", "n", "m0", "n0", "m1", "n1", "m01", "n01"] and count == 8
    assert step.get_traced_count() == 1
    given["a"] = 2.0
    assert float(step(paddle.ones([1]))[0][0]) == 6


def test_expressions_as_text():
    scope = {"scale": 2.0, "paddle": paddle}

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        return x * eval("scale", scope) + eval("paddle.ones([1]) * scale", {**scope, "more": 1})

    assert step(paddle.ones([1])).tolist() == [4]
    step(paddle.ones([1]))
    assert step.get_traced_count() == 1
    scope["scale"] = 5.0
    assert step(paddle.ones([1])).tolist() == [10]


@pytest.mark.slow
def test_a_program_on_the_command_line_has_source():
    program = (
        "import paddle_jax as paddle, warnings; warnings.simplefilter('error')\nscale = 2.0\nf = "
        "paddle.jit.to_static(lambda x: x * scale)\n"
        "print(f(paddle.ones([1])).tolist()); scale = 3.0; print(f(paddle.ones([1])).tolist(), "
        "f.get_traced_count())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split("\n") == ["[2.0]", "[3.0] 2", ""], done.stderr


class Cache:
    """As libraries keep intermediate results for the length of one step."""

    def __init__(self):
        self.kept = {}

    def hidden(self, x, scale):
        if id(x) not in self.kept:
            self.kept[id(x)] = x * scale
        return self.kept[id(x)]

    def clear(self):
        self.kept = {}


class Problem:
    cache = Cache()

    def hidden(self, x, scale):
        return self.cache.hidden(x, scale)


def test_a_cache_that_is_filled_and_put_back():
    problem, cache, scale, x = Problem(), Problem.cache, [2.0], paddle.ones([1, 2])

    def step(x):
        loss = (problem.hidden(x, scale[0]) + problem.hidden(x, scale[0])).sum()
        Problem.cache.clear()
        return loss

    compiled = paddle.jit.to_static(step, full_graph=True)
    for value in (2.0, 3.0, 3.0, 3.0):
        scale[0] = value
        assert float(compiled(x)) == float(step(x)) == 4 * value  # the plain one fills and puts back too
    assert compiled.get_traced_count() == 2 and cache.kept == {}


def test_an_equal_list_in_the_place_of_another_is_changed_later():
    class Config:
        def __init__(self):
            self.sizes = [1.0, [2.0]]

    config = Config()
    step = paddle.jit.to_static(lambda x: x * config.sizes[0] * config.sizes[1][0])
    assert step(paddle.ones([1])).tolist() == [2]
    config.sizes = [1.0, [2.0]]
    assert step(paddle.ones([1])).tolist() == [2] and step.get_traced_count() == 1
    config.sizes[0] = 3.0
    assert step(paddle.ones([1])).tolist() == [6]
    config.sizes = [3.0, [2.0]]
    step(paddle.ones([1]))
    config.sizes[1][0] = 5.0
    assert step(paddle.ones([1])).tolist() == [15]


def test_what_jax_tells_its_listeners_is_no_part_of_the_function():
    heard, events = [], []
    lambda_ = lambda name, seconds, **more: heard.append((name, len(events)))  # noqa: E731
    monitoring.register_event_duration_secs_listener(lambda_)
    monitoring.register_event_listener(events.append)
    try:
        step = paddle.jit.to_static(lambda x: paddle.tanh(x) * 3 + x, full_graph=True)
        for _ in range(3):
            assert step(paddle.zeros([2])).tolist() == [0, 0]
    finally:
        monitoring.unregister_event_duration_listener(lambda_)
        monitoring.unregister_event_listener(events.append)
    assert heard and step.get_traced_count() == 1


def test_a_listener_that_changes_what_the_function_reads():
    scale = [2.0]

    def listener(name, seconds, **more):
        scale[0] = 5.0

    step = paddle.jit.to_static(lambda x: x * scale[0] + x)
    monitoring.register_event_duration_secs_listener(listener)
    try:
        with pytest.warns(UserWarning, match="it changes what it reads"):
            step(paddle.ones([1]))
    finally:
        monitoring.unregister_event_duration_listener(listener)
    assert step(paddle.ones([1])).tolist() == [6]
    scale[0] = 1.0
    assert step(paddle.ones([1])).tolist() == [2]


@pytest.mark.parametrize(("kind", "is_seen"), [(UserCodeHook, False), (object, True)])
def test_only_hooks_for_code_of_the_user_are_off(kind, is_seen):
    class Hook(kind):
        def __init__(self):
            self.names = []

        def note(self, frame, event, arg):
            self.names.append(frame.f_code.co_name)

    def failing():
        return 1 // 0

    def later():
        return 1

    hook = Hook()
    sys.setprofile(hook.note)
    try:
        with contextlib.suppress(ZeroDivisionError):
            run_unrecorded(failing)
        later()
    finally:
        sys.setprofile(None)
    assert ("failing" in hook.names) is is_seen
    assert "later" in hook.names
