"""Converted functions give what they give eagerly, and what the real Paddle gives eagerly: results,
gradients, second gradients, buffers."""

import warnings

import numpy as np
import pytest

# they fill CASES
from tests.jit.dy2static import cases_branches, cases_calls, cases_loops, cases_refused  # noqa: F401
from tests.jit.dy2static.kinds import CASES


def tensors(P, arguments):
    made = []
    for value in arguments:
        value = np.asarray(value)
        made.append(P.to_tensor(value, stop_gradient=value.dtype.kind != "f"))
    return made


def filled(thing):
    """Deterministic parameters."""
    for k, parameter in enumerate(thing.parameters() if hasattr(thing, "parameters") else ()):
        size = int(np.prod(parameter.shape))
        parameter.set_value(
            (np.arange(size, dtype="f4").reshape(parameter.shape) - size / 3) * 0.1 + 0.05 * k
        )
    return thing


def leaves(out):
    if isinstance(out, dict):
        out = list(out.values())
    return [leaf for item in out for leaf in leaves(item)] if isinstance(out, list | tuple) else [out]


def run(P, thing, call, arguments, case):
    """Results, first and second gradients, buffers: as NumPy arrays."""
    given = tensors(P, arguments)
    out = [leaf for leaf in leaves(call(*given)) if leaf is not None]
    report = {"results": [(str(getattr(t, "dtype", type(t))).rpartition(".")[2], np.asarray(t)) for t in out]}
    report["buffers"] = [np.asarray(b) for b in thing.buffers()] if hasattr(thing, "buffers") else []
    wanted = [
        t
        for t in [*given, *(thing.parameters() if hasattr(thing, "parameters") else ())]
        if not t.stop_gradient
    ]
    flowing = [t for t in out if isinstance(t, P.Tensor) and not t.stop_gradient]
    if case.grad and flowing:
        loss = sum((t * t).sum() for t in flowing)
        grads = P.grad(loss, wanted, create_graph=case.second, allow_unused=True)
        report["gradients"] = [
            np.zeros(t.shape, "f4") if g is None else np.asarray(g)
            for t, g in zip(wanted, grads, strict=True)
        ]
        if case.second:
            again = P.grad(sum((g * g).sum() for g in grads if g is not None), wanted, allow_unused=True)
            report["second"] = [
                np.zeros(t.shape, "f4") if g is None else np.asarray(g)
                for t, g in zip(wanted, again, strict=True)
            ]
    return report


def same(one, other, names):
    for name in names:
        if name == "results":
            # a number may be a Tensor
            assert all(
                a == b for (a, _), (b, _) in zip(one[name], other[name], strict=True) if "class" not in b
            )
            pairs = zip([v for _, v in one[name]], [v for _, v in other[name]], strict=True)
        else:
            pairs = zip(one.get(name, []), other.get(name, []), strict=True)
        for a, b in pairs:
            assert a.shape == b.shape, name
            # a sum of such numbers is off by that much
            largest = np.abs(b, where=np.isfinite(b), out=np.zeros(b.shape)).max(initial=0.0)
            np.testing.assert_allclose(a, b, err_msg=name, rtol=2e-5, atol=max(2e-5, 1e-6 * largest))


def compiled(P, thing, full_graph=True):
    """Compiled whole. Integers are computed in the program: those that are passed may be
    taken for constants."""
    return P.jit.to_static(
        lambda *given: thing(*[t if t.is_floating_point() else t + 0 for t in given]), full_graph=full_graph
    )


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.why is None])
def test_same_as_eager(name, paddle, oracle):
    case = CASES[name]
    mine, theirs, eager = filled(case.build(paddle)), filled(case.build(oracle)), filled(case.build(paddle))
    call = compiled(paddle, mine)
    for arguments in case.inputs:
        got, plain = run(paddle, mine, call, arguments, case), run(paddle, eager, eager, arguments, case)
        same(got, plain, ("results", "buffers", "gradients", "second"))
        same(
            got,
            run(oracle, theirs, theirs, arguments, case._replace(second=False)),
            ("results", "buffers", "gradients"),
        )


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.why is not None])
def test_what_cannot_be_compiled_says_so_and_runs_eagerly(name, paddle, oracle):
    case = CASES[name]
    thing, theirs = case.build(paddle), case.build(oracle)
    if not case.lengths:
        with pytest.raises(RuntimeError) as refusal:
            compiled(paddle, thing)(*tensors(paddle, case.inputs[0]))
        assert case.why in str(refusal.value)
        assert "/cases_" in str(refusal.value)
    call = compiled(paddle, thing, full_graph=case.lengths)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        for arguments in case.inputs:
            same(
                run(paddle, thing, call, arguments, case),
                run(oracle, theirs, theirs, arguments, case),
                ("results", "gradients"),
            )
    assert sum(case.why in str(w.message) for w in shown) == 1
