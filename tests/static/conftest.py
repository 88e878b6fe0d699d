"""What the tests of static programs share: both engines are put back into dynamic mode after each."""

import pytest

import paddle_jax


@pytest.fixture(autouse=True)
def _dynamic_again(request):
    paddle_jax.seed(2026)
    yield
    paddle_jax.disable_static()
    if "oracle" in request.fixturenames:
        request.getfixturevalue("oracle").disable_static()


@pytest.fixture
def static():
    """paddle_jax.static, in static mode, with programs of its own: (module, main program,
    startup program)."""
    S = paddle_jax.static
    main, startup = S.Program(), S.Program()
    paddle_jax.enable_static()
    with (
        paddle_jax.utils.unique_name.guard(),
        S.program_guard(main, startup),
        S.scope_guard(paddle_jax.base.core.Scope()),
    ):
        yield S, main, startup
