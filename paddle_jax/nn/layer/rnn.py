"""Recurrent networks over time: RNN and BiRNN run cells; SimpleRNN, LSTM and GRU stack them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.base.size import are_known
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.container import LayerList
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.nn.layer.rnn_cells import GRUCell, LSTMCell, RNNCellBase, SimpleRNNCell
from paddle_jax.tensor.axes import check_index
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.joining import concat, stack
from paddle_jax.tensor.search import where
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._annotations import ParamAttrLike, Structure


_SCANNED = (SimpleRNNCell, LSTMCell, GRUCell)


def map_nested(function: Callable[..., Any], first: Structure, *others: Any) -> Structure:
    """Applies a function to Tensors nested in tuples, named tuples, lists and dicts."""
    if isinstance(first, dict):
        return {key: map_nested(function, value, *(o[key] for o in others)) for key, value in first.items()}
    if isinstance(first, list | tuple):
        items = [map_nested(function, *values) for values in zip(first, *others, strict=True)]
        return make_sequence(type(first), items)
    return function(first, *others)


def _first(structure: Structure) -> Tensor:
    while not isinstance(structure, Tensor):
        structure = next(iter(structure.values() if isinstance(structure, dict) else structure))
    return structure


def _lengths(sequence_length: Any) -> Tensor | None:
    if sequence_length is None:
        return None
    return to_tensor(sequence_length)


def run_cell(
    cell: Layer,
    inputs: Structure,
    states: Structure,
    length: Tensor | None,
    is_reverse: bool,
    time_major: bool,
    zero_padding: bool,
    kwargs: dict[str, Any],
) -> tuple[Structure, Structure]:
    """Runs a cell over time: as one op for Paddle's own cells, else step by step."""
    if states is None:
        states = cell.get_initial_states(inputs, cell.state_shape, batch_dim_idx=1 if time_major else 0)
    # A subclass, a hook or extra arguments may change what a step does.
    plain = (
        type(cell) in _SCANNED and not kwargs and not cell._forward_pre_hooks and not cell._forward_post_hooks
    )
    if plain:
        return cell._scan(
            inputs, states, length, reverse=is_reverse, time_major=time_major, zero_padding=zero_padding
        )
    return _loop(cell, inputs, states, length, is_reverse, 0 if time_major else 1, kwargs)


def _loop(
    cell: Layer,
    inputs: Structure,
    states: Structure,
    length: Tensor | None,
    is_reverse: bool,
    time_axis: int,
    kwargs: dict[str, Any],
) -> tuple[Structure, Structure]:
    steps = _first(inputs).shape[time_axis]
    if length is None:
        valid = None
    else:
        # [steps, batch]: whether a sequence has a number at this step.
        valid = arange(steps, dtype=length.dtype).unsqueeze(1) < length.unsqueeze(0)
    outputs = [None] * steps
    for t in reversed(range(steps)) if is_reverse else range(steps):
        # The default of `t` binds its value in this turn of the loop.
        outputs[t], new = cell(
            map_nested(lambda x, t=t: x[t] if time_axis == 0 else x[:, t], inputs), states, **kwargs
        )
        if valid is None:
            states = new
        else:
            # Beyond its end the states of a sequence stay; its last ones are the result.
            states = map_nested(lambda n, s, t=t: _choose(valid[t], n, s), new, states)
    return map_nested(lambda *items: stack(items, axis=time_axis), *outputs), states


def _choose(ok: Tensor, new: Tensor, old: Tensor) -> Tensor:
    return where(ok.reshape([-1, *[1] * (new.ndim - 1)]), new, old)


