"""Per-thread execution state that every dispatch looks at."""

import threading


class Context:
    """What changes how an op call is carried out, for one thread.

    grad: whether calls are recorded on the tape.
    segment: the Segment that ops are recorded into (the deferred tier), or None where every kernel runs at
    once. frame: the Frame that carries it out (frame.py).
    amp: None, or the Policy of mixed precision, a callable `(op, tensors, attributes) -> tensors` that casts
    operands before a call (amp/policy.py). amp_given: None, or the arguments of the innermost guard of
    mixed precision.
    after: while a backward pass runs, what is to be called once the outermost one is complete.
    unit, hint: lengths at which the next segment is looked at (see deferred/segment.py).
    """

    __slots__ = ("after", "amp", "amp_given", "frame", "grad", "hint", "segment", "unit")

    started = None  # called with every new Context: the thread takes over the process-wide modes
    begin = None  # called with that of a thread that begins
    frame_kind = None  # the class of eager execution

    def __init__(self):
        self.grad, self.amp, self.segment, self.unit, self.hint = True, None, None, 0, 0
        self.after = self.amp_given = None
        self.frame = Context.frame_kind and Context.frame_kind()
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
    """count goes up whenever an attribute of any Layer is set: what was learnt about Layers holds as long as
    it stays the same."""

    count = 0


class Observing:
    """reads: the observer of the run that is being captured (jit/observed), or None."""

    reads = None

    @staticmethod
    def function(function):
        """A function of the user that is about to be called by the library: in its observed form, where a
        run is observed."""
        reads = Observing.reads
        return function if reads is None or not reads.here() else reads.entered(function)


class Precision:
    """Mixed precision of the process. dtype: that of the last guard, which a GradScaler asks for.
    master_grads: whether there are Parameters of low precision that want float32 gradients."""

    dtype, master_grads = "float32", False


class Images:
    """How image files are read. backend: "pil", "cv2" or "tensor"."""

    backend = "pil"


class Houses:
    """What dataset.uci_housing has read first, and keeps. train, test: arrays of rows, or None."""

    train = test = None


class _State:
    """The calling thread's Context by attribute, for code that is not in a hurry."""

    def __getattr__(self, name):
        return getattr(local.ctx, name)

    def __setattr__(self, name, value):
        setattr(local.ctx, name, value)


state = _State()
