"""Random programs give the same under immediate execution, deferred execution and in the real Paddle.

A failure prints a script that runs on its own. More programs: `python -m tests.deferred.explore`.
"""

import importlib.util

import pytest

import paddle_jax
from tests.deferred import differential, settings
from tests.deferred.programs import generate

BLOCK = 10  # programs a test


@pytest.fixture(scope="module")
def engines(request):
    """paddle_jax, and the real Paddle or None."""
    return paddle_jax, request.getfixturevalue("oracle") if importlib.util.find_spec("paddle") else None


def check(seed, safe, engines, short=True):
    program = generate(seed, safe, short=short)

    def differs(candidate):
        return differential.all_ways(candidate, *engines, settings.of(seed))

    found = differs(program)
    if found is not None:
        if not found.startswith("oracle"):  # a smaller program may crash the real Paddle; tests.deferred.explore shrinks those
            program, found = differential.shrink(program, differs, seconds=30)
        pytest.fail(f"seed {seed}, {settings.of(seed)}: {found}\n\n{program.script()}", pytrace=False)


@pytest.mark.parametrize("first", range(0, 120, BLOCK))
def test_programs(first, engines):
    for seed in range(first, first + BLOCK):
        check(seed, True, engines)


@pytest.mark.parametrize("first", range(1000, 1060, BLOCK))
def test_programs_that_change_what_others_share(first, engines):
    for seed in range(first, first + BLOCK):
        check(seed, False, engines)


@pytest.mark.parametrize("seed", [5, 10, 20])
def test_long_programs(seed, engines):
    check(seed, True, engines, short=False)


class Sabotaged:
    """A module in which one function is slightly wrong."""

    def __init__(self, module, name, error):
        self._module, self._name, self._error = module, name, error

    def __getattr__(self, name):
        found = getattr(self._module, name)
        return (lambda *a, **k: found(*a, **k) * (1 + self._error)) if name == self._name else found


def test_a_wrong_function_is_found_and_the_program_shrinks():
    wrong = Sabotaged(paddle_jax, "sin", 1e-4)
    program = next(
        p for p in (generate(seed, short=True, randomness=False) for seed in range(200)) if "paddle.sin" in p.text() and "see(" in p.text()
    )

    def differs(candidate):
        with differential.flags(paddle_jax, deferred="off"):
            want, got = differential.run(candidate, paddle_jax), differential.run(candidate, wrong)
        found = differential.disagreement(got, want, differential.OWN)
        return found and found[1]

    assert differs(program) is not None
    smaller, _ = differential.shrink(program, differs, seconds=20)
    assert differs(smaller) is not None and smaller.repeats == 1
    assert "paddle.sin" in smaller.text() and len(smaller.text().splitlines()) <= 8
    assert len(smaller.text()) < len(program.text())


def test_a_seed_is_a_program():
    assert generate(7).script() == generate(7).script() != generate(8).script()
    compile(generate(7).script(), "program", "exec")
