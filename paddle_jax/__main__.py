"""`python -m paddle_jax script.py [args]`, `-m module [args]` or `-c code [args]`: runs a program in which `import paddle` is paddle_jax.
`python -m paddle_jax check`: says what is installed and whether it works. `python -m paddle_jax compare script.py`: where it differs from Paddle."""

import pathlib
import runpy
import sys
import types

_USAGE = """usage: python -m paddle_jax script.py [args]
       python -m paddle_jax -m module [args]
       python -m paddle_jax -c code [args]
       python -m paddle_jax check
       python -m paddle_jax compare script.py [args]
Runs a program written for PaddlePaddle: `import paddle` in it, and in every library it uses, gives
paddle_jax.
`check` prints versions, devices, memory and the cache directory, and trains a small network on each device.
`compare` runs a script with the real Paddle too, and reports the first call that gives something else."""


def main(argv):
    """Runs the program that the arguments name; returns the exit status for wrong usage."""
    from paddle_jax.alias import Main, install_as_paddle

    if not argv or argv[0] in ("-h", "--help") or (argv[0] in ("-m", "-c") and len(argv) < 2):
        print(_USAGE, file=sys.stdout if argv and argv[0] in ("-h", "--help") else sys.stderr)
        return 0 if argv and argv[0] in ("-h", "--help") else 2
    if argv == ["check"] and not pathlib.Path("check").exists():
        from paddle_jax.utils.install_check import check

        return check()
    if argv[0] == "compare" and not pathlib.Path("compare").exists():
        from paddle_jax.compare import main as compare

        return compare(argv[1:])
    install_as_paddle()
    sys.modules["__mp_main__"] = Main("__mp_main__")
    if argv[0] == "-m":
        sys.argv = [argv[1], *argv[2:]]
        sys.path[0] = str(pathlib.Path.cwd())
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    elif argv[0] == "-c":
        sys.argv = ["-c", *argv[2:]]
        sys.modules["__main__"] = program = types.ModuleType("__main__")
        exec(compile(argv[1], "<string>", "exec"), program.__dict__)  # noqa: S102  running the user's code is the purpose
    else:
        if not pathlib.Path(argv[0]).exists():
            print(f"python -m paddle_jax: {argv[0]} does not exist", file=sys.stderr)
            return 2
        sys.argv = list(argv)
        sys.path[0] = str(pathlib.Path(argv[0]).resolve().parent)
        runpy.run_path(argv[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
