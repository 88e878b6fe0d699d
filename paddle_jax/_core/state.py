"""Per-thread execution state that every dispatch looks at."""

import threading


class Context:
    """What changes how an op call is carried out, for one thread.

    grad: whether calls are recorded on the tape.
    segment: the Segment that ops are recorded into (the deferred tier), or None where every kernel runs at once.
    recorder: None, or a callable `(kernel, tensors) -> Tensors` that takes over a call (static Programs); `segment` is None then.
    executor: None, or a callable `(kernel, values) -> values` that takes over running a kernel; `segment` is None then.
    amp: None, or the Policy of mixed precision, a callable `(op, tensors, attributes) -> tensors` that casts operands before a call (amp/policy.py).
    amp_given: None, or the arguments of the innermost guard of mixed precision.
    packing: None, or (pack, unpack): functions that keep the operands of recorded calls in another form; `segment` is None then.
    trace: None, or the Trace of a run of Paddle code inside a JAX trace (tracing.py).
    after: while a backward pass runs, what is to be called once the outermost one is complete.
    unit, hint: lengths at which the next segment is looked at (see deferred/segment.py).
    """

    __slots__ = ("after", "amp", "amp_given", "executor", "grad", "hint", "packing", "recorder", "segment", "trace", "unit")

    started = None  # called with every new Context: the thread takes over the process-wide modes
    begin = None  # called with that of a thread that begins

    def __init__(self):
        self.grad, self.recorder, self.executor, self.amp, self.segment, self.unit, self.hint = True, None, None, None, None, 0, 0
        self.packing = self.trace = self.after = self.amp_given = None
        if Context.started is not None:
            Context.started(self)


class _Local(threading.local):
    """`local.ctx` is the calling thread's Context; one look-up serves a whole op call."""

    def __init__(self):
        self.ctx = Context()
        if Context.begin is not None:
            Context.begin(self.ctx)


local = _Local()


class Changes:
    """count goes up whenever an attribute of any Layer is set: what was learnt about Layers holds as long as it stays the same."""

    count = 0


class Observing:
    """reads: the observer of the run that is being captured (jit/observed), or None."""

    reads = None

    @staticmethod
    def function(function):
        """A function of the user that is about to be called by the library: in its observed form, where a run is observed."""
        reads = Observing.reads
        return function if reads is None or not reads.here() else reads.entered(function)


class Precision:
    """Mixed precision of the process. dtype: that of the last guard, which a GradScaler asks for. master_grads: whether there are Parameters of low
    precision that want float32 gradients."""

    dtype, master_grads = "float32", False


class Images:
    """How image files are read. backend: "pil", "cv2" or "tensor"."""

    backend = "pil"


class _State:
    """The calling thread's Context by attribute, for code that is not in a hurry."""

    def __getattr__(self, name):
        return getattr(local.ctx, name)

    def __setattr__(self, name, value):
        setattr(local.ctx, name, value)


state = _State()
