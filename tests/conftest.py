"""What every test shares: the CPU, a quiet oracle, slow tests first.

Set-up that has to happen before JAX or Paddle is imported stands at module level.
"""

import faulthandler
import gc
import importlib.metadata
import importlib.util
import itertools
import os
import pathlib
import random
import sys
import warnings
import zlib

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

from tests import bytecode, own_process, thinning
from tests.cpu import with_bfloat16

bytecode.allow(pathlib.Path(__file__).resolve().parents[1] / ".pytest_cache" / "bytecode")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("GLOG_minloglevel", "3")
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("FLAGS_deferred_background", "0")  # what is counted must not depend on clocks
os.environ.setdefault("FLAGS_compile_notice", "0")  # machines of tests are slow, and stderr is compared
os.environ.setdefault("FLAGS_compile_cache", "off")  # thousands of tiny programs that nobody needs again
# Compiling is most of what the suite does; without the compiler's optimisations it takes a third of the time.
# What users get is checked by the conformance calls, which run with XLA's own choice. XLA stops the process
# at a flag it does not know, so each is given to known versions only.
_JAXLIB = tuple(int(part) for part in importlib.metadata.version("jaxlib").split(".")[:2])
if (0, 10) <= _JAXLIB <= (0, 12):
    flags = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    # One part of a program is compiled in four fifths of the time of several.
    # Without its newer loops XLA computes a few programs wrong (`quick_options`). Those run
    # in tests/jit/test_flags_of_users.py.
    flags_of_010 = " --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
    os.environ.setdefault("XLA_FLAGS", flags + flags_of_010 * (_JAXLIB == (0, 10)))

_server = own_process.Server()
# memory maps of a process; Linux allows 65 530, a compiled program takes six of them and 1.6 MB
_MAPS = 12_000
_TESTS_BETWEEN_COUNTS = 16  # Linux takes 17 ms to list 9000 maps
_ended_tests = itertools.count(1)


def pytest_collection_modifyitems(items):
    """Starts with the first lines that people type, then the slow tests, so that parallel workers do not wait
    for one of them in the end.

    PADDLE_JAX_TEST_ORDER=7 puts the files, and the tests of each, into the random order number 7: none may
    depend on another.
    """
    ranks = {
        item: 0 if item.get_closest_marker("first") else 1 if item.get_closest_marker("slow") else 2
        for item in items
    }
    thinning.mark_slow(items)  # rows that a fast run leaves out; they are no slower than others
    if order := os.environ.get("PADDLE_JAX_TEST_ORDER"):
        generator = random.Random(int(order))
        place = {path: generator.random() for path in dict.fromkeys(item.path for item in items)}
        generator.shuffle(items)
        items.sort(key=lambda item: place[item.path])
    else:
        items.sort(key=ranks.get)


def pytest_collection_finish():
    """Lets the collector of garbage skip the 650 000 objects that the tests and both engines consist of."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Runs what is marked `own_process` and uses the real Paddle in a process of its own."""
    mark = item.get_closest_marker("own_process")
    if (
        mark is None
        or not ("oracle" in item.fixturenames or hasattr(item.module, "oracle"))
        or os.environ.get(own_process.SHARED) == "shared"
    ):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in own_process.reports(_server, item, mark):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    item.session._setupstate.teardown_exact(nextitem)
    return True


def pytest_sessionfinish():
    _server.stop()


@pytest.fixture(autouse=True)
def _bounded_memory():
    """Forgets compiled programs before a process that runs thousands of tests has too many of them."""
    yield
    if next(_ended_tests) % _TESTS_BETWEEN_COUNTS:
        return
    maps = pathlib.Path("/proc/self/maps")
    if "jax" in sys.modules and maps.exists() and maps.read_bytes().count(b"\n") > _MAPS:
        from paddle_jax._core.lazy import signature_cache

        signature_cache.drop_all("the process of the tests has many memory maps")
        gc.unfreeze()
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True)
def _quick_garbage_collection():
    """After a collection of all garbage the collector skips what is there when the test ends.

    After thousands of tests a collection of everything takes up to seven seconds. `_bounded_memory` looks at
    everything.
    """
    before = gc.get_stats()[2]["collections"]
    yield
    if gc.get_stats()[2]["collections"] != before:
        gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _skip_earlier_files(request):
    """In files whose tests collect garbage the collector skips what was there before the file.

    A file whose tests have garbage collected by what they call sets COLLECTS_GARBAGE.
    """
    if hasattr(request.module, "gc") or hasattr(request.module, "COLLECTS_GARBAGE"):
        gc.freeze()


_FLAGS = [
    "FLAGS_deferred",
    "FLAGS_deferred_min_repeats",
    "FLAGS_deferred_max_ops",
    "FLAGS_interpreter",
    "FLAGS_check_nan_inf",
]


@pytest.fixture(autouse=True)
def _own_seed(request):
    """Every test draws the same weights and data in every run, whatever ran before it in its process."""
    import numpy as np

    import paddle_jax

    seed = zlib.crc32(request.node.nodeid.encode())
    paddle_jax.seed(seed)
    np.random.seed(seed)
    random.seed(seed)


@pytest.fixture(autouse=True)
def _flags_as_before():
    """Puts back what a test leaves changed, so that it does not change what the tests after it test."""
    import paddle_jax
    from paddle_jax._core.kernels.value_checks import PendingChecks

    before = paddle_jax.get_flags(_FLAGS)
    yield
    PendingChecks.queue.clear()
    if paddle_jax.get_flags(_FLAGS) != before:
        paddle_jax.set_flags(before)


@pytest.fixture(scope="session")
def oracle(pytestconfig):
    """The real Paddle on the CPU; tests that compare with it are skipped where it is not installed."""
    if importlib.util.find_spec("paddle") is None:
        pytest.skip(
            "the real Paddle is not installed: pip install 'paddle_jax[oracle]' (Python 3.11 to 3.13)"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import paddle
    if pathlib.Path(paddle.__file__).parent.name != "paddle":
        pytest.fail(
            "`import paddle` gives paddle_jax here: a test of this process has called "
            "install_as_paddle(); let it use a process of its own"
        )
    if not paddle.__version__.startswith("3.3"):
        pytest.skip(f"the oracle is Paddle 3.3.1, found {paddle.__version__}")
    paddle.set_device("cpu")
    with_bfloat16(paddle)
    # it prints a C++ stack, for which it needs memory: after a crash in malloc it waits for ever instead
    paddle.disable_signal_handler()
    faulthandler.disable()  # what is enabled is not enabled again
    # Paddle had put its handler in place of pytest's
    faulthandler.enable(file=pytestconfig.stash.get(fault_handler_stderr_fd_key, 2))
    if os.environ.get(own_process.SHARED) != "shared":
        own_process.guard(paddle)
    return paddle


@pytest.fixture
def paddle():
    """paddle_jax with a fixed seed."""
    import paddle_jax

    paddle_jax.seed(2026)
    return paddle_jax


def pytest_terminal_summary(terminalreporter):
    """Prints what tests recorded under the name "summary", such as the conformance pass rate."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    thinning.write_seconds(
        [
            each
            for kind in ("", "passed", "failed")
            for each in terminalreporter.stats.get(kind, [])
            if hasattr(each, "duration")
        ]
    )
    for report in reports:
        for name, value in report.user_properties:
            if name == "summary":
                terminalreporter.write_line(value)
            elif name == own_process.AGAIN:
                terminalreporter.write_line(f"{name}: {value}")
