"""Programs at which an old libtpu would end the process.

Unit tests of `_core.lazy.tpu_compiler`.
"""

import types

import jax
import jax.numpy as jnp
import pytest
from jax._src import compiler

from paddle_jax._core.lazy import tpu_compiler

TPU = types.SimpleNamespace(platform="tpu")
CPU = types.SimpleNamespace(platform="cpu")


def module_of(dtype):
    return jax.jit(lambda x: x / 2).lower(jax.ShapeDtypeStruct([3], dtype)).compiler_ir()


@pytest.fixture
def compile_module(monkeypatch):
    """Compiles with the version of libtpu that is given; an executable is its module here."""
    monkeypatch.setattr(compiler, "backend_compile_and_load", lambda backend, module: module)

    def with_version(version):
        monkeypatch.setattr(tpu_compiler.importlib.metadata, "version", lambda name: version)
        tpu_compiler.refuse_complex128()
        return compiler.backend_compile_and_load

    return with_version


@pytest.mark.parametrize("version", ["0.0.42.1", "0.0.46.3"])
def test_old_versions_refuse_complex128(compile_module, version):
    compile_for = compile_module(version)
    with pytest.raises(NotImplementedError, match=f"complex128: libtpu {version} .*use complex64"):
        compile_for(TPU, module_of(jnp.complex128))
    for backend, dtype in ((TPU, jnp.complex64), (TPU, jnp.float64), (CPU, jnp.complex128)):
        module = module_of(dtype)
        assert compile_for(backend, module) is module


@pytest.mark.parametrize("version", ["0.0.50.1", "0.1"])
def test_new_versions_take_it(compile_module, version):
    module = module_of(jnp.complex128)
    assert compile_module(version)(TPU, module) is module
