"""`paddle.jit.save`: a Layer or function as a model file that Paddle and paddle_jax load without its code."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.execution.python_state import Snapshot, stores_of
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._program.export_errors import NotWritable
from paddle_jax._program.export_trace import record
from paddle_jax._program.rewrite.convert import convert
from paddle_jax.framework.addresses import remove
from paddle_jax.framework.atomic import replace_files
from paddle_jax.framework.model_files import parameters
from paddle_jax.framework.model_files.files import split_prefix
from paddle_jax.framework.model_files.writer import write as write_program
from paddle_jax.jit.arguments import arguments_of
from paddle_jax.jit.function import StaticFunction, user_line_of
from paddle_jax.jit.translated_layer import TranslatedLayer
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax._program.merged_recordings import Recording
    from paddle_jax.jit.arguments import Arguments


_SAVE_CONFIGS = (
    "output_spec",
    "with_hook",
    "combine_params",
    "clip_extra",
    "skip_forward",
    "skip_prune_program",
)


def save(layer: Any, path: str, input_spec: Any = None, **configs: Any) -> None:
    """Saves a Layer or a function as a model: `<path>.json`, the program, and
    `<path>.pdiparams`, its parameters.

    The real Paddle loads the files with `paddle.jit.load`, `paddle.inference` and
    `paddle.static.load_inference_model`, and so does paddle_jax. Dropout and batch norm are saved in
    evaluation mode. Other methods of a Layer that `to_static` decorates go to `<path>.<method>.json`. All
    files are written under temporary names first: when saving fails, existing files stay as they were.

    Args:
        layer: Layer, function, or what `to_static` returns.
        path: str, directory and prefix of the files; missing directories are made.
        input_spec: list of InputSpecs, one for each argument; None or -1 for a length that may vary. Tensors
            stand for their shape and dtype; other values are saved as they are. Default None: those of
            `to_static`, or the shapes of its last call, with dicts, nested lists and keywords.
        skip_forward: bool, save the other methods only. Default False.
        output_spec: list of ints, the numbers of the results of `forward` that are saved. Default: all.
        with_hook, combine_params, clip_extra, skip_prune_program: accepted; there is one form of the files.
            Hooks of Layers are saved.
    Raises:
        TypeError: layer is neither a Layer nor a function, or input_spec is no list.
        ValueError: there is no input_spec, path names no file, a setting is not known, or the code does
            something that depends on values or on lengths that are not given; the message says what.
    Warns:
        UserWarning: the code uses operations that Paddle does not have; then only paddle_jax loads the files.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/model"
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.ReLU())
        >>> paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
        >>> paddle.jit.load(path)(paddle.ones([5, 3])).shape
        paddle.Size([5, 4])
    """
    for name in configs:
        if name not in _SAVE_CONFIGS:
            raise ValueError(f"jit.save: {name}: not a setting; allowed are {', '.join(_SAVE_CONFIGS)}.")
    prefix = split_prefix("jit.save", path)
    if input_spec is not None and not isinstance(input_spec, list | tuple):
        raise TypeError(
            f"jit.save: input_spec: got {type(input_spec).__name__}; it must be a list of InputSpecs"
        )
    chosen = configs.get("output_spec")
    if chosen is not None and not isinstance(chosen, list):
        raise TypeError(
            f"jit.save: output_spec: got {type(chosen).__name__}; it must be a list of ints, "
            "the numbers of the results to save"
        )
    if isinstance(layer, TranslatedLayer):
        contents = _translated(layer, prefix)
    else:
        functions = _functions(layer, configs.get("skip_forward", False))
        with _naming_specs(input_spec):
            contents, extensions = _encoded(functions, prefix, input_spec, layer, chosen)
        if extensions:
            warnings.warn(
                f"jit.save: {', '.join(sorted(extensions))}: not operations of Paddle; "
                f"only paddle_jax can load {prefix}.json",
                stacklevel=2,
            )
    replace_files(contents)
    for name in [n for n in contents if n.endswith(".json")]:
        stored = name.removesuffix(".json") + ".pdiparams"
        # Such as a model with parameters that is replaced by one without.
        if stored not in contents:  # what an earlier model left there would be taken for this one's
            remove(stored)


@contextlib.contextmanager
def _naming_specs(specs: Sequence[Any] | None) -> Iterator[None]:
    """Errors of the code name the InputSpecs that it ran with."""
    try:
        yield
    except Exception as error:
        if specs:
            error.add_note(
                f"jit.save: the code ran on inputs as input_spec describes them: {list(specs)}; "
                "a length of None is a number such as 97 there"
            )
        raise


def _encoded(
    functions: dict[str, Any],
    prefix: str,
    input_spec: Sequence[Any],
    layer: Callable[..., Any] | Layer,
    chosen: Any,
) -> tuple[dict[Any, Any], set[Any]]:
    """The files of some functions.

    Args:
        functions: {method: function}.
        prefix: path and prefix of the files.
        input_spec: InputSpecs of `forward`, or None.
        layer: the Layer or function that is saved.
        chosen: numbers of the results of `forward` that are saved, or None for all.
    Returns:
        ({path: bytes}, set of the names of operations that are not Paddle's).
    """
    contents = {}
    extensions = set()
    for name, function in functions.items():
        if name == "forward":
            base = prefix
            document, arrays, names = encode(function, input_spec, layer, chosen)
        else:
            # Other methods have InputSpecs of their own, by their `to_static`.
            base = f"{prefix}.{name}"
            document, arrays, names = encode(function, None, layer)
        contents[base + ".json"] = document
        if arrays:
            contents[base + ".pdiparams"] = parameters.encode(arrays)
        extensions.update(names)
    return contents, extensions


def _functions(layer: Callable[..., Any] | Layer, skip_forward: bool) -> dict[str, Any]:
    """{method: function} to save."""
    if not isinstance(layer, Layer):
        if not callable(layer) or inspect.isclass(layer):
            raise TypeError(f"jit.save: layer: got {type(layer).__name__}; it must be a Layer or a function")
        return {"forward": layer}
    methods = {} if skip_forward else {"forward": layer.forward}
    # From the class, so that properties of the object are not computed.
    for name in dir(type(layer)):
        if name != "forward" and isinstance(inspect.getattr_static(type(layer), name), StaticFunction):
            methods[name] = getattr(layer, name)
    return methods


def encode(function: Callable[..., Any], specs: Any, owner: Any, chosen: Any = None) -> tuple[Any, ...]:
    """(JSON bytes, {name: array}, names of operations that are not Paddle's) of one function."""
    return recorded(function, specs, owner, write_program, chosen)


def recorded(
    function: Callable[..., Any],
    specs: Any,
    owner: Any,
    use: Callable[[Recording, list[str]], Any],
    chosen: Any = None,
    caller: str = "jit.save",
) -> Any:
    """Records a function in evaluation mode.

    Args:
        function: function, or what `to_static` returns.
        specs: InputSpecs, or None for those of `to_static`.
        owner: the Layer or function that is saved.
        use: function of the Recording and the names of its inputs, which gives the result.
        chosen: numbers of the results that are kept, or None for all.
        caller: name of the public function, for messages.
    Raises:
        ValueError: the function has no such form; the message names the line.
    """
    if isinstance(function, StaticFunction):
        plain = function.dygraph_function
    else:
        plain = function
    # A function that was called needs no InputSpecs: those of its last call.
    latest = None
    if specs is None and isinstance(function, StaticFunction):
        specs = function._input_spec
        latest = function._latest
    given = arguments_of(plain, specs, latest, caller)
    if isinstance(owner, Layer):
        holder = owner
    else:
        holder = getattr(plain, "__self__", None)
    named, names = given.named()
    # Hooks belong to the call of the Layer, which has `forward` as its method then.
    if isinstance(owner, Layer) and getattr(plain, "__name__", "") == "forward":
        hooked = owner
    else:
        hooked = None
    with evaluating(holder):
        try:
            # The code as it was written; converted only where that is refused.
            recording = record(
                _restoring(given, plain, holder, hooked),
                named,
                lambda: _restoring(given, converted_form(function), holder, hooked),
            )
            if isinstance(holder, Layer):
                # Buffers are stored beside the parameters, others are constants in the file.
                recording.stored = {id(buffer) for _, buffer in holder.named_buffers()}
            else:
                recording.stored = set()
            recording.outputs = _chosen(recording.outputs, chosen)
            recording.output_stops = _chosen(recording.output_stops, chosen)
            recording.prune()
            return use(recording, names)
        except (NotWritable, Unsupported) as error:
            # The line of the code that was refused, or the one that asked for a value.
            at = getattr(error, "location", None) or user_line_of(
                error.__cause__ or error, getattr(plain, "__func__", plain)
            )
            raise ValueError(f"{caller}: {getattr(plain, '__qualname__', plain)}: {error} ({at})") from error


def _chosen(outputs: Sequence[Any], numbers: Any) -> Any:
    if numbers is None:
        return outputs
    if not all(type(n) is int and 0 <= n < len(outputs) for n in numbers):
        raise ValueError(
            f"jit.save: output_spec: got {numbers}; there are {len(outputs)} results: "
            f"allowed are the ints 0..{len(outputs) - 1}"
        )
    return [outputs[n] for n in numbers]


def converted_form(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with its control flow on Tensors converted."""
    if isinstance(function, StaticFunction):
        return function._conversion()
    return convert(function)


def _restoring(
    given: Arguments, function: Callable[..., Any], layer: Layer | None, hooked: Layer | None = None
) -> Callable[..., Any]:
    """The function of all arguments by position, with the attributes and buffers that it gives a Layer taken
    back after each run. hooked: a Layer whose hooks are called."""
    if not isinstance(layer, Layer):
        return given.calling(function)

    def run(*args: Any) -> Tensor | tuple[Tensor, ...]:
        kept = Snapshot()
        # The code runs several times, and a counter in an attribute would differ from run to run.
        for store in itertools.chain(*map(stores_of, layer.sublayers(include_self=True))):
            kept.hold(store)
        try:
            if hooked is None:
                return given.calling(function)(*args)
            # In the object: the class's `forward` belongs to other objects as well.
            vars(hooked)["forward"] = function
            return given.calling(hooked)(*args)
        finally:
            kept.restore()

    return run


@contextlib.contextmanager
def evaluating(layer: Any) -> Iterator[None]:
    """A Layer in evaluation mode inside the block."""
    if not isinstance(layer, Layer):
        yield
        return
    before = [(one, one.training) for one in layer.sublayers(include_self=True)]
    layer.eval()
    try:
        yield
    finally:
        # Layers may have been in different modes.
        for one, training in before:
            one.training = training


def _translated(layer: Any, prefix: Any) -> dict[Any, Any]:
    """The files of a model from files, with its parameters as they are now."""
    contents = {}
    for method, runner in layer._runners.items():
        base = prefix if method == "forward" else f"{prefix}.{method}"
        contents[base + ".json"] = json.dumps(runner.program.document).encode()
        if runner.program.parameters:
            # The parameters may have been trained since.
            held = {
                name: to_numpy(layer._parameters[layer._held[name]]._value, "jit.save")
                for name in runner.program.parameters
            }
            contents[base + ".pdiparams"] = parameters.encode(held)
    return contents
