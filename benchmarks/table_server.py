"""How long pulls and pushes of rows take: one server in a process of its own, workers in others.

python benchmarks/table_server.py [--rows 16384] [--width 64] [--workers 1] [--rule sgd] [--tcp]
"""

import argparse
import json
import multiprocessing
import os
import statistics
import time

import numpy as np

from paddle_jax._launch.ports import free_ports
from paddle_jax.distributed.ps.client import Client
from paddle_jax.distributed.ps.server import TableServer
from paddle_jax.distributed.ps.table_spec import JobSpec, TableSpec
from paddle_jax.distributed.ps.tables import accessor_settings

TOKEN = "benchmark"
RULES = {
    "sgd": {"name": "sgd"},
    "adagrad": {"name": "adagrad", "epsilon": 1e-6, "initial": 0.0},
    "adam": {"name": "adam", "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
}


def job(given):
    """The JobSpec of the benchmark."""
    rule = RULES[given.rule] | {"factor": 1.0, "decay": 0.0}
    first = {"kind": "uniform", "low": -0.1, "high": 0.1}
    table = TableSpec(
        0, "rows", "sparse", given.width, rule, first, "", [], "MemorySparseTable", accessor_settings()
    )
    return JobSpec(given.workers, 1, "async", 1, 1000, 0, [table])


def serve(endpoint, given):
    """A server."""
    TableServer(0, [endpoint], given.workers, TOKEN, None).run()


def work(endpoint, number, given, results):
    """Milliseconds of the pulls and pushes of a worker."""
    client = Client([endpoint], number, job(given), TOKEN)
    if given.tcp:
        for connection in client._connections:
            connection._targets = [endpoint]
    client.start()
    table = client.job.tables[0]
    draw = np.random.default_rng(number)
    ids = np.unique(draw.integers(0, 1 << 40, given.rows))
    values = draw.normal(size=(len(ids), given.width)).astype(np.float32)
    client.push(table, ids, values, 0.1, 0)  # makes the rows
    pulls = []
    pushes = []
    for step in range(1, given.steps + 1):
        client.advance(step)
        begin = time.perf_counter()
        client.pull(table, ids, None)
        middle = time.perf_counter()
        client.push(table, ids, values, 0.1, step)
        pulls.append(1e3 * (middle - begin))
        pushes.append(1e3 * (time.perf_counter() - middle))
    results.put((pulls, pushes))
    client.stop()


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("rows", 16384), ("width", 64), ("workers", 1), ("steps", 50)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--rule", choices=RULES, default="sgd")
    parser.add_argument("--tcp", action="store_true", help="not by a Unix socket")
    given = parser.parse_args()
    endpoint = f"127.0.0.1:{free_ports(1)[0]}"
    context = multiprocessing.get_context("spawn")  # gRPC does not survive a fork
    results = context.SimpleQueue()
    processes = [context.Process(target=serve, args=(endpoint, given))]
    processes += [
        context.Process(target=work, args=(endpoint, number, given, results))
        for number in range(given.workers)
    ]
    for process in processes:
        process.start()
    found = [results.get() for _ in range(given.workers)]
    for process in processes:
        process.join()
    report = {"rows": given.rows, "width": given.width, "workers": given.workers, "rule": given.rule}
    for name, times in zip(("pull", "push"), zip(*found, strict=True), strict=True):
        every = sorted(sum(times, []))
        report[f"{name} ms, median"] = round(statistics.median(every), 1)
        report[f"{name} ms, least"] = round(every[0], 1)
        rate = given.workers * given.rows / statistics.median(every)
        report[f"{name} million ids/s"] = round(rate / 1e3, 2)
    report["load"] = round(os.getloadavg()[0], 1)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
