"""Eager programs whose rows are on servers: `nn.Embedding(sparse=True)` pulls in its forward pass, and the
optimizer's step pushes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_jax._core.tape.grad_mode import is_grad_enabled
from paddle_jax._core.tensors.held_values import held_symbol
from paddle_jax._program.variable import Variable
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.distributed.ps.optimizer_rules import attribute_facts, first_of, rule_of
from paddle_jax.distributed.ps.runtime import Runtime
from paddle_jax.distributed.ps.server_state import merged
from paddle_jax.distributed.ps.static_programs import RemoteProgram, padded
from paddle_jax.distributed.ps.worker import Gradients
from paddle_jax.nn import functional as F
from paddle_jax.nn.remote_lookup import RemoteLookup
from paddle_jax.tensor.creation import to_tensor


class EagerTable:
    """The rows of one `nn.Embedding`.

    Attributes:
        runtime: Runtime.
        name: str, of the table.
        size: of the table, as the Layer was given it.
        attr: ParamAttr.
        padding: int, id that gives zeros, or None.
        found: list of (ids, gradient of their rows) of backward passes since the last step. Rows themselves
            live as long as the tape has them: a forward pass without a backward pass leaves nothing.
    """

    def __init__(self, runtime: Runtime, name: str, size: list[int], padding: int | None, attr: Any) -> None:
        self.runtime = runtime
        self.name = name
        self.size = size
        self.padding = padding
        self.attr = attr
        self.found: list[tuple[np.ndarray, Any]] = []

    def __call__(self, x: Any) -> Any:
        """The rows of ids, Tensor [..., width]; in a static program a lookup."""
        if isinstance(x, Variable):
            return RemoteLookup.record(x, self.size, self.padding, self.attr, self.name)
        ids = x.numpy().astype(np.int64)
        flat = ids.ravel()
        # Padding is not on the servers: it has zeros.
        is_padding = np.zeros(len(flat), bool) if self.padding is None else flat == self.padding
        unique, indices, counts = np.unique(flat[~is_padding], return_inverse=True, return_counts=True)
        inverse = np.full(len(flat), -1, np.int32)
        inverse[~is_padding] = indices
        trains = is_grad_enabled()
        worker = self.runtime.connected("nn.Embedding")
        rows = worker.pull(self.runtime.tables[self.name].number, unique, counts if trains else None)
        held = to_tensor(padded(rows), stop_gradient=not trains)
        if trains:
            # The rows are a leaf of this step alone: only the hook sees their gradient.
            held.register_hook(self._taker(unique))
        return F.embedding(to_tensor(inverse.reshape(ids.shape)), held)

    def _taker(self, ids: np.ndarray) -> Callable[[Any], None]:
        """A hook that keeps the gradient of the rows of ids. It must not hold the rows."""
        found = self.found

        def take(gradient: Any) -> None:
            found.append((ids, gradient))

        return take

    def gradients(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Ids and gradients of their rows since the last step; None where there are none."""
        # Rows that fill the array up to its length are cut off.
        found = [(ids, gradient.numpy()[: len(ids)]) for ids, gradient in self.found]
        self.found.clear()
        if not found:
            return None
        return merged([ids for ids, _ in found], [values for _, values in found])


class EagerTables:
    """Makes the tables of eager Layers.

    Attributes:
        runtime: Runtime.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def layer(self, size: list[int], padding: int | None, attr: Any, name: str) -> EagerTable:
        """What an `nn.Embedding(sparse=True)` looks its rows up with.

        Args:
            size: of the table; the first length bounds nothing.
            padding: id that gives zeros, or None.
            attr: ParamAttr, or what stands for one.
            name: str, where attr has none.
        """
        attr = ParamAttr._to_attr(attr)
        name = attr.name or name
        self.runtime.add_sparse(name, size[1], first_of(attr.initializer, size), "", "MemorySparseTable")
        self.runtime.attributes[name] = attribute_facts(attr)
        table = EagerTable(self.runtime, name, size, padding, attr)
        self.runtime.eager_tables.append(table)
        return table


class ServerOptimizer:
    """An optimizer whose updates servers carry out.

    Args:
        optimizer: SGD, Adagrad or Adam.
        runtime: Runtime.
    """

    def __init__(self, optimizer: Any, runtime: Runtime) -> None:
        self._inner_opt = optimizer
        self._runtime = runtime
        self._params: list[Any] = []
        # Called for its checks: an optimizer that servers lack is refused at once.
        rule_of(optimizer)
        if optimizer._parameter_list:
            self._declare()

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":  # of a copy that has nothing yet
            raise AttributeError(name)
        return getattr(self._inner_opt, name)

    def _declare(self) -> None:
        """Makes the tables of an eager program."""
        self._params = [param for param in self._inner_opt._all_params() if not param.stop_gradient]
        for table in self._runtime.eager_tables:
            rule = rule_of(self._inner_opt, self._runtime.attributes[table.name])
            self._runtime.set_rule(table.name, rule)
        self._runtime.add_dense(self._inner_opt, self._params, self._values)
        self._runtime.add_refresher(self._take)

    def _values(self) -> dict[str, np.ndarray]:
        return {param.name: param.numpy() for param in self._params}

    def _take(self, values: dict[str, np.ndarray]) -> None:
        for param in self._params:
            if param.name in values:
                param.set_value(values[param.name])

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
        **kwargs: Any,
    ) -> tuple[list[Any], list[Any]]:
        """Adds gradients to the static program of a loss, and tables for its Parameters; an eager one makes
        a step.

        Args:
            loss: Variable, or Tensor whose `backward` was called.
            startup_program: accepted.
            parameter_list: Parameters or names. Default: all trainable ones.
            no_grad_set: Variables or names that no gradient passes.
        Returns:
            ([], list of (Parameter, gradient)).
        """
        if not isinstance(loss, Variable):
            pairs = [(param, param._grad) for param in self._params if param._grad is not None]
            self.step()
            return [], pairs
        program = held_symbol(loss).program
        if program.hook is None:
            program.hook = RemoteProgram(self._runtime)
        given = parameter_list or list(self._inner_opt._all_params()) or program.all_parameters()
        params = [program.var(param) if isinstance(param, str) else param for param in given]
        params = [param for param in params if not param.stop_gradient]
        return [], program.hook.minimize(self._inner_opt, loss, params, no_grad_set)

    def step(self) -> None:
        """Sends the gradients of the last backward passes, and takes over the new values."""
        runtime = self._runtime
        worker = runtime.connected("step")
        sparse = {}
        for table in runtime.eager_tables:
            found = table.gradients()
            if found is not None:
                sparse[runtime.tables[table.name].number] = found
        gradients = {param.name: param._grad.numpy() for param in self._params if param._grad is not None}
        dense = {}
        for table in worker.dense.values():
            if any(name in gradients for name, _ in table.parts):
                dense[table.number] = runtime.flattened(table, gradients)
        worker.finish_step(Gradients(sparse, dense, float(self._inner_opt.get_lr())))
        runtime.refresh()

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Removes the gradients."""
        self._inner_opt.clear_grad(set_to_zero)
        for table in self._runtime.eager_tables:
            table.found.clear()

    clear_gradients = clear_grad


__all__ = ["EagerTables", "ServerOptimizer"]
