"""Compiles the cases of the op table for other platforms, forward and with gradients."""

import re
import warnings

import paddle_jax
from paddle_jax import aot
from paddle_jax.aot import capture
from paddle_jax.aot.target import parse
from tests.ops import harness
from tests.ops.table import OPS, find, public_path

KINDS = (r".", r"\b(c|c128)\(", r"\b(d|ud|pos_d)\(")  # any case, one of complex numbers, one of float64
LIMIT = 60  # seconds for a compilation
EAGER = "eager"
YES = "yes"


class Replay(harness.Maker):
    """The helpers of case texts, which give Tensors that were made before, in their order."""

    def __init__(self, module, tensors):
        super().__init__(module)
        self.given = iter(tensors)

    def tensor(self, array, dtype=None, leaf=None):
        found = next(self.given)
        if not found.stop_gradient:
            self.leaves.append(found)
        return found


class Recording(harness.Maker):
    """The helpers, which keep all Tensors that they have made.

    Attributes:
        all: list of Tensor.
    """

    def __init__(self, module):
        super().__init__(module)
        self.all = []

    def tensor(self, array, dtype=None, leaf=None):
        made = super().tensor(array, dtype, leaf)
        self.all.append(made)
        return made


def value_of(maker, function, case):
    return eval(f"__call__({case})", {**maker.env(), "__call__": function})  # noqa: S307


def forward_of(function, case):
    def forward(*tensors):
        out = value_of(Replay(paddle_jax, tensors), function, case)
        return [t for t in harness.flat(out, paddle_jax.Tensor) if isinstance(t, paddle_jax.Tensor)]

    return forward


def gradient_of(function, case):
    def gradient(*tensors):
        maker = Replay(paddle_jax, tensors)
        out = value_of(maker, function, case)
        outs = [t for t in harness.flat(out, paddle_jax.Tensor) if isinstance(t, paddle_jax.Tensor)]
        kept = [t for t in outs if harness.name_of(t) in harness.FLOATS and not t.stop_gradient]
        grads = paddle_jax.grad(kept, maker.leaves, allow_unused=True) if kept and maker.leaves else []
        return [*outs, *[g for g in grads if g is not None]]

    return gradient


def tensors_of(function, case):
    """(Tensors that a case makes, whether a gradient flows), or None where the case is refused."""
    maker = Recording(paddle_jax)
    try:
        out = value_of(maker, function, case)
    except Exception:
        return None
    outs = [t for t in harness.flat(out, paddle_jax.Tensor) if isinstance(t, paddle_jax.Tensor)]
    if not outs:
        return None
    flows = any(harness.name_of(t) in harness.FLOATS and not t.stop_gradient for t in outs)
    return maker.all, flows and bool(maker.leaves)


def cases_of(name):
    """[(case, Tensors, whether a gradient flows)] of an op: one of each kind that there is."""
    function = find(paddle_jax, public_path(name))
    chosen = {}
    for kind in KINDS:
        for case in OPS[name].cases:
            text = case.lstrip("~ ")
            if not re.search(kind, text):
                continue
            if text in chosen:
                break
            made = tensors_of(function, text)
            if made is not None:
                chosen[text] = made
                break
    return [(text, *made) for text, made in chosen.items()]


def verdict(traced, target):
    """YES, or why a traced program does not compile for a target. "rocm" is only lowered."""
    if target == "rocm":
        try:
            traced.traced.lower(lowering_platforms=("rocm",))
        except Exception as error:
            return f"{type(error).__name__}: {error}".splitlines()[0]
        return YES
    try:
        report = aot.report_of(traced, parse(target), timeout=LIMIT)
    except Exception as error:  # a rule of JAX's that lowers an equation
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return YES if report.compiles else report.error


def check(name, case, tensors, flows, target):
    """(forward, gradient) on a target: YES, EAGER, an error, or "" where there is no gradient."""
    function = find(paddle_jax, public_path(name))
    platform = "rocm" if target == "rocm" else parse(target).platform
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if flows:
            whole = traced_verdict(gradient_of(function, case), tensors, platform, target)
            if whole in (YES, EAGER):
                return whole, whole
        forward = traced_verdict(forward_of(function, case), tensors, platform, target)
    return forward, whole if flows else ""


def traced_verdict(function, tensors, platform, target):
    try:
        traced = capture.trace(function, tensors, {}, platform)
    except RuntimeError as error:
        return EAGER if "cannot be traced" in str(error) else str(error).splitlines()[0]
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return verdict(traced, target)
