"""Custom operators in C++: eager, compiled, with gradients; against formulas, and the same source in the
real Paddle (slow)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import paddle_jax
from paddle_jax.utils import cpp_extension

SOURCE = Path(__file__).parent / "operators.cc"
REPOSITORY = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="there is no C++ compiler"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where libraries are built that share what they have in common."""
    return tmp_path_factory.mktemp("build")


@pytest.fixture(scope="module")
def built(folder):
    """The operators, compiled once."""
    return cpp_extension.load(
        "test_operators", [str(SOURCE)], extra_cxx_cflags=["-O0"], build_directory=str(folder)
    )


def tensor(paddle, values, dtype="float32", stop_gradient=False):
    return paddle.to_tensor(np.asarray(values, dtype), stop_gradient=stop_gradient)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_derivatives(paddle, built, dtype):
    """To the second order as declared; the third one names what is missing."""
    x = tensor(paddle, [[1.0, -2.0], [0.5, 3.0]], dtype)
    y = built.cube(x)
    (first,) = paddle.grad(y.sum(), [x], create_graph=True)
    (second,) = paddle.grad((first * first).sum(), [x], create_graph=True)
    np.testing.assert_allclose(y, x.numpy() ** 3, 1e-6)
    np.testing.assert_allclose(first, 3 * x.numpy() ** 2, 1e-6)
    np.testing.assert_allclose(second, 36 * x.numpy() ** 3, 1e-6)
    with pytest.raises(RuntimeError, match="cube_grad_grad: it has no gradient"):
        paddle.grad(second.sum(), [x])


def test_several_results_and_attributes(paddle, built):
    values = np.array([1.0, -2.0, 3.0], "float32")
    for slope in (0.1, 0.25, 0.5, 1e-3):
        x = tensor(paddle, values)
        out, total = built.leaky(x, slope, scale=2.0)
        np.testing.assert_allclose(out, 2 * np.where(values > 0, values, slope * values), 1e-6)
        np.testing.assert_allclose(total, [out.numpy().sum()], 1e-6)
        (out.sum() + 3 * total.sum()).backward()
        np.testing.assert_allclose(x.grad, 8 * np.where(values > 0, 1, slope), 1e-6)
    assert type(built.leaky(x, 0.1, 1.0)) is list


def test_every_kind_of_argument(paddle, built):
    many, maybe = [paddle.zeros([2, 3]), paddle.zeros([4], "int32")], paddle.zeros([5])
    rest = [True, -7, 2**40, "two words; é", [1, 2, 3], [0.5, float("inf")], [2**40, -1], ["", "a b", "ccc"]]
    expected = [2, 10, 5, 1, -7, 2**40, 13, 6, np.inf, 2**40 - 1, 303, 1]
    assert built.everything(many, maybe, *rest).tolist() == expected
    assert built.everything(many[:1], None, *rest)[:3].tolist() == [1, 6, -1]
    assert built.everything([], None, False, 0, 0, "", [], [], [], []).tolist() == [0, 0, -1, *[0] * 9]


@pytest.mark.parametrize("shift", [None, [1.0, 1.0]])
def test_whole_numbers_and_what_is_left_out(paddle, built, shift):
    """Neither gets a gradient of its own."""
    x, count = tensor(paddle, [1.5, 2.0]), paddle.to_tensor([2, 3])
    shift = shift and tensor(paddle, shift)
    y = built.weighted(x, count, shift)
    np.testing.assert_allclose(y, [3.0, 6.0] if shift is None else [4.0, 7.0])
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 3.0]
    if shift is not None:
        assert shift.grad.tolist() == [0.0, 0.0]


