"""A process of a job with parameter servers: its role, its tables, and its worker or server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.tensors.random import default_generator
from paddle_jax.distributed.ps.client import Client
from paddle_jax.distributed.ps.optimizer_rules import rule_of
from paddle_jax.distributed.ps.server import TableServer
from paddle_jax.distributed.ps.settings import CALLER, patience
from paddle_jax.distributed.ps.table_settings import with_settings
from paddle_jax.distributed.ps.table_spec import DENSE, SPARSE, JobSpec, TableSpec
from paddle_jax.distributed.ps.tables import accessor_settings
from paddle_jax.distributed.ps.worker import Worker, worker_for
from paddle_jax.distributed.rpc.token import job_token

_SHARDS = 1000  # parts that ids are cut into, as in Paddle


class Runtime:
    """What `fleet` knows of the servers.

    Attributes:
        endpoints: list of "host:port" of the servers.
        workers: int, how many workers there are.
        index: int, number of this worker or server.
        is_server: bool.
        settings: dict, `a_sync_configs` of the strategy.
        table_settings: dict, `sparse_table_configs` of the strategy.
        mode: "sync", "async" or "geo".
        tables: {name: TableSpec}.
        attributes: {name of a sparse table: what its ParamAttr says of learning rate and decay}.
        eager_tables: list of EagerTables.
        finished_before: int, steps of earlier processes that no data set has left out yet.
        worker: Worker, between `init_worker` and `stop_worker`; else None.
        server: TableServer, or None.
    """

    def __init__(
        self, endpoints: Sequence[str], workers: int, index: int, is_server: bool, strategy: Any
    ) -> None:
        self.endpoints: list[str] = list(endpoints)
        self.workers = workers
        self.index = index
        self.is_server = is_server
        self.tables: dict[str, TableSpec] = {}
        self.attributes: dict[str, Any] = {}
        self.eager_tables: list[Any] = []
        self.worker: Worker | None = None
        self.server: TableServer | None = None
        self._optimized: dict[str, Callable[[], dict[str, np.ndarray]]] = {}
        self._refreshers: list[Callable[[dict[str, np.ndarray]], None]] = []
        self._folder: str | None = None
        self.finished_before: Any = 0
        self._seed = int(default_generator().initial_seed())
        self.set_strategy(strategy)

    def set_strategy(self, strategy: Any) -> None:
        """Takes the mode from a DistributedStrategy.

        Raises:
            ValueError: more workers may be late than there are. NotImplementedError: tables on GPUs.
        """
        self.settings: dict[Any, Any] = dict(strategy.a_sync_configs)
        self.table_settings: dict[Any, Any] = dict(strategy.sparse_table_configs)
        for name in ("use_ps_gpu", "use_gpu_graph"):
            if self.settings[name]:
                raise NotImplementedError(
                    f"strategy.a_sync_configs: {name}: got {self.settings[name]}; tables are on "
                    "servers; leave it 0"
                )
        # Paddle's rule: k_steps decides between async and geo.
        if not strategy.a_sync:
            self.mode = "sync"
        elif self.settings["k_steps"] > 0:
            self.mode = "geo"
        else:
            self.mode: str = "async"
        backups = self.settings.get("backup_workers", 0)
        if not 0 <= backups < max(self.workers, 1):
            raise ValueError(
                f"strategy.a_sync_configs: backup_workers: got {backups}; with {self.workers} workers it "
                f"must be 0 to {self.workers - 1}"
            )

    # tables -------------------------------------------------------------------------------------------------

    def add_sparse(self, name: str, width: int, first: dict[str, Any], entry: str, storage: str) -> TableSpec:
        """The table of a Parameter; the same one for the same name.

        Raises:
            ValueError: a table of this name is another one.
        """
        # Numbers go by the order in the program, which all processes have in common.
        spec = TableSpec(
            len(self.tables),
            name,
            SPARSE,
            width,
            # until `minimize` knows the optimizer
            {"name": "sgd"},
            first,
            entry,
            [],
            storage,
            accessor_settings(),
        )
        known = self.tables.setdefault(name, spec)
        if (known.width, known.first, known.entry) != (width, first, entry):
            raise ValueError(
                f"sparse table {name!r}: got width {width}, beginning {first} and entry {entry!r}; it has "
                f"{known.width}, {known.first} and {known.entry!r} already"
            )
        return known

    def set_rule(self, name: str, rule: dict[str, Any]) -> None:
        """Says how a sparse table is updated, unless the strategy does."""
        self._check_open(f"table {name!r}")
        spec = self.tables[name]._replace(rule=rule)
        self.tables[name] = with_settings(spec, self.table_settings.get(name))

    def add_dense(
        self, optimizer: Any, params: Sequence[Any], values: Callable[[], dict[str, np.ndarray]]
    ) -> None:
        """Makes dense tables of Parameters that are in none yet: one for each rule.

        Args:
            optimizer: Optimizer.
            params: Parameters.
            values: function that gives {name: value} of them.
        """
        known = {name for spec in self.tables.values() for name, _ in spec.parts}
        by_rule: dict[str, list[Any]] = {}
        for param in params:
            if param.name not in known:
                # As text, because dicts cannot be keys.
                by_rule.setdefault(json.dumps(rule_of(optimizer, param)), []).append(param)
        for rule, own in by_rule.items():
            self._check_open("parameters")
            parts = [[param.name, list(param.shape)] for param in own]
            width = sum(int(np.prod(shape)) for _, shape in parts)
            name = f"dense_{len(self.tables)}"
            number = len(self.tables)
            self.tables[name] = TableSpec(
                number, name, DENSE, width, json.loads(rule), {}, "", parts, "", accessor_settings()
            )
            self._optimized[name] = values

    def _check_open(self, what: str) -> None:
        if self.worker is not None:
            raise RuntimeError(f"{CALLER}: {what}: it comes after fleet.init_worker(); call minimize before")

    def add_refresher(self, refresh: Callable[[dict[str, np.ndarray]], None]) -> None:
        """Adds a function that gets {name: value} of all dense Parameters when they were pulled."""
        self._refreshers.append(refresh)

    def job(self) -> JobSpec:
        """What workers and servers must have in common."""
        return JobSpec(
            self.workers,
            len(self.endpoints),
            self.mode,
            self._seed,
            _SHARDS,
            # the other modes wait for nobody
            int(self.settings.get("backup_workers", 0)) if self.mode == "sync" else 0,
            sorted(self.tables.values(), key=lambda table: table.number),
        )

    def _token(self) -> str:
        # Server 0 makes the token; all others read it.
        rank = 0 if self.is_server and self.index == 0 else 1
        return job_token(self.endpoints[0], rank, patience(), CALLER)

    # servers ------------------------------------------------------------------------------------------------

    def init_server(self, folder: str | None) -> None:
        """Remembers what the tables are filled from."""
        self._folder = folder

    def run_server(self) -> None:
        """Serves until all workers have ended."""
        own = self.job() if self.tables else None
        self.server = TableServer(self.index, self.endpoints, self.workers, self._token(), own)
        if self._folder is not None:
            self.server.load_when_known(self._folder)
        self.server.run()

    # workers ------------------------------------------------------------------------------------------------

    def init_worker(self) -> None:
        """Connects to the servers; worker 0 gives the values of dense Parameters."""
        if self.worker is not None:
            return
        client = Client(self.endpoints, self.index, self.job(), self._token())
        queue_size = max(int(self.settings["send_queue_size"]), 1)
        worker = worker_for(client, queue_size, int(self.settings["k_steps"]))
        try:
            worker.start(self._flat)
        # Also after an interrupt, the threads of the client have to end.
        except BaseException:
            client.close()
            raise
        self.worker = worker
        self.finished_before = client.round
        self.refresh()

    def _flat(self, table: TableSpec) -> np.ndarray:
        """The values of a dense table in this process, float32 [width]."""
        values = self._optimized[table.name]()
        missing = [name for name, _ in table.parts if name not in values]
        if missing:
            raise RuntimeError(
                f"fleet.init_worker: {missing[0]!r} has no value; run the startup program before: "
                "exe.run(paddle.static.default_startup_program())"
            )
        return self.flattened(table, values)

    @staticmethod
    def flattened(table: TableSpec, values: dict[str, np.ndarray]) -> np.ndarray:
        """Values of Parameters as one array; zeros for those that are missing."""
        pieces = []
        for name, shape in table.parts:
            given = values.get(name)
            piece = (
                np.zeros(int(np.prod(shape)), np.float32) if given is None else np.asarray(given, np.float32)
            )
            pieces.append(piece.ravel())
        return np.concatenate(pieces)

    def connected(self, what: str) -> Worker:
        """The Worker.

        Raises:
            RuntimeError: `init_worker` was not called.
        """
        if self.worker is None:
            raise RuntimeError(f"{what}: the worker is not connected; call fleet.init_worker() before")
        return self.worker

    def refresh(self) -> None:
        """Takes over the values of dense Parameters."""
        values: dict[str, np.ndarray] = {}
        for number, flat in self.connected("parameters").dense_values().items():
            begin = 0
            for name, shape in self.worker.dense[number].parts:
                length = int(np.prod(shape))
                values[name] = flat[begin : begin + length].reshape(shape).copy()
                begin += length
        for refresh in self._refreshers:
            refresh(values)

    def stop_worker(self) -> None:
        """Sends what is held back, and leaves the servers."""
        worker = self.connected("fleet.stop_worker")
        # The last gradients must reach the servers before their values are read.
        worker.flush()
        self.refresh()
        worker.stop()
        self.worker = None

    def gather(self, text: str) -> list[str]:
        """What all workers have given."""
        worker = self.connected("fleet")
        worker.flush()
        return worker.client.gather(text)

    def completed_rounds(self) -> int:
        """How many steps this worker has finished, in earlier processes too."""
        return self.connected("fleet.completed_rounds").client.round

    # files --------------------------------------------------------------------------------------------------

    def save(self, folder: str, mode: int, tables: list[int] | None = None) -> None:
        """Has all servers write their part of the tables."""
        worker = self.connected("fleet.save_persistables")
        worker.flush()
        worker.client.save(str(folder), mode, tables)

    def load(self, folder: str, tables: list[int] | None = None) -> None:
        """Has all servers read their part of what was saved."""
        worker = self.connected("fleet.load_model")
        worker.flush()
        worker.client.ask_all("Load", folder=str(folder), tables=tables)
        self.refresh()

    def shrink(self, threshold: float | None, tables: Sequence[int] = ()) -> None:
        """Lets shows and clicks fade, and removes rows that are not worth it."""
        worker = self.connected("fleet.shrink")
        worker.flush()
        # NaN stands for None: the field of the message is a float.
        rate = float("nan") if threshold is None else float(threshold)
        ids = np.array(list(tables), np.int64)
        worker.client.shrink(rate, ids)

    def statistics(self) -> list[dict[str, Any]]:
        """What each server has."""
        worker = self.connected("fleet")
        worker.flush()
        return [json.loads(found) for found in worker.client.ask_all("Stat")]
