"""Layers as StableHLO files (`jax.export`): compiled for any length of their open axes, run by JAX alone."""

from __future__ import annotations

import functools as ft
import hashlib
import importlib.util
import json
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.errors import TRACING, Unsupported
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.execution.python_state import map_tensors
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.tensors.held_values import computed_array
from paddle_jax._core.tensors.tensor import Parameter, Tensor, wrap
from paddle_jax._program.rewrite.convert import convert
from paddle_jax._program.rewrite.converted_calls import converted_forwards
from paddle_jax.framework import safetensors_file
from paddle_jax.framework.addresses import local_copy
from paddle_jax.framework.atomic import replace_files
from paddle_jax.framework.pickle_names import CorruptFileError
from paddle_jax.func.modules import functional_call
from paddle_jax.interop.open_lengths import (
    LARGEST_LENGTH,
    Bounds,
    OpenLengths,
    bounds_text,
    compared_names,
    open_lengths,
)
from paddle_jax.interop.recorded_program import run_recording
from paddle_jax.interop.symbolic_lengths import limited_searches, refused_questions
from paddle_jax.jit.function import user_line_of
from paddle_jax.jit.io import evaluating, recorded
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._program.merged_recordings import Recording

_PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


def _check_installed(what: str) -> None:
    if importlib.util.find_spec("flatbuffers") is None:
        raise ImportError(
            f"{what}: it needs the package flatbuffers, which jax.export writes with; "
            "pip install 'paddle_jax[stablehlo]'"
        )


def save_stablehlo(
    layer: Any,
    path: str,
    input_spec: Any,
    platforms: Sequence[str] = ("cpu", "cuda", "tpu"),
    vjp_order: int = 0,
) -> None:
    """Saves a Layer or a function as StableHLO, which JAX runs without its code: `<path>.stablehlo`, and
    `<path>.safetensors` with the parameters.

    The program is a function `(parameters, *inputs)` of a dict of arrays and arrays. A process that has only
    JAX runs it by `jax.export.deserialize(data).call(parameters, *inputs)`. It is written by the version of
    JAX that is installed; JAX reads programs of the last six months, so keep a `paddle.jit.save` beside it.
    Dropout and batch norm are saved in evaluation mode. Both files are put in place, or none. Needs the
    package flatbuffers: pip install 'paddle_jax[stablehlo]'.

    A program that compares lengths with a number, such as the size of a window, may be for lengths of 2, 4, 8
    or 16 and more along an axis; one that takes as many rows of a table, for no more than these. A warning
    says so, and other lengths raise ValueError.

    Args:
        layer: Layer, or a function of Tensors.
        path: str, directory and prefix of the files.
        input_spec: list of InputSpecs, one for each argument. None or -1 is a length that may vary; it is the
            same for the same axis of all inputs.
        platforms: list of str, of "cpu", "cuda", "rocm" and "tpu".
        vjp_order: int, how often the program can be differentiated.
    Raises:
        ValueError: an argument is not as above, or the code needs the number that stands for an open length;
            the message names the line.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/model"
        >>> net = paddle.nn.Linear(3, 4)
        >>> paddle.interop.save_stablehlo(net, path, [paddle.static.InputSpec([None, 3], "float32")])
        >>> paddle.interop.load_stablehlo(path)(paddle.ones([5, 3])).shape
        paddle.Size([5, 4])
    """
    _check_installed("save_stablehlo")
    if isinstance(platforms, str):
        platforms = [platforms]
    else:
        platforms = list(platforms)
    if not platforms or any(p not in _PLATFORMS for p in platforms):
        raise ValueError(f"save_stablehlo: platforms: got {platforms}; allowed are {', '.join(_PLATFORMS)}")
    if not isinstance(vjp_order, int) or not 0 <= vjp_order <= 3:
        raise ValueError(f"save_stablehlo: vjp_order: got {vjp_order!r}; it must be 0, 1, 2 or 3")
    if not isinstance(input_spec, list | tuple) or not all(
        hasattr(s, "shape") and hasattr(s, "dtype") for s in input_spec
    ):
        raise ValueError(
            "save_stablehlo: input_spec: it must be a list of paddle.static.InputSpec, one for each argument"
        )
    if isinstance(layer, Layer):
        held = dict(layer.state_dict())
        # with the buffers that a state dict leaves out
        held.update(layer.named_buffers())
    else:
        held = {}
    arrays = {name: to_numpy(tensor._value, "export_stablehlo") for name, tensor in held.items()}
    kinds = {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in arrays.items()}
    exported, bounds = _exported_for_most_lengths(layer, input_spec, held, kinds, platforms)
    program = bytes(exported.serialize(vjp_order=vjp_order))
    trained = [
        name for name, tensor in held.items() if isinstance(tensor, Parameter) and not tensor.stop_gradient
    ]
    facts = {
        "names": json.dumps(list(held)),
        "trained": json.dumps(trained),
        "bounds": json.dumps(list(bounds.items())),
        "program": _digest(program),
        "data": _digest(*_parts(arrays)),
    }
    replace_files(
        {f"{path}.stablehlo": program, f"{path}.safetensors": safetensors_file.encode(arrays, facts)}
    )


