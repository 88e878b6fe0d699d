"""What can be written behind `python -m paddle_jax.distributed.launch`, and what is found wrong with it
before anything starts."""

import argparse
import os
import shutil
import socket
from pathlib import Path

_IGNORED = (
    "legacy",
    "sort_ip",
    "enable_gpu_log",
    "auto_parallel_config",
    "auto_cluster_config",
    "auto_tuner_json",
    "gloo_port",
    "with_gloo",
    "elastic_timeout",
)
_SERVERS = ("servers", "trainers", "trainer_num", "server_num")


def parsed(argv):
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
    text("--nnodes", default="1", help="number of machines; default 1")
    text("--master", help="host:port at which the processes meet; needed for several machines")
    text("--rank", type=int, default=-1, help="number of this machine, from 0; needed for several machines")
    text("--ips", help="addresses of all machines, instead of --nnodes, --master and --rank")
    text("--host", help="address of this machine")
    text(
        "--start_port", type=int, default=6070, help="port at which the processes of --ips meet; default 6070"
    )
    text("--log_dir", default="log", help="where workerlog.N goes; default ./log")
    text("--log_level", default="INFO", help="what the launcher says about itself: INFO, WARNING or ERROR")
    text("--log_overwrite", default="False", help="True: start log files anew")
    text("--job_id", default="default", help="name of the job, in the name of the launcher's log")
    text("--run_mode", default="collective", help="collective")
    text(
        "--max_restart",
        type=int,
        default=3,
        help="how often all processes are started again, with --elastic_level 1",
    )
    text(
        "--elastic_level",
        type=int,
        default=-1,
        help="1: start all processes again when one fails; default -1: end",
    )
    for name in (*_IGNORED, *_SERVERS):
        text(f"--{name}", help=argparse.SUPPRESS)
    text("training_script", help="a Python file, or a command")
    text("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    found = parser.parse_args(argv)
    _settle(parser, found)
    return found


_EPILOG = (
    "For a program that imports `paddle`: "
    "python -m paddle_jax -m paddle.distributed.launch --nproc_per_node 2 train.py"
)


def _settle(parser, found):
    """Fills in what follows from what was given, and refuses what cannot work."""
    if found.run_mode != "collective" or any(getattr(found, name) for name in _SERVERS):
        parser.error("parameter servers are not there; run the program with --run_mode collective")
    found.notes = [
        f"--{name} has no meaning here and is ignored"
        for name in _IGNORED
        if getattr(found, name) is not None
    ]
    if found.ips:
        hosts = found.ips.split(",")
        found.nnodes, found.master = str(len(hosts)), found.master or f"{hosts[0]}:{found.start_port}"
        found.rank = found.rank if found.rank >= 0 else _place(parser, hosts, found.host)
    first, _, last = found.nnodes.partition(":")
    if not first.isdigit() or int(first) < 1:
        parser.error(f"--nnodes: got {found.nnodes!r}; it must be a positive number")
    if last and last != first:
        found.notes.append(
            f"--nnodes {found.nnodes}: the number of machines does not change here; {first} are used"
        )
    found.nnodes = int(first)
    found.devices = _devices(parser, found.devices)
    found.nproc = found.nproc_per_node if found.nproc_per_node is not None else len(found.devices) or 1
    if found.nproc < 1:
        parser.error(f"--nproc_per_node: got {found.nproc_per_node}; it must be positive")
    if found.devices and len(found.devices) % found.nproc:
        parser.error(
            f"--nproc_per_node: got {found.nproc} for the {len(found.devices)} accelerators "
            f"{found.devices}; it must divide their number"
        )
    if found.nnodes > 1 and (not found.master or not 0 <= found.rank < found.nnodes):
        parser.error(
            "several machines need --master host:port, the same on all, and --rank 0 to "
            f"{found.nnodes - 1}, another on each"
        )
    found.rank = max(found.rank, 0)
    _script(parser, found)
    _meeting_place(parser, found)
    cores = os.cpu_count() or 1
    if not found.devices and found.nproc > cores:
        found.notes.append(
            f"{found.nproc} processes share {cores} cores: they will wait for each other; fewer are faster"
        )


def _place(parser, hosts, host):
    """The place of this machine among several."""
    known = {host, socket.gethostname()} - {None}
    try:
        known |= {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}
    except OSError:
        known.add("127.0.0.1")
    mine = [i for i, each in enumerate(hosts) if each in known]
    if len(hosts) == 1:
        return 0
    if len(mine) != 1:
        parser.error(
            f"--ips: got {','.join(hosts)}; this machine is {', '.join(sorted(known))}, "
            "none of them; name it by --host or --rank"
        )
    return mine[0]


def _devices(parser, given):
    """The accelerators to use, by number."""
    if given:
        if not all(part.strip().isdigit() for part in given.split(",")):
            parser.error(f"--devices: got {given!r}; it must be numbers such as 0,1")
        return [int(part) for part in given.split(",")]
    if os.environ.get("JAX_PLATFORMS", "").startswith("cpu"):
        return []
    return sorted(int(file.name.removeprefix("nvidia")) for file in Path("/dev").glob("nvidia[0-9]*"))


def _script(parser, found):
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


def _meeting_place(parser, found):
    """Refuses a --master that cannot be used."""
    if not found.master:
        return
    host, _, port = found.master.removeprefix("http://").rpartition(":")
    if not host or not port.isdigit():
        parser.error(f"--master: got {found.master!r}; it must be host:port")
    found.master = f"{host}:{port}"
    try:
        socket.getaddrinfo(host, int(port))
    except OSError as error:
        parser.error(f"--master: {host} is not known on this machine ({error}); give its address")
    if found.rank == 0 and not _free(int(port)):
        parser.error(
            f"--master: port {port} of this machine is in use; name another one, or end what listens there"
        )


def _free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
