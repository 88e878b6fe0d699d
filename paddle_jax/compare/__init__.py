"""`python -m paddle_jax compare script.py`: where a program comes to differ between the real Paddle
and this package.

Where the real Paddle is installed, runs a script with both, each in a process of its own, follows every call
of Paddle's functions, methods and layers, and reports the first whose value, dtype, shape, exception or
gradient differs, with its line. Parameters begin with the real Paddle's values, random functions give its
numbers, dropout and mixed precision are off, and compiled functions run as plain Python, so that what differs
is a difference.
"""

from __future__ import annotations


from typing import Any
import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

from paddle_jax.alias import environment_before


def compare(script: Any, args: Any = (), factor: float = 1.0, timeout: Any = None) -> Any:
    """Runs a script with both engines.

    Args:
        script: path of a Python program that imports `paddle`.
        args: its arguments.
        factor: number that the tolerances are multiplied by: 1e-4 of the largest number for float32, 1e-8 for
            float64, 1e-2 for float16, 3e-2 for bfloat16; integers must be equal.
        timeout: seconds for each of the two runs, or None.
    Returns:
        dict: `difference` (a sentence, or None), `calls` (how many calls agree), `last` (the last of them),
        `without` (what the program was run without), `paddle` and `paddle_jax` (exit status and the end of
        what was printed).
    Raises:
        ModuleNotFoundError: the real Paddle is not installed.
        subprocess.TimeoutExpired: a run takes longer than `timeout`.
    Example:
        >>> paddle.compare.compare("missing.py")["paddle"]["status"]  # doctest: +SKIP
        1
    """
    if importlib.util.find_spec("paddle") is None:
        raise ModuleNotFoundError(
            "compare needs the real Paddle beside paddle_jax: pip install paddlepaddle==3.3.1"
        )
    with tempfile.TemporaryDirectory() as folder:
        record = str(pathlib.Path(folder) / "record")
        found = {}
        for engine in ("paddle", "paddle_jax"):
            command = [
                sys.executable,
                "-W",
                "ignore",
                "-m",
                "paddle_jax.compare.child",
                engine,
                record,
                str(factor),
                str(script),
                *args,
            ]
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
                env=environment_before(),
            )
            found[engine] = {"status": done.returncode, "output": (done.stdout + done.stderr)[-4000:]}
        result = pathlib.Path(record + ".json")
        if result.exists():
            found |= json.loads(result.read_text())
        else:
            found |= {
                "difference": "the run with paddle_jax ended before its first call",
                "calls": 0,
                "last": "",
                "without": [],
            }
        return found


def main(argv: Any) -> int:
    """The command; returns 0 where both agree, 1 where they differ, 2 for wrong usage or where
    nothing was compared."""
    parser = argparse.ArgumentParser(prog="python -m paddle_jax compare", description=__doc__.splitlines()[0])
    parser.add_argument("--factor", type=float, default=1.0, help="multiplies the tolerances")
    parser.add_argument("script")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    given = parser.parse_args(argv)
    if not pathlib.Path(given.script).exists():
        print(f"python -m paddle_jax compare: {given.script} does not exist", file=sys.stderr)
        return 2
    try:
        found = compare(given.script, given.args, given.factor)
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    return _report(found)


def _report(found: Any) -> int:
    ours = found["paddle_jax"]
    theirs = found["paddle"]
    if found["without"]:
        print("compared without " + ", ".join(found["without"]))
    if found["difference"]:
        print(f"{found['calls']} calls agree. Then:\n{found['difference']}")
        if "run ended after" in found["difference"] and theirs["status"]:
            print(f"The real Paddle's run ended with status {theirs['status']}:\n{_end(theirs)}")
        return 1
    if ours["status"] != theirs["status"]:
        print(
            f"{found['calls']} calls agree; then the program ended with status {ours['status']}, "
            f"with the real Paddle {theirs['status']}. "
            f"The end of what it printed:\n{_end(ours if ours['status'] else theirs)}"
        )
        return 1
    if not found["calls"] and ours["status"]:
        print(f"nothing was compared: the program itself ends with status {ours['status']}:\n{_end(ours)}")
        return 2
    if not found["calls"]:
        print(
            "nothing was compared: no line of the program itself calls a function that gives Tensors; what "
            "Model.fit and other functions of Paddle call inside is not followed, so write that loop out"
        )
        return 2
    print(f"all {found['calls']} calls agree")
    if ours["status"]:
        print(f"Both ended with status {ours['status']}; the last lines:\n{_end(ours)}")
    return 0


def _end(run: Any) -> str:
    """The end of what a run printed, without the frames that started it and without what JAX
    says about its own."""
    lines = [line for line in run["output"].splitlines() if "JAX has removed its internal frames" not in line]
    while lines and not lines[-1].strip(" -"):
        lines.pop()
    started = [
        i for i, line in enumerate(lines) if "paddle_jax/compare/child.py" in line or "<frozen runpy>" in line
    ]
    if started:
        first = next(
            (i for i in range(started[-1] + 1, len(lines)) if lines[i].lstrip().startswith("File ")),
            started[-1] + 1,
        )
    else:
        first = 0
    return "\n".join(lines[first:][-30:])
