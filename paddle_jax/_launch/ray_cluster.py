"""Jobs on a Ray cluster, for `--cluster ray`: Ray finds machines, and finds others when some are lost.

The launcher that the user starts keeps the store of the job (store.py). For each machine it asks Ray for an
actor, which runs an ordinary launcher there. Ray moves no data of the program: the processes talk as always.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paddle_jax._launch.ports import free_ports
from paddle_jax._launch.store import FIRST_START, JobStore, Place, StoreServer, place_of
from paddle_jax._launch.variables import describes_a_job

_PASSED_ON = ("PYTHON", "JAX_", "XLA_", "FLAGS_", "PADDLE_", "NCCL_", "CUDA_", "OMP_", "LD_LIBRARY")
_PAUSE = 1.0  # seconds between two looks at the actors
_GRACE = 8.0  # seconds that launchers get to end their processes

Say = Callable[[str, str], None]  # level and text of a line for the user


class ClusterError(Exception):
    """The cluster cannot run the job; the text says why."""


def run(given: Any, say: Say) -> int:
    """Runs a job on the cluster; returns the exit status.

    Args:
        given: arguments of the launcher.
        say: called with a line for the user.
    Raises:
        ClusterError: there is no cluster, or it has too few machines.
    """
    ray = _connected()
    address = ray.util.get_node_ip_address()
    place = place_of(given, address, free_ports(1)[0])
    if place.restarts:  # Ray may need as long to find another machine as to find the first ones
        place = place._replace(timeout=max(place.timeout, FIRST_START))
    token = os.environ.setdefault("PADDLE_JOB_TOKEN", secrets.token_hex(16))  # the actors get it, too
    job = _RayJob(ray, given, place, say)
    server = None
    try:
        job.reserve()
        server = StoreServer(address, JobStore(place, token=token))  # its time runs from here on
        return job.run()
    finally:
        if server is not None:
            server.store.end("the launcher on the machine of --cluster was ended")
        job.end()
        if server is not None:
            server.abandon()


def _connected() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ClusterError("--cluster ray needs Ray: pip install 'paddle_jax[ray]'") from error
    address = os.environ.get("RAY_ADDRESS", "auto")
    host, _, port = address.rpartition(":")
    try:
        if host and port.isdigit():  # Ray itself would try for minutes
            socket.create_connection((host, int(port)), 5).close()
        ray.init(address=address, log_to_driver=True)
    except OSError as error:
        raise ClusterError(
            f"no Ray cluster answers ({error}); start one by `ray start --head`, or set RAY_ADDRESS"
        ) from error
    return ray


class _RayJob:
    """The actors of a job.

    Attributes:
        ray: the module.
        given: arguments of the launcher.
        place: Place of the store.
        say: called with level and text of a line for the user.
        actors: the actors, one for each machine.
        group: placement group of the machines that the job cannot do without.
    """

    def __init__(self, ray: Any, given: Any, place: Place, say: Say) -> None:
        self.ray = ray
        self.given = given
        self.place = place
        self.say = say
        self.actors: list[Any] = []
        self.group: Any = None

    def run(self) -> int:
        """Runs the launchers until all have ended; returns the exit status."""
        # All machines start at once; those beyond the least may never come.
        codes = {self._start(number): number for number in range(self.place.most)}
        status = 0
        while codes:
            ended, _ = self.ray.wait(list(codes), timeout=_PAUSE)
            for code in ended:
                ended_with = self._status(code, codes.pop(code))
                # The first failure is that of the job.
                status = status or ended_with
            if ended and status == 0 and self.place.least < self.place.most:
                break  # the machines end together; those that never came are not waited for
        return status

    def _status(self, code: Any, number: int) -> int:
        try:
            return self.ray.get(code)
        except self.ray.exceptions.RayError as error:
            self.say("ERROR", f"machine {number} of the cluster is lost: {str(error).splitlines()[0]}")
            return 1

    def reserve(self) -> None:
        """Waits until the cluster has room for the machines that the job needs."""
        from ray.util.placement_group import placement_group

        self.group = placement_group([self._resources()] * self.place.least, strategy="SPREAD")
        if not self.group.wait(FIRST_START):
            raise ClusterError(
                f"the cluster has no room for {self.place.least} times {self._resources()} "
                f"within {FIRST_START:.0f} s; it has {self.ray.cluster_resources()}"
            )

    def _resources(self) -> dict[str, float]:
        resources = {"CPU": float(self.given.nproc)}
        if self.given.devices:
            resources["GPU"] = float(len(self.given.devices))
        return resources

    def _start(self, number: int) -> Any:
        """Starts the launcher of one machine; returns the future of its exit status."""
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        # Only the least number of machines is reserved; others come where there is room.
        strategy: Any = "SPREAD"
        if number < self.place.least:
            strategy = PlacementGroupSchedulingStrategy(self.group, placement_group_bundle_index=number)
        # -1: Ray starts a lost actor again as often as needed.
        again = -1 if self.place.is_elastic else 0
        resources = self._resources()
        actor = self.ray.remote(_machine_class()).options(
            num_cpus=resources["CPU"],
            num_gpus=resources.get("GPU", 0),
            scheduling_strategy=strategy,
            max_restarts=again,
            max_task_retries=again,
            max_concurrency=2,  # `stop` is called while `run` runs
        )
        self.actors.append(actor.remote())
        settings = {name: text for name, text in os.environ.items() if _is_passed_on(name)}
        return self.actors[-1].run.remote(self._words(number), settings, str(Path.cwd()))

    def _words(self, number: int) -> list[str]:
        """What the actor runs, behind the name of Python."""
        given = self.given
        module = ["-m", "paddle_jax.distributed.launch"]
        if given.alias:
            module = ["-m", "paddle_jax", "-m", "paddle.distributed.launch"]
        options = {
            "nnodes": given.nodes_text,
            "master": f"{self.place.host}:{self.place.port}",
            "nproc_per_node": given.nproc,
            "log_dir": Path(given.log_dir).resolve() / f"machine{number}",
            "job_id": given.job_id,
            "run_mode": given.run_mode,
            "elastic_level": given.elastic_level,
            "max_restart": given.max_restart,
            "elastic_timeout": given.elastic_timeout,
            "elastic_ttl": given.elastic_ttl,
        }
        if given.devices:  # Ray shows an actor its own devices only, numbered from 0
            options["devices"] = ",".join(map(str, range(len(given.devices))))
        words = [f"--{name}={text}" for name, text in options.items()]
        return [*module, *words, given.training_script, *given.training_script_args]

    def end(self) -> None:
        """Ends the launchers; those that do not hear the store in time by force."""
        limit = time.monotonic() + _GRACE
        for actor in self.actors:
            try:
                self.ray.get(actor.stop.remote(), timeout=max(0.1, limit - time.monotonic()))
            except self.ray.exceptions.RayError as error:  # the machine may be gone, or have never come
                self.say("DEBUG", f"an actor did not answer: {str(error).splitlines()[0]}")
            self.ray.kill(actor)
        if self.group is not None:
            self.ray.util.remove_placement_group(self.group)
        self.ray.shutdown()


def _is_passed_on(name: str) -> bool:
    """Whether launchers on the cluster get an environment variable of this one."""
    if name == "PADDLE_JOB_TOKEN":
        return True
    if name == "CUDA_VISIBLE_DEVICES" or describes_a_job(name):  # Ray sets the first one for each actor
        return False
    return name.startswith(_PASSED_ON)


def _machine_class() -> type:
    """The class of the actors. It is defined here, so that Ray sends it by value: the cluster needs no import
    of the package in the actor, which would start devices' libraries beside those of the processes."""

    class Machine:
        """Runs the launcher of one machine."""

        def __init__(self) -> None:
            self.process: Any = None

        def run(self, words: list[str], settings: dict[str, str], folder: str) -> int:
            # Ray sends this class by value, so that its methods import what they need.
            import ctypes
            import os
            import subprocess
            import sys

            def end_with_actor() -> None:
                if sys.platform == "linux":
                    ctypes.CDLL(None).prctl(1, 15)  # PR_SET_PDEATHSIG, SIGTERM

            self.process = subprocess.Popen(
                [sys.executable, *words],
                env=os.environ | settings,
                cwd=folder,
                preexec_fn=end_with_actor,
            )
            return self.process.wait()

        def stop(self) -> None:
            if self.process is not None and self.process.poll() is None:
                self.process.terminate()
                self.process.wait(5)

    return Machine
