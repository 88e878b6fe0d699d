"""The methods of `fleet` for jobs with parameter servers."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paddle_jax._program.program import default_main_program
from paddle_jax._program.variable import Variable
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.ps.eager import EagerTables, ServerOptimizer
from paddle_jax.distributed.ps.runtime import Runtime
from paddle_jax.distributed.ps.static_programs import recorder_of
from paddle_jax.nn.remote_lookup import RemoteLookup
from paddle_jax.static.io import save_inference_model
from paddle_jax.static.variable_files import save_vars

__all__ = []


class ServerMethods:
    """What `fleet` has for parameter servers; each does nothing in a process without them, and warns."""

    _role_maker: Any
    _user_defined_strategy: Any
    util: Any

    def _start_servers(self, role_maker: Any, strategy: Any) -> None:
        """Takes the role of this process in a job with servers; without, forgets an earlier one."""
        # An earlier `init` may have set them.
        Current.servers = RemoteLookup.record = RemoteLookup.layer = None
        # Collective training has no servers.
        if role_maker._is_collective or not role_maker._server_num():
            return
        is_server = role_maker._is_server()
        index = role_maker._server_index() if is_server else role_maker._worker_index()
        endpoints = role_maker._get_pserver_endpoints()
        runtime = Runtime(endpoints, role_maker._worker_num(), index, is_server, strategy)
        Current.servers = runtime
        RemoteLookup.record = recorder_of(runtime)
        RemoteLookup.layer = EagerTables(runtime).layer

    def _servers(self, name: str) -> Runtime | None:
        """The Runtime; None, with a warning, without servers."""
        self._role()
        if Current.servers is None:
            warnings.warn(
                f"fleet.{name}: there are no parameter servers, so it does nothing; start the program by "
                "`python -m paddle_jax.distributed.launch --server_num 1 --trainer_num 1`",
                stacklevel=3,
            )
        return Current.servers

    def _role(self) -> Any:
        raise NotImplementedError

    # servers ------------------------------------------------------------------------------------------------

    def init_server(self, dirname: str | None = None, var_names: Any = None, **kwargs: Any) -> None:
        """Says what the tables of this server are filled from.

        Args:
            dirname: str, a folder that `save_persistables` wrote. Default None: the tables begin empty.
            var_names: accepted; all tables are read.
        Without servers nothing happens, and a warning says so, as in Paddle.
        """
        runtime = self._servers("init_server")
        if runtime is not None:
            runtime.init_server(dirname)

    def run_server(self) -> None:
        """Serves until all workers have called `stop_worker`. Without servers nothing happens, and a warning
        says so, as in Paddle.

        Raises:
            RuntimeError: the port is in use. ImportError: gRPC is missing.
        """
        runtime = self._servers("run_server")
        if runtime is not None:
            runtime.run_server()

    # workers ------------------------------------------------------------------------------------------------

    def init_worker(self, scopes: Any = None) -> None:
        """Connects this worker to the servers, and waits for them; worker 0 gives the values of dense
        Parameters, and all take them over. Without servers nothing happens, and a warning says so, as in
        Paddle.

        Args:
            scopes: accepted.
        Raises:
            ValueError: servers and workers have other tables, numbers or modes. PermissionError: they have
                another token. RuntimeError: a server does not answer within PADDLE_PS_TIMEOUT seconds.
        """
        runtime = self._servers("init_worker")
        if runtime is not None:
            runtime.init_worker()

    def stop_worker(self) -> None:
        """Sends what is held back, takes over the last values, and leaves the servers; they end when all
        workers have. Without servers nothing happens, and a warning says so, as in Paddle."""
        runtime = self._servers("stop_worker")
        if runtime is not None:
            runtime.stop_worker()

    def completed_rounds(self) -> int:
        """How many steps this worker has finished: above 0 in a process that was started again, which goes on
        with the data of that step. 0 without servers. Paddle has no such function.

        Raises:
            RuntimeError: `init_worker` was not called.
        """
        self._role()
        if Current.servers is None:
            return 0
        return Current.servers.completed_rounds()

    # files --------------------------------------------------------------------------------------------------

    def save_persistables(self, executor: Any, dirname: str, main_program: Any = None, mode: int = 0) -> None:
        """Writes what the Scope holds for a static program, each Variable into the file of its name; the
        servers write their tables into the same folder. See `paddle.static.save_vars`, and `load_vars` or
        `load_model` for the way back.

        Args:
            executor: accepted.
            dirname: str, the folder; servers of other machines write to it, too.
            main_program: Program. Default: the main one.
            mode: 0 all rows, 1 rows with a score since the last base, 2 the base, 3 all, a day later.
        Raises:
            ValueError: mode is another one.
        Differs from Paddle: it needs no parameter servers, without which Paddle warns and writes nothing.
        """
        self._role()
        if Current.servers is not None:
            Current.servers.save(dirname, mode)
            # The Scope holds what this worker read last; the servers have newer values.
            Current.servers.refresh()
            if not (main_program or default_main_program()).vars:
                return  # an eager program, or one whose parameters are all on servers
        save_vars(executor, dirname, main_program)

    def save_inference_model(
        self,
        executor: Any,
        dirname: str,
        feeded_var_names: Sequence[str],
        target_vars: Sequence[Any],
        main_program: Any = None,
        export_for_deployment: bool = True,
        mode: int = 0,
    ) -> None:
        """Worker 0 writes the part of a static program that leads from inputs to results as a model, into
        `__model__.json` and `__model__.pdiparams` of a folder; the servers write their tables there, too.
        `paddle.static.load_inference_model(dirname + "/__model__", executor)` reads the model. It has the
        rows of tables for ids below the first of the sizes that the program gives them.

        Args:
            executor: accepted.
            dirname: str, the folder.
            feeded_var_names: list of the names of the inputs.
            target_vars: list of Variables, the results.
            main_program: Program. Default: the main one.
            export_for_deployment: accepted.
            mode: as in `save_persistables`.
        Raises:
            ValueError: the program has no such input; mode is another one.
            NotImplementedError: a table on servers is too large for a file.
        Differs from Paddle: it needs no parameter servers, without which Paddle warns and writes nothing.
        """
        role = self._role()
        program = default_main_program() if main_program is None else main_program
        feeds = [program.var(name) for name in feeded_var_names]
        if Current.servers is not None:
            Current.servers.refresh()
        # One file, whichever worker computes.
        if role._worker_index() == 0:
            save_inference_model(
                str(Path(dirname) / "__model__"), feeds, list(target_vars), executor, program=program
            )
        if Current.servers is not None:
            # Each server writes its own tables.
            Current.servers.save(dirname, mode)

    def load_inference_model(self, path: str, mode: int) -> None:
        """Has the servers read the tables that `save_inference_model` has written.

        Args:
            path: str, the folder.
            mode: accepted.
        Raises:
            ValueError: the folder has no tables, or other ones.
        """
        runtime = self._servers("load_inference_model")
        if runtime is not None:
            runtime.load(path)

    def save(self, dirname: str, feed: Sequence[Any] = (), fetch: Sequence[Any] = (), **configs: Any) -> None:
        """Writes a model for inference, as `save_inference_model`, or without inputs and results all
        persistable Variables, as `save_persistables`, of the main program.

        Args:
            dirname: str, the folder.
            feed: list of inputs, Variables or names.
            fetch: list of results, Variables or names of persistable Variables.
            configs: `mode` of `save_persistables`; others are accepted.
        Raises:
            ValueError: something else is in a list.
        """
        if not feed and not fetch:
            self.save_persistables(None, dirname, mode=int(configs.get("mode", 0)))
            return
        for name, values in (("feed", feed), ("fetch", fetch)):
            for value in values:
                if not isinstance(value, str | Variable):
                    raise ValueError(
                        f"fleet.save: {name}: got {type(value).__name__}; it must hold names or Variables"
                    )
        program = default_main_program()
        names = [value if isinstance(value, str) else value.name for value in feed]
        results = [program.var(value) if isinstance(value, str) else value for value in fetch]
        self.save_inference_model(None, dirname, names, results, program)

    def load_model(self, path: str, mode: int = 0) -> None:
        """Has the servers read tables that any number of servers has saved.

        Args:
            path: str, the folder.
            mode: accepted; a folder has what was saved.
        Raises:
            ValueError: the folder has no tables, or other ones.
        """
        runtime = self._servers("load_model")
        if runtime is not None:
            runtime.load(path)

    def save_one_table(self, table_id: int, path: str, mode: int) -> None:
        """As the tables of `save_persistables`, for one table by its number."""
        runtime = self._servers("save_one_table")
        if runtime is not None:
            runtime.save(path, mode, [table_id])

    def load_one_table(self, table_id: int, path: str, mode: int) -> None:
        """As `load_model`, for one table by its number."""
        runtime = self._servers("load_one_table")
        if runtime is not None:
            runtime.load(path, [table_id])

    def save_dense_params(
        self, executor: Any, dirname: str, scope: Any, program: Any, var_names: list[str] | None = None
    ) -> None:
        """Takes over the values of dense Parameters, and writes what the Scope holds for a program."""
        runtime = self._servers("save_dense_params")
        if runtime is not None:
            runtime.refresh()
            # None stands for all Variables of the program.
            chosen = None
            if var_names is not None:
                chosen = [program.var(name) for name in var_names]
            save_vars(executor, dirname, program, chosen)

    def shrink(self, threshold: float | None = None) -> None:
        """Lets shows and clicks of rows fade, and removes rows with a small score or that were not seen for
        long.

        Args:
            threshold: score below which a row goes. Default None: the table's `delete_threshold`, for tables
                with a ShowClickEntry.
        """
        runtime = self._servers("shrink")
        if runtime is not None:
            runtime.shrink(threshold)

    def print_table_stat(self, table_id: int, pass_id: int, threshold: float) -> None:
        """Prints how many rows a table has."""
        runtime = self._servers("print_table_stat")
        if runtime is not None:
            name = next(table.name for table in runtime.tables.values() if table.number == table_id)
            count = sum(found["rows"].get(name, 0) for found in runtime.statistics())
            print(f"table {table_id} ({name}), pass {pass_id}: {count} rows")

    def _server_optimizer(self, optimizer: Any) -> ServerOptimizer:
        """The optimizer of a worker or server."""
        Current.servers.set_strategy(self._user_defined_strategy)
        return ServerOptimizer(optimizer, Current.servers)
