"""Programs that are called without `jax.jit`.

Unit tests of `_core.lazy.multi_device`, `_core.runner.compiled_segment` and `_core.runner.loaded_programs`.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import SingleDeviceSharding

import paddle_jax
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.runner import compiled_segment, loaded_programs
from paddle_jax._core.runner.loaded_programs import LoadedProgram
from tests.deferred import differential


def device():
    """JAX's device. Asking for it starts JAX, which the collection of tests must not do."""
    return jax.devices()[0]


def loaded(function, *arguments):
    """The LoadedProgram of a function of two lists, of which the first one is donated."""
    lowered = jax.jit(function, donate_argnums=0, keep_unused=True).lower(*arguments)
    executable = lowered.compile().runtime_executable()
    return LoadedProgram(executable, SingleDeviceSharding(device()), jax.eval_shape(function, *arguments))


def results_of(program, *arguments):
    found = []
    program(arguments, lambda arrays: map(found.append, arrays))
    return found


def several(donated, kept):
    x, y = kept
    return [donated[0] + 1, x @ y, (x > 0), x.astype(jnp.bfloat16), jnp.zeros((0, 3), jnp.int8), y.sum()]


def test_results_are_those_of_jit():
    x = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
    y = np.arange(6, dtype=np.float32).reshape(3, 2)
    state = np.arange(2000, dtype=np.int32)
    program = loaded(several, [state], [x, y])
    for _ in range(2):
        donated = jnp.array(state)
        results = results_of(program, [donated], [jnp.array(x), y])
        assert donated.is_deleted()
        expected = [state + 1, x @ y, x > 0, x.astype(jnp.bfloat16), np.zeros((0, 3), np.int8), y.sum()]
        assert [np.asarray(array).dtype for array in results] == [array.dtype for array in expected]
        for array, right in zip(results, expected, strict=True):
            np.testing.assert_array_equal(array, right)
        assert not any(array._committed or array.weak_type for array in results)
    # What comes out goes into other compiled functions, and into the program itself.
    assert results_of(program, results[:1], [jnp.array(x), jnp.array(y)])[0].sum() == (state + 2).sum()


def test_arguments_of_other_shapes_are_refused():
    program = loaded(several, [jnp.ones(3)], [jnp.ones((2, 2)), jnp.ones((2, 2))])
    stored = []
    with pytest.raises(Exception, match=r"(?i)argument|buffer|param"):
        program(([jnp.ones(3)], [jnp.ones((2, 2))]), lambda arrays: map(stored.append, arrays))
    assert stored == []


def test_a_missing_file_is_not_loaded():
    assert loaded_programs.load("no-such-program", [], "segment", device(), False) is None


def test_where_jax_checks_results_or_a_mesh_is_in_use_jax_calls_them(monkeypatch):
    assert loaded_programs.may_call()
    for check in (jax.debug_nans, jax.debug_infs):
        with check(True):
            assert not loaded_programs.may_call()
    with monkeypatch.context() as patch:
        patch.setattr(MultiDevice, "blocking", True)
        assert not loaded_programs.may_call()
    assert loaded_programs.may_call()


def test_committed_arguments_go_to_jax(monkeypatch):
    calls = []
    monkeypatch.setattr(compiled_segment, "may_call", lambda: True)
    compiled_segment.clear()

    def run(array):
        x = paddle_jax.to_tensor(array)
        return ((x * 2 + 1).abs().sqrt() * x).numpy()

    numbers = np.linspace(0, 2, 5, dtype=np.float32)
    committed = jax.device_put(numbers, device())
    assert committed._committed
    expected = np.sqrt(numbers * 2 + 1) * numbers
    with differential.tier(
        paddle_jax, deferred="sync", deferred_background=False, deferred_min_repeats=1, interpreter=False
    ):
        np.testing.assert_allclose(run(jnp.array(numbers)), expected, rtol=1e-6)
        (program,) = compiled_segment._Cache.programs.values()
        program.loaded = lambda arguments, store: calls.append(1) or program.call(arguments, store)
        np.testing.assert_allclose(run(jnp.array(numbers)), expected, rtol=1e-6)
        assert calls == [1]
        np.testing.assert_allclose(run(committed), expected, rtol=1e-6)
        assert calls == [1]
    compiled_segment.clear()
