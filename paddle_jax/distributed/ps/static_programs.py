"""Static programs whose rows are on servers.

A lookup becomes two inputs of the program: the rows of the batch's different ids, and for each id its index
among them. So no compiled program contains an id, and gradients of rows come back added up. The number of
rows is padded to a power of 2: few shapes, few compilations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.tensors.held_values import held_symbol, held_value
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.program import Program
from paddle_jax._program.program_hook import FileInputs, ProgramHook
from paddle_jax._program.recorder import data
from paddle_jax._program.scope import DenseTensor, global_scope
from paddle_jax.distributed.ps.optimizer_rules import attribute_facts, first_of, rule_of
from paddle_jax.distributed.ps.runtime import Runtime
from paddle_jax.distributed.ps.worker import Gradients
from paddle_jax.nn import functional as F
from paddle_jax.static.backward import differentiated
from paddle_jax.static.executor import compiled_run

if TYPE_CHECKING:
    from paddle_jax.distributed.ps.worker import AsyncWorker, SyncWorker


_LEAST_ROWS = 16  # rows of the smallest input
_MOST_FILE_BYTES = 4 << 30  # of a table that a saved model has whole


class Lookup(NamedTuple):
    """A lookup of a program.

    Attributes:
        table: name of the table.
        ids: Variable of the ids.
        inverse: name of the input with the index of each id among the rows.
        padding: id that gives zeros, or None.
        is_test: whether the lookup leaves the table as it is.
    """

    table: str
    ids: Any
    inverse: str
    padding: int | None
    is_test: bool


class Rows(NamedTuple):
    """The rows of a table for a batch.

    Attributes:
        ids: int64 [n], each one once.
        values: float32 [n, width].
        counts: int64 [n], how often each one occurs.
        inverses: {input: int32 array}, the index of each id of a lookup; -1 for padding.
    """

    ids: np.ndarray
    values: np.ndarray
    counts: np.ndarray
    inverses: dict[str, np.ndarray]


class RemoteProgram(ProgramHook):
    """What a program has on servers.

    Attributes:
        runtime: Runtime.
        lookups: list of Lookups.
        rows: {table name: name of the input with its rows}.
        lengths: {table name: number of rows that the program gives it}; tables on servers take any id.
        optimizer: Optimizer, or None for a program that does not train.
        gradients: {name of a table or Parameter: Variable}.
    """

    purpose = "has rows on parameter servers"

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.lookups: list[Lookup] = []
        self.rows: dict[str, str] = {}
        self.lengths: dict[str, int] = {}
        self.optimizer: Any = None
        self.gradients: dict[str, Any] = {}

    def copied(self, for_test: bool) -> RemoteProgram:
        """For a copy of the program; without training in one for tests."""
        found = RemoteProgram(self.runtime)
        found.lookups = list(self.lookups)
        found.rows = dict(self.rows)
        found.lengths = dict(self.lengths)
        if not for_test:
            found.optimizer = self.optimizer
            found.gradients = dict(self.gradients)
        return found

    # recording ----------------------------------------------------------------------------------------------

    def lookup(self, ids: Any, name: str, size: tuple[int, int], padding: int | None, is_test: bool) -> Any:
        """Adds a lookup to the program that is recorded; returns the Variable of its result."""
        program = local.ctx.frame.program
        length, width = size
        # Lookups of one table may give different lengths.
        self.lengths[name] = max(length, self.lengths.get(name, 0))
        if name not in self.rows:
            self.rows[name] = f"{name}@ROWS"
            # The rows of a batch are fed. Gradients of this input are those of the table.
            rows = data(self.rows[name], [None, width], "float32")
            rows.stop_gradient = False
        inverse = f"{name}@PLACES_{len(self.lookups)}"
        indices = data(inverse, list(ids.shape), "int32")
        self.lookups.append(Lookup(name, ids, inverse, padding, is_test))
        return F.embedding(indices, program.data[self.rows[name]])

    def minimize(
        self, optimizer: Any, loss: Any, params: list[Any], no_grad_set: Any
    ) -> list[tuple[Any, Any]]:
        """Adds gradients to the program, and tables for Parameters; returns pairs of both."""
        program = held_symbol(loss).program
        for name in self.rows:
            self.runtime.set_rule(name, rule_of(optimizer, self.runtime.attributes[name]))
        tables = [program.data[rows] for rows in self.rows.values()]
        wanted = [program.symbol_of(param) for param in params] + [held_symbol(rows) for rows in tables]
        found = differentiated(program, [held_symbol(loss)], [None], wanted, no_grad_set)
        # The gradients of tables come behind those of the Parameters.
        trained = [
            (param, gradient) for param, gradient in zip(params, found, strict=False) if gradient is not None
        ]
        self.runtime.add_dense(optimizer, [param for param, _ in trained], _scope_values)
        self.runtime.add_refresher(_put_into_scope)
        self.gradients = {param.name: gradient for param, gradient in trained}
        for name, gradient in zip(self.rows, found[len(params) :], strict=True):
            if gradient is not None:
                self.gradients[name] = gradient
        self.optimizer = optimizer
        return trained

    def leaves_out_batch(self) -> bool:
        """Whether an earlier process of this worker has finished the next batch of a data set."""
        if self.optimizer is None or self.runtime.finished_before == 0:
            return False
        self.runtime.finished_before -= 1
        return True

    # saving -------------------------------------------------------------------------------------------------

    def inputs_of_file(self, where: str, program: Program) -> FileInputs:
        """Whole tables in the place of the rows of a batch, and ids in the place of indices among them."""
        tables = {}
        for name, rows in self.rows.items():
            tables[held_symbol(program.data[rows])] = name, self._whole_table(where, name)
        aliases = {held_symbol(program.data[one.inverse]): held_symbol(one.ids) for one in self.lookups}
        return FileInputs(aliases, tables)

    def _whole_table(self, where: str, name: str) -> np.ndarray:
        """The rows of a table whose ids are below the length that the program gives it.

        Raises:
            NotImplementedError: the table is too large, or its lookups leave out different ids.
        """
        table = self.runtime.tables[name]
        length = self.lengths[name]
        paddings = {lookup.padding for lookup in self.lookups if lookup.table == name}
        if length * table.width * 4 > _MOST_FILE_BYTES or len(paddings) > 1:
            raise NotImplementedError(
                f"{where}: the program has rows on parameter servers ({name}, {length} x {table.width}, "
                f"padding {sorted(paddings, key=str)}); a file has tables up to "
                f"{_MOST_FILE_BYTES >> 30} GiB with one padding; save them by fleet.save_persistables"
            )
        worker = self.runtime.connected(where)
        worker.flush()
        found = worker.client.pull(table, np.arange(length, dtype=np.int64), None)
        # A lookup of padding gives zeros; in a file the row itself has to be zeros.
        for padding in paddings - {None}:
            found[padding] = 0
        return found

    # running ------------------------------------------------------------------------------------------------

    def run(
        self, program: Program, values: dict[str, Any], feed: Any, fetch_list: list[Any], use_prune: bool
    ) -> list[Any]:
        """Runs the program: pulls rows, computes, and pushes gradients; returns what is fetched."""
        trains = self.optimizer is not None and not use_prune
        worker = self.runtime.connected("Executor.run")
        wanted = [*fetch_list, *(self.gradients.values() if trains else ())]
        entry = compiled_run(program, wanted, use_prune)
        # Pruning may have removed lookups: their rows are not pulled.
        needed = {name for name, _ in entry.data}
        feed = dict(feed)
        pulled = {}
        for table in self.rows:
            lookups = [
                lookup for lookup in self.lookups if lookup.table == table and lookup.inverse in needed
            ]
            if lookups:
                pulled[table] = self._pull(worker, program, values, feed, lookups, trains)
                feed[self.rows[table]] = padded(pulled[table].values)
                feed |= pulled[table].inverses
        out = entry(values, feed)
        if trains:
            computed = entry.to_numpy(out[len(fetch_list) :])
            named = dict(zip(self.gradients, computed, strict=True))
            worker.finish_step(self._gradients(named, pulled, feed))
            self.runtime.refresh()
        return [*entry.to_numpy(out[: len(fetch_list)])]

    def _pull(
        self,
        worker: AsyncWorker | SyncWorker,
        program: Any,
        values: dict[str, Any],
        feed: dict[str, Any],
        lookups: list[Lookup],
        trains: bool,
    ) -> Rows:
        """The rows that the lookups of a table need."""
        arrays = [_host_ids(program, lookup.ids, values, feed) for lookup in lookups]
        flat = [array.ravel().astype(np.int64, copy=False) for array in arrays]
        is_padding = [
            ids == lookup.padding if lookup.padding is not None else np.zeros(len(ids), bool)
            for lookup, ids in zip(lookups, flat, strict=True)
        ]
        real = np.concatenate([ids[~padding] for ids, padding in zip(flat, is_padding, strict=True)])
        # Each row is pulled once, however often it is looked up.
        unique, indices, counts = np.unique(real, return_inverse=True, return_counts=True)
        inverses = {}
        begin = 0
        for lookup, array, padding in zip(lookups, arrays, is_padding, strict=True):
            inverse = np.full(len(padding), -1, np.int32)
            length = len(padding) - int(padding.sum())
            inverse[~padding] = indices[begin : begin + length]
            begin += length
            inverses[lookup.inverse] = inverse.reshape(array.shape)
        training = trains and not all(lookup.is_test for lookup in lookups)
        number = self.runtime.tables[lookups[0].table].number
        rows = worker.pull(number, unique, counts if training else None)
        return Rows(unique, rows, counts, inverses)

    def _gradients(
        self, computed: dict[str, np.ndarray], pulled: dict[str, Rows], feed: dict[str, Any]
    ) -> Gradients:
        """What the servers get of the gradients."""
        sparse = {}
        for name, rows in pulled.items():
            if name in computed:
                # Without the rows that `padded` has added.
                sparse[self.runtime.tables[name].number] = rows.ids, computed[name][: len(rows.ids)]
        dense = {}
        for table in self.runtime.worker.dense.values():
            if any(name in computed for name, _ in table.parts):
                dense[table.number] = self.runtime.flattened(table, computed)
        counted = self._add_statistics(sparse, pulled, feed)
        return Gradients(sparse, dense, float(self.optimizer.get_lr()), counted)

    def _add_statistics(
        self, sparse: dict[int, Any], pulled: dict[str, Rows], feed: dict[str, Any]
    ) -> frozenset[int]:
        """Adds shows and clicks to the gradients of tables with a ShowClickEntry; returns their numbers."""
        counted = set()
        for name, rows in pulled.items():
            table = self.runtime.tables[name]
            kind, *inputs = table.entry.split(":")
            if kind != "show_click_entry" or table.number not in sparse:
                continue
            missing = [one for one in inputs if one not in feed]
            if missing:
                raise KeyError(f"{missing[0]}: the ShowClickEntry of table {name!r} needs it in the feed")
            columns = [_sums_by_id(rows, np.asarray(feed[one], np.float32)) for one in inputs]
            ids, gradients = sparse[table.number]
            sparse[table.number] = ids, np.column_stack([gradients, *columns])
            counted.add(table.number)
        return frozenset(counted)


def _host_ids(program: Program, ids: Any, values: dict[str, Any], feed: dict[str, Any]) -> np.ndarray:
    """The ids of a lookup: what is fed, or what the program computes of it."""
    # Ids that the program computes need a run of that part first.
    if held_symbol(ids).kind != "data":
        entry = compiled_run(program, [ids], True)
        return entry.to_numpy(entry(values, feed))[0]
    if ids.name not in feed:
        raise KeyError(ids.name)
    value = feed[ids.name]
    if isinstance(value, Tensor):
        return to_numpy(held_value(value))
    return np.asarray(value._array() if isinstance(value, DenseTensor) else value)


def _sums_by_id(rows: Rows, values: np.ndarray) -> np.ndarray:
    """What belongs to each id, of a number for each example: float32 [n]."""
    found = np.zeros(len(rows.ids), np.float32)
    for indices in rows.inverses.values():
        # One row for each example, with all its ids.
        by_example = indices.reshape(len(indices), -1)
        each = np.broadcast_to(values.reshape(len(indices), 1), by_example.shape)
        real = by_example >= 0
        # An id may occur several times, which `+=` would count once.
        np.add.at(found, by_example[real], each[real])
    return found


def padded(rows: np.ndarray) -> np.ndarray:
    """Rows, and zeros up to a power of 2."""
    # Few shapes, as each one is compiled.
    count = max(_LEAST_ROWS, 1 << max(len(rows) - 1, 0).bit_length())
    found = np.zeros((count, rows.shape[1]), np.float32)
    found[: len(rows)] = rows
    return found


def _scope_values() -> dict[str, np.ndarray]:
    """The values of the Scope."""
    return {name: to_numpy(value) for name, value in global_scope().values.items() if value is not None}


def _put_into_scope(values: dict[str, np.ndarray]) -> None:
    """Sets Parameters of the Scope."""
    held = global_scope().values
    held.update({name: value for name, value in values.items() if name in held})


def recorder_of(runtime: Runtime) -> Any:
    """The function that records lookups; see `RemoteLookup.record`."""

    def record(
        ids: Any,
        size: Any,
        padding_idx: int | None,
        attr: Any,
        name: str,
        entry: Any = None,
        storage: str = "MemorySparseTable",
        is_test: bool = False,
    ) -> Any:
        program = local.ctx.frame.program
        if program.hook is None:
            program.hook = RemoteProgram(runtime)
        table = runtime.add_sparse(
            name,
            int(size[1]),
            first_of(attr.initializer, list(size)),
            "" if entry is None else entry._to_attr(),
            storage,
        )
        runtime.attributes[name] = attribute_facts(attr)
        padding = padding_idx
        # Counted from the end, as for `nn.Embedding`.
        if padding_idx is not None and padding_idx < 0:
            padding = int(size[0]) + padding_idx
        return program.hook.lookup(ids, name, (int(size[0]), table.width), padding, is_test)

    return record


__all__ = ["RemoteProgram", "recorder_of"]
