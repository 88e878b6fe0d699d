"""Predictors: a model from files that is compiled and run, without gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.tensors.tensor import Tensor as EagerTensor
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.framework.model_files import parameters
from paddle_jax.framework.model_files.files import CorruptModelError, read_parameters, read_program
from paddle_jax.framework.model_files.interpreter import Runner
from paddle_jax.framework.model_files.program import parse
from paddle_jax.framework.pickle_names import CorruptFileError
from paddle_jax.inference.types import DataType
from paddle_jax.version import full_version

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import DTypeLike
    from paddle_jax.base.libpaddle import AnalysisConfig, PaddleDType, PaddleInferPredictor


_TYPES = {
    np.dtype(name.lower()): DataType.__members__[name]
    for name in ("FLOAT32", "INT64", "INT32", "UINT8", "INT8", "FLOAT16", "BOOL", "FLOAT64")
}
_TYPES[np.dtype(ml_dtypes.bfloat16)] = DataType.BFLOAT16


class Tensor:
    """A named input or output of a Predictor. `get_input_handle` and `get_output_handle` give it.

    Args:
        name: str.
        dtype: dtype.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(paddle.nn.Linear(3, 2), path,
        ...                 input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
        >>> config = paddle.inference.Config(path + ".json", path + ".pdiparams")
        >>> predictor = paddle.inference.create_predictor(config)
        >>> handle = predictor.get_input_handle("x")
        >>> handle.copy_from_cpu(np.ones([4, 3], "float32"))
        >>> handle.shape()
        [4, 3]
    """

    def __init__(self, name: str, dtype: DTypeLike) -> None:
        self._name = name
        self._dtype = dtype
        self._shape = None
        self._array = None

    def copy_from_cpu(self, data: Any) -> None:
        """Sets the value.

        Args:
            data: ndarray, copied.
        Raises:
            TypeError: data is no ndarray.
        """
        if not isinstance(data, np.ndarray):
            raise TypeError(f"copy_from_cpu: data: got {type(data).__name__}; it must be a NumPy array")
        # A copy: the caller may fill its array again before the model runs.
        self._array, self._shape = np.array(data), list(data.shape)

    def copy_to_cpu(self) -> np.ndarray:
        """The value as an ndarray.

        Raises:
            RuntimeError: there is none yet.
        """
        if self._array is None:
            raise RuntimeError(
                f"copy_to_cpu: {self._name} has no value yet; set it, or run the predictor first"
            )
        return np.array(self._array)

    def share_external_data(self, data: Tensor) -> None:
        """Sets the value to that of a Tensor, without a copy.

        Args:
            data: paddle.Tensor.
        Raises:
            TypeError: data is no Tensor.
        """
        if not isinstance(data, EagerTensor):
            raise TypeError(
                f"share_external_data: data: got {type(data).__name__}; it must be a paddle.Tensor"
            )
        self._array, self._shape = data._value, list(data.shape)

    def reshape(self, shape: Any) -> None:
        """Announces the shape of the next value; a value that is there and fits takes it."""
        self._shape = [int(n) for n in shape]
        if self._array is not None:
            fits = self._array.size == np.prod(self._shape, dtype=np.int64)
            # A value of another size is that of the run before.
            if fits:
                self._array = self._array.reshape(self._shape)
            else:
                self._array = None

    def shape(self) -> list[int]:
        """The shape as a list; [0] before there is one."""
        if self._shape is not None:
            return list(self._shape)
        return [0]

    def type(self) -> PaddleDType:
        """The DataType."""
        return _TYPES[self._array.dtype if self._array is not None else self._dtype]

    def lod(self) -> list[Any]:
        """[]: there are no levels."""
        return []

    def _set(self, array: jax.Array) -> None:
        self._array, self._shape = array, list(array.shape)


class Predictor:
    """A compiled model. Each shape of inputs is compiled once; threads may share it when they use
    `run(inputs)`, or each take a `clone()`.

    Args:
        config: Config.
    Raises:
        RuntimeError: a file does not exist or is damaged.
        ValueError: the config was used for another Predictor.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(paddle.nn.Linear(3, 2), path,
        ...                 input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
        >>> predictor = paddle.inference.create_predictor(paddle.inference.Config(path + ".json",
        ...                                                                       path + ".pdiparams"))
        >>> predictor.get_input_handle("x").copy_from_cpu(np.ones([4, 3], "float32"))
        >>> predictor.run()
        >>> predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().shape
        (4, 2)
    """

    def __init__(self, config: AnalysisConfig) -> None:
        if config._used:
            raise ValueError(
                "create_predictor: config: it was used for another predictor; "
                "make a new Config, or use predictor.clone()"
            )
        program, arrays = _model(config)
        self._runner = Runner(program)
        self._arrays = {name: put(np.array(array)) for name, array in arrays.items()}
        config._used = True
        self._make_handles()

    def _make_handles(self) -> None:
        program = self._runner.program
        self._inputs = {name: Tensor(name, dtypes.convert(dtype).np) for name, _, _, dtype in program.feeds}
        self._outputs = {
            name: Tensor(name, dtypes.convert(dtype).np) for name, _, _, dtype in program.fetches
        }

    def clone(self) -> Predictor:
        """Another Predictor of the same model, with inputs and outputs of its own; parameters and compiled
        code are shared."""
        found = type(self).__new__(type(self))
        found._runner = self._runner
        found._arrays = self._arrays
        found._make_handles()
        return found

    def get_input_names(self) -> list[Any]:
        """The names of the inputs."""
        return list(self._inputs)

    def get_output_names(self) -> list[Any]:
        """The names of the outputs."""
        return list(self._outputs)

    def get_input_handle(self, name: str) -> Tensor:
        """The input of a name.

        Raises:
            RuntimeError: there is none.
        """
        return _handle("input", self._inputs, name)

    def get_output_handle(self, name: str) -> Tensor:
        """The output of a name.

        Raises:
            RuntimeError: there is none.
        """
        return _handle("output", self._outputs, name)

    def run(self, inputs: Sequence[Tensor] | None = None) -> list[Any] | None:
        """Runs the model.

        Args:
            inputs: list of Tensors, one for each input. Default None: the values of the input handles are
                taken, and the output handles get the results.
        Returns:
            List of Tensors, or None without `inputs`.
        Raises:
            ValueError: the number, dtypes or shapes of the inputs do not fit.
            RuntimeError: an input handle has no value.
        """
        if inputs is None:
            found = self._call([_value(handle) for handle in self._inputs.values()])
            for handle, array in zip(self._outputs.values(), found, strict=True):
                handle._set(array)
            return None
        inputs = list(inputs)
        if not all(isinstance(one, EagerTensor) for one in inputs):
            raise TypeError(
                "Predictor.run: inputs: it must be a list of Tensors; NumPy arrays go into the input handles"
            )
        if len(inputs) != len(self._inputs):
            raise ValueError(
                f"Predictor.run: inputs: got {len(inputs)}; "
                f"the model takes {len(self._inputs)}: {', '.join(self._inputs)}"
            )
        return [wrap(array) for array in self._call([one._value for one in inputs])]

    def _call(self, arrays: Sequence[jax.Array | np.ndarray]) -> list[jax.Array] | tuple[jax.Array, ...]:
        for array, (name, _, shape, dtype) in zip(arrays, self._runner.program.feeds, strict=True):
            if array.dtype != dtypes.convert(dtype).np:
                raise ValueError(
                    f"Predictor.run: {name}: got {array.dtype}; the model takes {dtype}; "
                    f"use .astype('{dtype}')"
                )
            if array.ndim != len(shape):
                raise ValueError(
                    f"Predictor.run: {name}: got shape {list(array.shape)}; the model takes {shape}"
                )
        return self._runner.arrays(self._arrays, arrays)

    def clear_intermediate_tensor(self) -> Any:
        """Does nothing: nothing is kept between runs."""

    def try_shrink_memory(self) -> int:
        """Returns 0: nothing is kept between runs."""
        return 0


def _value(handle: Tensor) -> Any:
    if handle._array is None:
        raise RuntimeError(
            f"Predictor.run: input {handle._name!r} has no value; "
            f"call get_input_handle({handle._name!r}).copy_from_cpu(array) first"
        )
    return handle._array


def _handle(kind: str, handles: dict[str, Any], name: str) -> Tensor:
    if name not in handles:
        raise RuntimeError(
            f"get_{kind}_handle: {name!r} is no {kind} of the model; it has {', '.join(handles)}"
        )
    return handles[name]


def _model(config: AnalysisConfig) -> Any:
    """The program and arrays that a Config describes."""
    if config.model_from_memory():
        try:
            program = parse(config._prog)
            return (
                program,
                parameters.decode(config._params, program.parameters) if program.parameters else {},
            )
        except CorruptFileError as error:
            raise CorruptModelError(f"create_predictor: cannot read the model in memory: {error}.") from error
    if not config.prog_file():
        raise RuntimeError(
            "create_predictor: config: no model is set; use Config(prog_file, params_file) or set_model"
        )
    try:
        program = read_program("create_predictor", config.prog_file())
        return program, read_parameters("create_predictor", config.params_file(), program)
    except OSError as error:
        raise RuntimeError(f"create_predictor: cannot open {config.prog_file()}: {error.strerror}") from error
    # It is a ValueError too, which the next clause would take.
    except CorruptModelError:
        raise
    except ValueError as error:
        raise RuntimeError(str(error)) from error


def create_predictor(config: AnalysisConfig) -> Predictor:
    """Makes the Predictor of a Config.

    Args:
        config: Config; each one makes one Predictor.
    Returns:
        Predictor.
    Raises:
        RuntimeError: a file does not exist or is damaged.
        NotImplementedError: the model uses operations that are not known here.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(paddle.nn.Linear(3, 2), path,
        ...                 input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
        >>> config = paddle.inference.Config(path + ".json", path + ".pdiparams")
        >>> predictor = paddle.inference.create_predictor(config)
        >>> predictor.get_input_names()
        ['x']
    """
    return Predictor(config)


class PredictorPool:
    """Several Predictors of one model, one for each thread; they share parameters and compiled code.

    Args:
        config: Config.
        size: int, how many.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(paddle.nn.Linear(3, 2), path,
        ...                 input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
        >>> config = paddle.inference.Config(path + ".json", path + ".pdiparams")
        >>> pool = paddle.inference.PredictorPool(config, 2)
        >>> pool.retrieve(1).get_input_names()
        ['x']
    """

    def __init__(self, config: AnalysisConfig, size: int) -> None:
        first = Predictor(config)
        self._all = [first, *(first.clone() for _ in range(int(size) - 1))]

    def retrieve(self, index: Any) -> PaddleInferPredictor:
        """The Predictor of a number.

        Raises:
            ValueError: there are not that many.
        """
        if not 0 <= index < len(self._all):
            raise ValueError(f"PredictorPool.retrieve: {index}: there are {len(self._all)} predictors")
        return self._all[index]


def get_version() -> str:
    """The version of Paddle's API as text, with ours.

    Returns:
        str.
    Example:
        >>> "3.3.1" in paddle.inference.get_version()
        True
    """
    return f"version: {full_version}\ncompiler: XLA\n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """(0, 0, 0): there is no TensorRT.

    Returns:
        tuple of ints.
    Example:
        >>> paddle.inference.get_trt_compile_version()
        (0, 0, 0)
    """
    return (0, 0, 0)


def get_trt_runtime_version() -> tuple[int, int, int]:
    """(0, 0, 0): there is no TensorRT.

    Returns:
        tuple of ints.
    Example:
        >>> paddle.inference.get_trt_runtime_version()
        (0, 0, 0)
    """
    return (0, 0, 0)
