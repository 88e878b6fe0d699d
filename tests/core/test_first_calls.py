"""JAX runs Python code when it meets a kind of arguments for the first time. Whatever takes over the memory
of its operands is called for that in a thread of its own, where no signal interrupts it.

Unit tests of `_core.base.interrupt_safe`, `_core.execution.dispatch`, `_core.kernels.kernel` and
`_program.capture`.
"""

import concurrent.futures
import threading

import jax
import numpy as np
import pytest

import paddle_jax._program.capture.direct_program
import paddle_jax.static.executor
from paddle_jax._core.base import interrupt_safe
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.kernels.kernel import Kernel


def parts(paddle, groups):
    paddle.seed(1)
    net = paddle.nn.Sequential(
        paddle.nn.Linear(40, 40), paddle.nn.BatchNorm1D(40), paddle.nn.Dropout(0.2), paddle.nn.Linear(40, 3)
    )
    rate = paddle.optimizer.lr.StepDecay(0.1, 3)
    parameters = (
        net.parameters()
        if not groups
        else [{"params": net[0].parameters()}, {"params": net[3].parameters(), "learning_rate": 0.5}]
    )
    opt = paddle.optimizer.Adam(rate, parameters=parameters, grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0))

    def step(x):
        loss = (net(x) * 0.5 - x.sum(-1, keepdim=True)).square().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step, rate


def eager(paddle):
    return parts(paddle, groups=True)


def compiled(paddle):
    step, rate = parts(paddle, groups=False)
    return paddle.jit.to_static(step, full_graph=True), rate


@pytest.mark.parametrize("make", [eager, compiled])
@pytest.mark.parametrize("tier", ["sync", "off"])
def test_training(paddle, monkeypatch, make, tier):
    paddle.set_flags({"FLAGS_deferred": tier, "FLAGS_deferred_min_repeats": 1, "FLAGS_interpreter": False})
    wrong = watched(monkeypatch)
    step, rate = make(paddle)
    for i in range(8):
        x = paddle.to_tensor(np.random.default_rng(i).normal(size=(6, 40)).astype("float32"))
        if i == 5:
            x = x.to("cpu")
        float(step(x))
        rate.step()
    assert not wrong and watched.calls >= 8


def test_static_programs(paddle, monkeypatch):
    wrong = watched(monkeypatch)
    paddle.enable_static()
    try:
        main, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
        with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
            x = paddle.static.data("x", [None, 4])
            loss = paddle.nn.Linear(4, 3)(x).square().mean()
            paddle.optimizer.Adam(0.1).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(startup, scope=scope)
        name = main.all_parameters()[0].name
        for i in range(6):
            if i == 3:
                scope.find_var(name).get_tensor().set(np.ones([4, 3], "float32"), paddle.CPUPlace())
            exe.run(main, feed={"x": np.ones([2 + i // 4, 4], "float32")}, fetch_list=[loss], scope=scope)
    finally:
        paddle.disable_static()
    assert not wrong and watched.calls >= 6


def watched(monkeypatch):
    """A list of the calls that made JAX's Python code run in this thread; `watched.calls` counts all."""
    wrong, main, plain = [], threading.get_ident(), interrupt_safe.call_and_store
    watched.calls = 0

    def call_and_store(function, arguments, take):
        known = getattr(function, "_cache_size", None)
        before = known() if known else 0
        plain(function, arguments, take)
        watched.calls += 1
        if known and known() > before and threading.get_ident() == main:
            wrong.append((function, [type(a) for a in arguments]))

    for module in (interrupt_safe, paddle_jax._program.capture.direct_program, paddle_jax.static.executor):
        monkeypatch.setattr(module, "call_and_store", call_and_store)
    return wrong


def test_first_calls_of_many_threads():
    """Each gets its own results."""
    for _ in range(20):
        once, found = interrupt_safe.InterruptSafeCall(jax.jit(lambda x: [x + 1])), {}

        def work(i, once=once, found=found):
            out = []
            once((np.full([i % 4 + 1], i, "float32"),), lambda results: map(out.append, results), None, i % 4)
            found[i] = np.asarray(out[0]).tolist()

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(16)))
        assert found == {i: [i + 1.0] * (i % 4 + 1) for i in range(16)}


class Lowered:
    """A compiled function that notes where it is traced and compiled, and compiles until it is let go."""

    def __init__(self):
        self.threads, self.called, self.go = [], [], threading.Event()

    def lower(self, *arguments):
        self.threads.append(threading.get_ident())
        assert self.go.wait(20)
        return self

    def compile(self):
        self.threads.append(threading.get_ident())

    def clear_cache(self):
        """It stays among the compiled functions of the process, which may have to make room."""

    def __call__(self, x):
        self.called.append(threading.get_ident())
        return [x + 1]


def test_a_compilation_is_left_alone_by_who_is_interrupted(monkeypatch):
    """JAX's caches are as they should be, and the next call waits for the same compilation before
    it runs anything."""
    function, out, plain = Lowered(), [], interrupt_safe.ShieldedThread.wait
    once = interrupt_safe.InterruptSafeCall(function)

    def interrupted(running):
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupt_safe.ShieldedThread, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        once((1,), lambda results: map(out.append, results))
    monkeypatch.setattr(interrupt_safe.ShieldedThread, "wait", plain)
    threading.Timer(0.2, function.go.set).start()
    once((1,), lambda results: map(out.append, results))
    assert out == [2] and len(function.called) == 1
    assert threading.get_ident() not in function.threads + function.called
    once((2,), lambda results: map(out.append, results))
    assert out == [2, 3] and function.called[-1] == threading.get_ident()


def test_settings_of_the_thread_hold_for_the_first_call():
    with jax.numpy_dtype_promotion("strict"), jax.default_matmul_precision("float32"):
        found = []
        config = jax.config
        once = interrupt_safe.InterruptSafeCall(
            jax.jit(
                lambda x: (
                    found.append((config.jax_numpy_dtype_promotion, config.jax_default_matmul_precision))
                    or [x]
                )
            )
        )
        once((np.ones(2, "float32"),), lambda results: map(id, results))
    assert found == [("strict", "float32")]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_trace_that_was_cut_short_is_made_anew(paddle, error):
    """Nothing of it is kept, and JAX is left as it was."""
    cut = [True]

    def twice(x):
        doubled = x * 2
        if cut:
            cut.pop()
            raise error
        return doubled

    kernel, x = Kernel("twice", twice), paddle.ones([], "float32")
    with pytest.raises(error):
        run(kernel, [x])
    assert float(run(kernel, [x])) == 2


def test_a_recursion_of_the_functions_own_is_an_error(paddle):
    def endless(x):
        return endless(x) + 1

    with pytest.raises(RecursionError):
        run(Kernel("endless", endless), [paddle.ones([3], "float32")])