class RNN(Layer):
    """Runs a cell over the steps of sequences.

    Args:
        cell: RNNCellBase, or any layer `(inputs, states) -> (outputs, states)`.
        is_reverse: bool, begin at the last step.
        time_major: bool, inputs are [T, B, ...] instead of [B, T, ...].
    Raises:
        AttributeError: cell is not a layer.
    Example:
        >>> y, h = paddle.nn.RNN(paddle.nn.GRUCell(4, 3))(paddle.ones([2, 5, 4])); y.shape, h.shape
        (paddle.Size([2, 5, 3]), paddle.Size([2, 3]))
    """

    def __init__(self, cell: Layer, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        if not hasattr(cell, "forward"):
            raise AttributeError(f"RNN: cell: got {type(cell).__name__}; it must be a layer")
        self.cell = cell
        self.is_reverse = is_reverse
        self.time_major = time_major

    def forward(
        self,
        inputs: Structure,
        initial_states: Structure | None = None,
        sequence_length: Tensor | None = None,
        **kwargs: Any,
    ) -> tuple[Structure, Structure]:
        """Returns (outputs, last states).

        Args:
            inputs: Tensor [B, T, ...], or nested Tensors.
            initial_states: what the cell takes. Default: zeros.
            sequence_length: int Tensor [B]; past it states stay as they are.
            kwargs: handed to the cell.
        """
        return run_cell(
            self.cell,
            inputs,
            initial_states,
            _lengths(sequence_length),
            self.is_reverse,
            self.time_major,
            False,
            kwargs,
        )


class BiRNN(Layer):
    """Runs one cell forward and one backward over the steps of sequences and joins their outputs.

    Args:
        cell_fw: RNNCellBase.
        cell_bw: RNNCellBase with the same input_size.
        time_major: bool, inputs are [T, B, ...] instead of [B, T, ...].
    Raises:
        ValueError: the cells have different input sizes.
    Example:
        >>> rnn = paddle.nn.BiRNN(paddle.nn.GRUCell(4, 3), paddle.nn.GRUCell(4, 3))
        >>> y, (fw, bw) = rnn(paddle.ones([2, 5, 4]))
        >>> y.shape
        paddle.Size([2, 5, 6])
    """

    def __init__(self, cell_fw: Layer, cell_bw: Layer, time_major: bool = False) -> None:
        super().__init__()
        sizes = [getattr(cell, "input_size", None) for cell in (cell_fw, cell_bw)]
        if sizes[0] != sizes[1]:
            raise ValueError(f"BiRNN: got cells of input sizes {sizes[0]} and {sizes[1]}; they must be equal")
        self.cell_fw = cell_fw
        self.cell_bw = cell_bw
        self.time_major = time_major

    def forward(
        self,
        inputs: Structure,
        initial_states: Structure | None = None,
        sequence_length: Tensor | None = None,
        **kwargs: Any,
    ) -> tuple[Structure, Structure]:
        """Returns (outputs, (last states forward, last states backward)); arguments as of RNN,
        initial_states being a pair."""
        if isinstance(initial_states, list | tuple) and len(initial_states) != 2:
            raise ValueError(
                f"BiRNN: initial_states: got {len(initial_states)} items; "
                "it must be a pair (forward, backward)"
            )
        return self._run(inputs, initial_states, _lengths(sequence_length), False, kwargs)

    def _run(
        self,
        inputs: Structure,
        initial_states: Sequence[Structure] | None,
        length: Tensor | None,
        zero_padding: bool,
        kwargs: dict[str, Any],
    ) -> tuple[Structure, tuple[Structure, Structure]]:
        forward, backward = (None, None) if initial_states is None else initial_states
        out_fw, last_fw = run_cell(
            self.cell_fw, inputs, forward, length, False, self.time_major, zero_padding, kwargs
        )
        out_bw, last_bw = run_cell(
            self.cell_bw, inputs, backward, length, True, self.time_major, zero_padding, kwargs
        )
        return map_nested(lambda a, b: concat([a, b], axis=-1), out_fw, out_bw), (last_fw, last_bw)


class RNNBase(LayerList):
    """What SimpleRNN, LSTM and GRU share: layers of RNN or BiRNN, whose parameters also have names such
    as `weight_ih_l0`.

    Attributes:
        mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".
        input_size, hidden_size, num_layers: int, as given.
        dropout: float, between the layers in training.
        num_directions: 1 or 2.
        time_major: bool, whether inputs are [T, B, I].
        state_components: int, how many states a cell has: 2 for LSTM.
        proj_size: int, the size of the projected output; 0 for none.
        could_use_cudnn: bool, as in Paddle; nothing reads it.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: Literal["forward", "bidirect", "bidirectional"] = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: ParamAttrLike | None = None,
        weight_hh_attr: ParamAttrLike | None = None,
        bias_ih_attr: ParamAttrLike | None = None,
        bias_hh_attr: ParamAttrLike | None = None,
        proj_size: int = 0,
        cell: Callable[..., Layer] | None = None,
    ) -> None:
        super().__init__()
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise ValueError(
                f"{type(self).__name__}: direction: got {direction!r}; allowed are 'forward', "
                "'bidirect' and 'bidirectional'"
            )
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.dropout = dropout
        self.num_directions = 1 if direction == "forward" else 2
        self.time_major = time_major
        self.num_layers = num_layers
        self.state_components = 2 if mode == "LSTM" else 1
        self.proj_size = proj_size
        self.could_use_cudnn: bool = proj_size == 0
        attrs = {
            "weight_ih_attr": weight_ih_attr,
            "weight_hh_attr": weight_hh_attr,
            "bias_ih_attr": bias_ih_attr,
            "bias_hh_attr": bias_hh_attr,
        }
        output_size = proj_size or hidden_size
        # Paddle makes a layer also where the number is below one.
        for i in range(max(1, num_layers)):
            if i == 0:
                size = input_size
            else:
                size = output_size * self.num_directions
            if self.num_directions == 1:
                self.append(RNN(cell(size, hidden_size, **attrs), False, time_major))
            else:
                self.append(
                    BiRNN(cell(size, hidden_size, **attrs), cell(size, hidden_size, **attrs), time_major)
                )
        self._name_parameters(
            # weight_ih_attr -> weight_ih; a bias that is False stays unnamed, as in Paddle
            [name[:-5] for name, attr in attrs.items() if not (name.startswith("bias") and attr is False)]
        )

    def _name_parameters(self, names: Sequence[str]) -> None:
        self._all_weights = []
        for i, layer in enumerate(self):
            for cell, end in zip(layer.children(), ("", "_reverse"), strict=False):
                for name in names:
                    parameter = getattr(cell, name)
                    # The same parameter under the name that cuDNN's layout gives it.
                    setattr(self, f"{name}_l{i}{end}", parameter)
                    self._all_weights.append(parameter)

    def flatten_parameters(self) -> None:
        """Does nothing: XLA needs no special layout of weights."""

    def forward(
        self,
        inputs: Tensor,
        initial_states: Tensor | Sequence[Tensor] | None = None,
        sequence_length: Tensor | None = None,
    ) -> tuple[Tensor, Structure]:
        """Returns (outputs, last states).

        Args:
            inputs: Tensor [B, T, I], or [T, B, I] if time_major.
            initial_states: Tensor [layers * directions, B, H], a pair of them for LSTM. Default: zeros.
            sequence_length: int Tensor [B]; past it outputs are zero and states stay as they are.
        Returns:
            outputs [B, T, H * directions] (or [T, B, ...]) and the last states, shaped like initial_states.
        Raises:
            ValueError: inputs, initial_states or sequence_length have another shape.
        """
        if inputs.ndim != 3:
            raise ValueError(
                f"(InvalidArgument) {type(self).__name__}: inputs: got {inputs.ndim} axes; "
                "it must be [B, T, I] or [T, B, I]"
            )
        states = self._initial(inputs, initial_states)
        length = self._lengths(inputs, sequence_length)
        last = []
        output = inputs
        directions = self.num_directions
        # Paddle's kernels write zeros behind the end of a sequence, its cells with projection do not.
        zero_padding = self.proj_size == 0
        for i, layer in enumerate(self):
            if i and self.dropout and self.training:
                output = F.dropout(output, self.dropout)
            layer_states = [self._state_of(states, i * directions + j) for j in range(directions)]
            if directions == 1:
                output, end = run_cell(
                    layer.cell,
                    output,
                    layer_states[0],
                    length,
                    False,
                    self.time_major,
                    self.proj_size == 0,
                    {},
                )
                last.append(end)
            else:
                output, ends = layer._run(output, layer_states, length, zero_padding, {})
                last.extend(ends)
        # The states of all layers and directions, one below the other.
        if self.state_components == 1:
            return output, stack(last, axis=0)
        return output, tuple(stack([state[k] for state in last], axis=0) for k in range(2))

    def _lengths(self, inputs: Tensor, sequence_length: Any) -> Tensor | None:
        batch = inputs.shape[1 if self.time_major else 0]
        if sequence_length is None:
            return None
        length = _lengths(sequence_length)
        # In a static program a length may be unknown until the program runs.
        if are_known(batch, *length.shape) and math.prod(length.shape) != batch:
            raise ValueError(
                f"(InvalidArgument) {type(self).__name__}: sequence_length: "
                f"got shape {list(length.shape)}; it must have one number for each of the "
                f"{batch} sequences"
            )
        steps = inputs.shape[0 if self.time_major else 1]
        if are_known(steps):
            # A length may be all steps; a negative one counts as none.
            check_index(type(self).__name__, length, steps + 1, ValueError, -(1 << 31), "sequence_length")
        return length.reshape([-1])

    def _state_of(self, states: Sequence[Tensor] | None, index: int) -> Structure:
        if states is None:
            return None
        if self.state_components == 2:
            # Both states of an LSTM are stacked over layers and directions.
            return tuple(s[index] for s in states)
        return states[0][index]

    def _initial(self, inputs: Tensor, initial_states: Any) -> list[Tensor] | None:
        # An LSTM has two states: the output, which may be projected, and the memory.
        count = max(1, self.num_layers) * self.num_directions
        batch = inputs.shape[1 if self.time_major else 0]
        shapes = [[count, batch, self.proj_size or self.hidden_size], [count, batch, self.hidden_size]][
            : self.state_components
        ]
        if initial_states is None:
            return None
        # An LSTM has two Tensors of states, the others have one.
        initial_states = [initial_states] if isinstance(initial_states, Tensor) else list(initial_states)
        if [list(state.shape) for state in initial_states] != shapes:
            raise ValueError(
                f"{type(self).__name__}: initial_states: "
                f"got shapes {[list(s.shape) for s in initial_states]}; they must be {shapes}"
            )
        return initial_states

    def extra_repr(self) -> str:
        settings = [
            ("num_layers", self.num_layers, 1),
            ("time_major", self.time_major, False),
            ("dropout", self.dropout, 0),
        ]
        return f"{self.input_size}, {self.hidden_size}" + "".join(
            f", {key}={value}" for key, value, usual in settings if value != usual
        )


class SimpleRNN(RNNBase):
    """A simple recurrent network over sequences, see SimpleRNNCell.

    Args:
        input_size: int, I.
        hidden_size: int, H.
        num_layers: int, layers on top of each other.
        direction: "forward" or "bidirect" ("bidirectional").
        time_major: bool, inputs are [T, B, I] instead of [B, T, I].
        dropout: float, probability of dropout between layers.
        activation: "tanh" or "relu".
        weight_ih_attr: ParamAttr of the weights of inputs.
        weight_hh_attr: ParamAttr of the weights of states.
        bias_ih_attr: ParamAttr of the biases of inputs; False for none.
        bias_hh_attr: ParamAttr of the biases of states; False for none.
    Raises:
        ValueError: direction or activation is not allowed.
    Example:
        >>> y, h = paddle.nn.SimpleRNN(4, 3, 2)(paddle.ones([2, 5, 4])); y.shape, h.shape
        (paddle.Size([2, 5, 3]), paddle.Size([2, 2, 3]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: Literal["forward", "bidirect", "bidirectional"] = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: Literal["tanh", "relu"] = "tanh",
        weight_ih_attr: ParamAttrLike | None = None,
        weight_hh_attr: ParamAttrLike | None = None,
        bias_ih_attr: ParamAttrLike | None = None,
        bias_hh_attr: ParamAttrLike | None = None,
        name: str | None = None,
    ) -> None:
        if activation not in ("tanh", "relu"):
            raise ValueError(f"SimpleRNN: activation: got {activation!r}; allowed are 'tanh' and 'relu'")

        def cell(*sizes: int, **attrs: Any) -> SimpleRNNCell:
            return SimpleRNNCell(*sizes, activation=activation, **attrs)

        super().__init__(
            f"RNN_{activation.upper()}",
            input_size,
            hidden_size,
            num_layers,
            direction,
            time_major,
            dropout,
            weight_ih_attr,
            weight_hh_attr,
            bias_ih_attr,
            bias_hh_attr,
            cell=cell,
        )
        self.activation = activation


class LSTM(RNNBase):
    """An LSTM over sequences, see LSTMCell.

    Args:
        input_size: int, I.
        hidden_size: int, H.
        num_layers: int, layers on top of each other.
        direction: "forward" or "bidirect" ("bidirectional").
        time_major: bool, inputs are [T, B, I] instead of [B, T, I].
        dropout: float, probability of dropout between layers.
        weight_ih_attr: ParamAttr of the weights of inputs.
        weight_hh_attr: ParamAttr of the weights of states.
        bias_ih_attr: ParamAttr of the biases of inputs; False for none.
        bias_hh_attr: ParamAttr of the biases of states; False for none.
        proj_size: int, the length states h are projected to; 0 for no projection.
    Raises:
        ValueError: direction or proj_size is not allowed.
    Example:
        >>> y, (h, c) = paddle.nn.LSTM(4, 3, direction="bidirect")(paddle.ones([2, 5, 4]))
        >>> y.shape, h.shape, c.shape
        (paddle.Size([2, 5, 6]), paddle.Size([2, 2, 3]), paddle.Size([2, 2, 3]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: Literal["forward", "bidirect", "bidirectional"] = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: ParamAttrLike | None = None,
        weight_hh_attr: ParamAttrLike | None = None,
        bias_ih_attr: ParamAttrLike | None = None,
        bias_hh_attr: ParamAttrLike | None = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        def cell(*sizes: int, **attrs: Any) -> LSTMCell:
            return LSTMCell(*sizes, proj_size=proj_size, **attrs)

        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            direction,
            time_major,
            dropout,
            weight_ih_attr,
            weight_hh_attr,
            bias_ih_attr,
            bias_hh_attr,
            proj_size,
            cell,
        )


class GRU(RNNBase):
    """A GRU over sequences, see GRUCell.

    Args:
        input_size: int, I.
        hidden_size: int, H.
        num_layers: int, layers on top of each other.
        direction: "forward" or "bidirect" ("bidirectional").
        time_major: bool, inputs are [T, B, I] instead of [B, T, I].
        dropout: float, probability of dropout between layers.
        weight_ih_attr: ParamAttr of the weights of inputs.
        weight_hh_attr: ParamAttr of the weights of states.
        bias_ih_attr: ParamAttr of the biases of inputs; False for none.
        bias_hh_attr: ParamAttr of the biases of states; False for none.
    Raises:
        ValueError: direction is not allowed.
    Example:
        >>> y, h = paddle.nn.GRU(4, 3)(paddle.ones([2, 5, 4])); y.shape, h.shape
        (paddle.Size([2, 5, 3]), paddle.Size([1, 2, 3]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: Literal["forward", "bidirect", "bidirectional"] = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: ParamAttrLike | None = None,
        weight_hh_attr: ParamAttrLike | None = None,
        bias_ih_attr: ParamAttrLike | None = None,
        bias_hh_attr: ParamAttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            direction,
            time_major,
            dropout,
            weight_ih_attr,
            weight_hh_attr,
            bias_ih_attr,
            bias_hh_attr,
            cell=GRUCell,
        )


__all__ = [
    "BiRNN",
    "GRU",
    "GRUCell",
    "LSTM",
    "LSTMCell",
    "RNN",
    "RNNBase",
    "RNNCellBase",
    "SimpleRNN",
    "SimpleRNNCell",
]