def test_compiled(paddle, built):
    """In to_static, in jax.jit, in a static program with an unknown length, under vmap; without gradient
    where none is declared."""
    x = tensor(paddle, [[1.0, -2.0], [0.5, 3.0]])
    compiled = paddle.jit.to_static(lambda x: built.cube(x * 2).sum())
    for _ in range(3):
        x.clear_grad()
        loss = compiled(x)
        loss.backward()
        np.testing.assert_allclose(x.grad, 24 * x.numpy() ** 2, 1e-6)
    beside = paddle.jit.to_static(lambda x: (built.cube(x) * built.repeated(x, 1)).sum())
    x.clear_grad()
    beside(x).backward()
    np.testing.assert_allclose(x.grad, 3 * x.numpy() ** 3, 1e-6)  # none through what has no gradient
    np.testing.assert_allclose(
        jax.jit(lambda v: built.repeated(paddle.to_tensor(v), 3)._value)(np.arange(2)), [0, 1] * 3
    )
    repeated = built.repeated(x, times=2)
    assert repeated.stop_gradient and repeated.shape == [4, 2]
    np.testing.assert_allclose(paddle.func.vmap(built.cube)(x), x.numpy() ** 3, 1e-6)


def test_static(paddle, built):
    paddle.enable_static()
    try:
        main, start = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, start):
            x = paddle.static.data("x", [-1, 2])
            x.stop_gradient = False
            y = built.repeated(x, 2)
            (gradient,) = paddle.static.gradients([built.cube(x).sum()], [x])
            assert y.shape == [-1, 2]
        for length in (2, 3):
            value = np.arange(2.0 * length, dtype="float32").reshape(length, 2)
            found = paddle.static.Executor().run(main, feed={"x": value}, fetch_list=[y, gradient])
            np.testing.assert_allclose(found[0], np.concatenate([value, value]))
            np.testing.assert_allclose(found[1], 3 * value**2, 1e-6)
    finally:
        paddle.disable_static()


def test_what_is_refused(paddle, built):
    x = tensor(paddle, [1.0, 2.0])
    for call, error, words in [
        (lambda: built.leaky(x, 0.1), TypeError, "missing: ..scale"),
        (lambda: built.leaky(x, 0.1, 1.0, 2), TypeError, "4 arguments"),
        (lambda: built.leaky(x, 0.1, 1.0, slope=2), TypeError, "slope"),
        (lambda: built.leaky(x, "a", 1.0), TypeError, "slope: got 'a'"),
        (lambda: built.repeated(x, 1.5), TypeError, "times"),
        (lambda: built.repeated(x, True), TypeError, "times"),
        (lambda: built.cube(1.0), ValueError, "x: got float"),
        (lambda: built.everything(x, None, *[0] * 8), ValueError, "many: got Tensor"),
        (lambda: built.matrices_only(x), ValueError, "matrices_only.*x has 1 axes; it must have 2"),
        (
            lambda: built.cube(paddle.to_tensor([1, 2])).numpy(),
            Exception,
            "not implemented for data type `int64`",
        ),
        (
            lambda: built.wrong_shape(x).numpy(),
            Exception,
            r"wrong_shape: the kernel returned float32 \[1\].*inferred were float32 \[2\]",
        ),
    ]:
        with pytest.raises(error, match=words):
            call()
    assert not paddle.utils.cpp_extension.__dict__.get("CUDAExtension")


def test_it_is_compiled_once(built, folder):
    """And again when a source or a header beside it changes."""
    again = cpp_extension.load(
        "test_operators", [str(SOURCE)], extra_cxx_cflags=["-O0"], build_directory=str(folder)
    )
    assert (
        again.__file__ == built.__file__
        and len(list(folder.glob("test_operators/*.so"))) == 1
        and sys.modules["test_operators"] is again
    )
    build_of = cpp_extension.extension_utils.build_of
    assert build_of([SOURCE], ["-O0"]).stamp() != build_of([SOURCE]).stamp()


