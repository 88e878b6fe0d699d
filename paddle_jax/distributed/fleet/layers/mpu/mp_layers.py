"""Layers whose weights lie on the processes of a group in parts. Each process has a part as its own
Parameter, of its own shape. Where one process drives several devices, a Parameter is whole, and a layout
says which device has which part."""

from __future__ import annotations

import contextlib
from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax.distributed.checkpoint import build_sharded_state_dict
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.layers.mpu.mp_ops import (
    _c_concat,
    _c_identity,
    _c_lookup_table,
    _c_softmax_with_cross_entropy,
    _c_split,
    _mp_allreduce,
)
from paddle_jax.distributed.fleet.layers.mpu.random import MODEL_PARALLEL_RNG, get_rng_state_tracker
from paddle_jax.nn import Layer, functional

__all__ = []


def is_fused_matmul_bias_supported() -> bool:
    """Whether there is an operation of its own for a product with a bias: never, since XLA fuses the two."""
    return False


class _Divided(Layer):
    """A Layer of which each process of a group has a part."""

    is_mp: Any
    rank: Any

    def __init__(self, name: Any, mp_group: Any, length: Any, what: Any) -> None:
        super().__init__(name)
        if mp_group is None:
            self.model_parallel_group = Current.groups().get_model_parallel_group()
        else:
            self.model_parallel_group: Any = mp_group
        self.world_size: Any = self.model_parallel_group.nranks
        # A group of one process may have no connection; its rank is -1 then.
        self.rank, self.is_mp, self._name = max(self.model_parallel_group.rank, 0), self.world_size > 1, name
        if length % self.world_size:
            raise CheckError(
                f"{type(self).__name__}: {what}: got {length}; it must be divisible by the "
                f"{self.world_size} processes of the model parallel group"
            )

    def _create_shard(self, shape: Any, attr: Any, axis: Any, is_bias: bool = False) -> Any:
        """A Parameter that is a part of a whole along an axis; None: the whole, alike everywhere."""
        # Parts must draw different numbers; without that state of the tracker nobody has asked for it.
        known = axis is not None and self.is_mp and MODEL_PARALLEL_RNG in get_rng_state_tracker().states_
        with get_rng_state_tracker().rng_state() if known else contextlib.nullcontext():
            made = self.create_parameter(shape, attr=attr, dtype=self._dtype, is_bias=is_bias)
        made.is_distributed = axis is not None and self.is_mp
        if made.is_distributed:
            made.split_axis = axis
        if axis is not None and Current.grid is not None:
            # one process drives all devices: the Parameter is whole, and lies on them in parts
            Current.grid.cut(made, axis)
        return made

    def sharded_state_dict(self, structured_name_prefix: str = "") -> dict[Any, Any]:
        """The Parameters as ShardedWeights, with the place of each part in the whole."""
        axes = {
            name: p.split_axis for name, p in self.named_parameters() if getattr(p, "is_distributed", False)
        }
        return build_sharded_state_dict(
            self.state_dict(), axes, structured_name_prefix, self.model_parallel_group
        )


