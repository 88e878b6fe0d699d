"""One step of recurrent networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.nn.functional import rnn as ops
from paddle_jax.nn.initializer import Constant, Uniform
from paddle_jax.nn.layer.helpers import length_of
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor.creation import full

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike, ParamAttrLike, Structure
    from paddle_jax.nn.parameter import Parameter


class RNNCellBase(Layer):
    """The base of cells: a layer `(inputs, states) -> (outputs, new states)` that `paddle.nn.RNN`
    can run over time.

    A subclass defines `forward` and `state_shape`.

    Args:
        name_scope, dtype: as for `Layer`.
    Example:
        >>> class Sum(paddle.nn.RNNCellBase):
        ...     state_shape = (4,)
        ...     def forward(self, x, states=None):
        ...         states = x + (self.get_initial_states(x) if states is None else states)
        ...         return states, states
        >>> paddle.nn.RNN(Sum())(paddle.ones([2, 3, 4]))[1][0].tolist()
        [3.0, 3.0, 3.0, 3.0]
    """

    def get_initial_states(
        self,
        batch_ref: Structure,
        shape: Structure | None = None,
        dtype: DTypeLike | None = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Structure:
        """Makes states filled with one number.

        Args:
            batch_ref: Tensor (or nested Tensors) that has the batch size on axis batch_dim_idx.
            shape: shape of a state without the batch axis, or nested tuples of them. Default: `state_shape`.
            dtype: of the states. Default: that of batch_ref.
            init_value: float.
            batch_dim_idx: int.
        Returns:
            Tensor [B, *shape], nested like shape.
        """
        # Inputs may be nested; the first Tensor has the length of the batch.
        while not isinstance(batch_ref, Tensor):
            if not isinstance(batch_ref, dict | list | tuple) or not batch_ref:
                raise ArgumentError(
                    f"get_initial_states: batch_ref: got {repr(batch_ref)[:40]}; "
                    "it must be a Tensor, or nested Tensors"
                )
            batch_ref = next(iter(batch_ref.values() if isinstance(batch_ref, dict) else batch_ref))
        batch = length_of(batch_ref, batch_dim_idx)
        if shape is None:
            shape = self.state_shape
        if dtype is None:
            dtype = batch_ref.dtype
        # A shape may begin with -1 for the batch.
        return _nested(
            shape, lambda one: full([batch, *(one[1:] if one and one[0] == -1 else one)], init_value, dtype)
        )

    @property
    def state_shape(self) -> Structure:
        """The shape of a state without the batch axis, or nested tuples of them; each cell
        defines its own."""
        raise NotImplementedError(f"{type(self).__name__}.state_shape is not defined; define it in the class")

    @property
    def state_dtype(self) -> Any:
        """The dtype of the states; a cell may define it."""
        raise NotImplementedError(f"{type(self).__name__}.state_dtype is not defined; define it in the class")

    def _parameters_of_gates(
        self, gates: int, attrs: Sequence[ParamAttrLike | None], recurrent_size: int | None = None
    ) -> None:
        """Makes weight_ih, weight_hh, bias_ih, bias_hh. An attr of False gives ones (weights) or zeros
        (biases) that stay fixed."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        # The gates lie one below the other in one matrix, so that one product serves all.
        rows = gates * self.hidden_size
        shapes = {
            "weight_ih": [rows, self.input_size],
            # A projected state is smaller.
            "weight_hh": [rows, recurrent_size or self.hidden_size],
            "bias_ih": [rows],
            "bias_hh": [rows],
        }
        for (name, shape), attr in zip(shapes.items(), attrs, strict=True):
            bias = name.startswith("bias")
            if attr is False:
                # As in Paddle: without a parameter the operation still takes four.
                attr = ParamAttr(initializer=Constant(0.0 if bias else 1.0), trainable=False)
            setattr(
                self,
                name,
                self.create_parameter(shape, attr, is_bias=bias, default_initializer=Uniform(-bound, bound)),
            )

    def _check_size(self, hidden_size: int) -> None:
        if hidden_size <= 0:
            raise ValueError(f"{type(self).__name__}: hidden_size: got {hidden_size}; it must be above 0")

    @property
    def _weights(self) -> tuple[Tensor, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


def _nested(shape: Structure, make: Callable[[list[int]], Tensor]) -> Structure:
    """Applies `make` to each shape in nested tuples of shapes."""
    if isinstance(shape, dict):
        return {key: _nested(one, make) for key, one in shape.items()}
    if isinstance(shape, int):
        shape = [shape]
    # Numbers only: one shape, and no list of shapes.
    if all(not isinstance(n, list | tuple | dict) for n in shape):
        return make(list(shape))
    return tuple(_nested(one, make) for one in shape)


class SimpleRNNCell(RNNCellBase):
    """One step of a simple recurrent network: h = act(W_ih x + b_ih + W_hh h + b_hh).

    Args:
        input_size: int, I.
        hidden_size: int, H.
        activation: "tanh" or "relu".
        weight_ih_attr: ParamAttr of `weight_ih`, shape [H, I]; False for fixed ones.
        weight_hh_attr: ParamAttr of `weight_hh`, shape [H, H]; False for fixed ones.
        bias_ih_attr: ParamAttr of `bias_ih`, shape [H]; False for none.
        bias_hh_attr: ParamAttr of `bias_hh`, shape [H]; False for none.
    Raises:
        ValueError: hidden_size is not positive or the activation is not allowed.
    Example:
        >>> y, h = paddle.nn.SimpleRNNCell(4, 3)(paddle.ones([2, 4])); y.shape
        paddle.Size([2, 3])
    See: Elman, Finding Structure in Time, 1990.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: Literal["tanh", "relu"] = "tanh",
        weight_ih_attr: ParamAttrLike | None = None,
        weight_hh_attr: ParamAttrLike | None = None,
        bias_ih_attr: ParamAttrLike | None = None,
        bias_hh_attr: ParamAttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._check_size(hidden_size)
        if activation not in ("tanh", "relu"):
            raise ValueError(f"SimpleRNNCell: activation: got {activation!r}; allowed are 'tanh' and 'relu'")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.activation = activation
        self._parameters_of_gates(1, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr))

    def forward(self, inputs: Tensor, states: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Returns (h, h): [B, I], [B, H] -> [B, H]."""
        if states is None:
            states = self.get_initial_states(inputs)
        h = ops.simple_rnn_cell(inputs, states, *self._weights, activation=self.activation)
        return h, h

    def _scan(
        self, inputs: Tensor, states: Tensor, length: Tensor | None, **how: Any
    ) -> tuple[Tensor, Tensor]:
        out, h = ops.simple_rnn(inputs, states, *self._weights, length, activation=self.activation, **how)
        return out, h

    @property
    def state_shape(self) -> tuple[int]:
        """(H,)."""
        return (self.hidden_size,)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + (
            "" if self.activation == "tanh" else f", activation={self.activation}"
        )


class LSTMCell(RNNCellBase):
    """One step of an LSTM.

    i, f, g, o are the four parts of W_ih x + b_ih + W_hh h + b_hh; c = s(f) c + s(i) tanh(g); h = s(o)
    tanh(c), with s the sigmoid.

    Args:
        input_size: int, I.
        hidden_size: int, H.
        weight_ih_attr: ParamAttr of `weight_ih`, shape [4 H, I]; False for fixed ones.
        weight_hh_attr: ParamAttr of `weight_hh`, shape [4 H, H] ([4 H, P] with projection);
            False for fixed ones.
        bias_ih_attr: ParamAttr of `bias_ih`, shape [4 H]; False for none.
        bias_hh_attr: ParamAttr of `bias_hh`, shape [4 H]; False for none.
        proj_size: int, P: h is projected by `weight_ho`, shape [H, P]; 0 for no projection.
    Raises:
        ValueError: hidden_size is not positive or proj_size is not below it.
    Example:
        >>> y, (h, c) = paddle.nn.LSTMCell(4, 3)(paddle.ones([2, 4])); y.shape, c.shape
        (paddle.Size([2, 3]), paddle.Size([2, 3]))
    See: Hochreiter and Schmidhuber, Long Short-Term Memory, 1997; Gers et al., Learning to Forget, 2000.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: ParamAttrLike | None = None,
        weight_hh_attr: ParamAttrLike | None = None,
        bias_ih_attr: ParamAttrLike | None = None,
        bias_hh_attr: ParamAttrLike | None = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._check_size(hidden_size)
        if proj_size < 0 or proj_size >= hidden_size:
            raise ValueError(
                f"LSTMCell: proj_size: got {proj_size}; it must be 0..{hidden_size - 1}, below hidden_size"
            )
        self.proj_size = proj_size
        self.hidden_size = hidden_size
        self.input_size = input_size
        self._parameters_of_gates(4, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr), proj_size)
        if proj_size:
            bound = 1.0 / math.sqrt(hidden_size)
            self.weight_ho: Parameter = self.create_parameter(
                [hidden_size, proj_size], weight_hh_attr or None, default_initializer=Uniform(-bound, bound)
            )

    def _projection(self) -> Tensor | None:
        if self.proj_size:
            return self.weight_ho
        return None

    def forward(
        self, inputs: Tensor, states: Sequence[Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Returns (h, (h, c)) for inputs [B, I] and states (h, c)."""
        h, c = self.get_initial_states(inputs) if states is None else states
        h, c = ops.lstm_cell(inputs, h, c, *self._weights, self._projection())
        return h, (h, c)

    def _scan(
        self, inputs: Tensor, states: Sequence[Tensor], length: Tensor | None, **how: Any
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        out, h, c = ops.lstm(inputs, *states, *self._weights, self._projection(), length, **how)
        return out, (h, c)

    @property
    def state_shape(self) -> tuple[tuple[int], tuple[int]]:
        """((H,), (H,)), or ((P,), (H,)) with projection."""
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class GRUCell(RNNCellBase):
    """One step of a GRU.

    r and z are the sigmoids of parts of W_ih x + b_ih + W_hh h + b_hh; c = tanh(W_c x + b_c + r (U_c h +
    d_c)); h = z h + (1 - z) c.

    Args:
        input_size: int, I.
        hidden_size: int, H.
        weight_ih_attr: ParamAttr of `weight_ih`, shape [3 H, I]; False for fixed ones.
        weight_hh_attr: ParamAttr of `weight_hh`, shape [3 H, H]; False for fixed ones.
        bias_ih_attr: ParamAttr of `bias_ih`, shape [3 H]; False for none.
        bias_hh_attr: ParamAttr of `bias_hh`, shape [3 H]; False for none.
    Raises:
        ValueError: hidden_size is not positive.
    Example:
        >>> y, h = paddle.nn.GRUCell(4, 3)(paddle.ones([2, 4])); y.shape
        paddle.Size([2, 3])
    See: Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: ParamAttrLike | None = None,
        weight_hh_attr: ParamAttrLike | None = None,
        bias_ih_attr: ParamAttrLike | None = None,
        bias_hh_attr: ParamAttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._check_size(hidden_size)
        self.hidden_size = hidden_size
        self.input_size = input_size
        self._parameters_of_gates(3, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr))

    def forward(self, inputs: Tensor, states: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Returns (h, h): [B, I], [B, H] -> [B, H]."""
        if states is None:
            states = self.get_initial_states(inputs)
        h = ops.gru_cell(inputs, states, *self._weights)
        return h, h

    def _scan(
        self, inputs: Tensor, states: Tensor, length: Tensor | None, **how: Any
    ) -> tuple[Tensor, Tensor]:
        out, h = ops.gru(inputs, states, *self._weights, length, **how)
        return out, h

    @property
    def state_shape(self) -> tuple[int]:
        """(H,)."""
        return (self.hidden_size,)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


__all__ = ["GRUCell", "LSTMCell", "RNNCellBase", "SimpleRNNCell"]
