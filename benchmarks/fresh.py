"""A program in a fresh process with an empty compile cache."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def last_line(driver, module, *arguments, cache="off", **flags):
    """What the text of a program prints last, as JSON says it.

    Args:
        driver: the text.
        module: `paddle_jax` or `paddle`, the first argument of the program.
        arguments: its other arguments.
        cache: folder of the compile cache.
        flags: more variables of its environment.
    """
    env = {**os.environ, "FLAGS_compile_cache": cache, **flags}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "driver.py"  # Paddle reads the source of what it converts
        script.write_text(driver)
        command = [sys.executable, "-W", "ignore", str(script), module, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)[:60]} with {module}:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])
