"""The processes of a job with parameter servers."""

import os
import secrets
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from paddle_jax._launch.pod import Planned
from paddle_jax._launch.ports import free_ports, own_names

GRACE = 10.0  # seconds that servers have to end after the workers


class Plan(NamedTuple):
    """What is started on this machine: its servers, then its workers.

    Attributes:
        processes: list of Planned.
        servers_here: int, how many of them are servers.
        first_worker: int, number of the first worker.
        all_here: bool, whether the whole job is on this machine.
        events: folder where servers say which workers are late.
    """

    processes: list[Planned]
    servers_here: int
    first_worker: int
    all_here: bool
    events: Path

    def place_of_worker(self, worker: int) -> int | None:
        """The place of a worker among the processes, or None."""
        place = self.servers_here + worker - self.first_worker
        return place if self.servers_here <= place < len(self.processes) else None


def plan(given: Any) -> Plan:
    """The processes of this machine, by the arguments of the launcher."""
    servers, trainers = _endpoints(given)
    here = own_hosts(given)
    own_servers = [i for i, endpoint in enumerate(servers) if endpoint.rpartition(":")[0] in here]
    own_trainers = [i for i, endpoint in enumerate(trainers) if endpoint.rpartition(":")[0] in here]
    folder = Path(given.log_dir).resolve()
    events = folder / "ps_events"
    # Events of an earlier job in this folder would name the wrong workers.
    shutil.rmtree(events, ignore_errors=True)
    events.mkdir(parents=True)
    common = {
        "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(servers),
        "PADDLE_TRAINER_ENDPOINTS": ",".join(trainers),
        "PADDLE_TRAINERS_NUM": str(len(trainers)),
        "PADDLE_LOG_DIR": str(folder),
        "PADDLE_JOB_ID": given.job_id,
        "PADDLE_RESTART_COUNT": "0",
        "PADDLE_PS_EVENTS": str(events),
    }
    if given.elastic_level >= 1 and not os.environ.get("PADDLE_PS_JOURNAL"):
        journal = folder / "ps_journal"
        # A journal of an earlier job is not that of this one.
        shutil.rmtree(journal, ignore_errors=True)
        common["PADDLE_PS_JOURNAL"] = str(journal)
    all_here = len(own_servers) == len(servers) and len(own_trainers) == len(trainers)
    # On one machine the launcher makes the secret; over several the user gives it.
    hidden = {}
    if all_here and not os.environ.get("PADDLE_JOB_TOKEN"):
        hidden["PADDLE_JOB_TOKEN"] = secrets.token_hex(16)
    processes = [_planned(f"serverlog.{i}", "PSERVER", servers[i], common, hidden, {}) for i in own_servers]
    for i in own_trainers:
        number = {"PADDLE_TRAINER_ID": str(i)}
        processes.append(_planned(f"workerlog.{i}", "TRAINER", trainers[i], common, hidden, number))
    first = own_trainers[0] if own_trainers else 0
    return Plan(processes, len(own_servers), first, all_here, events)


def _endpoints(given: Any) -> tuple[list[str], list[str]]:
    """The addresses of all servers and workers."""
    if given.servers:
        return given.servers.split(","), given.trainers.split(",")
    host = given.host or "127.0.0.1"
    ports = free_ports(given.server_num + given.trainer_num)
    endpoints = [f"{host}:{port}" for port in ports]
    return endpoints[: given.server_num], endpoints[given.server_num :]


def unknown_hosts(given: Any) -> str | None:
    """What is wrong where --servers and --trainers have no address of this machine; None where one has."""
    if not given.servers:
        return None
    here = own_hosts(given)
    named = dict.fromkeys(
        endpoint.rpartition(":")[0] for endpoints in _endpoints(given) for endpoint in endpoints
    )
    if here & set(named):
        return None
    return (
        f"--servers and --trainers: got the addresses {', '.join(named)}; this machine is "
        f"{', '.join(sorted(here))}, none of them; name one of them by --host"
    )


def own_hosts(given: Any) -> set[str]:
    """Names and addresses of this machine."""
    if given.host:
        return {given.host}
    return {"127.0.0.1", "localhost"} | own_names()


def _planned(
    log: str, role: str, endpoint: str, common: dict[str, str], hidden: dict[str, str], own: dict[str, str]
) -> Planned:
    host, _, port = endpoint.rpartition(":")
    # Paddle reads the role under both names.
    variables = {"TRAINING_ROLE": role, "PADDLE_ROLE": role, "POD_IP": host, "PADDLE_PORT": port}
    return Planned(log, common | variables | own, hidden)


def late_workers(planned: Plan) -> list[tuple[int, int]]:
    """The workers that servers have named as late since the last call: (number, incarnation)."""
    found = []
    for file in sorted(planned.events.glob("late.*")):
        _, worker, incarnation = file.name.split(".")
        found.append((int(worker), int(incarnation)))
        file.unlink()
    return found
