"""Collectives between the processes of a group: compiled programs over a mesh of one device per process.

JAX's programs only work when all processes run the same one, with equal shapes, in the same order, and
nothing in JAX checks that: another order waits for ever, other shapes end the process, and two operations
that look alike on the network give wrong numbers. So each call is announced first: the processes exchange a
digest of what they are about to do, and where it differs all of them raise.
"""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.core import trace_state_clean
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from paddle_jax._core.base.errors import TracedValueError, first_line
from paddle_jax._core.lazy.device_put import put_uncommitted
from paddle_jax._core.process_group import (
    failure_detector,
    group_flags,
    host_reductions,
    shared_memory,
    small_messages,
    socket_mesh,
    startup_barrier,
)
from paddle_jax._core.process_group.small_messages import AVG, MAX, MIN, PROD, SUM

REDUCTIONS = ("sum", "max", "min", "prod", "avg")
# bytes up to which a call is announced by its own program; larger ones are announced before, as the program
# would copy them
_SMALL = 1 << 18
# in JAX's words about a connection
_BROKEN = ("Gloo", "gloo", "NCCL", "UNAVAILABLE", "ABORTED", "DEADLINE_EXCEEDED")


class MismatchError(RuntimeError):
    """The processes of a group do not make the same call."""


class Wire:
    """The connection of the processes `ranks`. number: that of the group. limit: seconds that
    a call may take."""

    def __init__(self, number, ranks, limit):
        by_process = {}
        for device in jax.devices():
            by_process.setdefault(device.process_index, device)  # of several devices of a process the first
        self.number, self.ranks, self.limit, self.calls = number, list(ranks), limit, 0
        self.rank = self.ranks.index(jax.process_index())
        self.device = by_process[jax.process_index()]
        self.mesh = Mesh(np.array([by_process[rank] for rank in ranks]), ("g",))
        self.divided = NamedSharding(self.mesh, P("g"))
        # bytes that travel with the announcement
        self.small = small_messages.ROOM if self.device.platform == "cpu" else -1
        cpu = self.device.platform == "cpu"
        self.lines = socket_mesh.Lines(self.rank, len(self.ranks), self._told) if cpu else None
        self.host = shared_memory.Host(self.rank, len(self.ranks), self._exchanged) if cpu else None
        self.where = f"group {number} (ranks {', '.join(map(str, ranks))})"

    @property
    def size(self):
        """The number of processes."""
        return len(self.ranks)

    # operations: arrays of this process in, arrays of this process out --------------------------------------

    def all_reduce(self, x, op, name="all_reduce"):
        """The elements of all processes brought together by `op`, one of SUM, MAX, MIN, PROD, AVG.

        Raises:
            ValueError: the largest or least of complex numbers.
        """
        _need_order(x, op)
        return self._call(f"{name}({REDUCTIONS[op]}, {_kind(x)})", ("all_reduce", op), x)

    def all_gather(self, x, name="all_gather", told=""):
        """The arrays of all processes, stacked along a new first axis."""
        return self._call(f"{name}({told}{_kind(x)})", ("all_gather",), x)

    def broadcast(self, x, source):
        """The array of the process `source` (its place in the group)."""
        return self._call(f"broadcast(src {self.ranks[source]}, {_kind(x)})", ("broadcast", source), x)

    def reduce(self, x, target, op):
        """Like all_reduce, for one process; the others get None."""
        out = self.all_reduce(x, op, f"reduce to {self.ranks[target]} ")
        return out if target == self.rank else None

    def gather(self, x, target):
        """Like all_gather, for one process; the others get None."""
        out = self.all_gather(x, "gather", f"dst {self.ranks[target]}, ")
        return out if target == self.rank else None

    def scatter(self, x, source):
        """Row number `rank` of the array [size, ...] of the process `source`."""
        return self._call(f"scatter(src {self.ranks[source]}, {_kind(x)})", ("scatter", source), x)

    def reduce_scatter(self, x, op):
        """Piece number `rank` of what all_reduce would give; x is [size * n, ...]."""
        _need_order(x, op)
        return self._call(f"reduce_scatter({REDUCTIONS[op]}, {_kind(x)})", ("reduce_scatter", op), x)

    def all_to_all(self, x):
        """Of the array [size, ...] of every process the row of this one."""
        return self._call(f"alltoall({_kind(x)})", ("all_to_all",), x)

    def barrier(self):
        """Comes back when all processes have called it."""
        with self._watched("barrier()"):
            self._announce("barrier()")

    # how they run -------------------------------------------------------------------------------------------

    def _call(self, what, key, x):
        if not trace_state_clean() or isinstance(x, jax.core.Tracer):
            raise TracedValueError(
                key[0],
                "processes exchange values while a program runs, not while it is "
                "compiled; call it outside of it",
            )
        with self._watched(what):
            if x.nbytes <= self.small:
                return self._in_packets(key, np.asarray(x), what)
            checking = group_flags.checks_collectives()
            if self.host is not None and shared_memory.fits(x) and self.host.able:
                return self._in_memory(key, x, what)
            apart = x.nbytes > _SMALL or self._near()
            if checking and apart:
                self._announce(what)
            return self._run(key, x, what, announced=checking and not apart)

    def _in_memory(self, key, x, what):
        """An operation through memory that all processes see; the ordinary one if they turn
        out to see none."""
        if self.host.needs_more(x.nbytes):
            self._announce(what)
            if not self.host.open(x.nbytes):
                return self._run(key, x, what)
        begin, mine, (name, *rest) = ft.partial(self._announce, what), np.ascontiguousarray(x), key
        rows = (
            mine.reshape(self.size, -1)
            if name in ("scatter", "all_to_all", "reduce_scatter")
            else mine.reshape(-1)
        )
        if name in ("all_reduce", "reduce_scatter"):
            out = getattr(self.host, name)(rows, ft.partial(host_reductions.reduced, *rest), begin)
        else:
            out = getattr(self.host, name)(rows.view(np.uint8), *rest, begin)
        if out is rows or out.base is rows:  # a broadcast on the process that has the array
            return x
        return put_uncommitted(out.view(x.dtype).reshape(self._shape(name, x.shape)), self.device)

    def _shape(self, name, shape):
        """The shape of what an operation gives."""
        if name == "reduce_scatter":
            return (shape[0] // self.size, *shape[1:])
        return {"all_gather": (self.size, *shape), "scatter": (1, *shape[1:])}.get(name, shape)

    def _in_packets(self, key, x, what):
        """An operation on a small array: one exchange, which is the announcement as well."""
        text = self._text(what)
        rows = self._exchange(small_messages.packet(text, np.ascontiguousarray(x).tobytes()), what)
        if not small_messages.alike(rows):
            raise MismatchError(self._mismatch(what))
        return put_uncommitted(
            small_messages.result(key, small_messages.arrays(rows, x.shape, x.dtype), self.rank), self.device
        )

    def _near(self):
        """Whether the processes of the group have lines to each other; the first question makes them."""
        return self.lines is not None and self.lines.open()

    def _exchange(self, mine, what):
        """The packets of all processes."""
        if not self._near():
            return self._over_xla(mine, what)
        try:
            return self.lines.exchange(mine)
        except OSError as error:
            raise failure_detector.LostError(self._lost(what, error)) from None

    def _over_xla(self, mine, what):
        return np.asarray(self._run(("all_gather",), mine, what))

    def _exchanged(self, data):
        """The bytes of all processes, of which there are few; none of them is zero."""
        return small_messages.texts(
            self._exchange(small_messages.packet("", data), "all_reduce through shared memory")
        )

    def _told(self, data):
        """The same, before there are lines."""
        return small_messages.texts(
            self._over_xla(small_messages.packet("", data), "connecting the processes of this machine")
        )

    def _watched(self, what):
        self.calls += 1
        return failure_detector.waiting(self.where, self.calls, what, self.ranks, self.limit)

    def _run(self, key, x, what, announced=False):
        """One program, which may announce the call too; the wait for its result is part of it, and errors
        that others have caused say so."""
        scalar, mine = x.ndim == 0, small_messages.packet(self._text(what)) if announced else None
        try:
            arrays = [
                self._stacked(each) for each in (x.reshape(1) if scalar else x, mine) if each is not None
            ]
            out = _program(self.mesh, key, self.size, scalar, announced)(*arrays)
            rows = np.asarray(out[1].addressable_data(0)) if announced else mine
            out = out[0].addressable_data(0)
            out = out.reshape(()) if scalar and key[0] in ("all_reduce", "broadcast") else out
            out.block_until_ready()
        except (ValueError, RuntimeError) as error:
            # what JAX raises when a connection breaks, and for much else
            if not any(word in str(error) for word in _BROKEN):
                raise
            raise failure_detector.LostError(self._lost(what, error)) from None
        if announced and (rows != mine).any():
            raise MismatchError(self._mismatch(what))
        return put_uncommitted(out, self.device)

    def _stacked(self, x):
        """The array of this process as its part of one over all processes."""
        whole = (self.size * x.shape[0], *x.shape[1:])
        return jax.make_array_from_single_device_arrays(whole, self.divided, [jax.device_put(x, self.device)])

    def _text(self, what):
        checking = group_flags.checks_collectives()
        return f"{self.calls} {what}" if checking else ""

    def _lost(self, what, error):
        why = (
            failure_detector.patient_trouble(self.ranks)
            or "a process has gone without saying why; look at the last lines of the logs of the other ranks"
        )
        return (
            f"{what} on {self.where}, as rank {self.ranks[self.rank]}: the connection broke: "
            f"{why} ({first_line(error)[:200]})"
        )

    def _announce(self, what):
        """Makes sure that all processes of the group are about to make the same call."""
        if not small_messages.alike(self._exchange(small_messages.packet(self._text(what)), what)):
            raise MismatchError(self._mismatch(what))

    def _mismatch(self, what):
        client, key = startup_barrier.client(), f"paddle/call/{self.number}/{self.calls}"
        client.key_value_set(f"{key}/{self.ranks[self.rank]}", what, allow_overwrite=True)
        said = {}
        for rank in self.ranks:
            try:
                said.setdefault(client.blocking_key_value_get(f"{key}/{rank}", 5000), []).append(rank)
            except Exception:  # the number of its call is another one
                said.setdefault("another call of its own count", []).append(rank)
        calls = "; ".join(f"rank {', '.join(map(str, ranks))} calls {text}" for text, ranks in said.items())
        return (
            f"call #{self.calls} of {self.where} is not the same on all ranks: {calls}; "
            "all must make the same calls, with equal shapes and dtypes"
        )


def _need_order(x, op):
    if op in (MAX, MIN) and x.dtype.kind == "c":
        raise ValueError(
            f"{REDUCTIONS[op]}: got {x.dtype.name}; complex numbers have no order; "
            "use ReduceOp.SUM, PROD or AVG"
        )


def _kind(x):
    return f"{x.dtype.name}{list(x.shape)}"


# the programs -----------------------------------------------------------------------------------------------


@ft.lru_cache(maxsize=512)
def _program(mesh, key, size, scalar, announced):
    """The compiled function of an operation: of the stacked arrays of all processes, each of which sees its
    own. Gives [result], and where it announces the call [result, digests]: the operation then runs only
    if they are alike."""
    name, *rest = key

    def operation(x):
        out = _BODIES[name](*rest, x.reshape(()) if scalar else x, size=size)
        return out.reshape(1) if out.ndim == 0 else out

    def checked(x, mine):
        rows = _all_gather(mine, size)
        skipped = jax.eval_shape(operation, x)
        return [
            lax.cond((rows == mine).all(), operation, lambda _: jnp.zeros(skipped.shape, skipped.dtype), x),
            rows,
        ]

    divided = (
        P("g") if name in ("all_reduce", "broadcast", "reduce_scatter", "scatter", "all_to_all") else P()
    )
    if announced:
        return jax.jit(
            jax.shard_map(
                checked, mesh=mesh, in_specs=(P("g"), P("g")), out_specs=[divided, P()], check_vma=False
            )
        )
    return jax.jit(
        jax.shard_map(
            lambda x: [operation(x)], mesh=mesh, in_specs=P("g"), out_specs=[divided], check_vma=False
        )
    )


def _all_reduce(op, x, size):
    small = jnp.issubdtype(x.dtype, jnp.floating) and x.dtype.itemsize == 1  # float8: added up in float32
    wide = x.astype(jnp.float32) if small else x.astype(jnp.uint8) if x.dtype == bool else x
    op = (MAX if op in (SUM, MAX, AVG) else MIN) if x.dtype == bool else op
    if size == 2:  # one exchange: what a ring of two would send, in fewer steps
        out = _combined(op, wide, lax.ppermute(wide, "g", [(0, 1), (1, 0)]))
    elif op == SUM:
        out = lax.psum(wide, "g")
    elif op == AVG:
        out = (
            lax.psum(wide, "g") / size
            if jnp.issubdtype(wide.dtype, jnp.inexact)
            else lax.psum(wide, "g") // size
        )
    elif op == PROD:
        out = jnp.prod(lax.all_gather(wide, "g"), axis=0, dtype=wide.dtype)
    else:
        out = (lax.pmax if op == MAX else lax.pmin)(wide, "g")
    return out.astype(x.dtype)


def _combined(op, a, b):
    """The elements of two processes brought together; bool comes as uint8. Each process has its own as `a`:
    all of these commute to the last bit."""
    if op in (MAX, MIN):
        return (jnp.maximum if op == MAX else jnp.minimum)(a, b)
    if op == PROD:
        return a * b
    total = a + b
    return total if op == SUM else total / 2 if jnp.issubdtype(a.dtype, jnp.inexact) else total // 2


def _broadcast(source, x, size):
    """A tree of sends: after each step twice as many processes have the array. Bits stay as they are, which
    adding zeros would not do for -0.0."""
    place, have = (lax.axis_index("g") - source) % size, 1
    while have < size:
        pairs = [((source + k) % size, (source + k + have) % size) for k in range(min(have, size - have))]
        got = lax.ppermute(x, "g", pairs)
        x = jnp.where((place >= have) & (place < 2 * have), got, x)
        have *= 2
    return x


def _reduce_scatter(op, x, size):
    if op == SUM and x.dtype != bool and x.dtype.itemsize > 1:
        return lax.psum_scatter(x, "g", tiled=True)
    rows = _all_to_all(x.reshape(size, x.shape[0] // size, *x.shape[1:]), size)
    if x.dtype == bool:
        return rows.any(0) if op in (SUM, MAX, AVG) else rows.all(0)
    small = jnp.issubdtype(x.dtype, jnp.floating) and x.dtype.itemsize == 1
    wide = rows.astype(jnp.float32) if small else rows
    added = wide.sum(0, dtype=wide.dtype)
    mean = added / size if jnp.issubdtype(wide.dtype, jnp.inexact) else added // size
    found = {SUM: added, AVG: mean, PROD: wide.prod(0, dtype=wide.dtype), MAX: wide.max(0), MIN: wide.min(0)}[
        op
    ]
    return found.astype(x.dtype)


def _all_to_all(x, size):
    return lax.all_to_all(x, "g", 0, 0, tiled=True)


def _scatter(source, x, size):
    return lax.all_to_all(x, "g", 0, 0, tiled=True)[source][None]


def _all_gather(x, size):
    if size != 2:
        return lax.all_gather(x, "g")
    other = lax.ppermute(x, "g", [(0, 1), (1, 0)])  # gloo's own takes several times as long to wake up
    return jnp.where(lax.axis_index("g") == 0, jnp.stack([x, other]), jnp.stack([other, x]))


_BODIES = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "broadcast": _broadcast,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
    "scatter": _scatter,
}
