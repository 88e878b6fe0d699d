"""Runs programs as a notebook does: cell by cell in one fresh namespace, and shows the value of
every expression.

    python -m tests.programs.notebook ENGINE RESULTS.json PROGRAM.py ...

ENGINE is `paddle` or `paddle_jax`; with the latter `import paddle` gives paddle_jax. A cell begins with a
line `# %% name`; `# %% again name` runs an earlier cell once more. Each program runs in a fork, in an empty
folder, within a time limit; an exception ends its cell and shows as its builtin classes. The results are
{program: [[name of the cell, what it showed, traceback or nothing], ...]}.
"""

import ast
import contextlib
import importlib
import io
import json
import linecache
import os
import re
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

from tests.cpu import with_bfloat16

SECONDS = 120  # for one program
ANY = ("Exception", "BaseException", "object")


def cells(text):
    """[(name, source)] of a program."""
    parts = re.split(r"(?m)^# %%(.*)\n", text)
    found, named = [], {}
    for title, source in zip(parts[1::2], parts[2::2], strict=True):
        title = title.strip()
        source = named[title.removeprefix("again ")] if title.startswith("again ") else source
        named[title] = source
        found.append((title, source))
    return found


def show_cell(source, name, space):
    """What a cell prints, with the value of each of its expressions; the traceback too when it raises."""
    shown, trouble = io.StringIO(), ""
    # inspect.getsource finds it
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    with contextlib.redirect_stdout(shown):
        try:
            for statement in ast.parse(source, name).body:
                if isinstance(statement, ast.Expr):
                    value = eval(compile(ast.Expression(statement.value), name, "eval"), space)
                    if value is not None:
                        space["_"] = value
                        print(repr(value))
                else:
                    exec(compile(ast.Module([statement], []), name, "exec"), space)
        except Exception as error:
            print(
                "raises",
                *[
                    kind.__name__
                    for kind in type(error).__mro__
                    if kind.__module__ == "builtins" and kind.__name__ not in ANY
                ],
            )
            trouble = traceback.format_exc()[-800:]
    return shown.getvalue(), trouble


def run(file, out):
    """Runs a program in this process and writes what it showed after each cell, so that a crash leaves
    what was before."""
    signal.alarm(SECONDS)
    space, found = {"__name__": "__main__"}, []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, (title, source) in enumerate(cells(Path(file).read_text())):
            found.append([title, *show_cell(source, f"/tmp/ipykernel/{Path(file).stem}_{number}.py", space)])
            out.write_text(json.dumps(found))
        os.chdir("/")


def main(engine, results, *files):
    """Runs the programs one after another."""
    warnings.simplefilter("ignore")
    module = importlib.import_module(engine)
    if engine == "paddle":
        with_bfloat16(module)
    else:
        module.install_as_paddle()
    found = {}
    for file in files:
        part = Path(results).with_suffix(".part")
        part.write_text("[]")
        child = os.fork()
        if not child:
            code = 1
            try:
                run(file, part)
                code = 0
            finally:
                sys.stdout.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        ended = os.waitstatus_to_exitcode(status)
        found[Path(file).stem] = json.loads(part.read_text()) + (
            [["end", f"the process ended with {ended}\n", ""]] if ended else []
        )
    Path(results).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
