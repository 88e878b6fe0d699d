"""TranslatedLayer: a model from files as a Layer."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base import unique_name
from paddle_jax._core.lazy.lazy_array import from_numpy, persistent_from_numpy
from paddle_jax._core.tensors.held_values import held_value
from paddle_jax._core.tensors.tensor import Parameter, Tensor, wrap
from paddle_jax._program.input_spec import InputSpec, add_mismatches
from paddle_jax.framework.addresses import local_copy
from paddle_jax.framework.model_files.files import read_parameters, read_program, split_prefix
from paddle_jax.framework.model_files.interpreter import Runner
from paddle_jax.nn.layer.layers import Layer

INFER_MODEL_SUFFIX = ".pdmodel"
INFER_PARAMS_SUFFIX = ".pdiparams"
INFER_PARAMS_INFO_SUFFIX = ".pdiparams.info"
INFER_PROPERTY_SUFFIX = ".meta"
_LOAD_CONFIGS = ("model_filename", "params_filename")


class UnknownMethod(ValueError, KeyError):
    """A method that was not saved: a ValueError as in Paddle."""

    __str__ = ValueError.__str__


class TranslatedLayer(Layer):
    """A model that was saved with `paddle.jit.save`, here or by the real Paddle, without the code of its
    class. `paddle.jit.load` makes it.

    It is called like the saved Layer (a nested result comes as a flat list). Its parameters are named
    `param_0`, `param_1`, ... in the order of the saved names. Dropout and batch norm are as they were in
    evaluation mode, also after `train()`; with it, parameters can be fine-tuned.

    Args:
        programs: dict of the programs by method name.
        persistable_vars: dict of their parameters by name.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(paddle.nn.Linear(3, 2), path,
        ...                 input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
        >>> layer = paddle.jit.load(path)
        >>> layer(paddle.ones([4, 3])).shape
        paddle.Size([4, 2])
    """

    def __init__(self, programs: dict[str, Any], persistable_vars: dict[str, Any]) -> None:
        super().__init__()
        self._runners = {method: Runner(program) for method, program in programs.items()}
        self._held = {}
        # Paddle numbers them so, and checkpoints of such a Layer have these names.
        for number, name in enumerate(sorted(persistable_vars)):
            self._held[name] = f"param_{number}"
            self.add_parameter(f"param_{number}", persistable_vars[name])
        self.training = False

    def train(self, mode: Any = True) -> None:
        """Switches to training mode, in which parameters can be fine-tuned. Unlike that of other Layers it
        returns nothing, as in Paddle."""
        super().train(mode)

    def eval(self) -> None:
        """Switches to evaluation mode; returns nothing, as in Paddle."""
        super().eval()

    def _run(self, method: str, inputs: Sequence[Tensor]) -> Tensor | list[Tensor]:
        runner = self._runner(method)
        tensors = _tensors(method, runner.program.feeds, inputs)
        held = {name: self._parameters[self._held[name]] for name in runner.program.parameters}
        try:
            out = runner(held, tensors)
        except Exception as error:
            specs = self._input_spec(method)
            rows = [(str(spec.name), spec, value) for spec, value in zip(specs, tensors, strict=True)]
            add_mismatches(error, method, rows)
            raise
        if len(out) == 1:
            return out[0]
        return out

    def _runner(self, method: str) -> Runner:
        try:
            return self._runners[method]
        except KeyError:
            raise UnknownMethod(
                f"TranslatedLayer: method_name: {method!r} was not saved; "
                f"there are {', '.join(self._runners) or 'none'}"
            ) from None

    def forward(self, *inputs: Any) -> Tensor | list[Tensor]:
        """Runs the saved `forward`.

        Args:
            inputs: Tensors (or arrays), as the InputSpecs of the saved model say.
        Returns:
            Tensor, or list of Tensors.
        Raises:
            ValueError: the number, shapes or dtypes of the inputs do not fit.
        """
        return self._run("forward", inputs)

    def __getattr__(self, name: str) -> Any:
        # Methods that were saved are attributes; `forward` is one of the class.
        if not name.startswith("_") and name != "forward" and name in self.__dict__.get("_runners", ()):
            return lambda *inputs: self._run(name, inputs)
        return super().__getattr__(name)

    def program(self, method_name: str = "forward") -> Any:
        """The program of a method, which prints as text.

        Args:
            method_name: str.
        Raises:
            UnknownMethod: there is no such method; a ValueError, and a KeyError.
        """
        return self._runner(method_name).program

    def _input_spec(self, method_name: str = "forward") -> list[InputSpec]:
        return [
            InputSpec(shape, dtype, name) for name, _, shape, dtype in self._runner(method_name).program.feeds
        ]

    def _output_spec(self, method_name: str = "forward") -> list[InputSpec]:
        return [
            InputSpec(shape, dtype, f"output_{i}")
            for i, (_, _, shape, dtype) in enumerate(self._runner(method_name).program.fetches)
        ]


def _tensors(method: str, feeds: Sequence[Any], inputs: Sequence[Tensor]) -> list[Any]:
    if len(inputs) != len(feeds):
        # Paddle raises another class for too many than for too few.
        error = IndexError if len(inputs) > len(feeds) else ValueError
        raise error(
            f"{method}: got {len(inputs)} inputs; the model takes {len(feeds)}: "
            f"{', '.join(feed[0] for feed in feeds)}"
        )
    arguments = []
    for value, (name, _, shape, dtype) in zip(inputs, feeds, strict=True):
        # NumPy arrays as inputs, as Paddle takes them.
        if not isinstance(value, Tensor):
            value = wrap(from_numpy(np.array(value)))
        if dtypes.of(held_value(value)).name != dtypes.convert(dtype).name:
            raise ValueError(
                f"{method}: {name}: got {value.dtype}; the model takes {dtype}; use .astype('{dtype}')"
            )
        if value.ndim != len(shape):
            raise ValueError(f"{method}: {name}: got shape {list(value.shape)}; the model takes {shape}")
        arguments.append(value)
    return arguments


class PirTranslatedLayer(TranslatedLayer):
    """A model from files of a PIR program, which all are that this version of Paddle saves. See
    TranslatedLayer."""


PirTranslatedLayer.__module__ = "paddle_jax.jit.pir_translated_layer"  # its place in Paddle


def load(path: str, **configs: Any) -> PirTranslatedLayer:
    """Loads a model saved with `paddle.jit.save` or `paddle.static.save_inference_model`, by the real Paddle
    too: `<path>.json` and `<path>.pdiparams`.

    Args:
        path: str, directory and prefix of the files.
        model_filename: str, name of the program's file in `path`, then a directory. Default None.
        params_filename: str, name of the parameters' file there. Default None.
    Returns:
        PirTranslatedLayer, which is a TranslatedLayer, in evaluation mode.
    Raises:
        ValueError: the files are missing or damaged (then also a RuntimeError), or a setting is not known.
        NotImplementedError: the model uses operations that are not known here; the message names them.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/linear"
        >>> paddle.jit.save(paddle.nn.Linear(3, 2), path,
        ...                 input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
        >>> model = paddle.jit.load(path)
        >>> model(paddle.ones([4, 3])).shape
        paddle.Size([4, 2])
    """
    for name in configs:
        if name not in _LOAD_CONFIGS:
            raise ValueError(f"jit.load: {name}: not a setting; allowed are {', '.join(_LOAD_CONFIGS)}.")
    prefix = split_prefix("jit.load", path)
    # With `model_filename` the path is a folder.
    in_folder = bool(configs.get("model_filename"))
    files = _files(local_copy("jit.load", prefix, prefix=not in_folder), configs)
    if not files:
        raise ValueError(
            f"jit.load: path: {prefix}.json does not exist; give the prefix without .json that "
            "the model was saved with."
        )
    programs = {}
    held = {}
    for method, (model, stored) in files.items():
        programs[method] = read_program("jit.load", model)
        for name, array in read_parameters("jit.load", stored, programs[method]).items():
            # Methods of one model share their parameters by name.
            if name not in held:
                held[name] = Parameter(
                    wrap(persistent_from_numpy(np.array(array))),
                    programs[method].parameters[name][3],
                    unique_name.generate(name),
                )
    return PirTranslatedLayer(programs, held)


def _files(prefix: str, configs: dict[str, Any]) -> dict[str, tuple[Any, Any]] | dict[str, tuple[Path, Path]]:
    """{method: (program file, parameter file)} of those that exist."""
    if configs.get("model_filename"):
        folder = Path(prefix)
        model = folder / configs["model_filename"]
        if model.is_file():
            return {
                # `with_suffix`: without a name of its own it is beside the program.
                "forward": (
                    model,
                    folder / (configs.get("params_filename") or model.with_suffix(".pdiparams").name),
                )
            }
    base = Path(prefix)
    if Path(prefix + ".json").is_file():
        files = {"forward": (Path(prefix + ".json"), Path(prefix + ".pdiparams"))}
    else:
        files = {}
    for model in sorted(base.parent.glob(glob.escape(base.name) + ".*.json")):
        method = model.name[len(base.name) + 1 : -len(".json")]
        # `model.1.json` of another model is not a method of this one.
        if method.isidentifier():
            files[method] = model, model.with_suffix(".pdiparams")
    return files
