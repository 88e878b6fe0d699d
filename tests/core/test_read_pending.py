"""What reads a value of a short segment, in Python and in C: both do the same, field by field.

Unit tests of `_core.runner`, `_core.lazy`, `_core.kernels` and `_core.base`.
"""

import copy
import gc
import os
import signal
import sys
import threading

import numpy as np
import pytest

from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.state import local
from paddle_jax._core.base.vlog import Verbose
from paddle_jax._core.kernels.value_checks import PendingChecks
from paddle_jax._core.lazy import segment as segments
from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.lazy.settings import settings
from tests.core.test_fast_path import ReadsAtItsEnd, with_collections
from tests.deferred import differential

pytestmark = pytest.mark.skipif(extension is None, reason="this installation has no extension module")
CALLS = {
    "one": lambda p, x: p.tanh(x),
    "a number": lambda p, x: x + 1.5,
    "two": lambda p, x: (x * x).sum(),
    "several results": lambda p, x: p.split(x, 2)[1],
    "several operations": lambda p, x: (p.topk(x - 3, 2)[0] * 2).sum(1),
    "a view": lambda p, x: x.t(),
    "no elements": lambda p, x: x[:0] + x[:0],
    "large": lambda p, x: p.concat([x] * 128) + 1,
}
CONTAINERS = ("ops", "leaves", "leaf_positions", "results")
FIELDS = [name for name in segments.Segment.__slots__ if name not in ("lock", *CONTAINERS)]


@pytest.fixture
def p(paddle):
    with differential.tier(paddle, deferred="sync"):
        yield paddle


def fields(segment):
    return {name: copy.copy(getattr(segment, name)) for name in CONTAINERS} | {
        name: getattr(segment, name) for name in FIELDS
    }


def pending(p, call, times=3):
    """A result that is pending, of a call that has been read before."""
    x = p.to_tensor(np.arange(128, dtype="float32").reshape(2, 64))
    for _ in range(times):
        call(p, x).numpy()
    local.ctx.segment = segments.Segment(256)
    return x, call(p, x)


def read(way, value):
    """What a read gives, and everything that it changes."""
    context = local.ctx
    segment = context.segment
    entry = segment.ops[value.position & 0xFFFFF]
    counts = log.segments, log.interpreted_ops
    if way == "c":
        array = segments.read_pending(context, value)
    else:
        array = segment.materialize(value)
    assert array is value.array
    assert context.segment is not segment
    assert getattr(value, "signature", entry[0]) is entry[0]
    return {
        "array": (array.shape, array.dtype, array.tobytes(), array.flags.c_contiguous, array.base is None),
        "device": value.device,
        "made": hasattr(value, "signature"),
        "read": fields(segment),
        "next": fields(context.segment),
        "counts": (log.segments - counts[0], log.interpreted_ops - counts[1]),
    }


@pytest.mark.parametrize("name", CALLS)
def test_both_ways_do_the_same(p, name, monkeypatch):
    found = {}
    for way in ("c", "python"):
        x, y = pending(p, CALLS[name])
        if way == "python":
            monkeypatch.setattr(segments, "read_pending", segments.nothing_read)
        found[way] = read(way, y._raw)
        assert x._raw.array is not None
    for part in found["c"]:
        assert found["c"][part] == found["python"][part], part
    assert found["c"]["read"]["ops"] == ()
    assert found["c"]["next"] == fields(segments.Segment(found["c"]["next"]["limit"]))


def test_the_next_segment_has_the_limits_of_the_context(p, monkeypatch):
    limits = []
    for unit, next_limit in ((0, 0), (0, 300), (0, 1 << 20), ((40, 4), 300)):
        _, y = pending(p, CALLS["one"])
        monkeypatch.setattr(local.ctx, "loop_unit", unit)
        monkeypatch.setattr(local.ctx, "next_limit", next_limit)
        assert segments.read_pending(local.ctx, y._raw) is not None
        limits.append(local.ctx.segment.limit)
    assert limits == [256, 300, 2048, 40]


def test_only_what_is_referenced_gets_an_array(p):
    x, y = pending(p, lambda p, x: (x * 2).sum())
    segment = local.ctx.segment
    product, total = segment.results
    del product
    results = segment.results
    assert segments.read_pending(local.ctx, y._raw) is total.array
    assert [value.array is None for value in results] == [True, False]


