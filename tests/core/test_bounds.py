"""What a process keeps of code is bounded: signatures by generations, compiled programs by memory
maps and memory.

Unit tests of `_core.base`, `_core.kernels.kernel`, `_core.lazy` and `_core.ops.op`.
"""

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.lazy import aval, signature_cache
from tests.deferred import differential
from tests.ops.table import OPS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def small(monkeypatch):
    """Generations of 20 signatures."""
    for name, start in {
        "generation_size": 20,
        "generation_signatures": 0,
        "generation_bytes": 0,
        "returning_signatures": 0,
        "dropped_fingerprints": set(),
    }.items():
        monkeypatch.setattr(signature_cache.SignatureCache, name, start)


def sigs_of(op, *attrs):
    return sum(len(kernel.signatures) + len(kernel.older_signatures) for kernel in op.kernels.values())


def test_signatures_are_dropped_when_new_ones_come_for_ever(paddle, small):
    for n in range(1, 200):
        assert float((paddle.ones([n]) * 3).sum()) == 3 * n
    assert sigs_of(OPS["multiply"]) < 60
    assert sigs_of(OPS["sum"]) < 60


def test_what_is_used_stays(paddle, small):
    """A signature that is used in each generation is traced once."""
    x, kept = paddle.ones([2, 3, 4]), None
    for n in range(1, 200):
        float((paddle.ones([n]) * 3).sum())
        float((x * x).sum())
        found = [
            sig
            for kernel in OPS["multiply"].kernels.values()
            for sig in (kernel.signatures | kernel.older_signatures).values()
            if sig.operand_avals[0].shape == (2, 3, 4) == sig.operand_avals[1].shape
        ]
        assert kept is None or found == [kept]
        kept = found[0]


def test_room_grows_for_a_program_that_uses_many_in_turn(paddle, small):
    for _ in range(6):
        for n in range(1, 60):
            float((paddle.ones([n]) * 3).sum())
    assert signature_cache.SignatureCache.generation_size > 40
    before = {
        kernel: len(kernel.signatures) + len(kernel.older_signatures)
        for kernel in OPS["multiply"].kernels.values()
    }
    for n in range(1, 60):
        float((paddle.ones([n]) * 3).sum())
    assert {
        kernel: len(kernel.signatures) + len(kernel.older_signatures)
        for kernel in OPS["multiply"].kernels.values()
    } == before


