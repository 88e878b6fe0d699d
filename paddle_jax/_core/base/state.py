"""The state of each thread that dispatch reads, and a few switches of the process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Context:
    """What decides how one thread carries out a call of an operation.

    Attributes:
        grad: bool, whether calls are recorded on the tape.
        segment: the Segment that operations are recorded into (the deferred tier), or None where every
            kernel runs at once.
        frame: the Frame that carries out calls (frame.py).
        amp: None, or the Policy of mixed precision, a callable `(op, tensors, attributes) -> tensors` that
            casts operands before a call (amp/policy.py).
        product_precision: None, or the ProductPrecision of calls (kernels/product_precision.py) where it is
            not that of the process's start.
        is_plain: bool, whether neither of these two is set: then a call may take short ways.
        amp_arguments: None, or the arguments of the innermost guard of mixed precision.
        after_backward: None, or during a backward pass a list of functions to call once the outermost pass
            is complete.
        loop_unit: (operations of the compiled unit of a loop, operations of its period), or 0 or None where
            the thread runs no such loop; see runner/loop_detection.py.
        next_limit: int, one more than the operations of the last compiled segment.
        on_create: function that is called with every new Context. It puts the thread into the modes of the
            process.
        on_thread_start: function that is called with the Context of a thread that begins.
        eager_frame_class: the class of eager execution.
        product_precision_of_process: the ProductPrecision that the Context of a new thread begins with.
    """

    __slots__ = (
        "_amp",
        "_product_precision",
        "after_backward",
        "amp_arguments",
        "frame",
        "grad",
        "is_plain",
        "next_limit",
        "segment",
        "loop_unit",
    )

    on_create: Callable[[Context], None] | None = None
    on_thread_start: Callable[[Context], None] | None = None
    eager_frame_class: Any = None
    product_precision_of_process: Any = None

    def __init__(self) -> None:
        self.grad = True
        self.segment: Any = None
        self._amp: Any = None
        self._product_precision: Any = Context.product_precision_of_process
        self.is_plain = self._product_precision is None
        self.amp_arguments: Any = None
        self.after_backward: list[Callable[[], None]] | None = None
        self.loop_unit: Any = 0
        self.next_limit = 0
        self.frame: Any = Context.eager_frame_class and Context.eager_frame_class()
        if Context.on_create is not None:
            Context.on_create(self)

    @property
    def amp(self) -> Any:
        """The policy of mixed precision."""
        return self._amp

    @amp.setter
    def amp(self, policy: Any) -> None:
        self._amp = policy
        self.is_plain = policy is None and self._product_precision is None

    @property
    def product_precision(self) -> Any:
        """The precision of products."""
        return self._product_precision

    @product_precision.setter
    def product_precision(self, precision: Any) -> None:
        self._product_precision = precision
        self.is_plain = precision is None and self._amp is None


class _Local(threading.local):
    """State of each thread.

    Attributes:
        ctx: the Context of the thread. One look-up of it serves a whole call of an operation.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Gives the current thread the state of a new one: nothing is captured, gradients are recorded."""
        self.ctx = Context()
        if Context.on_thread_start is not None:
            Context.on_thread_start(self.ctx)


local = _Local()


class LayerVersion:
    """The version of the attributes of all Layers.

    Attributes:
        count: int. It goes up when an attribute of any Layer is set, so facts about Layers hold while it
            stays the same.
    """

    count = 0


class Observing:
    """The observer of the run that is being captured.

    Attributes:
        observer: the StateObserver (_program/guards), or None.
    """

    observer: Any = None

    @staticmethod
    def function(function: Callable[..., Any]) -> Callable[..., Any]:
        """The observed form of a user's function that the library is about to call.

        It is the function itself where no run is observed.
        """
        observer = Observing.observer
        if observer is None or not observer.is_current_thread():
            return function
        return observer.observed_form(function)


class Precision:
    """Mixed precision of the process.

    Attributes:
        dtype: str, that of the last guard, which a GradScaler reads.
        master_grads: bool, whether there are Parameters of low precision that want float32 gradients.
    """

    dtype = "float32"
    master_grads = False


class ImageSettings:
    """How image files are read.

    Attributes:
        backend: "pil", "cv2" or "tensor".
    """

    backend = "pil"


class UciHousingCache:
    """The rows that dataset.uci_housing has read.

    Attributes:
        train: array of rows, or None.
        test: array of rows, or None.
    """

    train: Any = None
    test: Any = None


class _State:
    """The calling thread's Context by attribute, for code whose speed does not matter."""

    def __getattr__(self, name: str) -> Any:
        return getattr(local.ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(local.ctx, name, value)


state = _State()