def test_a_segment_that_nobody_holds_begins_again(p):
    _, y = pending(p, CALLS["two"])
    before = id(local.ctx.segment)
    assert segments.read_pending(local.ctx, y._raw) is not None
    assert id(local.ctx.segment) == before
    assert fields(local.ctx.segment) == fields(segments.Segment(256))
    assert y._raw.segment is segments.CLOSED
    assert fields(segments.CLOSED)["ops"] == ()


def test_a_segment_that_a_node_holds_is_closed(p):
    x = p.to_tensor([1.0, 2.0], stop_gradient=False)
    for _ in range(3):
        (x * x).sum().item()
    local.ctx.segment = segments.Segment(256)
    product = x * x
    total = product.sum()
    node = total._node
    segment = node.segment
    assert segments.read_pending(local.ctx, total._raw).item() == 5.0
    assert local.ctx.segment is not segment
    assert (segment.ops, segment.leaves, segment.limit) == ((), None, -1)
    (product * x).sum()
    total.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_several_results_are_all_there(p):
    x, y = pending(p, lambda p, x: p.split(x, 2)[0])
    first, second = p.split(x, 2)
    assert local.ctx.segment.ops[1:]
    local.ctx.segment = segments.Segment(256)
    first, second = p.split(x, 2)
    assert segments.read_pending(local.ctx, second._raw) is not None
    assert first._raw.array.tolist() == x.numpy()[:1].tolist()


def left_as_it_is(value):
    """Whether `read_pending` leaves a value to the Python code, and changes nothing."""
    segment = local.ctx.segment
    before = fields(segment), list(segment.ops), list(segment.results)
    assert segments.read_pending(local.ctx, value) is None
    after = fields(local.ctx.segment), list(local.ctx.segment.ops), list(local.ctx.segment.results)
    return after == before and value.array is None


def test_what_is_not_usual_is_left_to_the_python_code(p, monkeypatch):
    _, y = pending(p, CALLS["two"])
    value = y._raw
    segment = local.ctx.segment
    for owner, name, other in (
        (Verbose, "level", 2),
        (Verbose, "modules", {"segment": 2}),
        (settings, "min_repeats", 3),
        (settings, "interpreter", False),
        (segment, "recording", True),
        (segment, "running_call", object()),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, other)
            assert left_as_it_is(value), name
    local.ctx.segment = segments.Segment(256)
    assert left_as_it_is(value)  # of another segment
    local.ctx.segment = segment
    assert segments.read_pending(local.ctx, value) is not None


def test_what_a_tensor_holds(p, monkeypatch):
    x, y = pending(p, CALLS["two"])
    context = local.ctx
    assert segments.read_held(context, x._raw) is x._raw.array
    total = segments.read_held(context, y._raw)
    assert total is y._raw.array
    for number in (2.5, -0.0, 3, True, 1 + 2j):
        given = p.to_tensor(number)
        given * 1  # the segment has the number as a leaf
        assert any(leaf is given._raw for leaf in context.segment.leaves)
        array = segments.read_held(context, given._raw)
        assert (array.shape, array.dtype) == ((), given._raw.aval.dtype)
        assert repr(array.item()) == repr(number)
    assert segments.read_held(context, x._value) is None  # a jax array
    assert segments.read_held(context, np.ones(2)) is None
    with monkeypatch.context() as patch:
        patch.setattr(PendingChecks, "queue", [object()])
        assert segments.read_held(context, y._raw) is None
    with monkeypatch.context() as patch:
        patch.setattr(type(context.frame), "reads_held_values", False)
        assert segments.read_held(context, y._raw) is None
    assert segments.read_held(context, y._raw) is total


def test_new_operations_are_left_to_the_python_code(p):
    x = p.ones([3, 41])
    assert left_as_it_is(p.atan2(x, x)._raw)


