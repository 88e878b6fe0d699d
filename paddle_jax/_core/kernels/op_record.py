"""What the world outside calls an operation: one record per op, given beside its declaration.

    @known_as(pir="hardtanh min>t_min:f32 max>t_max:f32", onnx="Clip", amp="clip")
    @op(cases=["f(2,3)", "f(2,3), min=-0.5, max=2.0"])
    def hardtanh(x, min=-1.0, max=1.0, name=None): ...

The texts are read when a file is written or loaded (`framework/model_files/records.py`), so a record costs
nothing at import.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

RECORDED = []  # the ops that have a record, in the order of their declaration
# {operation of Paddle's model files: the op that runs it}: of several that are written as it, one whose
# record says more than the name, and of those the one of the same name
READS = {}


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """The names and forms of an operation outside this package. All are optional: without any an op is
    autocast by its own name and saved as ours.

    What texts cannot say is code, which is imported when the first file is written or read.

    Attributes:
        amp, cast, pir, code, onnx, node, id, formerly, write, read: see the comment above each.
    """

    # its name in the lists of mixed precision, where it is not the op's own; a pair: with a Python number as
    # the last operand, and with a tensor (of convolutions: each channel on its own, and others)
    amp: str | tuple[str, str] = ""
    # what mixed precision does whatever the lists say: "never" casts, or always to "float32" (no kernels of
    # low precision); a number: of how many operands at most may get a low precision (statistics of norms,
    # biases of convolutions stay)
    cast: str | int = ""
    # the operation of Paddle's model files, written and read by this one text (its grammar:
    # `framework/model_files/records.py`). An op inside another one names the operation only, whose row
    # stands at the function that users call
    pir: str = ""
    # what the texts cannot say, "module:name": a Lowering in `framework/model_files/custom_lowerings`,
    # which is imported when a file is written or read
    code: str = ""
    # the node of ONNX and its attributes `[node's=]name` by their names in `pir`, or an expression of nodes,
    # "Mul(x, Sigmoid(x))" (`onnx/rules.py`); or a rule(g, op, *operands)
    onnx: str | Callable[..., Any] = ""
    # the node of the tape is called by this name
    node: str = ""
    # its name in files where Paddle has no such operation. Ops of the package have their own name, unless two
    # share it; others are saved if they have an id, and then loaded where they are declared
    id: str = ""
    # names it has had in such files
    formerly: tuple[str, ...] = ()
    # as functions, where the declaration is outside the package: how it is written, rule(w, attributes, out,
    # *operands), and read, rule(attributes, *operands)
    write: Callable[..., Any] | None = None
    read: Callable[..., Any] | None = None


OWN = {}  # {name in files of ours: op}; names it has had too
NONE = Record()  # of ops that say nothing
_NAMES = re.compile(r"[\w.|]*")


def known_as(**facts: Any) -> Callable[..., Any]:
    """Gives an op its Record; goes above `op` or `composite`.

    Args:
        facts: the fields of Record.
    """
    record = Record(**facts)

    def attach(public: Any) -> Any:
        op = public.op
        op.record = record
        RECORDED.append(op)
        # it matches every text
        for theirs in _NAMES.match(record.pir)[0].split("|"):  # pyright: ignore[reportOptionalSubscript]
            if theirs and (theirs not in READS or _claim(op, theirs) >= _claim(READS[theirs], theirs)):
                READS[theirs] = op
        OWN.update(dict.fromkeys((*([record.id] if record.id else []), *record.formerly), op))
        return public

    return attach


def _claim(op: Any, operation: str) -> tuple[Any, Any]:
    """Which of two ops that are written as one operation runs it: the greater."""
    return op.record.pir != operation, op.name == operation


def node_name(name: str) -> str:
    """What a node of the tape is called, by the name of its op."""
    return next((op.record.node for op in RECORDED if op.name == name and op.record.node), name)
