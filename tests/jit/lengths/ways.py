"""Ways of saving a program for any length, and of running what was saved."""

import importlib.util
import pathlib

import numpy as np

import paddle_jax
from tests.jit.lengths.reader import arrays_of

SPEC = [None, None, None]


def module_of(program, folder, name="paddle_jax"):
    """The module of a program, and the path of its source."""
    path = pathlib.Path(folder) / f"program_{program.seed}_{name}.py"
    path.write_text(program.source(name))
    if name != "paddle_jax":
        return None, path
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, path


def specs(function):
    """The InputSpecs of a program."""
    found = [paddle_jax.static.InputSpec(SPEC, "float32", "x"), paddle_jax.static.InputSpec([], "int64", "n")]
    return found[: function.__code__.co_argcount]


class File:
    """`jit.save`, Paddle's format."""

    name = "file"

    def save(self, function, prefix):
        paddle_jax.jit.save(paddle_jax.jit.to_static(function, input_spec=specs(function)), prefix)

    def load(self, prefix):
        loaded = paddle_jax.jit.load(prefix)
        return lambda *arrays: arrays_of(loaded(*map(paddle_jax.to_tensor, arrays)))


class Onnx:
    """`onnx.export`, run by onnxruntime."""

    name = "onnx"

    def save(self, function, prefix):
        paddle_jax.onnx.export(function, prefix, input_spec=specs(function))

    def load(self, prefix):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(prefix + ".onnx", options)
        names = [one.name for one in session.get_inputs()]
        return lambda *arrays: session.run(
            None, {name: one for name, one in zip("xn", arrays, strict=False) if name in names}
        )


class StableHlo:
    """`interop.save_stablehlo`."""

    name = "stablehlo"

    def save(self, function, prefix):
        paddle_jax.interop.save_stablehlo(function, prefix, specs(function))

    def load(self, prefix):
        loaded = paddle_jax.interop.load_stablehlo(prefix)
        return lambda *arrays: arrays_of(loaded(*map(paddle_jax.to_tensor, arrays)))


class Static:
    """A static Program, `save_inference_model`."""

    name = "static"

    def save(self, function, prefix):
        paddle = paddle_jax
        paddle.enable_static()
        try:
            main = paddle.static.Program()
            with paddle.static.program_guard(main, paddle.static.Program()):
                inputs = [paddle.static.data("x", SPEC, "float32"), paddle.static.data("n", [], "int64")]
                found = function(*inputs)
                found = list(found) if isinstance(found, list | tuple) else [found]
                executor = paddle.static.Executor(paddle.CPUPlace())
                paddle.static.save_inference_model(prefix, inputs, found, executor, program=main)
        finally:
            paddle.disable_static()

    load = File.load


WAYS = {way.name: way for way in (File(), Onnx(), StableHlo(), Static())}


def problem(got, want):
    """What differs between two lists of arrays, or None."""
    if len(got) != len(want):
        return f"{len(got)} results instead of {len(want)}"
    for at, (one, other) in enumerate(zip(got, want, strict=True)):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape:
            return f"result {at} has shape {one.shape} instead of {other.shape}"
        if one.dtype != other.dtype:
            return f"result {at} has dtype {one.dtype} instead of {other.dtype}"
        scale = 1 + (np.abs(other[np.isfinite(other)]).max(initial=0) if other.dtype.kind == "f" else 0)
        if not np.allclose(one, other, rtol=1e-4, atol=1e-5 * scale, equal_nan=True):
            return f"result {at} is {one.ravel()[:4]} instead of {other.ravel()[:4]}"
    return None
