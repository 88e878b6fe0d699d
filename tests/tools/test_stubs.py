"""The type stubs: up to date, and right for a program as people write it and for one with mistakes."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
USER = Path(__file__).with_name("typed_program.py")
MISTAKES = {  # a line of a function of the Tensor `t`; what the checker says
    "t.summ()": 'attribute "summ"',
    "paddle.matmul(t, t, transpose_z=True)": '"transpose_z"',
    "paddle.tahn(t)": '"tahn"',
    "paddle.exp(t).bakward()": '"bakward"',
    "paddle.nn.functional.relu(x=t, axis=1)": '"axis"',
    "wrong: int = t.sum()": '"Tensor" is not assignable',
    "t.reshape([1]).mean(axes=0)": '"axes"',
    "paddle.linalg.norm(t).nrom": '"nrom"',
}


def findings(folder, **files):
    """{file: [(line, severity, message)]} as pyright reports them with its standard rules."""
    if shutil.which("pyright", path=Path(sys.executable).parent) is None:
        pytest.skip("pyright is not installed: pip install 'paddle_jax[test]'")
    (folder / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "standard", "extraPaths": [str(ROOT)]})
    )
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    command = [
        Path(sys.executable).parent / "pyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        *[f"{name}.py" for name in files],
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    found = {name: [] for name in files}
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        found[Path(one["file"]).stem].append(
            (one["range"]["start"]["line"] + 1, one["severity"], one["message"])
        )
    return found


def test_programs_are_checked(tmp_path):
    bad = "import paddle_jax as paddle\ndef g(t: paddle.Tensor):\n" + "".join(
        f"    {line}\n" for line in MISTAKES
    )
    found = findings(tmp_path, good=USER.read_text(), bad=bad)
    kinds = dict(
        re.match(r'Type of "(.*)" is "(.*)"', message).groups()
        for _, severity, message in found["good"]
        if severity == "information"
    )
    assert [one for one in found["good"] if one[1] != "information"] == []
    assert kinds.pop("paddle.sum").startswith("(x: Any, axis: Any = None") and kinds.pop("host").startswith(
        "ndarray"
    )
    assert kinds == {
        "loss": "Tensor",
        "parts": "list[Tensor]",
        "x.shape": "Size",
        "values": "Tensor",
        "x[0]": "Tensor",
        "2 * x": "Tensor",
    }
    said = {line - 3: message for line, severity, message in found["bad"] if severity == "error"}
    assert {
        line: want in said.get(number, "") for number, (line, want) in enumerate(MISTAKES.items())
    } == dict.fromkeys(MISTAKES, True), said


@pytest.mark.slow
@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the stubs are written with the lowest version of Python"
)
def test_up_to_date():
    done = subprocess.run(
        [sys.executable, "tools/stubs.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:] + "run tools/stubs.py"
