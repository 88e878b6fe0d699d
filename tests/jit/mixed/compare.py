"""Runs a program as plain Python and compiled, and compares them after each call."""

import contextlib
import importlib.util
import linecache
import random
import signal
import sys
import warnings

import numpy as np

import paddle_jax as paddle
from tests.jit.mixed.programs import generate

_AROUND = {
    "plain": contextlib.nullcontext,
    "nograd": paddle.no_grad,
    "amp1": lambda: paddle.amp.auto_cast(level="O1", dtype="bfloat16"),
    "amp2": lambda: paddle.amp.auto_cast(level="O2", dtype="bfloat16"),
}


class Form:
    """One of the two: a module loaded from the source of a program, and its step."""

    def __init__(self, source, path, compiled):
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        self.module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
        self.way, self.mode, self.last = "fresh", "plain", None
        vars(self.module).update(
            arguments=lambda way: setattr(self, "way", way), around=lambda mode: setattr(self, "mode", mode)
        )
        spec.loader.exec_module(self.module)
        self.step = paddle.jit.to_static(self.module.step) if compiled else self.module.step

    def change(self, text):
        """What a change of the surroundings raises, if anything."""
        try:
            name = f"<change {hash(text)}>"  # the source of functions in it can be read
            linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
            exec(compile(text, name, "exec"), vars(self.module))
        except Exception as error:  # such as one that an earlier change makes impossible: of both forms
            return type(error)
        return None

    def arguments(self, numbers):
        """The Tensors of a call."""
        if self.way == "keep" and self.last is not None:
            return self.last
        x, y = (paddle.to_tensor(np.array(n, "float32")) for n in (numbers[:2], numbers[2:]))
        if self.way == "alias":
            y = x
        elif self.way == "view":
            base = paddle.to_tensor(np.array(numbers, "float32").reshape(2, 2))
            x, y = base[0], base[1]
        elif self.way == "shared":
            y = x.detach()
        elif self.way == "grad":
            x.stop_gradient = False
        elif self.way == "double":
            y = y.astype("float64")
        elif self.way == "three":
            y = paddle.concat([y, y])[:3]
        self.last = x, y
        return x, y

    def call(self, numbers):
        """(result or exception, arguments afterwards)."""
        args = self.arguments(numbers)
        try:
            with _AROUND[self.mode]():
                out = self.step(*args)
        except Exception as error:
            return error, args
        return out, args


def seen(value):
    """A value as plain data."""
    if isinstance(value, paddle.Tensor):
        return (
            "tensor",
            str(value.dtype),
            value.stop_gradient,
            value.numpy().astype("float64") if value.dtype != paddle.bool else value.numpy(),
        )
    if isinstance(value, dict):
        return {k: seen(v) for k, v in value.items() if not callable(v)}
    if isinstance(value, list | tuple):
        return [seen(v) for v in value]
    return (
        value
        if isinstance(value, np.ndarray | bool | int | float | str | type(None) | np.generic)
        else type(value).__name__
    )