def _exported_for_most_lengths(
    layer: Any,
    input_spec: Sequence[Any],
    held: dict[str, Any],
    kinds: dict[str, Any],
    platforms: Sequence[str],
) -> tuple[Any, dict[int, Bounds]]:
    """A Layer or function for as many lengths as possible.

    Returns:
        (jax.export.Exported, {axis: Bounds} of the axes whose lengths are bounded).
    """
    axes = {axis for spec in input_spec for axis, n in enumerate(spec.shape) if n in (-1, None)}
    lengths: OpenLengths | None = open_lengths(tuple((axis, Bounds()) for axis in sorted(axes)))
    refusals: list[ValueError] = []
    while lengths is not None:
        try:
            exported = _exported_from(lengths, layer, input_spec, held, kinds, platforms)
        except ValueError as refusal:
            refusals.append(refusal)
            lengths = lengths.narrowed(refusal)
            continue
        bounds = {
            axis: bound for axis, bound in lengths.bounds if bound.least > 1 or bound.largest < LARGEST_LENGTH
        }
        if bounds:
            # The reason of the first refusal, without JAX's own frame of words.
            text = ", ".join(f"{bounds_text(*bound)} along axis {axis}" for axis, bound in bounds.items())
            reason = str(refusals[0]).split("or for a value: ")[-1].split(" This error arises")[0]
            warnings.warn(f"save_stablehlo: the file is for lengths of {text}: {reason}", stacklevel=3)
        return exported, bounds
    # The first one has the names of the documentation. Later ones tell what no bounds can mend.
    raise refusals[0] if compared_names(refusals[-1]) else refusals[-1]


def _exported_from(
    lengths: OpenLengths,
    layer: Any,
    input_spec: Sequence[Any],
    held: dict[str, Any],
    kinds: dict[str, Any],
    platforms: Sequence[str],
) -> Any:
    """The jax.export.Exported for open lengths with bounds; ValueError where there is none."""
    inputs = [lengths.described(spec) for spec in input_spec]
    try:
        with limited_searches():
            return _exported(layer, kinds, inputs, platforms)
    except Exception as error:
        try:
            with limited_searches():
                return _exported_recording(layer, input_spec, held, kinds, inputs, platforms)
        except Exception as refusal:
            raise _refusal(layer, refusal) from error


def _digest(*data: Any) -> str:
    found = hashlib.sha256()
    for part in data:
        found.update(part)
    return found.hexdigest()


def _parts(arrays: dict[str, Any]) -> list[bytes]:
    return [np.ascontiguousarray(arrays[name]).tobytes() for name in sorted(arrays)]


def _exported(
    layer: Callable[..., Any] | Layer, kinds: dict[str, Any], inputs: Sequence[Any], platforms: Sequence[str]
) -> Any:
    def program(function: Any) -> Any:
        def fn(parameters: dict[str, Any], *inputs: Any) -> jax.Array:
            state = {name: _tensor(array) for name, array in parameters.items()}
            given = tuple(map(_tensor, inputs))
            if isinstance(layer, Layer):
                out = functional_call(layer, state, given)
            else:
                out = function(*given)
            return _plain_tuples(
                jax.tree.map(
                    lambda t: computed_array(t) if isinstance(t, Tensor) else t,
                    out,
                    is_leaf=lambda t: isinstance(t, Tensor),
                )
            )

        return jax.export.export(jax.jit(fn), platforms=platforms)(kinds, *inputs)

    with evaluating(layer), refused_questions():
        try:
            return program(layer)
        except (Unsupported, *TRACING):
            if not isinstance(layer, Layer):
                return program(convert(layer))
            # Code that decides by values, with its `if` and `while` turned into operations.
            with converted_forwards(layer):
                return program(layer)


