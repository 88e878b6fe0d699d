"""What a compiled function has read: it is compiled again where that changes, and only there."""

import cProfile
import gc
import subprocess
import sys
import weakref

import pytest
from jax import monitoring

import paddle_jax as paddle

LIMIT = 3


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
