"""Exceptions at any moment of a training loop: how often something was lost. One process per tier and
kind of program.

    python -m tests.reliability.interrupts --tier sync --program eager --kind signal --trials 300 --seed 0

A trial trains for some steps from the same start, is interrupted once (by SIGINT, by an exception that a
signal handler raises, or by a tracing hook at the n-th line of the package), and looks at what is left: the
exception came out once, parameters and optimizer state are those of one step of an undisturbed run, modes are
as before, and training on from there gives what the undisturbed run gives.
"""

import argparse
import json
import random
import signal
import sys
import time
import traceback
from pathlib import Path

import numpy as np

import paddle_jax as paddle

PACKAGE = str(Path(paddle.__file__).parent)
STEPS = 8
TIERS = ("sync", "async", "off")


# Where Python prints what is raised and goes on (callbacks of weak references, `__del__`), or JAX has a bare
# `except`: nobody could tell the caller.
IGNORING = {
    ("weakref.py", "remove"),
    ("weakref.py", "_remove"),
    ("weakref.py", "__call__"),
    ("pxla.py", "_get_out_sharding_from_orig_sharding"),
}


class Interrupted(Exception):
    """What the signal handler raises: an ordinary exception, as time limits and preemption notices are."""


class Training:
    """A small network with its optimizer; `step(i)` is one step of training."""

    def __init__(self, program):
        paddle.seed(5)
        nn = paddle.nn
        self.net = nn.Sequential(
            nn.Linear(6, 16, bias_attr=False), nn.BatchNorm1D(16), nn.Tanh(), nn.Linear(16, 3)
        )
        if program == "groups":  # more parameters than one call updates
            self.net = nn.Sequential(*[nn.Linear(6, 6) for _ in range(36)], nn.Linear(6, 3))
        shapes = [p.shape for p in self.net.parameters()]
        source = np.random.RandomState(0)
        for p, shape in zip(self.net.parameters(), shapes, strict=True):
            p.set_value(source.uniform(-0.5, 0.5, shape).astype("float32"))
        self.data = source.uniform(-1, 1, (STEPS, 10, 6)).astype("float32")
        self.rate = paddle.optimizer.lr.ExponentialDecay(0.05, 0.9)
        clip = paddle.nn.ClipGradByGlobalNorm(1.0)
        parameters = self.net.parameters()
        if program == "groups":
            parameters = [{"params": parameters[:4]}, {"params": parameters[4:], "learning_rate": 0.5}]
        self.opt = paddle.optimizer.Adam(self.rate, parameters=parameters, grad_clip=clip)
        self.scaler = paddle.amp.GradScaler(init_loss_scaling=64.0) if program == "scaler" else None
        self.compiled = paddle.jit.to_static(self.body) if program == "to_static" else self.body
        if program == "forward":
            self.net = paddle.jit.to_static(self.net)

    def body(self, x):
        with paddle.no_grad():
            target = paddle.sin(x.sum(-1, keepdim=True))
        loss = ((self.net(x) - target) ** 2).mean()
        if self.scaler is not None:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.opt)
            self.scaler.update()
        else:
            loss.backward()
            self.opt.step()
        self.opt.clear_grad()
        return loss

    def step(self, i):
        return float(self.compiled(paddle.to_tensor(self.data[i])))

    def state(self):
        """Everything that training changes, by name; read the way a checkpoint reads it."""
        found = {f"net.{k}": v.numpy() for k, v in self.net.state_dict().items()}
        found |= {
            f"opt.{n}": v.numpy()
            for n, v in enumerate(v for k, v in self.opt.state_dict().items() if hasattr(v, "numpy"))
        }
        return found


class StaticTraining(Training):
    """The same by the Executor."""

    def __init__(self, program):
        paddle.enable_static()
        source = np.random.RandomState(0)
        self.main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(self.main, startup), paddle.utils.unique_name.guard():
            x = paddle.static.data("x", [None, 6], "float32")
            h = paddle.tanh(paddle.nn.Linear(6, 16)(x))
            out = paddle.nn.Linear(16, 3)(h)
            self.loss = ((out - paddle.sin(x.sum(-1, keepdim=True))) ** 2).mean()
            paddle.optimizer.Adam(0.02).minimize(self.loss)
        self.exe, self.scope = paddle.static.Executor(), paddle.static.Scope()
        self.exe.run(startup, scope=self.scope)
        for p in self.main.all_parameters():
            self.scope.find_var(p.name).get_tensor().set(
                source.uniform(-0.5, 0.5, p.shape).astype("float32"), paddle.CPUPlace()
            )
        self.data = source.uniform(-1, 1, (STEPS, 10, 6)).astype("float32")

    def step(self, i):
        return float(
            self.exe.run(self.main, feed={"x": self.data[i]}, fetch_list=[self.loss], scope=self.scope)[0]
        )

    def state(self):
        return {
            name: np.asarray(value)
            for name, value in self.scope.values.items()
            if "learning_rate" not in name
        }


def same(a, b):
    return a.keys() == b.keys() and all(np.allclose(a[k], b[k], rtol=1e-3, atol=1e-5) for k in a)


def learnt(state):
    """What the optimizer changes."""
    return {name: value for name, value in state.items() if not name.endswith(("_mean", "_variance"))}


def modes():
    return paddle.is_grad_enabled(), paddle.get_default_dtype(), paddle.in_dynamic_mode()


def counting(limit):
    """Raises at the limit-th line of the package; counts[0] is the number of lines so far."""
    counts = [0]

    def local(frame, event, arg):
        if event == "line":
            counts[0] += 1
            if counts[0] == limit:
                raise Interrupted(f"line {limit}")
        return local

    def hook(frame, event, arg):
        return local if event == "call" and frame.f_code.co_filename.startswith(PACKAGE) else None

    return hook, counts


