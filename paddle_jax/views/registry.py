"""Which class has which view, and how IPython gets to know."""

from __future__ import annotations

import collections
import logging
from collections.abc import Callable, Mapping
from typing import Any

from paddle_jax._core.runner.explain import Explanation
from paddle_jax._core.tensors.held_values import element_count, holds_abstract
from paddle_jax._core.tensors.memory_report import LiveTensors
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.program import Program
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh
from paddle_jax.hapi.model import Model
from paddle_jax.jit.function import StaticFunction
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.optimizer.lr import LRScheduler
from paddle_jax.optimizer.optimizer import Optimizer
from paddle_jax.profiler.profiler import Profiler
from paddle_jax.profiler.result import ProfilerResult
from paddle_jax.views.devices import mesh_view
from paddle_jax.views.layers import layer_view
from paddle_jax.views.profiles import profiler_view, result_view
from paddle_jax.views.programs import explain_view, function_view, program_view
from paddle_jax.views.tensors import is_state_dict, live_view, state_view, tensor_view
from paddle_jax.views.training import model_view, optimizer_view, scheduler_view

_METHOD = "_repr_html_"  # the name that IPython looks for
_VIEWS: dict[type, Callable[[Any], str]] = {
    Tensor: tensor_view,
    Layer: layer_view,
    Optimizer: optimizer_view,
    LRScheduler: scheduler_view,
    Model: model_view,
    StaticFunction: function_view,
    Program: program_view,
    ProcessMesh: mesh_view,
    Explanation: explain_view,
    LiveTensors: live_view,
    Profiler: profiler_view,
    ProfilerResult: result_view,
}
_FRAME_MODULES = ("pandas", "pandas.core.frame")  # of DataFrame, since pandas 3 and before
_log = logging.getLogger("paddle_jax.views")

errors: collections.deque[tuple[str, BaseException]] = collections.deque(maxlen=20)
"""(name of the class, exception) of the last views that failed; their values were shown by `repr`."""


def html(value: Any) -> str:
    """The view of a value as HTML, for pages of your own.

    Args:
        value: Tensor, Layer, optimizer, scheduler, Model, function of `to_static`, Program, ProcessMesh,
            Profiler, dict from names to Tensors, or the result of `explain()` or `live_tensors()`.
    Returns:
        str, HTML without scripts.
    Raises:
        TypeError: there is no view of such a value.
    Example:
        >>> from paddle_jax import views
        >>> views.html(paddle.ones([2, 3])).count("shape [2, 3]")
        1
    """
    # The nearest class with a view.
    for kind in type(value).__mro__:
        if kind in _VIEWS:
            return _VIEWS[kind](value)
    if isinstance(value, Mapping) and is_state_dict(value):
        return state_view(value)
    raise TypeError(
        f"html: value: got {type(value).__name__}, which has no view; allowed are objects such as Tensors, "
        "Layers and optimizers, and dicts of Tensors; use repr() for others"
    )


def _guarded(make: Callable[[Any], str]) -> Callable[[Any], str | None]:
    """A view that gives None where it fails, for which IPython shows `repr`."""

    def _repr_html_(self: Any) -> str | None:
        try:
            return str(make(self))
        except Exception as error:  # noqa: BLE001  a view must not break a cell
            errors.append((type(self).__name__, error))
            _log.warning("the view of %s failed: %s: %s", type(self).__name__, type(error).__name__, error)
            return None

    return _repr_html_


def _state_or_none(value: Any) -> str | None:
    """The view of a dict of Tensors, None for others."""
    if not is_state_dict(value):
        return None
    return _guarded(state_view)(value)


def _frame_with_numbers(frame: Any) -> str | None:
    """The view of pandas' DataFrame, with numbers for Tensors of one element; the frame stays as it is."""
    shown = frame
    for position, dtype in enumerate(frame.dtypes):
        column = frame.iloc[:, position]
        if dtype.kind == "O" and any(isinstance(value, Tensor) for value in column):
            # A shallow copy: the user's frame keeps its Tensors.
            if shown is frame:
                shown = frame.copy(deep=False)
            shown.isetitem(position, [_number_or_value(value) for value in column])
    return shown._repr_html_()


def _number_or_value(value: Any) -> Any:
    """The number of a Tensor of one element; other values as they are."""
    if isinstance(value, Tensor) and not value.is_sparse() and not holds_abstract(value):
        if element_count(value) == 1:
            return value.item()
    return value


def _show_frame(frame: Any) -> str | None:
    """The view of a DataFrame, that of pandas where ours fails."""
    return _guarded(_frame_with_numbers)(frame) or frame._repr_html_()


def install(shell: Any = None) -> None:
    """Has notebooks show views: the classes get `_repr_html_`.

    Args:
        shell: IPython's shell, where `Layer.state_dict()` is shown as a table, too. Default: none.
    Example:
        >>> from paddle_jax import views
        >>> views.install()
        >>> "mean 1" in paddle.ones([2])._repr_html_()
        True
        >>> views.remove()
    """
    for kind, make in _VIEWS.items():
        setattr(kind, _METHOD, _guarded(make))
    formatter = _html_formatter(shell)
    if formatter is not None:
        formatter.for_type(collections.OrderedDict, _state_or_none)
        for module in _FRAME_MODULES:
            formatter.for_type_by_name(module, "DataFrame", _show_frame)


def remove(shell: Any = None) -> None:
    """Takes the views out again.

    Args:
        shell: IPython's shell, as for `install`.
    Example:
        >>> from paddle_jax import views
        >>> views.install()
        >>> views.remove()
        >>> hasattr(paddle.ones([2]), "_repr_html_")
        False
    """
    for kind in _VIEWS:
        if _METHOD in vars(kind):
            delattr(kind, _METHOD)
    formatter = _html_formatter(shell)
    if formatter is None:
        return
    ours = {_state_or_none, _show_frame}
    for printers in (formatter.type_printers, formatter.deferred_printers):
        for key in [key for key, printer in printers.items() if printer in ours]:
            del printers[key]


def _html_formatter(shell: Any) -> Any:
    """IPython's formatter of HTML, None without a shell."""
    display = getattr(shell, "display_formatter", None)
    if display is None:
        return None
    return display.formatters["text/html"]
