"""One run of a program, by one of the engines: `python -m paddle_jax.compare.child paddle|paddle_jax FILE
FACTOR script.py [args]`."""

from __future__ import annotations

import importlib
import json
import pathlib
import random
import runpy
import sys
from typing import Any

import numpy as np

from paddle_jax.alias import install_as_paddle
from paddle_jax.compare.checking import Checking, Difference
from paddle_jax.compare.recorder import Recorder, Recording
from paddle_jax.compare.stream import Reader, Writer

WITHOUT: set[Any] = set()  # what the program uses and runs without here


def main(engine: Any, record: Any, factor: Any, script: Any, *args: Any) -> None:
    """Runs the script; ours writes what came of it beside the record."""
    if engine == "paddle":
        with Writer(record) as writer:
            _run(Recording(writer), script, args)
        return

    install_as_paddle()
    difference = None
    with Reader(record) as reader:
        listener = Checking(reader, float(factor))
        try:
            _run(listener, script, args)
        except Difference as found:
            difference = str(found)
        finally:
            report = {
                "difference": difference,
                "calls": listener.calls,
                "last": listener.last,
                "without": sorted(WITHOUT),
            }
            pathlib.Path(record + ".json").write_text(json.dumps(report))


def _run(listener: Any, script: Any, args: Any) -> None:
    paddle = importlib.import_module("paddle")  # the one or the other
    paddle.set_device("cpu")
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  what the program may draw from
    Recorder(paddle, listener, WITHOUT).install()
    sys.argv = [script, *args]
    sys.path[0] = str(pathlib.Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