def test_results_in_any_order(p):
    """As after a finalizer that records in the middle of a recording."""
    x, y = pending(p, lambda p, x: x * 2, times=1)
    for _ in range(3):
        doubled, parts = x * 2, p.split(x, 2)
        wanted = doubled.numpy(), [part.numpy() for part in parts]
    local.ctx.segment = segments.Segment(256)
    doubled, parts = x * 2, p.split(x, 2)
    local.ctx.segment.results.reverse()
    del local.ctx.segment.results[0]  # that of a part, as where a backward pass needs no others
    array = segments.read_pending(local.ctx, doubled._raw)
    assert np.array_equal(array, wanted[0])
    assert np.array_equal(parts[0]._raw.array, wanted[1][0])


def test_a_value_in_a_segment_that_another_thread_runs(p):
    """It holds the lock meanwhile, so the read waits for it in Python."""
    _, y = pending(p, CALLS["two"])
    segment = local.ctx.segment
    locked = threading.Event()
    done = threading.Event()

    def hold():
        with segment.lock:
            locked.set()
            done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(60)
    assert left_as_it_is(y._raw)
    done.set()
    holder.join()
    assert segments.read_pending(local.ctx, y._raw) is not None


def test_the_lock_is_free_afterwards(p):
    _, y = pending(p, CALLS["one"])
    segment = local.ctx.segment
    assert segments.read_pending(local.ctx, y._raw) is not None
    taken = []
    other = threading.Thread(target=lambda: taken.append(segment.lock.acquire(blocking=False)))
    other.start()
    other.join()
    assert taken == [True]


@pytest.mark.parametrize("name", ["one", "several operations"])
def test_a_finalizer_reads_a_value_meanwhile(p, name):
    x, y = pending(p, CALLS[name])
    wanted = y.tolist()
    seen = []

    def call():
        local.ctx.segment = segments.Segment(256)
        y = CALLS[name](p, x)
        ReadsAtItsEnd(x, seen)
        return y.tolist()

    assert list(with_collections(call)) == [wanted] * 29
    gc.collect()
    assert seen == [(x * 2).tolist()] * 29


@pytest.mark.parametrize("name", ["one", "a number", "several operations"])
def test_nothing_is_kept(p, name):
    x, _ = pending(p, CALLS[name])

    def repeat(times):
        for _ in range(times):
            CALLS[name](p, x).numpy()
        local.ctx.segment = segments.Segment(256)
        gc.collect()
        counts = [sys.getrefcount(each) for each in (x._raw, x._raw.array, x._raw.aval, local.ctx, None)]
        return counts[:4], len(gc.get_objects())

    repeat(10)
    counts, objects = repeat(10)
    again, objects_again = repeat(200)
    assert again == counts
    assert abs(objects_again - objects) < 20


def rule_in(module, body):
    """A function of one operand whose code belongs to a module of this name."""
    scope = {"__name__": module, "os": os, "signal": signal}
    exec(f"def rule(operand):\n    {body}", scope)
    return scope["rule"]


@pytest.mark.parametrize(
    "rule", [np.add, rule_in("numpy", "raise ValueError('bad')"), rule_in("numpy", "return 1")]
)
def test_a_rule_that_fails_leaves_the_operation_to_a_compiled_program(p, rule, monkeypatch):
    x, y = pending(p, CALLS["one"])
    state = local.ctx.segment.ops[0][0].tier_state
    kind, _, *rest = state.plan._steps[0]
    monkeypatch.setattr(state.plan, "_steps", [(kind, rule, *rest)])
    monkeypatch.setattr(state, "plan", state.plan)  # it is dropped once it has failed
    assert left_as_it_is(y._raw)
    assert np.allclose(y.numpy(), np.tanh(x.numpy()), rtol=1e-6)


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no such signal")
@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError])
def test_an_exception_of_a_signal_handler_comes_through(p, error, monkeypatch):
    x, y = pending(p, CALLS["one"])
    plan = local.ctx.segment.ops[0][0].tier_state.plan
    kind, _, *rest = plan._steps[0]

    def handle(number, frame):
        raise error

    before = signal.signal(signal.SIGUSR1, handle)
    interrupted = rule_in("numpy", "os.kill(os.getpid(), signal.SIGUSR1); [0 for _ in range(100)]")
    try:
        with monkeypatch.context() as patch:
            patch.setattr(plan, "_steps", [(kind, interrupted, *rest)])
            with pytest.raises(error):
                segments.read_pending(local.ctx, y._raw)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert np.allclose(y.numpy(), np.tanh(x.numpy()), rtol=1e-6)
