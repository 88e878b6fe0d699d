"""Messages between neighbouring stages of a pipeline: what a stage gives, and the gradients that come back.

A message is one array of bytes: a head in JSON, which says how Tensors are nested and what they are, and
their elements behind it. So shapes and dtypes may differ from one micro-batch to the next, and nothing is
agreed on beforehand. Messages of a direction and chunk come in the order of their micro-batches. They wait
at the receiver until it asks for them, so no order of calls can block two stages.
"""

from __future__ import annotations

import collections
import json
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.dtype import convert
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.process_group.registry import Groups
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.distributed import schedules
from paddle_jax.distributed.communication.group import Group
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import detached_nest
from paddle_jax.distributed.schedules import Pipeline

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


OUTPUT = "output"
GRADIENT = "gradient"
# the length of the JSON text that follows
_HEAD = struct.Struct("!I")


def packed(value: Any) -> np.ndarray:
    """A nest of Tensors as one array of bytes.

    Raises:
        TypeError: something else is in it.
    """
    arrays = []
    head = {"value": _described(value, arrays)}
    text = json.dumps(head).encode()
    # Flat first: NumPy refuses another dtype for an array without axes.
    elements = [np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in arrays]
    return np.concatenate([np.frombuffer(_HEAD.pack(len(text)) + text, np.uint8), *elements])


def _described(value: Any, arrays: Sequence[np.ndarray]) -> dict[str, Any]:
    """What JSON says of a nest; the arrays in it are added to a list."""
    if isinstance(value, Tensor):
        array = to_numpy(value._value)
        arrays.append(array)
        return {
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "stop_gradient": bool(value.stop_gradient),
        }
    if isinstance(value, tuple | list):
        # A named tuple arrives as a plain tuple, as in Paddle.
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_described(one, arrays) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[name, _described(one, arrays)] for name, one in value.items()]}
    if value is None or isinstance(value, bool | int | float | str):
        return {"plain": value}
    raise TypeError(
        f"PipelineLayer: a stage gives {type(value).__name__}; it must be a Tensor, or a tuple, list or dict "
        "of Tensors, numbers and None"
    )


def unpacked(message: np.ndarray) -> Any:
    """The nest of Tensors of a message."""
    (size,) = _HEAD.unpack(message[: _HEAD.size].tobytes())
    start = _HEAD.size + size
    head = json.loads(message[_HEAD.size : start].tobytes())
    return _built(head["value"], _Bytes(message[start:]))


class _Bytes:
    """The elements of a message, taken one array after the other.

    Attributes:
        data: array of bytes.
        position: where the next array begins.
    """

    def __init__(self, data: Any) -> None:
        self.data = data
        self.position = 0

    def array(self, dtype: DTypeLike, shape: Any) -> np.ndarray:
        """The next array."""
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        piece = self.data[self.position : self.position + size]
        self.position += size
        # A copy of its own: pieces of a message may begin at odd addresses.
        return np.frombuffer(piece.tobytes(), dtype).reshape(shape)


def _built(described: dict[str, Any], data: _Bytes) -> Any:
    if "dtype" in described:
        array = data.array(np.dtype(convert(described["dtype"]).np), described["shape"])
        tensor = wrap(put(array))
        tensor.stop_gradient = described["stop_gradient"]
        return tensor
    if "dict" in described:
        return {name: _built(one, data) for name, one in described["dict"]}
    if "plain" in described:
        return described["plain"]
    if "tuple" in described:
        return tuple(_built(one, data) for one in described["tuple"])
    return [_built(one, data) for one in described["list"]]


class StageMessages:
    """The messages of one stage.

    Attributes:
        group: Group of the stages, in their order.
        stage: place of this process in it.
        sizes: Pipeline, which says what parts of the model the stages have.
        last_stage: the one that has the last part.
        sent: messages on their way, which `finish` waits for.
        own: {name: messages to another chunk of this stage}.
    """

    def __init__(self, group: Group, sizes: Pipeline) -> None:
        self.group = group
        self.sizes = sizes
        self.sent: list[Any] = []
        self.own: dict[str, collections.deque[Any]] = collections.defaultdict(collections.deque)
        self.stage: int = group.rank
        self.last_stage: int = schedules.stage_and_chunk(sizes, sizes.stages * sizes.chunks - 1)[0]

    def neighbour(self, chunk: int, step: int) -> tuple[int, int] | None:
        """(stage, chunk) before (step -1) or after (step 1) a chunk of this stage; None at either end."""
        part = schedules.part_of(self.sizes, self.stage, chunk) + step
        if not 0 <= part < self.sizes.stages * self.sizes.chunks:
            return None
        return schedules.stage_and_chunk(self.sizes, part)

    def send(self, kind: str, stage: int, chunk: int, value: Any) -> None:
        """Puts a message for a chunk of a stage on its way; does not wait."""
        # The two chunks at the turn of a V are on one stage.
        if stage == self.stage:
            self.own[self._name(kind, chunk)].append(detached_nest(value))
            return
        limit = self.group.process_group.timeout
        rank = self.group.ranks[stage]
        # Kept until `finish`: a message that is not out yet must not be lost without an error.
        self.sent.append(
            (kind, rank, Groups.channel.send(self._name(kind, chunk), rank, packed(value), limit))
        )

    def finish(self) -> None:
        """Waits until all messages are out.

        Raises:
            RuntimeError: one could not be delivered.
        """
        wire = self.group.process_group
        sent = self.sent
        self.sent = []
        for kind, rank, message in sent:
            what = f"pipeline stage {self.stage}: {kind}"
            Groups.channel.wait_until_delivered(message, what, wire.description, rank, wire.timeout)

    def receive(self, kind: str, stage: int, chunk: int, micro_batch: int) -> Any:
        """The next message of a kind from a stage, for a chunk of this one.

        Raises:
            RuntimeError: it will not come; the message says what was waited for, and why.
        """
        wire = self.group.process_group
        name = self._name(kind, chunk)
        if stage == self.stage:
            return self.own[name].popleft()
        rank = self.group.ranks[stage]
        ticket = Groups.channel.take_number(name, rank)
        what = f"pipeline stage {self.stage}: {kind} of micro-batch {micro_batch}, chunk {chunk}"
        return unpacked(Groups.channel.receive(name, rank, ticket, what, wire.description, wire.timeout))

    def broadcast(self, value: Any) -> Any:
        """What the stage with the last part gives, on all stages."""
        if self.stage != self.last_stage:
            return self.receive("loss", self.last_stage, 0, 0)
        for stage in range(self.sizes.stages):
            if stage != self.stage:
                self.send("loss", stage, 0, value)
        return value

    def _name(self, kind: Any, chunk: Any) -> str:
        # Messages come in order within a name. Chunks and kinds do not wait for each other.
        return f"{self.group.id} {kind} {chunk}"
