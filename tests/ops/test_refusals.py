"""What the real Paddle refuses, with which exception and kind of mistake, and what it takes
though it looks odd."""

import json
import subprocess
import sys

import numpy as np
import pytest

import paddle_jax
from tests.ops import harness as h
from tests.ops.refusal_cases import CASES

RANDOM = "rand", "normal", "uniform", "multinomial", "nn."


def env(module, seed):
    """The names that cases use."""
    r = np.random.RandomState(seed)

    def made(array, leaf=False):
        t = module.to_tensor(array)
        t.stop_gradient = not leaf
        return t

    def grads(function, *tensors):
        for t in tensors:
            t.stop_gradient = False
        out = function(*tensors)
        out.sum().backward()
        return [out, *[t.grad for t in tensors]]

    return {
        "P": module,
        "F": module.nn.functional,
        "nn": module.nn,
        "np": np,
        "grads": grads,
        "f": lambda *s: made(np.asarray(r.randn(*s), "float32")),
        "d": lambda *s: made(np.asarray(r.randn(*s))),
        "i": lambda hi, *s: made(np.asarray(r.randint(0, hi, s))),
        "g": lambda *s: made(np.asarray(r.randn(*s), "float32"), True),
    }


def outcome(module, case, seed):
    """What a case gives: ["error", classes, kind, message] or ["value", ...]."""
    try:
        out = eval(case, env(module, seed))  # noqa: S307
    except Exception as error:
        return "error", [cls.__name__ for cls in type(error).__mro__], h.kind(error), str(error)[:200]
    if any(word in case for word in RANDOM):
        return "value", [
            (h.name_of(t), list(t.shape)) for t in h.flat(out, module.Tensor) if isinstance(t, module.Tensor)
        ]
    return "value", [
        (h.name_of(t), list(t.shape), numbers(h.to_numpy(t))) if isinstance(t, module.Tensor) else str(t)
        for t in h.flat(out, module.Tensor)
    ]


def numbers(array):
    """Nested lists of real numbers; complex ones as pairs."""
    return np.stack([array.real, array.imag], -1).tolist() if array.dtype.kind == "c" else array.tolist()


def outcomes(module, group):
    """One line of JSON per case."""
    for seed, case in enumerate(line.strip() for line in CASES[group].strip().splitlines()):
        module.seed(1)
        if group == "float64 by default":
            module.set_default_dtype("float64")
        try:
            yield case, outcome(module, case, seed)
        finally:
            module.set_default_dtype("float32")


def same(want, got):
    """Whether our outcome is that of the real Paddle."""
    if want[0] != got[0]:
        return want[0] == "error" and want[2] in ("(NotFound)", "(Unavailable)")
    if want[0] == "error":
        return want[1][0] in got[1] and want[2] in (got[2], "(NotFound)")
    return len(want[1]) == len(got[1]) and all(equal(*pair) for pair in zip(want[1], got[1], strict=True))


def equal(want, got):
    if isinstance(want, str) or len(want) == 2:
        return isinstance(want, str) or list(want) == list(got)
    return list(want[:2]) == list(got[:2]) and np.allclose(
        np.asarray(want[2]), np.asarray(got[2]), rtol=2e-4, atol=2e-5, equal_nan=True
    )


# Refused calls leave things behind in a process, so each group has its own.
PROGRAM = """
import json, os, sys, paddle
from tests.ops.test_refusals import outcomes
for group in json.loads(sys.argv[1]):
    sys.stdout.flush()
    child = os.fork()
    if not child:
        for pair in outcomes(paddle, group):
            print("=", json.dumps([group, pair]))
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope="module")
def of_paddle(oracle):
    """group -> [(case, outcome)] in the real Paddle, and what it wrote to stderr."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(list(CASES))]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    found = {group: [] for group in CASES}
    for line in run.stdout.splitlines():
        if line.startswith("= "):
            group, pair = json.loads(line[2:])
            found[group].append(pair)
    return found, run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("group", CASES)
@pytest.mark.filterwarnings("ignore")
def test_as_the_real_paddle(group, of_paddle):
    theirs, messages = of_paddle[0][group], of_paddle[1]
    mine = list(outcomes(paddle_jax, group))
    assert len(theirs) == len(mine), messages[-500:]
    pairs = zip(theirs, mine, strict=True)
    problems = [
        f"{case}\n  {str(want)[:300]}\n  {str(got)[:300]}"
        for (case, want), (_, got) in pairs
        if not same(want, got)
    ]
    assert not problems, "\n".join(problems)
