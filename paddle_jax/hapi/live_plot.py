"""A callback that draws losses and metrics while `Model.fit` runs."""

from __future__ import annotations

import io
import time
from typing import Any

from paddle_jax._core.base.notebook_shell import is_notebook
from paddle_jax.hapi.callback import Callback
from paddle_jax.hapi.history import numbers_of
from paddle_jax.utils import try_import

_NO_MATPLOTLIB = "LivePlot: matplotlib is not installed: pip install matplotlib"


class LivePlot(Callback):
    """Draws losses and metrics while `Model.fit` runs: a picture in the cell of a notebook, or a file.

    matplotlib draws it.

    Args:
        path: str, a file such as "losses.png" for the picture. Default None: the cell alone.
        every: float, at least so many seconds lie between two pictures. Default 1.0.
    Attributes:
        path, every: as given.
        steps: int, batches of training since `fit` began.
        curves: dict from names to (list of steps, list of numbers). Evaluations have names with "eval ".
        _handle: IPython's handle of the picture in the cell, or None.
        _last: float, when a picture was drawn last.
    Raises:
        ValueError: `every` is negative.
        RuntimeError: `fit` runs outside a notebook, and there is no `path`.
        ImportError: matplotlib is not installed.
    Differs from Paddle: Paddle has no such callback.
    Example:
        >>> plot = paddle.callbacks.LivePlot(path="losses.png", every=5.0)
        >>> plot.every
        5.0
    """

    def __init__(self, path: str | None = None, every: float = 1.0) -> None:
        super().__init__()
        if every < 0:
            raise ValueError(f"LivePlot: every: got {every}; it must be seconds, 0 or more")
        self.path = path
        self.every = every
        self.steps: int = 0
        self.curves: dict[str, tuple[list[int], list[float]]] = {}
        self._handle: Any = None
        self._last = 0.0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begins new curves."""
        if self.path is None and not is_notebook():
            raise RuntimeError(
                "LivePlot: path: got None outside a notebook, where no cell shows the picture; "
                'give a file, as in LivePlot(path="losses.png")'
            )
        try_import("matplotlib.figure", _NO_MATPLOTLIB)
        self.steps = 0
        self.curves = {}
        self._handle = None
        self._last = time.monotonic()

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Adds the results of a batch, and draws when it is time."""
        self.steps += 1
        self._add(numbers_of(logs or {}))
        if time.monotonic() - self._last >= self.every:
            self.draw()

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Adds the results of an evaluation."""
        if self.steps:  # else it is one outside `fit`
            self._add(numbers_of(logs or {}, "eval "))

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Draws the last picture."""
        self.draw()
        self.steps = 0

    def _add(self, results: dict[str, float]) -> None:
        for name, value in results.items():
            steps, values = self.curves.setdefault(name, ([], []))
            steps.append(self.steps)
            values.append(value)

    def draw(self) -> None:
        """Draws the picture now, into the cell and the file."""
        figure = self._figure()
        if self.path is not None:
            figure.savefig(self.path)
        if is_notebook():
            picture = io.BytesIO()
            figure.savefig(picture, format="png")
            self._show(picture.getvalue())
        self._last = time.monotonic()

    def _show(self, picture: bytes) -> None:
        """Shows the picture in the place of the last one."""
        from IPython.display import Image, display

        image = Image(data=picture, format="png")
        # The first picture makes a place in the cell, which the next ones fill.
        if self._handle is None:
            self._handle = display(image, display_id=True)
        else:
            self._handle.update(image)

    def _figure(self) -> Any:
        """The picture: losses on the left, metrics on the right."""
        figure = try_import("matplotlib.figure", _NO_MATPLOTLIB).Figure(figsize=(9, 3), layout="constrained")
        kinds = {"loss": [name for name in self.curves if "loss" in name]}
        kinds["metric"] = [name for name in self.curves if name not in kinds["loss"]]
        shown = {kind: names for kind, names in kinds.items() if names}
        for index, (kind, names) in enumerate(shown.items()):
            axes = figure.add_subplot(1, len(shown), index + 1)
            for name in names:
                # Evaluations are single points, which a line alone would not show.
                axes.plot(*self.curves[name], label=name, marker="o" if name.startswith("eval ") else "")
            axes.set_xlabel("step")
            axes.set_ylabel(kind)
            axes.legend()
        return figure


__all__ = ["LivePlot"]