def test_libraries_share_an_object(built, folder, monkeypatch):
    """What is the same in all libraries is compiled once for each set of options."""
    commands = []
    run = cpp_extension.extension_utils.subprocess.run
    monkeypatch.setattr(
        cpp_extension.extension_utils.subprocess,
        "run",
        lambda words, **options: commands.append(words) or run(words, **options),
    )
    (folder / "twice.cc").write_text(TWICE)
    module = cpp_extension.load(
        "twice", [str(folder / "twice.cc")], extra_cxx_cflags=["-O0"], build_directory=str(folder)
    )
    assert module.twice(paddle_jax.to_tensor([4.0])).tolist() == [8.0]
    assert not [words for words in commands if any(word.endswith("exports.cc") for word in words)]
    (kept,) = folder.glob("exports_*.o")
    build_of = cpp_extension.extension_utils.build_of
    assert kept == build_of([Path("other.cc")], ["-O0"], ["-lm"]).exports(folder)
    assert kept != build_of([Path("other.cc")], ["-O1"]).exports(folder)


def test_without_a_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for chosen in (None, "no-such-compiler"):
        monkeypatch.setenv("CXX", chosen) if chosen else monkeypatch.delenv("CXX", raising=False)
        with pytest.raises(RuntimeError, match="there is no C\\+\\+ compiler.*install one, or set CXX"):
            cpp_extension.load("nothing", [str(SOURCE)], build_directory=str(tmp_path))


def test_sources_that_do_not_do(tmp_path):
    bad = tmp_path / "bad.cc"
    bad.write_text("#error this is not right\n")
    with pytest.raises(RuntimeError, match="this is not right"):
        # what all libraries share is compiled too: its syntax is enough
        cpp_extension.load(
            "bad", [str(bad)], extra_cxx_cflags=["-fsyntax-only"], build_directory=str(tmp_path)
        )
    assert not list(tmp_path.rglob("*.so")) and not list(tmp_path.rglob(".building*"))
    for sources, error in ((["a.cu"], ValueError), ([], ValueError), (["/nowhere.cc"], FileNotFoundError)):
        with pytest.raises(error, match="sources"):
            cpp_extension.load("bad", sources, build_directory=str(tmp_path))


def test_build_directory(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PADDLE_EXTENSION_DIR", str(tmp_path / "a/b"))
    assert (
        cpp_extension.get_build_directory(verbose=True) == str(tmp_path / "a/b")
        and (tmp_path / "a/b").is_dir()
    )
    assert "a/b" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="ended with code 3"):
        cpp_extension.extension_utils.run_cmd("exit 3")


TWICE = """
#include "paddle/extension.h"
std::vector<paddle::Tensor> Twice(const paddle::Tensor& x) {
  auto y = paddle::empty_like(x);
  for (int64_t i = 0; i < x.numel(); ++i) y.data<float>()[i] = 2 * x.data<float>()[i];
  return {y};
}
PD_BUILD_OP(twice).Inputs({"x"}).Outputs({"y"}).SetKernelFn(PD_KERNEL(Twice));
"""

SETUP = """
from paddle_jax.utils.cpp_extension import CppExtension, setup
extension = CppExtension(sources=["twice.cc"], extra_compile_args={"cxx": ["-O0"]})
setup(name="my_operators", version="1.0", ext_modules=extension)
"""


@pytest.mark.slow
def test_setup(tmp_path):
    """A package that is built by a setup.py, and used in a process of its own."""
    pytest.importorskip("setuptools")
    (tmp_path / "twice.cc").write_text(TWICE)
    (tmp_path / "setup.py").write_text(SETUP)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "JAX_PLATFORMS": "cpu"}
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build", "--build-lib", "site"],
        cwd=tmp_path,
        env=environment,
        check=True,
        timeout=300,
    )
    code = "import my_operators, paddle_jax as p; print(my_operators.twice(p.to_tensor([4.0])).tolist())"
    environment["PYTHONPATH"] = f"{tmp_path / 'site'}:{REPOSITORY}"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True, timeout=200
    )
    assert done.stdout.strip() == "[8.0]"