def _plain_tuples(result: Any) -> Any:
    """Nested results with tuples in place of named ones such as those of `topk`, which a file cannot name."""
    if isinstance(result, dict):
        return {key: _plain_tuples(value) for key, value in result.items()}
    if isinstance(result, list):
        return list(map(_plain_tuples, result))
    if isinstance(result, tuple):
        return tuple(map(_plain_tuples, result))
    return result


def _exported_recording(
    layer: Callable[..., Any] | Layer,
    specs: Sequence[Any],
    held: dict[str, Tensor],
    kinds: dict[str, Any],
    inputs: Sequence[Any],
    platforms: Sequence[str],
) -> Any:
    """As `_exported`, of a recording of the code. In it lengths are numbers by which code may decide."""
    names = {id(tensor): name for name, tensor in held.items()}

    def exported(recording: Recording, _: Any) -> Any:
        def fn(parameters: dict[str, Any], *inputs: Any) -> Any:
            own = {key: parameters[name] for key, name in names.items()}
            arrays = run_recording(recording, own, inputs)
            found = dict(zip(recording.outputs, arrays, strict=True))
            return _plain_tuples(map_tensors(recording.result, found.__getitem__, Symbol))

        return jax.export.export(jax.jit(fn), platforms=platforms)(kinds, *inputs)

    # JAX refuses questions about lengths; a recording answers them with expressions.
    return recorded(getattr(layer, "forward", layer), specs, layer, exported, caller="save_stablehlo")


def _refusal(layer: Any, error: Exception) -> ValueError:
    """Why a Layer or function cannot be saved."""
    if isinstance(layer, Layer):
        name = type(layer).__name__
    else:
        name = getattr(layer, "__qualname__", "the function")
    function = getattr(layer, "forward", layer)
    text = re.sub(r"\s+", " ", str(error)).split(" Original error")[0]
    _, _, text = text.rpartition(f"save_stablehlo: {getattr(function, '__qualname__', function)}: ")
    # A refusal of a recording names the line already.
    place = ""
    if not re.search(r":\d+\)$", text):
        place = f" ({user_line_of(error, function)})"
    if len(text) > 300:
        # A long text is cut, which takes its line with it.
        text, place = f"{text[:300]}...", f" ({user_line_of(error, function)})"
    return ValueError(
        f"save_stablehlo: {name}: the code asks for a length that is not fixed, "
        f"or for a value: {text}{place}; give that length as a number in input_spec"
    )


def load_stablehlo(path: str) -> StableHLOLayer:
    """Loads what `save_stablehlo` wrote.

    Args:
        path: str, prefix of the files.
    Returns:
        Layer with the parameters under their names; gradients flow as often as `vjp_order` said.
    Raises:
        ValueError: a file is missing, damaged, does not belong to the other one, or is older than JAX reads.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/model"
        >>> paddle.interop.save_stablehlo(paddle.tanh, path, [paddle.static.InputSpec([None], "float32")],
        ...                               vjp_order=1)
        >>> paddle.interop.load_stablehlo(path)(paddle.zeros([2])).tolist()
        [0.0, 0.0]
    """
    _check_installed("load_stablehlo")
    path = local_copy("load_stablehlo", path, prefix=True)
    data = {}
    for ending in ("stablehlo", "safetensors"):
        file = Path(f"{path}.{ending}")
        if not file.is_file():
            raise ValueError(
                f"load_stablehlo: path: {file} does not exist; give the prefix that save_stablehlo got"
            )
        data[ending] = file.read_bytes()
    try:
        parameters = safetensors_file.decode(data["safetensors"])
        facts = json.loads(
            data["safetensors"][8 : 8 + int.from_bytes(data["safetensors"][:8], "little")]
        ).get("__metadata__", {})
        names, trained = (
            json.loads(facts.get(key, json.dumps(list(parameters)))) for key in ("names", "trained")
        )
        bounds = {axis: Bounds(*bound) for axis, bound in json.loads(facts.get("bounds", "[]"))}
        whole = _digest(data["stablehlo"]) == facts.get("program") and _digest(
            *_parts(parameters)
        ) == facts.get("data")
        # Files of other programs have no facts, and nothing to compare with.
        if whole or not facts:
            exported = jax.export.deserialize(bytearray(data["stablehlo"]))
        else:
            exported = None
        fits = exported is not None and sorted(names) == sorted(parameters) and set(trained) <= set(names)
    except Exception as error:
        raise CorruptFileError(
            f"load_stablehlo: {path}: damaged, or older than this version of JAX reads "
            f"(six months): {' '.join(str(error).split())[:200]}; "
            "save it again from its code or from paddle.jit.load"
        ) from error
    if not fits:
        raise CorruptFileError(
            f"load_stablehlo: {path}: a file is damaged, or the two are not of one save; "
            "keep both together, or save again"
        )
    return StableHLOLayer(exported, {name: parameters[name] for name in names}, set(trained), bounds)


