"""A layer of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.distributed.fleet.utils import recompute
from paddle_jax.distributed.utils.moe_utils import global_gather, global_scatter
from paddle_jax.incubate.distributed.models.moe.device_experts import DeviceExperts
from paddle_jax.incubate.distributed.models.moe.gate import BaseGate, GShardGate, NaiveGate, SwitchGate
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor.axes import unknown
from paddle_jax.tensor.creation import to_tensor, zeros_like
from paddle_jax.tensor.gathering import gather
from paddle_jax.tensor.joining import concat
from paddle_jax.tensor.manipulation import cast, reshape
from paddle_jax.tensor.scattering import scatter_nd_add
from paddle_jax.tensor.search import nonzero

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


_GATES = {"naive": NaiveGate, None: NaiveGate, "gshard": GShardGate, "switch": SwitchGate}


class MoELayer(Layer):
    """Sends each token through the experts that a gate chooses; the result is the sum of what they give, each
    times the value of its choice.

    Where choices are known, each expert gets its tokens only; in compiled functions, where they are not, each
    gets all tokens, and those that are not its own count nothing.

    Args:
        d_model: int, numbers in a token.
        experts: LayerList of networks from [tokens, d_model] to [tokens, d_model].
        gate: a gate, or a dict: "type" is "naive", "gshard" (default) or "switch", "top_k" how many experts
            are chosen (default 2).
        moe_group: Group of the processes that share the experts: those given are this process's. Default
            None: one process has all. Where `fleet.init` has laid its devices out in a grid, experts are on
            devices of their own along "dp" (or "sharding"), and rows go to them.
        mp_group: None or a Group of one process.
        recompute_interval: above 0: what experts compute is computed again in the backward pass
            instead of kept.
        recompute_ctx: accepted.
    Attributes:
        mp_group, recompute_interval, recompute_ctx, d_model: as given.
        experts: LayerList, the experts of this process.
        gate: Layer that chooses experts.
        group: Group, or None for one process.
        world_size: int, the processes of the group.
        num_expert: int, the experts of this process.
        top_k: int, how many experts a row goes to.
    Shape:
        [batch, length, d_model] to the same.
    Raises:
        AssertionError: the gate is of another type, or the input has not three axes.
        ValueError: mp_group has several processes.
    Differs from Paddle: it works on the CPU.
    Example:
        >>> experts = paddle.nn.LayerList([paddle.nn.Linear(4, 4) for _ in range(3)])
        >>> layer = paddle.incubate.distributed.models.moe.MoELayer(4, experts,
        ...                                                         gate={"type": "naive", "top_k": 2})
        >>> layer(paddle.ones([2, 5, 4])).shape
        paddle.Size([2, 5, 4])
    """

    def __init__(
        self,
        d_model: int,
        experts: Layer,
        gate: Any = None,
        moe_group: Any = None,
        mp_group: Any = None,
        recompute_interval: Any = 0,
        recompute_ctx: Any = None,
    ) -> None:
        super().__init__()
        if mp_group is not None and mp_group.nranks > 1:
            raise ValueError(
                f"MoELayer: mp_group: got a group of {mp_group.nranks} processes; leave it None, and give "
                "moe_group all processes that share the experts"
            )
        if gate is None:
            gate = {}
        self.group = moe_group
        self.mp_group = mp_group
        self.world_size = 1 if moe_group is None else moe_group.nranks
        self.recompute_interval = recompute_interval
        self.recompute_ctx = recompute_ctx
        self.experts = experts
        self.num_expert: int = len(experts)
        self.d_model = d_model
        if self.world_size > 1:
            for parameter in experts.parameters():
                # other processes have other experts: their gradients are not averaged
                parameter.no_sync = True
                parameter.expert = True
        self._on_devices = DeviceExperts.of(experts) if self.world_size == 1 else None
        if isinstance(gate, dict):
            self.top_k, kind = gate.get("top_k", 2), gate.get("type", "gshard")
            if kind not in _GATES:
                raise AssertionError(
                    f"MoELayer: gate: got the type {kind!r}; use 'naive', 'gshard' or 'switch'"
                )
            # NaiveGate has no capacity to share out, so it takes no group.
            if _GATES[kind] is NaiveGate:
                group = {}
            else:
                group = {"group": moe_group}
            gate = _GATES[kind](
                d_model, num_expert=len(experts), world_size=self.world_size, topk=self.top_k, **group
            )
        elif isinstance(gate, NaiveGate):
            self.top_k: int = gate.top_k
        elif isinstance(gate, BaseGate):
            raise TypeError(
                f"MoELayer: gate: got {type(gate).__name__}; it must be a NaiveGate or a class made of it"
            )
        else:
            raise AssertionError(f"MoELayer: gate: got {type(gate).__name__}; give a dict or a NaiveGate")
        self.gate: Any = gate

    def sharded_state_dict(self, structured_name_prefix: str = "") -> dict[str, Any]:
        """The state as parts; see `Layer.sharded_state_dict`. Experts are named by their numbers among those
        of all processes, so that other numbers of processes can load them."""
        parts = super().sharded_state_dict(structured_name_prefix)
        prefix = f"{structured_name_prefix}experts."
        first = 0 if self.world_size == 1 else self.group.rank * self.num_expert
        for part in parts.values():
            if part.key.startswith(prefix):
                number, name = part.key.removeprefix(prefix).split(".", 1)
                part.key = f"{prefix}{first + int(number)}.{name}"
        return {part.key: part for part in parts.values()}

    def forward(self, inp: Tensor) -> Tensor:
        if inp.ndim != 3:
            raise AssertionError(
                f"MoELayer: inp: got shape {list(inp.shape)}; it must be [batch, length, {self.d_model}]"
            )
        x = reshape(inp, [-1, inp.shape[2]])
        value, number = self.gate(x)
        value, number = (reshape(t, [x.shape[0], -1]) for t in (value, number))
        if number.shape[1] != self.top_k:
            raise AssertionError(f"MoELayer: gate: it chose {number.shape[1]} experts; top_k is {self.top_k}")
        if self.world_size > 1:
            return reshape(self._over_processes(x, value, number), inp.shape)
        if self._on_devices is not None:
            return reshape(self._on_devices.run(x, value, number, self._computed), inp.shape)
        return reshape(self._run_local_experts(x, value, number), inp.shape)

    def _run_local_experts(self, x: Tensor, value: Tensor, number: Tensor) -> Tensor:
        """What the experts of this process give, which are all."""
        # Inside a trace choices are not known: every expert computes all tokens.
        dense = unknown(number)
        out = zeros_like(x)
        for i, expert in enumerate(self.experts):
            # -1, which is no expert, equals none of them.
            own = number == i
            share = (value * cast(own, value.dtype)).sum(1, keepdim=True)
            if dense:
                part = self._computed(expert, x)
                out = cast(out, part.dtype) + part * cast(share, part.dtype)
                continue
            rows = nonzero(own.any(1))
            if rows.shape[0]:
                flat = rows.flatten()
                part = self._computed(expert, gather(x, flat))
                part = part * cast(gather(share, flat), part.dtype)
                # Experts have a low precision below `auto_cast`, and so has the result.
                out = scatter_nd_add(cast(out, part.dtype), rows, part)
        return out

    def _over_processes(self, x: Any, value: Any, number: Any) -> Any:
        """What the experts of all processes give: tokens go to their processes and come back."""
        chosen = host_value(number, "MoELayer: choices of experts").reshape(-1)
        # By expert, and so by process, as experts are numbered process by process.
        order = np.argsort(chosen, kind="stable")
        order = order[chosen[order] >= 0]  # -1: no expert has room
        total = self.num_expert * self.world_size
        sent = np.bincount(chosen[order], minlength=total)
        # how many rows come from each process for each expert of this one
        received = np.asarray(self.group.process_group.all_to_all(sent.reshape(self.world_size, -1)))
        sent = to_tensor(sent)
        received = to_tensor(received.reshape(-1))
        # Choice i is one of token i // top_k.
        tokens = to_tensor(order // self.top_k)
        rows = global_scatter(gather(x, tokens), sent, received, self.group)
        rows = self._by_expert(rows, received.numpy().reshape(self.world_size, -1).sum(0))
        rows = global_gather(rows, sent, received, self.group)
        shares = gather(reshape(value, [-1, 1]), to_tensor(order))
        parts = cast(shares, rows.dtype) * rows
        return scatter_nd_add(zeros_like(x, parts.dtype), tokens.unsqueeze(1), parts)

    def _by_expert(self, rows: Any, counts: Any) -> Any:
        """Rows in the order of experts, each part computed by its own."""
        parts = []
        start = 0
        for expert, count in zip(self.experts, counts.tolist(), strict=True):
            # an expert without rows takes part all the same, so that its gradients are zeros on all processes
            parts.append(self._computed(expert, rows[start : start + count]))
            start += count
        return concat(parts)

    def _computed(self, expert: Layer, rows: Tensor) -> Any:
        if self.recompute_interval > 0:
            return recompute(expert, rows)
        return expert(rows)
