"""Writes the signatures of Paddle's C++ functions, `paddle_jax/framework/model_files/c_signatures.txt`, read
off the headers in the real Paddle's wheel. Beside them, `legacy_slots.txt` has the names that operands and
results have in older programs, as the real Paddle lists them.

    python tools/c_signatures.py

The form of a line is told in `paddle_jax/framework/model_files/c_calls.py`. OTHERS are functions that the
headers do not have, or have with other arguments: gradients that libraries call, and public functions that
became C++ functions with their public arguments.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "paddle_jax/framework/model_files/c_signatures.txt"
KINDS = {
    "Tensor": "t",
    "paddle::optional<Tensor>": "o",
    "std::vector<Tensor>": "l",
    "paddle::optional<std::vector<Tensor>>": "lo",
    "IntArray": "n",
    "Scalar": "s",
    "DataType": "d",
}
SLOTS = OUT.with_name("legacy_slots.txt")
LIST_SLOTS = """
from paddle import _legacy_C_ops as old
names, kinds, results = (
    old.get_core_ops_args_info(), old.get_core_ops_args_type_info(), old.get_core_ops_returns_info()
)
for op in sorted(names):
    inputs = [one + "*" * (kind == "list") for one, kind in zip(names[op], kinds[op])]
    print(op, ",".join(inputs), ",".join(results[op]), sep="|")
"""
NAMES = "import paddle; print('\\n'.join(dir(paddle._C_ops)))"
OTHERS = """argmax:1 x:t axis:s=None keepdim:a=False dtype:d='int64'
argmin:1 x:t axis:s=None keepdim:a=False dtype:d='int64'
expand_as:1 x:t y:o target_shape:a=[]
gather_grad:1 x:t index:t out_grad:t axis:s=0
logsumexp:1 x:t axis:a=[] keepdim:a=False reduce_all:a=False
matmul_grad:2 x:t y:t out_grad:t transpose_x:a=False transpose_y:a=False
put_along_axis_grad:2 arr:t indices:t values:t out:t out_grad:t axis:a reduce:a include_self:a=True
reshape_grad:1 x:t out_grad:t
swiglu_grad:2 x:t y:o out_grad:t
topk_grad:1 x:t indices:t out_grad:t k:s axis:a largest:a sorted:a"""


def parts(text):
    """The pieces between the commas that stand in no bracket."""
    found, depth, start = [], 0, 0
    for k, char in enumerate(text):
        depth += (char in "<({") - (char in ">)}")
        if char == "," and not depth:
            found.append(text[start:k])
            start = k + 1
    return [piece.strip() for piece in [*found, text[start:]] if piece.strip()]


def literal(text):
    """A C++ default as Python has it."""
    if text in ("true", "false"):
        return text.capitalize()
    if text[0] == '"':
        return repr(text[1:-1])
    if text[0] == "{":
        return f"[{text[1:-1].replace(' ', '')}]"
    if text.startswith("DataType::"):
        return repr(text[10:].lower())
    fixed = {
        "paddle::none": "None",
        "CPUPlace()": "None",
        "INT64_MAX": str(2**63 - 1),
        "1.0f/3": repr(1 / 3),
        "1.0f/8": "0.125",
    }
    return fixed.get(text) or re.sub(r"[fL]$", "", text)


def line(result, name, arguments):
    """A line of the table, None for what has a default that is no literal."""
    count = (
        len(parts(result[11:-1]))
        if result.startswith("std::tuple")
        else "l"
        if result.startswith("std::vector")
        else 1
    )
    words = [f"{name}:{count}" + "i" * ("Tensor&" in result or "Tensor>&" in result)]
    for text in parts(arguments):
        typed, _, default = (piece.strip() for piece in text.partition("="))
        kind, one = re.fullmatch(r"(.*?)(\w+)", typed, re.DOTALL).groups()
        if "predefined_out" in default:
            return None
        if one != "predefined_out":
            kind = KINDS.get(kind.replace("const ", "").rstrip("& "), "a")
            words.append(f"{one}:{kind}" + (f"={literal(default)}" if default else ""))
    return " ".join(words)


def printed(code):
    """What a program prints under the real Paddle."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def main():
    names = set(printed(NAMES).split())
    headers = Path(importlib.util.find_spec("paddle").origin).parent / "include/paddle/phi/api/include"
    found = {}
    for file in ("api.h", "fused_api.h"):
        text = re.sub(r"//.*", "", (headers / file).read_text())
        for result, name, arguments in re.findall(
            r"PADDLE_API\s+([^;(]+?)\s+(\w+)\(((?:[^()]|\([^()]*\))*)\)\s*;", text
        ):
            if name in names:
                found[name] = line(" ".join(result.split()), name, arguments)
    found |= {text.partition(":")[0]: text for text in OTHERS.splitlines()}
    lines = sorted(filter(None, found.values()))
    OUT.write_text("\n".join(lines) + "\n")
    slots = printed(LIST_SLOTS)
    SLOTS.write_text(slots)
    print(f"{OUT.name}: {len(lines)} functions; {SLOTS.name}: {len(slots.splitlines())} operations")


if __name__ == "__main__":
    main()
