"""Every declared op against the real Paddle: values, dtypes, shapes, exceptions and gradients.

tests/autograd/derivatives compares derivatives of higher order with difference quotients. The cases come
from the declarations (`cases=` of `op` and `composite`). A case that starts with `~` is compared by dtype and
shape only.
"""

import jax
import numpy as np
import pytest

import paddle_jax
from tests.ops import harness as h
from tests.ops.table import NAMES, OPS, find, public_path


@pytest.mark.parametrize("name", NAMES)
def test_is_public_and_has_cases(name):
    assert OPS[name].cases, f"{name} has no cases: add them to its declaration"
    assert public_path(name), f"{name} is declared but no namespace exports it"
    assert OPS[name].public.__doc__, f"{name} has no docstring"


# what the real Paddle says of some operations would count as a refusal
@pytest.mark.filterwarnings("ignore:(?s).*is deprecated since")
@pytest.mark.parametrize("name", NAMES)
def test_as_the_oracle(name, oracle):
    path = public_path(name)
    try:
        theirs = find(oracle, path)
    except AttributeError:
        pytest.skip(f"paddle.{path} is ours alone")
    problems = [p for case in OPS[name].cases for p in check(oracle, theirs, find(paddle_jax, path), case)]
    assert not problems, "\n".join(problems)


def check(oracle, theirs, ours, case):
    exact, case = not case.startswith("~"), case.lstrip("~ ")
    want, got = h.evaluate(oracle, theirs, case), h.evaluate(paddle_jax, ours, case)
    if want.error is not None:
        if not h.same_refusal(got.error, want.error):
            yield f"[{case}] the oracle raises {type(want.error).__name__}; ours: {got.error!r}"
        elif got.error is not None and not h.same_kind(got.error, want.error):
            yield f"[{case}] the oracle's message begins with {h.kind(want.error)}; ours: {got.error}"
        return
    if got.error is not None:
        yield f"[{case}] raises {type(got.error).__name__}: {got.error}"
        return
    if problem := h.compare_outputs(got, want, values=exact):
        yield f"[{case}] {problem}"
    elif exact:
        yield from check_gradients(oracle, got, want, case)


def check_gradients(oracle, got, want, case):
    try:
        wanted = h.first_gradient(oracle, want)
    except Exception:
        return  # the oracle has no gradient here; ours is checked against finite differences
    if wanted is None:
        return
    grads = h.first_gradient(paddle_jax, got, create_graph=True)
    if grads is None:
        if any(g is not None and np.any(h.to_numpy(g)) for g in wanted):
            yield f"[{case}] has no gradient"
        return
    if problem := h.compare_gradients(grads, wanted):
        yield f"[{case}] first order: {problem}"


@pytest.mark.parametrize("name", [n for n in NAMES if not OPS[n].composite and not OPS[n].random])
def test_traced_is_eager(name):
    """Inside a jax trace the op gives the same shapes and dtypes as in eager mode."""
    ours = find(paddle_jax, public_path(name))
    for case in OPS[name].cases[:4]:
        case = case.lstrip("~ ")
        eager = h.evaluate(paddle_jax, ours, case)
        if eager.error is not None or not OPS[name].jit:
            continue
        shapes = traced_shapes(ours, case)
        assert shapes == [(d, s) for d, s, _ in eager.outs], f"[{case}] traced {shapes}"


def traced_shapes(ours, case):
    maker, arrays = h.Maker(paddle_jax), []
    plain = maker.tensor

    def collect(array, dtype=None, leaf=None):
        t = plain(array, dtype, leaf)
        arrays.append(t._value)
        return t

    maker.tensor = collect
    eval(f"(lambda *a, **k: None)({case})", maker.env())  # noqa: S307

    def traced(values):
        inner, feed = h.Maker(paddle_jax), iter(values)
        inner.tensor = lambda array, dtype=None, leaf=None: paddle_jax.to_tensor(next(feed))
        out = eval(f"__call__({case})", {**inner.env(), "__call__": ours})  # noqa: S307
        return [t._value for t in h.flat(out, paddle_jax.Tensor)]

    return [
        (str(paddle_jax._core.base.dtype._BY_NP[s.dtype])[7:], list(s.shape))
        for s in jax.eval_shape(traced, arrays)
    ]


@pytest.mark.parametrize(
    "name", [n for n in NAMES if hasattr(OPS[n].public, "inplace") and not OPS[n].random]
)
def test_inplace_twin(name):
    """name_(x) puts name(x) into x."""
    ours = find(paddle_jax, public_path(name))
    for case in OPS[name].cases:
        plain = h.evaluate(paddle_jax, ours, case.lstrip("~ "))
        if plain.error is None and plain.outs and not case.startswith("~"):
            with paddle_jax.no_grad():
                twin = h.evaluate(paddle_jax, ours.inplace, case)
            if isinstance(twin.error, ValueError) and "in-place operation keeps" in str(twin.error):
                continue  # the result is larger than x
            assert twin.error is None, f"[{case}] {twin.error!r}"
            assert h.compare_outputs(twin, plain) is None, f"[{case}] {h.compare_outputs(twin, plain)}"
            return
