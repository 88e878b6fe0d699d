"""The op table through `to_static`: values and first gradients as in eager execution. Many ops share one
compiled function."""

import pytest

import paddle_jax
from tests.ops import harness as h
from tests.ops.table import NAMES, OPS, find, public_path

TOGETHER = 18  # ops in one compiled function
CASES = 1
# computed on the host: how much they give depends on the values
HOST = {"class_center_sample", "distribute_fpn_proposals", "matrix_nms", "nms"}
TABLE = [name for name in NAMES if not OPS[name].random and name not in HOST]


def jobs(names):
    """(function, case, eager result) for cases that give Tensors."""
    for name in names:
        ours = find(paddle_jax, public_path(name))
        for case in [c for c in OPS[name].cases if not c.startswith("~")][:CASES]:
            made = h.evaluate(paddle_jax, ours, case)
            if made.error is None and any(isinstance(t, paddle_jax.Tensor) for t in made.tensors):
                yield ours, case, made


def arguments(case):
    """The Tensors that the text of a case makes."""
    maker, made = h.Maker(paddle_jax), []
    plain = maker.tensor
    maker.tensor = lambda *args, **kwargs: made.append(plain(*args, **kwargs)) or made[-1]
    eval(f"(lambda *a, **k: None)({case})", maker.env())  # noqa: S307  case texts are part of the source
    return made


def call(ours, case, given):
    """The Tensors of one case, from given ones."""
    maker, given = h.Maker(paddle_jax), iter(given)
    maker.tensor = lambda *args, **kwargs: next(given)
    out = eval(f"__call__({case})", {**maker.env(), "__call__": ours})  # noqa: S307
    return [t for t in h.flat(out, paddle_jax.Tensor) if isinstance(t, paddle_jax.Tensor)]


def compiled(work):
    """The results of all jobs by one compiled function."""

    @paddle_jax.jit.to_static(full_graph=True)
    def together(everything):
        return [call(ours, case, given) for (ours, case, _), given in zip(work, everything, strict=True)]

    given = [arguments(case) for _, case, _ in work]
    return given, together(given)


@pytest.mark.parametrize(
    "names",
    [TABLE[i : i + TOGETHER] for i in range(0, len(TABLE), TOGETHER)],
    ids=lambda names: f"{names[0]}...{names[-1]}",
)
def test_compiled_as_eager(names):
    work = list(jobs(names))
    try:
        given, results = compiled(work)
    except Exception:
        failures = []
        for job in work:
            try:
                compiled([job])
            except Exception as error:
                failures.append(f"{job[0].__name__}({job[1]}): {str(error)[:150]}")
        raise AssertionError("\n".join(failures)) from None
    outs, leaves = [], []
    for (ours, case, made), result, arrays in zip(work, results, given, strict=True):
        where = f"{ours.__name__}({case})"
        want = [t for t in made.tensors if isinstance(t, paddle_jax.Tensor)]
        assert [(h.name_of(t), list(t.shape)) for t in result] == [
            (h.name_of(t), list(t.shape)) for t in want
        ], where
        for a, b in zip(result, want, strict=True):
            assert h.difference(h.to_numpy(a), h.to_numpy(b), h.name_of(b), 10.0) is None, where
            assert a.stop_gradient == b.stop_gradient, where
        outs.append(want)
        leaves.append((made, arrays))
    for (ours, case, made), result, arrays in zip(work, results, given, strict=True):
        wanted = h.first_gradient(paddle_jax, made)
        made.tensors, made.leaves = result, [t for t in arrays if not t.stop_gradient]
        if wanted is not None:
            got = h.first_gradient(paddle_jax, made)
            problem = h.compare_gradients(got, wanted)
            assert problem is None, f"{ours.__name__}({case}): {problem}"
