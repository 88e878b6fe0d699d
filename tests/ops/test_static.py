"""A share of the op table through static Programs, many ops in one: results and first gradients as when
each runs at once."""

import pytest

import paddle_jax
from tests.ops.static_cases import Recorded, S, eager
from tests.ops.table import NAMES, OPS, find, public_path

SHARE, SIZE = 5, 10  # every fifth op; so many in one program
ON_HOST = {"tolist"}  # not to be asked of a Variable
# whose first length decides whether the call is allowed, or which shape results
EXACT = {"cholesky", "inv", "det", "diagonal", "reduce_as"}


def chosen():
    names = [name for name in NAMES if not OPS[name].random and name not in ON_HOST][::SHARE]
    return [names[i : i + SIZE] for i in range(0, len(names), SIZE)]


@pytest.fixture
def program():
    paddle_jax.seed(1)
    main = S.Program()
    yield main
    paddle_jax.disable_static()


@pytest.mark.parametrize("names", chosen(), ids=lambda names: f"{names[0]}-{names[-1]}")
def test_recorded_as_at_once(names, program):
    cases = {}
    for name in names:
        exact = [case for case in OPS[name].cases if not case.startswith("~")]
        found = next(
            (
                (case, want)
                for case in exact
                if (want := eager(find(paddle_jax, public_path(name)), case)) is not None
            ),
            None,
        )
        if found:
            cases[name] = found
    feed, recorded = {}, {}
    paddle_jax.enable_static()
    with S.program_guard(program, S.Program()):
        for number, (name, (case, want)) in enumerate(cases.items()):
            is_open = number % 2 == 0 and name not in EXACT
            recorded[name] = Recorded(name, find(paddle_jax, public_path(name)), case, feed, is_open, want)
    paddle_jax.disable_static()
    fetched = iter(S.Executor().run(program, feed, [v for one in recorded.values() for v in one.fetches()]))
    problems = {
        name: one.problem([next(fetched) for _ in one.fetches()], cases[name][1])
        for name, one in recorded.items()
    }
    assert {name: text for name, text in problems.items() if text} == {}
