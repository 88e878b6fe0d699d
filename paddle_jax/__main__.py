"""`python -m paddle_jax script.py [args]`, `-m module [args]` or `-c code [args]`: runs a program in which
`import paddle` is paddle_jax. `python -m paddle_jax check`: says what is installed and whether it works.
`python -m paddle_jax compare script.py`: where it differs from Paddle.
`python -m paddle_jax compile script.py`: what it needs on a chip that is not there.
`python -m paddle_jax warm script.py`: fills the compile cache for later runs."""

import argparse
import builtins
import functools
import io
import os
import pathlib
import runpy
import sys
import types
import zipfile
from collections.abc import Callable
from importlib.machinery import SourceFileLoader

_USAGE = """usage: python -m paddle_jax script.py [args]
       python -m paddle_jax -m module [args]
       python -m paddle_jax -c code [args]
       python -m paddle_jax check [--target v5e]
       python -m paddle_jax compare script.py [args]
       python -m paddle_jax compile script.py --target h100 [args]
       python -m paddle_jax warm script.py [args]
       python -m paddle_jax --version
Runs a program written for PaddlePaddle: `import paddle` in it, and in every library it uses, gives
paddle_jax.
`check` prints versions, devices, memory and the cache directory, and trains a small network on each device.
With `--target` it compiles one for a chip that is not there.
`compare` runs a script with the real Paddle too, and reports the first call that gives something else.
`compile` runs a script here, and reports what its compiled programs need on another chip.
`warm` runs a script, and compiles what recurs in it into the cache, which later runs of it load."""


def main(argv):
    """Runs the program that the arguments name; returns the exit status for wrong usage."""
    from paddle_jax.alias import Main, install_as_paddle

    if not argv or argv[0] in ("-h", "--help") or (argv[0] in ("-m", "-c") and len(argv) < 2):
        if argv and argv[0] in ("-h", "--help"):
            return _print(_USAGE)
        print(_USAGE, file=sys.stderr)
        return 2
    command = _command(argv)
    if command is not None:
        return command()
    install_as_paddle()
    sys.modules["__mp_main__"] = Main("__mp_main__")
    sys.excepthook = functools.partial(_hide_frames, sys.excepthook)
    if argv[0] == "-m":
        sys.argv = [argv[1], *argv[2:]]
        sys.path[0] = str(pathlib.Path.cwd())
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    elif argv[0] == "-c":
        sys.argv = ["-c", *argv[2:]]
        _run(argv[1], "<string>")
    else:
        if not pathlib.Path(argv[0]).exists():
            print(f"python -m paddle_jax: {argv[0]} does not exist", file=sys.stderr)
            return 2
        sys.argv = list(argv)
        sys.path[0] = str(pathlib.Path(argv[0]).resolve().parent)
        if pathlib.Path(argv[0]).is_file() and not zipfile.is_zipfile(argv[0]):
            # the file as Python calls it: absolute, links and dots as they are
            path = os.path.join(os.getcwd(), argv[0])  # noqa: PTH109,PTH118
            with io.open_code(path) as file:
                _run(
                    file.read(),
                    path,
                    __file__=path,
                    __loader__=SourceFileLoader("__main__", path),
                    __cached__=None,
                )
        else:
            runpy.run_path(argv[0], run_name="__main__")
    return 0


def _command(argv: list[str]) -> Callable[[], int] | None:
    """The command that the arguments name, or None where they name a program."""
    name = argv[0]
    if name == "--version":
        return _print_version
    if pathlib.Path(name).exists():
        return None
    commands = {"check": _check, "compare": _compare, "compile": _compile, "warm": _warm}
    if name in commands:
        return functools.partial(commands[name], argv[1:])
    return None


def _check(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m paddle_jax check",
        description="says what is installed, and trains a small network on each device",
    )
    parser.add_argument("--target", help="compile one for this chip instead, such as v5e or h100")
    target = parser.parse_args(argv).target
    if target is None:
        from paddle_jax.utils.install_check import check

        return check()
    from paddle_jax.aot.commands import check_target

    return check_target(target)


def _compare(argv: list[str]) -> int:
    from paddle_jax.compare import main as compare

    return compare(argv)


def _compile(argv: list[str]) -> int:
    from paddle_jax.aot.commands import compile_script

    return compile_script(argv, main)


def _warm(argv: list[str]) -> int:
    from paddle_jax.utils.cache_warming import warm

    return warm(argv, main)


def _print_version() -> int:
    return _print(_version_text())


def _print(text: str) -> int:
    """Prints a text for a reader that may have gone, such as `head`; returns the exit status."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The interpreter writes what is left at its end, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _version_text() -> str:
    """Versions of the distribution and of Paddle's API."""
    from importlib import metadata

    from paddle_jax import version

    return f"paddle_jax {metadata.version('paddle_jax')} (Paddle API {version.full_version})"


def console() -> None:
    """The command `paddle-jax`."""
    sys.exit(main(sys.argv[1:]))


def _run(source, name, **attributes):
    """Runs a program as `__main__`, which it stays, for `python -i` and for what runs at the end."""
    sys.modules["__main__"] = program = types.ModuleType("__main__")
    program.__dict__.update(attributes, __builtins__=builtins)
    # running the user's code is the purpose
    exec(compile(source, name, "exec", dont_inherit=True), program.__dict__)  # noqa: S102


def _hide_frames(show, kind, error, trace):
    """Shows what a program has raised, from its own first line on."""
    entry = trace
    while entry is not None and entry.tb_frame.f_code.co_filename != __file__:
        entry = entry.tb_next
    trace = entry or trace  # the script `paddle-jax` calls this file
    while trace is not None and (
        trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__)
        or "frozen runpy" in str(trace.tb_frame)
    ):
        trace = trace.tb_next
    show(kind, error.with_traceback(trace), trace)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
