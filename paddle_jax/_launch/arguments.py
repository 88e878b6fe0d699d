"""What can be written behind `python -m paddle_jax.distributed.launch`, and what is found wrong with it
before anything starts."""

from __future__ import annotations

import argparse
import os
import shutil
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from paddle_jax._launch import schedulers, server_job, variables
from paddle_jax._launch.ports import is_free, own_names

_IGNORED = (
    "legacy",
    "sort_ip",
    "enable_gpu_log",
    "auto_parallel_config",
    "auto_cluster_config",
    "auto_tuner_json",
    "gloo_port",
    "with_gloo",
)
_SERVERS = ("servers", "trainers", "trainer_num", "server_num")


def parsed(argv: Sequence[str]) -> Any:
    """The arguments as a namespace. Wrong ones end the program with a message, as argparse does."""
    name = "python -m paddle_jax.distributed.launch"
    parser = argparse.ArgumentParser(
        prog=name, description="Starts a program as several processes.", epilog=_EPILOG
    )
    text = parser.add_argument
    text(
        "--nproc_per_node",
        type=int,
        help="processes on this machine; default: one for each accelerator, else 1",
    )
    text("--devices", "--gpus", "--npus", "--xpus", help="numbers of the accelerators to use, such as 0,1")
    text("--nnodes", help="number of machines, or N:M for N to M of them; default 1")
    text("--master", help="host:port at which launchers meet, or etcd://host:port; for several machines")
    text("--rank", type=int, default=-1, help="number of this machine, from 0; default: in order of arrival")
    text("--cluster", choices=["ray"], help="ray: run on the machines of a Ray cluster")
    text("--ips", help="addresses of all machines, instead of --nnodes, --master and --rank")
    text("--host", help="address of this machine")
    text(
        "--start_port", type=int, default=6070, help="port at which the processes of --ips meet; default 6070"
    )
    text("--log_dir", default="log", help="where workerlog.N goes; default ./log")
    text("--log_level", default="INFO", help="what the launcher says about itself: INFO, WARNING or ERROR")
    text("--log_overwrite", default="False", help="True: overwrite log files")
    text("--job_id", default="default", help="name of the job, in the name of the launcher's log")
    text("--run_mode", default="collective", help="collective; ps: with parameter servers; or rpc")
    _add_elastic_options(text)
    for name in _IGNORED:
        text(f"--{name}", help=argparse.SUPPRESS)
    text("--server_num", type=int, help="parameter servers on this machine")
    text("--trainer_num", "--worker_num", type=int, help="workers beside parameter servers")
    text("--servers", help="addresses of all parameter servers, host:port,host:port")
    text("--trainers", "--workers", help="addresses of all workers")
    text("training_script", help="a Python file, or a command")
    text("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    scheduled = schedulers.machines()
    environment = variables.defaults()
    # The master of the environment counts for several machines only, see below.
    master = environment.pop("master", None)
    parser.set_defaults(nnodes=None)
    parser.set_defaults(**environment)
    own, of_script = _split_at_script(argv)
    found = parser.parse_args(own)
    found.training_script_args = of_script
    if found.nnodes is None and found.servers:
        found.nnodes = "1"  # --servers and --trainers name the machines, not the scheduler
    elif found.nnodes is None:
        found.nnodes = scheduled.get("nnodes", "1")
    if found.nnodes != "1":
        found.master = found.master or master  # for one machine it is the address of another job
        _take_from_scheduler(found, scheduled)
    _complete(parser, found)
    return found


def _split_at_script(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """The launcher's arguments with the script, and those of the script.

    argparse alone would compare both with the launcher's options, and refuse a `--train` of the script, which
    begins both `--trainers` and `--trainer_num`. Each option but help takes one value.
    """
    place = 0
    while place < len(argv) and argv[place].startswith("-"):
        is_one_word = "=" in argv[place] or argv[place] in ("-h", "--help", "--")
        place += 1 if is_one_word else 2
    return list(argv[: place + 1]), list(argv[place + 1 :])


def _take_from_scheduler(found: argparse.Namespace, scheduled: dict[str, str]) -> None:
    """Fills in what a scheduler says about this machine and the user does not."""
    if found.rank < 0 and not found.ips:
        found.rank = int(scheduled.get("rank", -1))
    if not found.master and not found.cluster and "host_of_master" in scheduled:
        found.master = f"{scheduled['host_of_master']}:{found.start_port}"


def _add_elastic_options(text: Callable[..., object]) -> None:
    """The options of jobs that begin again."""
    text(
        "--max_restart",
        type=int,
        default=3,
        help="how often all processes (with servers: each one) are started again after a failure, with "
        "--elastic_level 1",
    )
    text(
        "--elastic_level",
        type=int,
        default=-1,
        help="1: start all processes (with servers: that one) again when one fails or asks for it (exit "
        "status 101); default -1: end",
    )
    text(
        "--elastic_timeout",
        type=float,
        default=30,
        help="seconds to wait for up to M machines once N have come, and for N again when some are lost; "
        "default 30",
    )
    text(
        "--elastic_ttl",
        type=float,
        default=10,
        help="seconds without a heartbeat after which a machine counts as lost; default 10",
    )


_EPILOG = (
    "For a program that imports `paddle`: "
    "python -m paddle_jax -m paddle.distributed.launch --nproc_per_node 2 train.py"
)


def _complete(parser: Any, found: Any) -> None:
    """Fills in what follows from what was given, and refuses what cannot work."""
    _server_options(parser, found)
    found.notes = [
        f"--{name} has no meaning here and is ignored"
        for name in _IGNORED
        if getattr(found, name) is not None
    ]
    if found.ips:
        hosts = found.ips.split(",")
        found.nnodes = str(len(hosts))
        found.master = found.master or f"{hosts[0]}:{found.start_port}"
        if found.rank >= 0:
            found.rank = found.rank
        else:
            found.rank = _place(parser, hosts, found.host)
    _count_machines(parser, found)
    found.devices = _devices(parser, found.devices)
    if found.nproc_per_node is not None:
        found.nproc = found.nproc_per_node
    else:
        found.nproc = len(found.devices) or 1
    if found.nproc < 1:
        parser.error(f"--nproc_per_node: got {found.nproc_per_node}; it must be positive")
    if found.devices and len(found.devices) % found.nproc:
        parser.error(
            f"--nproc_per_node: got {found.nproc} for the {len(found.devices)} accelerators "
            f"{found.devices}; it must divide their number"
        )
    _script(parser, found)
    _meeting_place(parser, found)
    cores = os.cpu_count() or 1
    if not found.devices and found.nproc > cores:
        found.notes.append(
            f"{found.nproc} processes share {cores} cores: they will wait for each other; fewer are faster"
        )


def _server_options(parser: Any, found: Any) -> None:
    """Checks the options for parameter servers; any of them stands for --run_mode ps."""
    if found.run_mode not in ("collective", "ps", "rpc"):
        parser.error(f"--run_mode: got {found.run_mode!r}; it must be collective, ps or rpc")
    if found.run_mode != "ps" and not any(getattr(found, name) is not None for name in _SERVERS):
        return
    found.run_mode = "ps"
    if found.nnodes != "1" or found.ips:
        parser.error("--nnodes: with parameter servers name all processes by --servers and --trainers")
    if bool(found.servers) != bool(found.trainers):
        parser.error("--servers and --trainers: give both, or --server_num and --trainer_num")
    if found.servers and (found.server_num or found.trainer_num):
        parser.error("--servers: it says how many there are; leave --server_num and --trainer_num out")
    for name in ("servers", "trainers"):
        _check_endpoints(parser, name, getattr(found, name))
    problem = server_job.unknown_hosts(found)
    if problem is not None:
        parser.error(problem)
    found.server_num = 1 if found.server_num is None else found.server_num
    found.trainer_num = 1 if found.trainer_num is None else found.trainer_num
    for name in ("server_num", "trainer_num"):
        if getattr(found, name) < 1:
            parser.error(f"--{name}: got {getattr(found, name)}; it must be positive")


def _check_endpoints(parser: Any, name: str, text: str) -> None:
    """Refuses addresses that are none, or that come twice."""
    endpoints = text.split(",") if text else []
    for endpoint in endpoints:
        host, _, port = endpoint.rpartition(":")
        if not host or not port.isdigit():
            parser.error(f"--{name}: got {endpoint!r}; it must be host:port,host:port")
        if endpoints.count(endpoint) > 1:
            parser.error(f"--{name}: got {endpoint} twice")


def _count_machines(parser: Any, found: Any) -> None:
    """Reads --nnodes, N or N:M, as `least` and `most`."""
    first, _, last = found.nnodes.partition(":")
    last = last or first
    if not first.isdigit() or not last.isdigit() or not 1 <= int(first) <= int(last):
        parser.error(f"--nnodes: got {found.nnodes!r}; it must be a positive number N, or N:M with N <= M")
    found.nodes_text = found.nnodes
    found.least = int(first)
    found.most = int(last)
    found.nnodes = found.least
    if found.cluster:
        return  # the launchers on the machines of the cluster get the address of this one
    if found.most > 1 and (not found.master or found.rank >= found.most):
        parser.error(
            "several machines need --master host:port, the same on all; --rank may say 0 to "
            f"{found.most - 1}, another on each"
        )
    if found.most == 1:
        found.rank = max(found.rank, 0)


def _place(parser: Any, hosts: Any, host: Any) -> int:
    """The place of this machine among several."""
    known = {host} - {None} | own_names()
    mine = [i for i, each in enumerate(hosts) if each in known]
    # A single machine needs no name to be found.
    if len(hosts) == 1:
        return 0
    if len(mine) != 1:
        parser.error(
            f"--ips: got {','.join(hosts)}; this machine is {', '.join(sorted(known))}, "
            "none of them; name it by --host or --rank"
        )
    return mine[0]


def _devices(parser: Any, given: Any) -> list[int] | list[Any]:
    """The accelerators to use, by number."""
    if given:
        if not all(part.strip().isdigit() for part in given.split(",")):
            parser.error(f"--devices: got {given!r}; it must be numbers such as 0,1")
        return [int(part) for part in given.split(",")]
    if os.environ.get("JAX_PLATFORMS", "").startswith("cpu"):
        return []
    return sorted(int(file.name.removeprefix("nvidia")) for file in Path("/dev").glob("nvidia[0-9]*"))


def _script(parser: Any, found: Any) -> None:
    """Refuses a program that cannot be started."""
    script = found.training_script
    found.is_python = script.endswith(".py")
    if found.is_python and not os.access(script, os.R_OK):
        parser.error(
            f"{script}: "
            + ("it cannot be read" if Path(script).exists() else f"there is no such file in {Path.cwd()}")
        )
    if not found.is_python and shutil.which(script) is None:
        parser.error(f"{script}: it is neither a Python file (*.py) nor a command that can be run")


def _meeting_place(parser: Any, found: Any) -> None:
    """Refuses a --master that cannot be used."""
    found.uses_etcd = False
    if not found.master:
        return
    found.uses_etcd = found.master.startswith("etcd://")
    if found.uses_etcd and found.most == 1:
        parser.error("--master: etcd://host:port is for several machines; give --nnodes")
    if found.uses_etcd and found.job_id == "default":
        parser.error(
            "--job_id: with etcd each job needs a name of its own; etcd has the addresses of all jobs"
        )
    host, _, port = found.master.removeprefix("http://").removeprefix("etcd://").rpartition(":")
    if not host or not port.isdigit():
        parser.error(f"--master: got {found.master!r}; it must be host:port")
    found.master = f"{host}:{port}"
    try:
        socket.getaddrinfo(host, int(port))
    except OSError as error:
        parser.error(f"--master: {host} is not known on this machine ({error}); give its address")
    if found.most == 1 and not is_free(int(port)):
        parser.error(
            f"--master: port {port} of this machine is in use; name another one, or end what listens there"
        )