def alike(a, b, rtol):
    """Whether two of `seen` are the same up to rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[k], b[k], rtol) for k in a)
    if type(a) in (int, float) and isinstance(b, tuple) and b[:1] == ("tensor",):
        return abs(a - b[-1]) < rtol  # a number that a compiled branch has decided
    if isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0] == "tensor":
        return a[1] == b[1] and (a[2] is b[2] or a[2] and not b[2]) and alike(a[3], b[3], rtol)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b, [rtol] * len(a)))
    if isinstance(a, float | np.ndarray | np.generic) and isinstance(b, float | np.ndarray | np.generic):
        return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=rtol, atol=rtol, equal_nan=True)
    return type(a) is type(b) and a == b


def watched(form, watch):
    """What a module shows after a call."""
    found = []
    for text in watch:
        try:
            found.append((text, seen(eval(text, vars(form.module)))))
        except Exception as error:
            found.append((text, type(error).__name__))
    return found


def _generators():
    return paddle.get_rng_state(), random.getstate(), np.random.get_state()


def _put(state):
    paddle.set_rng_state(state[0])
    random.setstate(state[1])
    np.random.set_state(state[2])


def run(seed, folder, calls=7):
    """(what differs as text or None, how often the step was compiled, whether it runs eagerly)."""
    source, changes, watch, rng = generate(seed)
    paddle.set_default_dtype("float32")
    paddle.seed(seed)
    start = _generators()
    plain = Form(source, folder / f"mixed_{seed}_plain.py", False)
    _put(start)
    compiled = Form(source, folder / f"mixed_{seed}_compiled.py", True)
    state, history = _generators(), []
    rtol = 1e-4
    try:
        for number in range(calls):
            if number > 1 and number % 2 == 0 or number == calls - 2:
                change = rng.choice(changes)
                history.append(change)
                if "amp" in change:
                    rtol = 4e-2
                raised = []
                for form in (plain, compiled):
                    _put(state)
                    raised.append(form.change(change))
                if raised[0] is not raised[1]:
                    return f"change {change!r}: {raised}\n{source}", compiled, history
                state = _generators()
            numbers = [round(rng.uniform(0.5, 1.5), 2) for _ in range(4)]
            history.append("call")
            results = []
            for form in (plain, compiled):
                _put(state)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    out, args = form.call(numbers)
                results.append((out, args, watched(form, watch), _generators()))
            problem = _difference(*results, rtol)
            if problem:
                return f"{problem} after {history}\n{source}", compiled, history
            if isinstance(results[0][0], Exception):
                break  # what the step had done until then stays in plain Python, and not in the compiled form
            state = results[0][3]
    finally:
        paddle.set_default_dtype("float32")
        for form in (plain, compiled):
            sys.modules.pop(form.module.__name__, None)
    return None, compiled, history


def _difference(plain, compiled, rtol):
    (a, args, state, generators), (b, others, states, generators2) = plain, compiled
    if isinstance(a, Exception) or isinstance(b, Exception):
        return None if isinstance(a, Exception) and isinstance(b, Exception) else f"raised {a!r} and {b!r}"
    if not alike(seen(a), seen(b), rtol):
        return f"gave {seen(a)} and {seen(b)}"
    if not alike(seen(list(args)), seen(list(others)), rtol):
        return f"arguments {seen(list(args))} and {seen(list(others))}"
    for (text, one), (_, two) in zip(state, states, strict=True):
        if not alike(one, two, rtol):
            return f"{text} is {one} and {two}"
    for x, y in zip(generators[0], generators2[0], strict=True):
        if repr(x) != repr(y):
            return f"random state {generators[0]} and {generators2[0]}"
    if repr(generators[1:]) != repr(generators2[1:]):
        return "random state of Python or NumPy"
    return None


class Interrupt(BaseException):
    """As KeyboardInterrupt."""


def _raise(*_):
    raise Interrupt


def interrupted(seed, folder, tries=12):
    """(what is wrong after interrupts at random moments of compiled calls as text or None, how many hit)."""
    source, _, watch, rng = generate(seed)
    paddle.seed(seed)
    start = _generators()
    plain = Form(source, folder / f"mixed_{seed}_plain.py", False)
    _put(start)
    compiled = Form(source, folder / f"mixed_{seed}_compiled.py", True)
    state, hits, last = _generators(), 0, signal.signal(signal.SIGALRM, _raise)
    plain.way = compiled.way = "fresh"

    def both(numbers):
        results = []
        for form in (plain, compiled):
            _put(state)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results.append((*form.call(numbers), watched(form, watch), _generators()))
        return results

    try:
        for number in range(tries):
            numbers = [round(rng.uniform(0.5, 1.5), 2) for _ in range(4)]
            if number < 3:
                results = both(numbers)
                if (
                    isinstance(results[0][0], Exception)
                    or _difference(*results, 2e-5)
                    or not compiled.step.program_cache
                ):
                    return None, hits  # for the other comparison
                state = results[0][3]
                continue
            before = watched(plain, watch)
            _put(state)
            hit = False
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 2e-3))
                compiled.step(*compiled.arguments(numbers))
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupt:
                hit = True
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            hits += hit
            now = watched(compiled, watch)
            if not hit or not alike(now, before, 2e-5):
                _put(state)
                plain.call(numbers)
                state, after = _generators(), watched(plain, watch)
                pairs = zip(now, before, after, strict=True)
                if not all(alike(n, b, 2e-5) or alike(n, a, 2e-5) for n, b, a in pairs):
                    return (
                        f"seed {seed}: interrupted {hit}: {now}, before {before}, after {after}\n{source}",
                        hits,
                    )
                if not alike(now, after, 2e-5):
                    # half way: a scheduler's step is missing, as it would be in plain Python
                    return None, hits
    finally:
        signal.signal(signal.SIGALRM, last)
        for form in (plain, compiled):
            sys.modules.pop(form.module.__name__, None)
    return None, hits
