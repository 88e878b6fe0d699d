"""What editors and type checkers know of a program that says `import paddle`.

Asked are pyright, mypy, and pyright's language server with the calls that an editor makes. They read the
package and its stubs as an installation has them, without the real Paddle.
"""

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

from tests.ops import harness
from tests.ops.table import OPS, find, public_path
from tests.tools.language_server import LanguageServer
from tools.argument_kinds import samples_of

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

PROGRAM = """import paddle
import paddle.nn.functional as F
x = paddle.ones([2])
x.sum(axis=0)
paddle.sum(x, 0)
F.relu(x)
layer = paddle.nn.Linear(2, 3)
y = layer(x)
x.reshape(2, 1)
x.backward()
layer.weight
x.shape
paddle.vision.models.resnet18()
x.mea
F.soft
layer.
"""
HOVER = {  # a line; the text before the pointer; parts of what an editor shows there
    "x.sum(axis=0)": ("x.su", "axis: int", "-> Tensor", "Sums elements", "Returns:"),
    "paddle.sum(x, 0)": ("paddle.su", "x: Tensor", "-> Tensor", "Sums elements"),
    "F.relu(x)": ("F.re", "x: Tensor", "positive elements"),
    "layer = paddle.nn.Linear(2, 3)": ("nn.Lin", "in_features: int", "x @ weight + bias"),
    "y = layer(x)": ("y = la", "input: Tensor", "-> Tensor"),
    "x.reshape(2, 1)": ("x.resh", "shape: int", "*shape: int | Tensor", "Gives"),
    "x.backward()": ("x.back", "grad_tensor: Tensor | None", "Computes gradients"),
    "layer.weight": ("layer.we", "weight: Parameter"),
    "x.shape": ("x.sh", "shape: Size", "lengths of the axes"),
    "paddle.vision.models.resnet18()": ("models.res", "-> ResNet", "18 layers"),
}
LEFT_OPEN = ("getitem",)  # declared with names, but users write brackets


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


# what samples of operations call to make Tensors
MAKERS = "f d h bf i i_ i32 u8 i8 i16 b c c128 pos pos_d pos_i pos_i32 u ud idx idx32 perm const spd".split()


def calls_that_paddle_accepts(oracle):
    """The samples of all operations that the real Paddle runs, as calls of public names."""
    for name, op in sorted(OPS.items()):
        path = public_path(name)
        if path is None or name in LEFT_OPEN:
            continue
        try:
            function = find(oracle, path)
        except AttributeError:
            continue  # only here
        for sample in samples_of(op):
            if harness.evaluate(oracle, function, sample.text).error is None:
                yield f"paddle.{path}({sample.text})".replace("\n", " ")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_arguments_that_paddle_accepts(folder, oracle):
    head = ["import numpy as np", "import paddle", "from typing import Any"]
    head += [f"def {name}(*a: Any) -> paddle.Tensor: ..." for name in MAKERS]
    calls = list(calls_that_paddle_accepts(oracle))
    found = findings(folder, calls="\n".join([*head, *calls]))
    assert len(calls) > 3000
    assert {calls[line - len(head) - 1]: message for line, _, message in found["calls"]} == {}


@pytest.fixture
def server(folder):
    """Pyright's language server, with a program open."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    with LanguageServer([command("pyright-langserver"), "--stdio"], program) as running:
        yield running


def test_hover(server):
    for line, (text, *wanted) in HOVER.items():
        shown = server.hover(line, text)
        assert [part for part in wanted if part not in shown] == [], shown


def test_completion(server):
    assert {"mean", "median"} <= server.completions("x.mea", "x.mea").keys()
    assert {"softmax", "softplus"} <= server.completions("F.soft", "F.soft").keys()
    assert {"weight", "bias", "forward"} <= server.completions("layer.", "layer.").keys()


def test_signature(server):
    shown = server.signature("x.sum(axis=0)", "x.sum(")
    names = [parameter["label"].partition(":")[0] for parameter in shown["parameters"]]
    assert names == ["axis", "dtype", "keepdim", "name", "*", "out"]
    shown = server.signature("y = layer(x)", "layer(")
    assert [parameter["label"] for parameter in shown["parameters"]] == ["input: Tensor"]


def test_definition(server):
    sources = {}
    for line, text in (("F.relu(x)", "F.re"), ("layer = paddle.nn.Linear(2, 3)", "nn.Lin")):
        address, number = server.definitions(line, text)[-1]
        source = ROOT / address.partition(f"{PACKAGES}/")[2]
        sources[text] = source.read_text().splitlines()[number - 1].partition("(")[0]
    assert sources == {"F.re": "def relu", "nn.Lin": "class Linear"}


@pytest.mark.slow
def test_mypy(folder):
    (folder / "good.py").write_text(USER.read_text())
    # mypy reads stub packages of an environment, and asks its Python where they are: here a path names them
    (folder / "stubs").mkdir()
    (folder / "stubs" / "paddle").symlink_to(ROOT / "paddle-stubs")
    # Jax has 300 000 lines; none of the types that are asked for is one of its. Errors in installed packages
    # are silent for mypy, as they are in an environment.
    settings = "[mypy]\n[mypy-jax.*,jaxlib.*]\nfollow_imports = skip\n"
    settings += "[mypy-paddle_jax.*]\nfollow_imports = silent\n"
    (folder / "mypy.ini").write_text(settings)
    # libraries that the package imports lazily, such as Ray, have no part in the answers
    options = ["--no-site-packages", "--no-color-output", "--no-error-summary", "--cache-dir", "cache"]
    done = subprocess.run(
        [command("mypy"), *options, "good.py"],
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
