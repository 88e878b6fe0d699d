"""Runs programs in one way of saving, and counts what comes out."""

import collections
import dataclasses
import pathlib
import re
import warnings

import paddle_jax
from tests.jit.lengths.programs import generate
from tests.jit.lengths.reader import arrays_of, shown
from tests.jit.lengths.ways import WAYS, module_of, problem


@dataclasses.dataclass
class Outcome:
    """What became of one program.

    Attributes:
        program: Program.
        own: whether the file has operations that Paddle does not have, which it says.
        refused: None, or why it could not be saved.
        wrong: list of texts: other results than the function's, here or in Paddle.
        errors: list of texts: what running the saved file raises in Paddle, where ours runs it.
        paddle: None, or how Paddle saves the program itself: "right", or what it says.
    """

    program: object
    refused: str | None = None
    own: bool = False
    wrong: list = dataclasses.field(default_factory=list)
    errors: list = dataclasses.field(default_factory=list)
    paddle: str | None = None

    def is_paddles_fault(self):
        """Whether results are wrong in Paddle's engine only, also those of the file that Paddle saves."""
        return (self.paddle or "").startswith("wrong") and all(t.startswith("Paddle") for t in self.wrong)


def wanted(module, program):
    """What the function gives for each array; None where it raises."""
    found = []
    for arrays in program.arrays():
        try:
            results = arrays_of(module.program(*map(paddle_jax.to_tensor, arrays)))
            found.append([one.copy() for one in results])
        except Exception:
            found.append(None)
    return found


def run(seed, folder, way="file", kind="numbers", oracle=None, alone=False):
    """The Outcome of a program; None where the function itself raises for most shapes.

    way: one of WAYS. kind: see `generate`. oracle: Oracle, or None.
    alone: whether Paddle also saves each program itself, not only those that are refused here.
    """
    program, way = generate(seed, kind), WAYS[way]
    prefix = str(pathlib.Path(folder) / f"saved_{seed}")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        module, _ = module_of(program, folder)
        want = wanted(module, program)
        if sum(one is None for one in want) > 2:
            return None
        found = Outcome(program)
        try:
            way.save(module.program, prefix)
            loaded = way.load(prefix)
        except Exception as error:
            found.refused = shown(error).replace(str(folder), "")
        else:
            _compare(found, "here", want, [_result(loaded, arrays) for arrays in program.arrays()])
        found.own = any("only paddle_jax can load" in str(one.message) for one in warned)
    if oracle is not None:
        _with_oracle(found, way, want, oracle, prefix, folder, alone)
    return found


def _result(loaded, arrays):
    try:
        return loaded(*arrays)
    except Exception as error:
        return shown(error)


def _with_oracle(found, way, want, oracle, prefix, folder, alone):
    program = found.program
    if found.refused is None and not found.own and way.name in ("file", "static"):
        answer = oracle.ask(prefix=prefix, arrays=program.arrays())
        if answer["error"] is not None:
            found.errors.append(f"loading: {answer['error']}")
        else:
            _compare(found, "Paddle", want, answer["results"])
    if alone or found.refused is not None or found.own or found.wrong or found.errors:
        _, path = module_of(program, folder, "paddle")
        answer = oracle.ask(prefix=prefix + "_paddle", arrays=program.arrays(), source=str(path))
        found.paddle = _paddles_own(want, answer)


def _paddles_own(want, answer):
    if answer["error"] is not None:
        return f"refuses: {answer['error']}"
    own = Outcome(None)
    _compare(own, "Paddle", want, answer["results"])
    return f"wrong: {(own.wrong + own.errors)[0]}" if own.wrong or own.errors else "right"


def _compare(found, who, want, got):
    shapes = found.program.shapes if found.program else [""] * len(want)
    for shape, one, other in zip(shapes, want, got, strict=False):
        if one is None:
            continue
        differs = other if isinstance(other, str) else problem(other, one)
        if not differs:
            continue
        # Paddle gives an empty result of a branch or of a slice with a step the shape of an earlier run
        is_paddles = who == "Paddle" and (isinstance(other, str) or any(not array.size for array in one))
        (found.errors if is_paddles else found.wrong).append(f"{who} {shape}: {differs}")


def grouped(text):
    """A message without its numbers and names."""
    return re.sub(r"\d+(\.\d+)?(e-?\d+)?", "#", text)[:160]


class Counts:
    """The counts of many Outcomes."""

    def __init__(self):
        self.programs = self.right = self.wrong = self.errors = self.foreign = 0
        self.refusals = collections.Counter()
        self.own = collections.Counter()
        self.beyond = 0

    def add(self, found):
        """Counts an Outcome."""
        self.programs += 1
        if found.refused is not None:
            self.refusals[grouped(found.refused)] += 1
            self.beyond += found.paddle == "right"
        elif found.wrong and not found.is_paddles_fault():
            self.wrong += 1
        elif found.wrong:
            self.errors += 1
        elif found.own:
            self.foreign += 1
            self.beyond += found.paddle == "right"
        elif found.errors:
            self.errors += 1
        else:
            self.right += 1
        if found.paddle is not None:
            self.own[found.paddle.partition(":")[0]] += 1

    def report(self):
        """The counts as text."""
        refused = sum(self.refusals.values())
        lines = [
            f"{self.programs} programs: {self.right} right, {refused} refused "
            f"{self.foreign} with operations "
            f"that Paddle lacks ({self.beyond} of both kinds are saved rightly by Paddle), "
            f"{self.wrong} wrong, {self.errors} that Paddle's engine runs wrongly or not at all"
        ]
        if self.own:
            lines.append(
                "saved by Paddle itself: "
                + ", ".join([f"{count} {what}" for what, count in self.own.most_common()])
            )
        lines += [f"{count:5} {text}" for text, count in self.refusals.most_common()]
        return "\n".join(lines)