class StableHLOLayer(Layer):
    """A program from `load_stablehlo`. exported: the jax.export.Exported."""

    def __init__(
        self,
        exported: Any,
        parameters: dict[str, Any],
        trained: Any,
        bounds: dict[int, Bounds] | None = None,
    ) -> None:
        super().__init__()
        self.exported = exported
        self._bounds = bounds or {}  # of open lengths, by axis
        self._places = {}
        for name, array in parameters.items():
            holder, _, last = name.rpartition(".")
            home = self._home(holder)
            if name in trained:
                home.add_parameter(last, Parameter(jnp.asarray(array)))
            else:
                home.register_buffer(last, wrap(jnp.asarray(array)))
            self._places[name] = home, last
        call = ft.partial(_call, exported, list(parameters))
        if not exported.has_vjp():
            # The file has no gradient, which the error then says.
            call = _without_gradient(call)
        self._kernel = Kernel("stablehlo", call)
        self._kernel.deferrable = False

    def _home(self, path: str) -> Layer:
        part = self
        # Plain Layers in between give the parameters their old names.
        for name in path.split(".") if path else ():
            if name not in part._sub_layers:
                part.add_sublayer(name, Layer())
            part = part._sub_layers[name]
        return part

    def forward(self, *inputs: Any) -> Tensor:
        """Runs the program.

        Raises:
            ValueError: the number, a shape or a dtype of the inputs is not that of the program.
        """
        wanted = len(self.exported.in_avals) - len(self._places)
        if len(inputs) != wanted:
            raise ValueError(f"StableHLOLayer: inputs: got {len(inputs)}; the program takes {wanted}")
        # Parameters and buffers are looked up at each call: the user may have replaced them.
        held = [getattr(*place) for place in self._places.values()]
        tensors = [x if isinstance(x, Tensor) else wrap(jnp.asarray(x)) for x in inputs]
        self._check_lengths(tensors)
        found = run(self._kernel, [*held, *tensors])
        return jax.tree.unflatten(self.exported.out_tree, list(found))

    def _check_lengths(self, inputs: Sequence[Tensor]) -> None:
        """Raises ValueError for an open length that the program is not for."""
        avals = self.exported.in_avals[len(self._places) :]
        for number, (x, aval) in enumerate(zip(inputs, avals, strict=True)):
            for axis, bound in self._bounds.items():
                # A length that is an int in the program is checked by the program itself.
                is_open = axis < min(len(aval.shape), x.ndim) and not isinstance(aval.shape[axis], int)
                if is_open and not bound.least <= x.shape[axis] <= bound.largest:
                    raise ValueError(
                        f"StableHLOLayer: inputs[{number}]: got the shape {list(x.shape)}; the program was "
                        f"saved for lengths of {bounds_text(*bound)} along axis {axis}"
                    )


def _tensor(array: jax.Array) -> Tensor:
    return wrap(array, array.dtype.kind not in "fcV")


def _without_gradient(call: Callable[..., Any]) -> Any:
    # Differentiation calls the rule below, which refuses.
    refused = jax.custom_vjp(call)

    def backward(*_: Any) -> NoReturn:
        raise ValueError(
            "load_stablehlo: the program was saved without derivatives; save it with vjp_order=1 or more"
        )

    refused.defvjp(lambda *arrays: (call(*arrays), None), backward)
    return refused


def _call(exported: Any, names: Sequence[str], *arrays: Any) -> tuple[Any, ...]:
    parameters = dict(zip(names, arrays[: len(names)], strict=True))
    return tuple(jax.tree.leaves(exported.call(parameters, *arrays[len(names) :])))


__all__ = ["StableHLOLayer", "load_stablehlo", "save_stablehlo"]
