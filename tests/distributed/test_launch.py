"""The launcher and `spawn`: what processes are told, logs, exit status, signals, and that nothing
is left running.

Unit tests of `_launch`.
"""

import os
import runpy
import signal
import subprocess
import sys
import time

import pytest

from tests.distributed import pairs


def launched(folder, *args, script="failing.py", alias=False, seconds=90):
    """A finished launcher of two processes; log files are in `folder`."""
    module = (
        ["-m", "paddle_jax", "-m", "paddle.distributed.launch"]
        if alias
        else ["-m", "paddle_jax.distributed.launch"]
    )
    command = [
        sys.executable,
        *module,
        "--nproc_per_node",
        "2",
        "--log_dir",
        str(folder),
        *args[:-1],
        str(pairs.PROGRAMS / script),
        args[-1],
    ]
    return subprocess.run(
        command,
        env=pairs.environment(PADDLE_JAX_TRAINER="1"),
        capture_output=True,
        text=True,
        timeout=seconds,
    )


@pytest.mark.slow
def test_two_processes(tmp_path):
    done = launched(tmp_path, "none")
    assert done.returncode == 0, done.stderr
    assert "sum [2.0, 2.0, 2.0, 2.0]" in done.stdout and "over" in done.stdout
    assert all("over" in (tmp_path / f"workerlog.{i}").read_text() for i in range(2))
    told = [
        dict(line.split("=", 1) for line in (tmp_path / f"envlog.{i}").read_text().splitlines())
        for i in range(2)
    ]
    assert [each["PADDLE_TRAINER_ID"] for each in told] == ["0", "1"]
    assert (
        told[0]["PADDLE_TRAINER_ENDPOINTS"]
        == f"{told[0]['PADDLE_CURRENT_ENDPOINT']},{told[1]['PADDLE_CURRENT_ENDPOINT']}"
    )
    wanted = {
        "PADDLE_TRAINERS_NUM": "2",
        "PADDLE_GLOBAL_SIZE": "2",
        "PADDLE_LOCAL_SIZE": "2",
        "PADDLE_NNODES": "1",
        "PADDLE_RANK_IN_NODE": "1",
    }
    assert told[1].items() >= wanted.items() and told[1]["PADDLE_DISTRI_BACKEND"] == "gloo"
    assert "all processes have ended well" in (tmp_path / "default.pod0.log").read_text()


@pytest.mark.slow
def test_the_first_that_fails(tmp_path):
    done = launched(tmp_path, "exit")
    assert done.returncode == 5
    assert (
        "rank 1" in done.stderr
        and "exit status 5" in done.stderr
        and "rank 1 has failed (sys.exit(5))" in done.stdout
    )


@pytest.mark.slow
@pytest.mark.parametrize("what", ["exit 0, waits", "exit 0, ends", "exit 1, ends"])
def test_what_follows_from_a_failure_is_not_named(tmp_path, what):
    done = launched(tmp_path, what)
    assert done.returncode == 5, done.stderr
    assert f"rank {what[5]} (process" in done.stderr
    assert "was the first to end with exit status 5" in done.stderr


