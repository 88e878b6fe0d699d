"""Per-thread execution state that every dispatch looks at."""

import threading


class _State(threading.local):
    """What changes how an op call is carried out, per thread.

    grad: whether calls are recorded on the tape.
    recorder: None, or a callable `(kernel, tensors) -> Tensors` that takes over a call (static Programs).
    executor: None, or a callable `(kernel, values) -> values` that takes over running a kernel (the deferred tier).
    amp: None, or a callable `(op, tensors) -> tensors` that casts operands before a call.
    """

    grad = True
    recorder = None
    executor = None
    amp = None


state = _State()