@pytest.mark.parametrize(("megabytes", "is_larger"), [(0.25, False), (64, True)])
def test_room_where_some_come_back_has_a_budget_of_bytes(paddle, small, monkeypatch, megabytes, is_larger):
    """Half of the signatures come twice, as those behind a stride of two: they need not stay."""
    monkeypatch.setattr(signature_cache, "_SIGNATURE_BYTES", int(megabytes * 2**20))
    for n in np.random.default_rng(0).permutation(800).tolist():
        # other lengths for either budget: what is known already counts nothing
        paddle.tanh(paddle.sin(paddle.cos(paddle.ones([n // 2, 1 + is_larger])))).numpy()
        paddle.exp(paddle.ones([n, 3 + is_larger])).numpy()
    assert (signature_cache.SignatureCache.generation_size > 40) == is_larger


def test_room_grows_beyond_the_budget_where_all_come_back(paddle, small, monkeypatch):
    monkeypatch.setattr(signature_cache, "_SIGNATURE_BYTES", 0)
    for _ in range(6):
        for n in range(1, 60):
            float((paddle.ones([n, 7]) * 3).sum())
    assert signature_cache.SignatureCache.generation_size > 40


def test_an_older_signature_does_not_end_the_segment(paddle, small):
    """What is recorded stays one segment when a generation begins between two operations."""
    with differential.tier(paddle, deferred="sync"):
        x = paddle.full([5, 1], 0.25)
        float(paddle.tanh(x * 2).sum())
        y = x * 2
        for kernel in list(signature_cache.SignatureCache.kernels):
            if kernel() is not None:
                kernel().start_generation()
        z = paddle.tanh(y)
        assert y._raw.array is None  # not run
        assert z._raw.segment is y._raw.segment
        np.testing.assert_allclose(float(z.sum()), 5 * np.tanh(0.5), rtol=1e-6)


def test_shapes_that_nobody_has_are_forgotten(paddle, small):
    x = paddle.ones([3, 12345]) * 2
    of_x = x._raw.aval
    for n in range(1, 200):
        float((paddle.ones([n, 123457 % n + 1]) * 3).sum())
    aval.drop_unused_avals()
    assert aval.aval_of((3, 12345), of_x.dtype) is of_x
    assert ((150, 123457 % 150 + 1), of_x.dtype, False) not in aval._avals


def test_kernels_of_attributes_that_do_not_come_back_go(paddle, small):
    x = paddle.arange(8, dtype="float32")
    float(paddle.roll(x, 3).sum())
    first = weakref.ref(next(k for k in OPS["roll"].kernels.values() if k.declaration[2][0] == 3))
    for n in range(1, 120):
        assert float(paddle.roll(x, 1000 + n).sum()) == 28
    gc.collect()
    assert first() is None
    assert len(OPS["roll"].kernels) < 80


CODE = """
import paddle_jax as paddle
from paddle_jax._core.lazy import signature_cache
from paddle_jax._core.ops.op import OPS
paddle.set_flags({"FLAGS_deferred": "off"})
signature_cache._CHECK_INTERVAL, signature_cache._GROUP_SIZE = 4, 2
state = {"crowded": None, "asked": 0}
def crowded(share=1.0, maps=None):
    state["asked"] += 1
    return state["crowded"] if share == 1.0 else None
signature_cache.over_budget = crowded
x = paddle.full([3, 7], 0.5)
def forms(name):
    return sum(k.run._cache_size() for k in OPS[name].kernels.values())
names = ["cos", "sinh", "tan", "cosh", "asinh", "atan", "expm1", "log1p", "sign"]
for name in names:
    getattr(paddle, name)(x)
    paddle.tanh(x)
assert all(map(forms, names)) and state["asked"] >= 2
state["crowded"] = "they are too many"
before = sum(map(bool, map(forms, names)))
signature_cache.evict_if_over_budget()
left = [name for name in names if forms(name)]
assert left == names[len(names) - len(left):] and len(left) < before, left
assert forms("tanh")
assert "they are too many" in paddle.explain().events[-1]
print(float(paddle.cos(x)[0, 0]))
"""


def test_the_least_recently_used_programs_go_first():
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    np.testing.assert_allclose(float(done.stdout), np.cos(0.5), rtol=1e-6)


def test_memory_maps_are_counted(monkeypatch):
    signature_cache.evict_if_over_budget()  # of what earlier tests have left
    assert signature_cache.over_budget() is None
    monkeypatch.setattr(signature_cache, "_MAP_SHARE", 0.0)
    assert (signature_cache.over_budget() is not None) == Path("/proc/self/maps").exists()


def test_memory_of_programs_has_a_bound(paddle):
    """One program more than the bound leaves room for is dropped, and is compiled again when
    it is asked for."""
    with differential.tier(paddle, deferred="off"):
        x = paddle.full([2, 9], 0.5)
        paddle.tanh(x)
        before = paddle.get_flags("FLAGS_compiled_code_in_mb")
        paddle.set_flags({"FLAGS_compiled_code_in_mb": 1})
        try:
            assert "FLAGS_compiled_code_in_mb = 1" in signature_cache.over_budget()
            signature_cache.evict_if_over_budget()
            np.testing.assert_allclose(paddle.tanh(x).numpy(), np.tanh(np.full((2, 9), 0.5)), rtol=1e-6)
        finally:
            paddle.set_flags(before)
    with pytest.raises(ValueError, match="FLAGS_compiled_code_in_mb"):
        paddle.set_flags({"FLAGS_compiled_code_in_mb": -1})


def test_code_is_looked_at_while_programs_are_compiled(paddle, monkeypatch):
    looked = []
    monkeypatch.setattr(signature_cache.SignatureCache, "next_check", Counters.compiled + 1)
    monkeypatch.setattr(
        "paddle_jax._core.kernels.kernel.evict_if_over_budget", lambda: looked.append(Counters.compiled)
    )
    with differential.tier(paddle, deferred="off"):
        for n in (211, 223):
            paddle.tanh(paddle.full([n], 0.5))
    assert looked


PROGRAMS = """
import numpy as np
import paddle_jax as paddle
from paddle_jax._core.lazy import signature_cache
from paddle_jax._core.base.interrupt_safe import InterruptSafeCall
paddle.set_flags({"FLAGS_compiled_code_in_mb": 16, "FLAGS_deferred_min_repeats": 1})
signature_cache._CHECK_INTERVAL = 4
main = paddle.static.Program()
paddle.enable_static()
with paddle.static.program_guard(main):
    x = paddle.static.data("x", [None], "float32")
    y = paddle.tanh(x) * 2
paddle.disable_static()
executor = paddle.static.Executor(paddle.CPUPlace())
functions = [paddle.jit.to_static(lambda x, k=k: paddle.sin(x) + k) for k in range(12)]

def everything():
    for k, function in enumerate(functions):
        np.testing.assert_allclose(function(paddle.ones([3])).numpy(), np.sin(1) + k, rtol=1e-6)
        paddle.enable_static()
        found = executor.run(main, feed={"x": np.ones(k + 1, "float32")}, fetch_list=[y])[0]
        paddle.disable_static()
        np.testing.assert_allclose(found, np.tanh(np.ones(k + 1)) * 2, rtol=1e-6)

everything()
held = sum(once.used >= 0 for once in InterruptSafeCall.instances)
everything()
print(held)
"""


def test_functions_and_static_programs_are_bounded_too(tmp_path):
    """The least recently used ones go, whoever made them, and are compiled again when they are called."""
    script = tmp_path / "programs.py"  # functions are compiled where their source is there
    script.write_text(PROGRAMS)
    done = subprocess.run(
        [sys.executable, script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert 0 < int(done.stdout) < 13


TURNS = """
import paddle_jax as paddle
from paddle_jax._core.base.counters import Counters
from paddle_jax._core.lazy import signature_cache
paddle.set_flags({"FLAGS_deferred": "off", "FLAGS_compiled_code_in_mb": 16})
signature_cache._CHECK_INTERVAL = 2
x = paddle.full([3, 7], 0.5)
names = ["cos", "sinh", "tan", "cosh", "asinh", "atan", "expm1", "log1p", "sign", "tanh", "sin", "exp",
         "sqrt", "rsqrt", "floor", "ceil"]
rounds = []
for _ in range(6):
    before = Counters.compiled
    for name in names:
        getattr(paddle, name)(x)
    rounds.append(Counters.compiled - before)
print(rounds[0], rounds[-1], signature_cache.SignatureCache.memory_factor)
"""


def test_what_is_used_in_turn_gets_room():
    """A bound that leaves room for about half of what a loop uses is widened, so that the loop does not
    compile for ever."""
    done = subprocess.run(
        [sys.executable, "-c", TURNS], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    first, last, stretch = map(int, done.stdout.split())
    assert first >= 16
    assert last == 0
    assert 1 < stretch <= 4
