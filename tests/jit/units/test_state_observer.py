"""Unit tests of `_program.guards.state_observer`, `_program.guards.read_guards`, `_program.rewrite.source`,
`_core.execution.python_state`, `_core.base.interrupt_safe` and `_core.base.errors`: code computes the same
while it is observed, and what it reads, and nothing else, becomes a fact."""

import contextlib
import os
import random
import sys
import time
import types

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax._core.base.errors import Unsupported
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
