"""A layer of experts."""

from paddle_jax.distributed.fleet.utils import recompute
from paddle_jax.incubate.distributed.models.moe.gate import BaseGate, GShardGate, NaiveGate, SwitchGate
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor.axes import unknown
from paddle_jax.tensor.creation import zeros_like
from paddle_jax.tensor.gathering import gather
from paddle_jax.tensor.manipulation import cast, reshape
from paddle_jax.tensor.scattering import scatter_nd_add
from paddle_jax.tensor.search import nonzero

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
        moe_group, mp_group: None or Groups of one process; experts are spread over devices by
            `paddle.distributed.shard_tensor` of their parameters.
        recompute_interval: above 0: what experts compute is computed again in the backward pass
            instead of kept.
        recompute_ctx: accepted.
    Shape:
        [batch, length, d_model] to the same.
    Raises:
        AssertionError: the gate is of another type, or the input has not three axes.
        ValueError: a group has several processes.
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
        d_model,
        experts,
        gate=None,
        moe_group=None,
        mp_group=None,
        recompute_interval=0,
        recompute_ctx=None,
    ):
        super().__init__()
        for name, group in (("moe_group", moe_group), ("mp_group", mp_group)):
            if group is not None and group.nranks > 1:
                raise ValueError(
                    f"MoELayer: {name}: got a group of {group.nranks} processes; "
                    "one process drives all devices: leave it None and lay out the parameters "
                    "of experts with paddle.distributed.shard_tensor"
                )
        gate = {} if gate is None else gate
        self.recompute_ctx, self.group, self.mp_group, self.world_size = recompute_ctx, moe_group, mp_group, 1
        self.num_expert, self.recompute_interval, self.experts, self.d_model = (
            len(experts),
            recompute_interval,
            experts,
            d_model,
        )
        if isinstance(gate, dict):
            self.top_k, kind = gate.get("top_k", 2), gate.get("type", "gshard")
            if kind not in _GATES:
                raise AssertionError(
                    f"MoELayer: gate: got the type {kind!r}; use 'naive', 'gshard' or 'switch'"
                )
            group = {} if _GATES[kind] is NaiveGate else {"group": moe_group}
            gate = _GATES[kind](d_model, num_expert=len(experts), world_size=1, topk=self.top_k, **group)
        elif isinstance(gate, NaiveGate):
            self.top_k = gate.top_k
        elif isinstance(gate, BaseGate):
            raise TypeError(
                f"MoELayer: gate: got {type(gate).__name__}; it must be a NaiveGate or a class made of it"
            )
        else:
            raise AssertionError(f"MoELayer: gate: got {type(gate).__name__}; give a dict or a NaiveGate")
        self.gate = gate

    def forward(self, inp):
        if inp.ndim != 3:
            raise AssertionError(
                f"MoELayer: inp: got shape {list(inp.shape)}; it must be [batch, length, {self.d_model}]"
            )
        x = reshape(inp, [-1, inp.shape[2]])
        value, number = self.gate(x)
        value, number = (reshape(t, [x.shape[0], -1]) for t in (value, number))
        if number.shape[1] != self.top_k:
            raise AssertionError(f"MoELayer: gate: it chose {number.shape[1]} experts; top_k is {self.top_k}")
        dense, out = unknown(number), zeros_like(x)
        for i, expert in enumerate(self.experts):
            own = number == i
            share = (value * cast(own, value.dtype)).sum(1, keepdim=True)
            if dense:
                out = out + self._computed(expert, x) * share
                continue
            rows = nonzero(own.any(1))
            if rows.shape[0]:
                flat = rows.flatten()
                out = scatter_nd_add(out, rows, self._computed(expert, gather(x, flat)) * gather(share, flat))
        return reshape(out, inp.shape)

    def _computed(self, expert, rows):
        return recompute(expert, rows) if self.recompute_interval > 0 else expert(rows)
