"""What editors and type checkers know of a program that says `import paddle`: pyright, mypy, and pyright's
language server. They read the package and its stubs as an installation has them, without the real Paddle."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import jaxlib
import ml_dtypes
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
USER = Path(__file__).with_name("typed_program.py")
BIN = Path(sys.executable).parent
PACKAGES = f"env/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
KINDS = {  # what is asked in the program: its type for pyright, and for mypy where it differs
    "host": "ndarray[tuple[Any, ...], dtype[Any]]",
    "criterion(net(x), y)": "Tensor",
    "parts": "list[Tensor]",
    "values": "Tensor",
    "x.shape": "Size",
    "x.shape[0]": "int",
    "x[0]": "Tensor",
    "2 * x": "Tensor",
    "net(x)": "Tensor",
    "net.fc": "Linear",
    "nn.Linear(2, 3).weight": "Parameter",
    "nn.Linear(2, 3)(x)": "Tensor",
    "net.scale": "Parameter",
    "hidden": "Tensor",
    "opt": "AdamW",
    "schedule.get_lr()": "float",
    "loader": "DataLoader",
    "paddle.vision.models.resnet18()(x)": "Tensor",
    "paddle.float32": "DType",
    "paddle.__version__": "str",
}
# mypy takes what functions without annotations return, and attributes that they set, for Any
UNKNOWN_TO_MYPY = ("net(x)", "net.fc", "net.scale")
MISTAKES = {  # a line of a function of the Tensor `t`; what the checker says
    "t.summ()": 'attribute "summ"',
    "paddle.matmul(t, t, transpose_z=True)": '"transpose_z"',
    "paddle.tahn(t)": '"tahn"',
    "paddle.exp(t).bakward()": '"bakward"',
    "paddle.nn.functional.relu(x=t, axis=1)": '"axis"',
    "wrong: int = t.sum()": '"Tensor" is not assignable',
    "t.reshape([1]).mean(axes=0)": '"axes"',
    "paddle.linalg.norm(t).nrom": '"nrom"',
    "paddle.nn.Linear(2, 3)(t, t)": "positional argument",
    "paddle.nn.Linear(2)": '"out_features"',
}


@pytest.fixture
def folder(tmp_path):
    """A folder with an environment in which the package is installed, and Paddle is not."""
    packages = tmp_path / PACKAGES
    packages.mkdir(parents=True)
    for name in ("paddle_jax", "paddle-stubs"):
        (packages / name).symlink_to(ROOT / name)
    for module in (jax, jaxlib, ml_dtypes, np):
        found = Path(module.__file__).parent
        (packages / found.name).symlink_to(found)
    settings = {"venvPath": ".", "venv": "env", "typeCheckingMode": "standard"}
    # the stub package has no source by design
    settings["reportMissingModuleSource"] = "none"
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    return tmp_path


def command(name, extra="test"):
    """The path of a program beside Python's; the test is skipped without it."""
    if shutil.which(name, path=BIN) is None:
        pytest.skip(f"{name} is not installed: pip install 'paddle_jax[{extra}]'")
    return str(BIN / name)


def findings(folder, **files):
    """{file: [(line, severity, message)]} as pyright reports them with its standard rules."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    done = subprocess.run(
        [command("pyright"), "--outputjson", *[f"{name}.py" for name in files]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    found = {name: [] for name in files}
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        line = one["range"]["start"]["line"] + 1
        found[Path(one["file"]).stem].append((line, one["severity"], one["message"]))
    return found


def test_pyright(folder):
    bad = "import paddle\ndef g(t: paddle.Tensor):\n" + "".join(f"    {line}\n" for line in MISTAKES)
    found = findings(folder, good=USER.read_text(), bad=bad)
    kinds = dict(
        re.match(r'Type of "(.*)" is "(.*)"', message).groups()
        for _, severity, message in found["good"]
        if severity == "information"
    )
    assert [one for one in found["good"] if one[1] != "information"] == []
    assert kinds == KINDS
    said = {line - 3: message for line, severity, message in found["bad"] if severity == "error"}
    assert {
        line: want in said.get(number, "") for number, (line, want) in enumerate(MISTAKES.items())
    } == dict.fromkeys(MISTAKES, True), said


@pytest.mark.slow
def test_mypy(folder):
    (folder / "good.py").write_text(USER.read_text())
    # mypy reads stub packages of an environment, and asks its Python where they are: here a path names them
    (folder / "stubs").mkdir()
    (folder / "stubs" / "paddle").symlink_to(ROOT / "paddle-stubs")
    done = subprocess.run(
        [command("mypy"), "--no-color-output", "--no-error-summary", "--cache-dir", "cache", "good.py"],
        cwd=folder,
        env={"MYPYPATH": f"stubs:{folder / PACKAGES}", "PATH": str(BIN)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("good.py")]
    revealed = re.findall(r'^good.py:(\d+): note: Revealed type is "(.*)"$', done.stdout, re.MULTILINE)
    assert len(revealed) == len(lines), done.stdout + done.stderr
    source = USER.read_text().splitlines()
    kinds = {}
    for number, kind in revealed:
        asked = source[int(number) - 1].removeprefix("reveal_type(").removesuffix(")")
        kinds[asked] = re.sub(r"[\w.]+\.", "", kind)
    wanted = {**KINDS, **dict.fromkeys(UNKNOWN_TO_MYPY, "Any"), "host": kinds["host"]}
    assert kinds == wanted and kinds["host"].startswith("ndarray")