class ColumnParallelLinear(_Divided):
    """A linear layer of which each process has some of the columns, that is, of the features that come out.

    Args:
        in_features, out_features: int, of the whole; out_features must be a multiple of the
            number of processes.
        weight_attr: as in nn.Linear; each process draws its part. The weight is [in_features,
            out_features / processes].
        has_bias: whether there is a bias, [out_features / processes]. Default None: no.
        gather_output: all processes get all features. Default True; else each has those of its part.
        fuse_matmul_bias: accepted.
        mp_group: Group. Default None: that of `fleet.init`.
        name: str.
    Raises:
        AssertionError: out_features is no such multiple.
    Example:
        >>> meta_parallel = paddle.distributed.fleet.meta_parallel
        >>> if paddle.distributed.get_world_size() == 2:  # after fleet.init() with an mp_degree of 2
        ...     layer = meta_parallel.ColumnParallelLinear(4, 6, has_bias=True, gather_output=False)
        ...     assert layer.weight.shape == [4, 3]
        ...     assert layer(paddle.ones([2, 4])).shape == [2, 3]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        has_bias: Any = None,
        gather_output: Any = True,
        fuse_matmul_bias: Any = False,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name, mp_group, out_features, "out_features")
        self.gather_output = gather_output
        self.weight: Any = self._create_shard([in_features, out_features // self.world_size], weight_attr, 1)
        if has_bias:
            self.bias = self._create_shard([out_features // self.world_size], None, 0, is_bias=True)
        else:
            self.bias: Any = None

    def forward(self, x: Any) -> Any:
        """Tensor [..., in_features] to [..., out_features], or the part of this process."""
        # The gradient of x has a share from the columns of each process; these are added up.
        out = functional.linear(
            _c_identity(x, self.model_parallel_group) if self.is_mp else x, self.weight, self.bias
        )
        if self.is_mp and self.gather_output:
            return _c_concat(out, self.model_parallel_group)
        return out


class RowParallelLinear(_Divided):
    """A linear layer of which each process has some of the rows, that is, of the features that go in.

    Args:
        in_features, out_features: int, of the whole; in_features must be a multiple of the
            number of processes.
        weight_attr: as in nn.Linear; each process draws its part. The weight is [in_features /
            processes, out_features].
        has_bias: whether there is a bias, [out_features], alike on all processes. Default True.
        input_is_parallel: the input has the features of this process only, as
            ColumnParallelLinear(gather_output=False) gives. Default False.
        fuse_matmul_bias: accepted.
        mp_group: Group. Default None: that of `fleet.init`.
        name: str.
    Raises:
        AssertionError: in_features is no such multiple.
    Example:
        >>> meta_parallel = paddle.distributed.fleet.meta_parallel
        >>> if paddle.distributed.get_world_size() == 2:  # after fleet.init() with an mp_degree of 2
        ...     layer = meta_parallel.RowParallelLinear(4, 6, input_is_parallel=True)
        ...     assert layer.weight.shape == [2, 6]
        ...     assert layer(paddle.ones([3, 2])).shape == [3, 6]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        has_bias: Any = True,
        input_is_parallel: Any = False,
        fuse_matmul_bias: Any = False,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name, mp_group, in_features, "in_features")
        self.input_is_parallel = input_is_parallel
        self.weight: Any = self._create_shard([in_features // self.world_size, out_features], weight_attr, 0)
        if has_bias:
            self.bias = self._create_shard([out_features], None, None, is_bias=True)
        else:
            self.bias: Any = None

    def forward(self, x: Any) -> Any:
        """Tensor [..., in_features] (or the part of this process) to [..., out_features]."""
        if not self.is_mp:
            return functional.linear(x, self.weight, self.bias)
        if self.input_is_parallel:
            part = x
        else:
            part = _c_split(x, self.model_parallel_group)
        # The bias comes after the sum: it would be added by each process.
        out = _mp_allreduce(functional.linear(part, self.weight), group=self.model_parallel_group)
        if self.bias is None:
            return out
        return out + self.bias


class VocabParallelEmbedding(_Divided):
    """An embedding of which each process has some of the rows.

    Args:
        num_embeddings, embedding_dim: int, of the whole; num_embeddings must be a multiple of the
            number of processes.
        weight_attr: as in nn.Embedding; each process draws its part. The weight is [num_embeddings /
            processes, embedding_dim].
        mp_group: Group. Default None: that of `fleet.init`.
        name: str.
    Raises:
        AssertionError: num_embeddings is no such multiple.
    Example:
        >>> meta_parallel = paddle.distributed.fleet.meta_parallel
        >>> if paddle.distributed.get_world_size() == 2:  # after fleet.init() with an mp_degree of 2
        ...     layer = meta_parallel.VocabParallelEmbedding(10, 4)
        ...     assert layer.weight.shape == [5, 4]
        ...     assert layer(paddle.to_tensor([0, 9])).shape == [2, 4]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        weight_attr: Any = None,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name, mp_group, num_embeddings, "num_embeddings")
        self.per_part_size: Any = num_embeddings // self.world_size
        self.vocab_start_index: Any = self.rank * self.per_part_size
        self.weight: Any = self._create_shard([self.per_part_size, embedding_dim], weight_attr, 0)

    def forward(self, x: Any) -> Any:
        """Tensor of numbers [...] to [..., embedding_dim]."""
        if not self.is_mp:
            return functional.embedding(x, self.weight)
        # Zeros for the rows of others: the sum has each row once.
        rows = _c_lookup_table(self.weight, x, self.vocab_start_index)
        return _mp_allreduce(rows, group=self.model_parallel_group)


class ParallelCrossEntropy(Layer):
    """The cross entropy of classes that lie on the processes of a group in parts; nobody needs all logits.

    Args:
        mp_group: Group. Default None: that of `fleet.init`.
        name: accepted.
        ignore_index: int, the label of what does not count. Default -100.
    Example:
        >>> meta_parallel = paddle.distributed.fleet.meta_parallel
        >>> if paddle.distributed.get_world_size() == 2:  # after fleet.init() with an mp_degree of 2
        ...     loss = meta_parallel.ParallelCrossEntropy()
        ...     part = paddle.zeros([2, 5])  # the logits of five of ten classes
        ...     assert loss(part, paddle.to_tensor([[1], [7]])).shape == [2, 1]
    """

    def __init__(self, mp_group: Any = None, name: str | None = None, ignore_index: int = -100) -> None:
        super().__init__()
        if mp_group is None:
            self.model_parallel_group = Current.groups().get_model_parallel_group()
        else:
            self.model_parallel_group: Any = mp_group
        self.ignore_index = ignore_index

    def forward(self, input: Any, label: Any) -> Any:
        """Logits [..., classes / processes] and labels [...] or [..., 1], numbers of classes of the whole, to
        losses [..., 1]."""
        return _c_softmax_with_cross_entropy(
            input, label, self.model_parallel_group, ignore_index=self.ignore_index
        )