class Trials:
    """Trials of one kind; failures are kept as (what went wrong, trial, text)."""

    def __init__(self, program, kind):
        self.make = StaticTraining if program == "executor" else Training
        self.program, self.kind, self.failures, self.hits = program, kind, [], 0
        self.reference = []
        training = self.make(program)
        training.state()
        for i in range(STEPS):
            training.step(i)
            if i < 2 or self.program == "scaler":
                training.state()
            self.reference.append(training.state())
        self.span = min(self.timed() for _ in range(4))
        self.modes = modes()

    def timed(self):
        """Seconds of an undisturbed loop."""
        training = self.make(self.program)
        start = time.perf_counter()
        for i in range(STEPS):
            training.step(i)
        return time.perf_counter() - start

    def lines(self):
        """How many lines of the package a loop has."""
        hook, counts = counting(-1)
        training = self.make(self.program)
        sys.settrace(hook)
        for i in range(STEPS):
            training.step(i)
        sys.settrace(None)
        return counts[0]

    def run(self, trial, at):
        """One trial, interrupted at time or line `at`."""
        training = self.make(self.program)
        self.at = 0

        def loop():
            for i in range(STEPS):
                self.at = i
                training.step(i)
            self.at = STEPS

        try:
            if self.kind == "lines":
                sys.settrace(counting(at)[0])
            else:
                signal.setitimer(signal.ITIMER_REAL, at)
            try:
                loop()
                if self.kind != "lines":  # the last steps were quicker than usual
                    signal.setitimer(signal.ITIMER_REAL, 0)
            finally:
                sys.settrace(None)
        except (KeyboardInterrupt, Interrupted):
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.check(trial, training)
            return
        if self.fired and not self.ignored:
            self.failures.append(("swallowed", trial, "".join(self.where)))

    def check(self, trial, training):
        self.hits += 1
        try:
            now = training.state()
        except BaseException:
            self.failures.append(("lost", trial, traceback.format_exc()[-1500:]))
            return
        steps = [
            k
            for k in (self.at - 1, self.at)
            if k >= 0 and k < STEPS and same(learnt(now), learnt(self.reference[k]))
        ]
        # the forward pass changes them before the step
        buffers = all(
            any(same({n: v}, {n: self.reference[k][n]}) for k in (self.at - 1, self.at) if 0 <= k < STEPS)
            for n, v in now.items()
            if n not in learnt(now)
        )
        if not buffers and self.at > 0:
            self.failures.append(("buffers", trial, self.described(now)))
        if not steps and self.at > 0:
            self.failures.append(("mixed", trial, self.described(now)))
        if modes() != self.modes:
            self.failures.append(("modes", trial, str(modes())))
            paddle.enable_grad().__enter__()
        try:
            done = steps[-1] + 1 if steps else self.at
            if hasattr(training, "opt"):
                training.opt.clear_grad()
            if training.__dict__.get("scaler") is not None:
                training.scaler = paddle.amp.GradScaler(init_loss_scaling=64.0)
            for i in range(done, STEPS):
                training.step(i)
            if steps and not same(learnt(training.state()), learnt(self.reference[-1])):
                self.failures.append(("went on wrongly", trial, self.described(training.state())))
        except BaseException:
            self.failures.append(("cannot go on", trial, traceback.format_exc()[-2500:]))

    def described(self, now):
        near = {}
        for name, value in now.items():
            near[name] = [
                k for k, r in enumerate(self.reference) if name in r and same({name: value}, {name: r[name]})
            ]
        return f"in step {self.at}: steps that each value fits: {near}"

    fired = ignored = False

    def handler(self, number, frame):
        self.fired, self.where, self.ignored = True, traceback.format_stack(frame)[-3:], False
        while frame is not None:
            function = frame.f_code.co_name
            place = Path(frame.f_code.co_filename).name, function
            self.ignored = self.ignored or function == "__del__" or place in IGNORING
            frame = frame.f_back
        raise KeyboardInterrupt if self.kind == "signal" else Interrupted("by a handler")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tier", choices=TIERS, default="sync")
    parser.add_argument(
        "--program",
        choices=("eager", "groups", "scaler", "to_static", "forward", "executor"),
        default="eager",
    )
    parser.add_argument("--kind", choices=("signal", "handler", "lines"), default="signal")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=None, help="the lines kind: this line only")
    parser.add_argument("--show", type=int, default=3)
    given = parser.parse_args()
    paddle.set_flags({"FLAGS_deferred": given.tier})
    trials, source = Trials(given.program, given.kind), random.Random(given.seed)
    signal.signal(signal.SIGALRM, trials.handler)
    most = trials.lines() if given.kind == "lines" else None
    for trial in range(given.trials):
        trials.fired = False
        if given.kind == "lines":
            at = given.first or source.randrange(1, most)
        else:
            at = source.uniform(1e-5, trials.span)
        trials.run((trial, at), at)
    kinds = {}
    for what, _, _ in trials.failures:
        kinds[what] = kinds.get(what, 0) + 1
    for what, trial, text in trials.failures[: given.show]:
        print(what, trial, text)
    print(
        json.dumps(
            {
                "tier": given.tier,
                "program": given.program,
                "kind": given.kind,
                "trials": given.trials,
                "interrupted": trials.hits,
                "failures": kinds,
            }
        )
    )
    sys.exit(bool(trials.failures))


if __name__ == "__main__":
    main()
