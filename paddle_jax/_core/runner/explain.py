"""`paddle_jax.explain()`: what was compiled, how long it took and why, in plain words."""

from paddle_jax._core.base.event_log import log
from paddle_jax._core.lazy.positions import OP_MASK


def reason(program, programs):
    """Why a segment had to be compiled: what differs from the most similar one compiled before."""
    ops, live, hosts = program.key
    others = [p for p in programs if p is not program and len(p.key[0]) == len(ops)]
    same = [p for p in others if all(a[0].kernel is b[0].kernel for a, b in zip(ops, p.key[0], strict=True))]
    if not same:
        near = [
            p
            for p in others
            if all(a[0].kernel.name == b[0].kernel.name for a, b in zip(ops, p.key[0], strict=True))
        ]
        if not near:
            return "a sequence of ops not met before"
        at, old = next(
            (a[0], b[0]) for a, b in zip(ops, near[-1].key[0], strict=True) if a[0].kernel is not b[0].kernel
        )
        return f"an attribute of {at.kernel.name} differs ({at.user_line}; before: {old.user_line})"
    old_ops, old_live, old_hosts = same[-1].key
    for a, b in zip(ops, old_ops, strict=True):
        if a[0] is not b[0]:
            return f"{a[0].kernel.name} got {_operands(a[0])}, before {_operands(b[0])} ({a[0].user_line})"
    if set(live) != set(old_live):
        differing = ((set(live) - set(old_live), "still"), (set(old_live) - set(live), "no longer"))
        results = [(ops[p & OP_MASK][0], how) for places, how in differing for p in sorted(places)[:3]]
        return "; ".join(
            [f"the result of {sig.kernel.name} ({sig.user_line}) is {how} referenced" for sig, how in results]
        )
    if hosts != old_hosts:
        return "a Python number stands where an array stood, or the other way round"
    return "the ops read other operands than before"


def _operands(sig):
    return ", ".join(map(repr, sig.operand_avals))


class Explanation:
    """Counts and events of deferred execution; its text says them in words.

    segments: sequences of ops that were run. hits: those that ran as a compiled program. compiles, seconds:
    whole-segment compilations. interpreted: ops that ran in NumPy. refusals: why ops of new signatures could
    not, {reason: how many}.
    """

    def __init__(self):
        self.segments, self.hits, self.compiles, self.seconds, self.events = (
            log.segments,
            log.compiled_runs,
            log.compiles,
            log.compile_seconds,
            list(log.events),
        )
        self.interpreted, self.refusals = log.interpreted_ops, dict(log.refusals)

    def __repr__(self):
        head = (
            f"{self.segments} segments were run: {self.hits} as compiled programs, "
            f"{self.segments - self.hits} op by op. {self.compiles} programs were compiled in "
            f"{self.seconds:.2f} s. {self.interpreted} ops were interpreted with NumPy."
        )
        return "\n".join([head, *self.events])


def explain(reset=False):
    """Says what deferred execution did: what was compiled, how long it took, why, and why something was not.

    Args:
        reset: bool, start counting anew afterwards.
    Returns:
        An object to print, with the numbers `segments`, `hits`, `compiles`, `seconds`, `interpreted`, the
        dict `refusals` and the list `events`.
    Example:
        >>> import paddle_jax; report = paddle_jax.explain()
        >>> report.compiles <= report.segments
        True
    """
    found = Explanation()
    if reset:
        log.clear()
    return found