@pytest.mark.slow
def test_a_failure_on_another_machine_is_named(tmp_path):
    """Two launchers stand for machines. The process of the first one fails; the other one follows."""
    options = ["--nnodes", "2", "--master", f"127.0.0.1:{pairs.free_port()}", "--log_dir"]
    launchers = [
        subprocess.Popen(
            [sys.executable, "-m", "paddle_jax.distributed.launch", "--rank", str(rank), *options]
            + [str(tmp_path / str(rank)), str(pairs.PROGRAMS / "failing.py"), "exit 0, waits"],
            env=pairs.environment(PADDLE_JAX_TRAINER="1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=60)[1] for process in launchers]
    assert launchers[0].returncode == 5 and launchers[1].returncode == 1, said
    for text in said:
        assert "rank 0 (process" in text and "was the first to end with exit status 5" in text


@pytest.mark.slow
def test_starting_again(tmp_path):
    done = launched(tmp_path, "--elastic_level", "1", "--max_restart", "1", "first")
    assert done.returncode == 0, done.stderr
    assert "the first time" in done.stderr and "restart 0" in done.stdout and "restart 1" in done.stdout


@pytest.mark.slow
def test_signals_reach_all_and_nothing_is_left(tmp_path):
    command = [
        sys.executable,
        "-m",
        "paddle_jax.distributed.launch",
        "--nproc_per_node",
        "2",
        "--log_dir",
        str(tmp_path),
    ]
    process = subprocess.Popen(
        [*command, str(pairs.PROGRAMS / "failing.py"), "sleep"],
        env=pairs.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        limit, logs = time.monotonic() + 60, [tmp_path / f"workerlog.{i}" for i in range(2)]
        while not all(log.exists() and "sleeps" in log.read_text() for log in logs):
            assert time.monotonic() < limit and process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
    pids = [
        int(word)
        for log in logs
        for line in log.read_text().splitlines()
        if line.startswith("sleeps")
        for word in line.split()[1:]
    ]
    assert len(pids) >= 4 and not [pid for pid in pids if pid and _runs(pid)]


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
        return file.read().rpartition(")")[2].split()[0] != "Z"  # an orphan that nobody has reaped yet


def test_under_the_older_name(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["launch", "--nproc_per_node", "2", "absent.py"])
    # Another test may have imported it.
    monkeypatch.delitem(sys.modules, "paddle_jax.distributed.fleet.launch", raising=False)
    with pytest.raises(SystemExit) as error:
        runpy.run_module("paddle_jax.distributed.fleet.launch", run_name="__main__")
    assert error.value.code == 2 and "absent.py: there is no such file" in capsys.readouterr().err


@pytest.mark.slow
def test_under_the_alias(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import paddle\npaddle.distributed.init_parallel_env()\nprint(paddle.__name__, "
        "'jax' in paddle.__file__)\n"
    )
    done = launched(tmp_path / "log", "none", script=script, alias=True)
    assert done.returncode == 0 and "paddle True" in done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("what", ["work", "raise"])
def test_spawn(what):
    command = [sys.executable, "-m", "paddle_jax", str(pairs.PROGRAMS / "spawning.py"), what]
    done = subprocess.run(command, env=pairs.environment(), capture_output=True, text=True, timeout=90)
    if what == "work":
        assert done.returncode == 0, done.stderr
        for text in ("ended [0, 0]", "[12.0, 12.0]", "queue [0, 1]"):
            assert text in done.stdout, text
    else:
        assert (
            done.returncode == 1 and "Exception: Process 1 terminated with the following error" in done.stderr
        )
        assert "ValueError: an error of the user" in done.stderr


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["nothing.py"], "there is no such file"),
        (["no_such_command"], "neither a Python file"),
        (["--nnodes", "2", "{script}"], "several machines need --master"),
        (["--nnodes", "x", "{script}"], "--nnodes: got 'x'"),
        (["--devices", "a", "{script}"], "--devices: got 'a'"),
        (["--devices", "0,1,2", "--nproc_per_node", "2", "{script}"], "it must divide"),
        (["--nproc_per_node", "-1", "{script}"], "must be positive"),
        (["--nproc_per_node", "0", "{script}"], "must be positive"),
        (["--run_mode", "elsewhere", "{script}"], "it must be collective, ps or rpc"),
        (["--servers", "a:1", "{script}"], "give both"),
        (["--servers", "a:1,a:1", "--trainers", "a:2", "{script}"], "a:1 twice"),
        (["--servers", "a", "--trainers", "a:2", "{script}"], "must be host:port,host:port"),
        (
            ["--servers", "h.x:1", "--trainers", "h.y:2", "{script}"],
            "got the addresses h.x, h.y; this machine",
        ),
        (["--servers", "a:1", "--trainers", "a:2", "--host", "b", "{script}"], "name one of them by --host"),
        (["--server_num", "0", "{script}"], "must be positive"),
        (["--server_num", "1", "--nnodes", "2", "--master", "127.0.0.1:1", "{script}"], "by --servers"),
        (["--no_such", "3", "{script}"], "unrecognized arguments"),
        (["--master", "127.0.0.1", "{script}"], "must be host:port"),
        (["--master", "127.0.0.1:{port}", "{script}"], "is in use"),
    ],
)
def test_wrong_arguments(args, text, capsys):
    import socket

    from paddle_jax._launch import arguments

    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(SystemExit) as error:
        names = {"script": __file__, "port": server.getsockname()[1]}
        arguments.parsed([arg.format(**names) for arg in args])
    assert error.value.code == 2 and text in capsys.readouterr().err


def test_arguments(monkeypatch):
    from paddle_jax._launch import arguments, job, pod
    from paddle_jax._launch.rendezvous import Meeting

    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    given = arguments.parsed(["--devices", "4,5,6,7", "--nproc_per_node", "2", __file__, "--x", "1"])
    assert given.training_script_args == ["--x", "1"] and given.nnodes == 1
    like_ours = ["--train", "--nproc_per_node=7", "--", "-h", "--master"]  # `--train` begins two of our names
    for options in ([], ["--nproc_per_node=1"], ["--nproc_per_node", "1", "--"]):
        assert arguments.parsed([*options, __file__, *like_ours]).training_script_args == like_ours
    own = pod.described(given, job.OneMachine(given).join())
    assert [each["FLAGS_selected_gpus"] for each in own] == ["4,5", "6,7"]
    several = arguments.parsed(
        [
            "--nnodes",
            "2:4",
            "--master",
            "127.0.0.1:1",
            "--rank",
            "1",
            "--nproc_per_node",
            "2",
            "--with_gloo",
            "1",
            __file__,
        ]
    )
    meeting = Meeting(1, 2, [f"10.0.0.{i // 2}:{7000 + i}" for i in range(4)], "10.0.0.0:6999")
    own = pod.described(several, meeting)
    assert [each["PADDLE_TRAINER_ID"] for each in own] == ["2", "3"]
    assert [each["PADDLE_CURRENT_ENDPOINT"] for each in own] == ["10.0.0.1:7002", "10.0.0.1:7003"]
    assert {each["PADDLE_MASTER"] for each in own} == {"10.0.0.0:6999"}
    assert (
        own[0]["PADDLE_TRAINER_ENDPOINTS"] == ",".join(meeting.endpoints) and own[0]["PADDLE_NNODES"] == "2"
    )
    assert len(several.notes) == 1 and arguments.parsed([__file__]).nproc == 1
    listed = arguments.parsed(["--ips", "10.0.0.1,127.0.0.1", "--host", "127.0.0.1", __file__])
    assert (listed.nnodes, listed.rank, listed.master) == (2, 1, "10.0.0.1:6070")


def test_spawn_refuses(paddle):
    with pytest.raises(ValueError, match="start_method"):
        paddle.distributed.spawn(print, start_method="fork")
    with pytest.raises(ValueError, match="allowed are"):
        paddle.distributed.spawn(print, other=1)
    with pytest.raises(ValueError, match="one for each of the 2 processes"):
        paddle.distributed.spawn(print, nprocs=2, gpus="0")


@pytest.mark.slow
def test_the_example_learns(tmp_path):
    pytest.importorskip("sklearn")
    done = launched(
        tmp_path,
        "--epochs=20",
        script=pairs.ROOT / "examples" / "digits_parallel.py",
        alias=True,
        seconds=200,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[-1].rpartition(" ")[2]) >= 0.96 and "2 processes" in done.stdout