def outcomes(engine, module):
    """What the operators give, with gradients."""
    found = []
    for dtype in ("float32", "float64"):
        x = engine.to_tensor(np.array([[1.0, -2.0], [0.5, 3.0]], dtype), stop_gradient=False)
        y = module.cube(x)
        (first,) = engine.grad(y.sum(), [x], create_graph=True)
        (second,) = engine.grad((first * first).sum(), [x])
        out, total = module.leaky(x, 0.25, 2.0)
        (leaky,) = engine.grad((out.sum() + 3 * total.sum()), [x])
        found += [y, first, second, out, total, leaky, module.repeated(x, 3)]
    many, rest = (
        [engine.zeros([2, 3]), engine.zeros([4], "int32")],
        [True, -7, 2**40, "two words; é", [1, 2], [0.5], [2**40], ["", "a b"]],
    )
    found += [module.everything(many, engine.zeros([5]), *rest), module.everything(many, None, *rest)]
    found.append(module.weighted(x.astype("float32"), engine.to_tensor([[2, 3], [4, 5]]), None))
    return [(value.numpy().dtype.name, value.stop_gradient, value.numpy()) for value in found]


@pytest.mark.slow
@pytest.mark.own_process
def test_the_same_source_in_the_real_paddle(oracle, tmp_path, folder):
    from paddle.utils.cpp_extension import load

    (tmp_path / "theirs").mkdir()
    theirs = outcomes(
        oracle,
        load(
            "their_operators",
            [str(SOURCE)],
            extra_cxx_cflags=["-w", "-O0"],
            build_directory=str(tmp_path / "theirs"),
        ),
    )
    ours = outcomes(
        paddle_jax,
        cpp_extension.load(
            "our_operators", [str(SOURCE)], extra_cxx_cflags=["-O0"], build_directory=str(folder)
        ),
    )
    for (kind, stops, value), (their_kind, they_stop, expected) in zip(ours, theirs, strict=True):
        assert (kind, stops) == (their_kind, they_stop)
        np.testing.assert_allclose(value, expected, 1e-6)


LIBRARY = """
from paddle_jax.utils.cpp_extension import BuildExtension, CppExtension, setup
build = BuildExtension.with_options(output_dir=r"{folder}", no_python_abi_suffix=True)
setup(name="{name}", ext_modules=[CppExtension(sources=[r"{source}"], extra_compile_args={{"cxx": ["-O0"]}})],
      cmdclass={{"build_ext": build}})
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The operators as a library in a folder, built as PaddleNLP builds its own: by a setup.py in a
    process of its own."""
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("library")
    (folder / "build.py").write_text(LIBRARY.format(name="named_operators", source=SOURCE, folder=folder))
    cpp_extension.extension_utils._jit_compile(str(folder / "build.py"))
    return folder


@pytest.mark.slow
def test_operators_by_name(paddle, library):
    module = cpp_extension.extension_utils._import_module_from_library("named_operators", str(library))
    file, x = str(library / "named_operators.so"), tensor(paddle, [1.0, -2.0])
    by_module = module.leaky(x, 0.1, 2.0)
    # they are known since the module was made
    assert cpp_extension.load_op_meta_info_and_register_op(file) == []
    inputs, attributes, outputs = cpp_extension.parse_op_info("leaky")
    assert (len(inputs), attributes, len(outputs)) == (1, ["slope", "scale"], 2)
    for call in (paddle._C_ops._run_custom_op, paddle.base.core.eager._run_custom_op):
        by_name = call("leaky", x, 0.1, 2.0)
        for one, other in zip(by_name, by_module, strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(by_name[0], [2.0, -0.4], 1e-6)
    by_name[0].sum().backward()
    np.testing.assert_allclose(x.grad, [2.0, 0.2], 1e-6)
    with pytest.raises(RuntimeError, match="'unheard_of' is not known"):
        paddle._C_ops._run_custom_op("unheard_of", x)
    with pytest.raises(ValueError, match="'unheard_of' is not known"):
        cpp_extension.parse_op_info("unheard_of")


def test_a_library_that_is_not_there(tmp_path):
    with pytest.raises(RuntimeError, match="there is no file"):
        cpp_extension.load_op_meta_info_and_register_op(str(tmp_path / "none.so"))
    with pytest.raises(Exception, match=r"none\.so"):
        cpp_extension.extension_utils._import_module_from_library("none", str(tmp_path))
