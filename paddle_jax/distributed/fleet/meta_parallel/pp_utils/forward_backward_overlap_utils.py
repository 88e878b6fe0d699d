"""Parts of a stage that run forward and backward one by one, for programs that mix the two themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.execution.python_state import tensors_in
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.autograd import backward
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import detached_nest, dict_to_tuple_helper

__all__ = []


class ScheduleNode:
    """A function whose backward pass runs when the program asks for it, up to its own inputs.

    Args:
        fwd_func: `f(inputs)`; with labels `f(inputs, labels)`.
        name: str, for the program.
    Attributes:
        name, fwd_func: as given.
        inputs: what the last `forward` got, without its history; None after `backward`.
        outputs: what it gave; None after `backward`.
        labels: second argument of the function, for one that gives a loss. Default: None.
        scale_loss_factor: number that the loss is divided by, or None.
    Example:
        >>> node = paddle.distributed.fleet.meta_parallel.ScheduleNode(lambda x: x * 3)
        >>> x = paddle.ones([2])
        >>> x.stop_gradient = False
        >>> y = node.forward(x)
        >>> node.backward(paddle.full([2], 2.0))[0].tolist()
        [6.0, 6.0]
    """

    def __init__(self, fwd_func: Callable[..., Any], name: str = "") -> None:
        self.name = name
        self.fwd_func = fwd_func
        self._reset_states()

    def forward(self, inputs: Any = (), **kwargs: Any) -> Any:
        """What the function gives.

        Args:
            inputs: Tensor, or a nest of Tensors.
            kwargs: further arguments of the function.
        """
        self.inputs = detached_nest(inputs)
        if self.labels is None:
            outputs = self.fwd_func(self.inputs, **kwargs)
        else:
            outputs = self.fwd_func(self.inputs, self.labels, **kwargs)
        if self.scale_loss_factor is not None:
            outputs = outputs / self.scale_loss_factor
        self.outputs = outputs
        return outputs

    def backward(self, output_grad: Any = None, scaler: Any = None) -> tuple[Any, ...]:
        """Computes the gradients of the Parameters and of the inputs.

        Args:
            output_grad: gradients of the outputs that want one, a Tensor or a sequence; None entries are left
                out. Default None: the output is a loss.
            scaler: GradScaler for the loss, or None.
        Returns:
            tuple, the gradient of each input, None for one without.
        Raises:
            AssertionError: `forward` did not run, or there is another number of gradients.
            AttributeError: an input is a nest of its own, so that its gradients would be lost.
        """
        if self.outputs is None:
            raise CheckError(
                f"ScheduleNode {self.name!r}: backward: there are no outputs; call forward before it"
            )
        inputs = self._flat_inputs()
        if output_grad is None:
            self._backward_from_loss(scaler)
        else:
            self._backward_from(output_grad)
        gradients = tuple(getattr(one, "grad", None) for one in inputs)
        self._reset_states()
        return gradients

    def _flat_inputs(self) -> tuple[Any, ...] | list[Any]:
        """The inputs, each of which has one gradient."""
        inputs = dict_to_tuple_helper(self.inputs)
        if not isinstance(inputs, tuple | list):
            return (inputs,)
        for one in inputs:
            if isinstance(one, tuple | list | dict):
                raise AttributeError(
                    f"ScheduleNode {self.name!r}: backward: inputs: got a {type(one).__name__} inside; each "
                    "must be a Tensor; pass the Tensors one by one"
                )
        return inputs

    def _backward_from_loss(self, scaler: Any) -> None:
        outputs = list(tensors_in(self.outputs))
        if len(outputs) != 1:
            raise CheckError(
                f"ScheduleNode {self.name!r}: backward: output_grad: got None for {len(outputs)} outputs; "
                "a loss is one Tensor"
            )
        loss = outputs[0]
        backward([loss if scaler is None else scaler.scale(loss)])

    def _backward_from(self, output_grad: Any) -> None:
        given = output_grad if isinstance(output_grad, tuple | list) else [output_grad]
        gradients = [one for one in given if one is not None]
        outputs = [one for one in tensors_in(self.outputs) if not one.stop_gradient]
        if len(outputs) != len(gradients):
            raise CheckError(
                f"ScheduleNode {self.name!r}: backward: output_grad: got {len(gradients)} gradients; "
                f"{len(outputs)} outputs want one"
            )
        if outputs:
            backward(outputs, gradients)

    def _reset_states(self) -> None:
        self.inputs: Any = None
        self.outputs: Any = None
        self.labels: Any = None
        self.scale_loss_factor: Tensor | float | None = None


class ScheduleChunk:
    """Several ScheduleNodes, one after the other.

    Args:
        nodes: list of ScheduleNodes and ScheduleChunks.
    Raises:
        AssertionError: something else is in the list.
    Example:
        >>> parallel = paddle.distributed.fleet.meta_parallel
        >>> chunk = parallel.ScheduleChunk([parallel.ScheduleNode(f) for f in (paddle.exp, paddle.log)])
        >>> chunk.forward(paddle.ones([1])).tolist()
        [1.0]
    """

    def __init__(self, nodes: Sequence[Any]) -> None:
        self.nodes = nodes
        for node in nodes:
            if not isinstance(node, ScheduleNode | ScheduleChunk):
                raise CheckError(
                    f"ScheduleChunk: nodes: got {type(node).__name__}; they must be ScheduleNodes or "
                    "ScheduleChunks"
                )

    def forward(self, inputs: Any) -> Any:
        """What the last node gives."""
        for node in self.nodes:
            inputs = node.forward(inputs)
        return inputs

    def backward(self, output_grad: Any) -> Any:
        """The gradients of the inputs of the first node."""
        for node in reversed(self.nodes):
            output_grad = node.backward(output_grad)
        return output_grad
