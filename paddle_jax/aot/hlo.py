"""Reads the text of a compiled program (HLO): its instructions, how often they run, the bytes they move."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator

SIZES = {
    "pred": 1,
    "s8": 1,
    "u8": 1,
    "s16": 2,
    "u16": 2,
    "f16": 2,
    "bf16": 2,
    "s32": 4,
    "u32": 4,
    "f32": 4,
    "s64": 8,
    "u64": 8,
    "f64": 8,
    "c64": 8,
    "c128": 16,
}
WIDE = ("s64", "u64", "f64", "c128")
_HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
_NAME = re.compile(r"^\s+(ROOT )?%?([\w.\-]+) = ")
_OPCODE = re.compile(r" ?([a-z][\w\-]*)\(")
_SHAPE = re.compile(r"([a-z]+\d+[a-z0-9]*|pred)\[([\d,]*)\]")
_CALLED = re.compile(r"(calls|body|condition|to_apply|branch_computations)=\{?(%?[\w.\-]+(?:, %[\w.\-]+)*)")
_TRIPS = re.compile(r'known_trip_count":\{"n":"(\d+)"')
_OP_NAME = re.compile(r'op_name="([^"]*)"')
# what takes no time: names for values that are there
_FREE = {
    "parameter",
    "constant",
    "tuple",
    "get-tuple-element",
    "bitcast",
    "after-all",
    "opt-barrier",
    "partition-id",
    "replica-id",
}
_SLICES = ("dynamic-slice", "slice", "gather")


@dataclasses.dataclass
class Instruction:
    """One instruction.

    Attributes:
        name: str.
        opcode: str, such as "fusion".
        shape: str, the text of its result.
        operands: list of str, the names of its operands.
        called: dict from the kind of a called computation ("calls", "body", ...) to its names.
        trips: int, how often a loop runs as far as XLA knows, else 1.
        op_name: str, the scope in which JAX traced it.
        is_root: bool, whether it is the result of its computation.
        line: str, the whole text.
    """

    name: str
    opcode: str
    shape: str
    operands: list[str]
    called: dict[str, list[str]]
    trips: int
    op_name: str
    is_root: bool
    line: str

    @property
    def nbytes(self) -> int:
        """Bytes of its result."""
        if self.opcode.endswith("-start") and self.opcode != "all-reduce-start":
            # The start of an asynchronous instruction has its operands in front of its results.
            return shape_bytes(top_level(self.shape)[1])
        return shape_bytes(self.shape)

    @property
    def wide_bytes(self) -> int:
        """Bytes of those of its results that have 64 bits."""
        sizes = zip(self.dtypes, shape_sizes(self.shape), strict=True)
        return sum(size for dtype, size in sizes if dtype in WIDE)

    @property
    def dtypes(self) -> list[str]:
        """The dtypes of its result."""
        return [dtype for dtype, _ in _SHAPE.findall(self.shape)]


@dataclasses.dataclass
class Program:
    """A compiled program.

    Attributes:
        computations: dict from the name of a computation to a dict from names to Instructions.
        entry: str, the computation that is run.
    """

    computations: dict[str, dict[str, Instruction]]
    entry: str

    def wide_instructions(self) -> Iterator[Instruction]:
        """The instructions with 64-bit results, but names, constants, inputs and the outputs themselves."""
        for name, instructions in self.computations.items():
            for each in instructions.values():
                is_output = each.is_root and name == self.entry
                if each.opcode not in _FREE and not is_output and any(d in WIDE for d in each.dtypes):
                    yield each

    def bytes_moved(self) -> int:
        """Bytes that instructions read from memory and write to it, an estimate: it takes no account of
        caches."""
        total = 0
        for name, times in self.reached():
            instructions = self.computations[name]
            for instruction in instructions.values():
                total += times * self._bytes_of(instruction, instructions)
        return total

    def reached(self) -> list[tuple[str, int]]:
        """(computation, how often it runs) of those that run by themselves."""
        # The list grows while it is read: computations may call others.
        found = [(self.entry, 1)]
        for name, times in found:
            for instruction in self.computations.get(name, {}).values():
                found += [(inner, times * instruction.trips) for inner in instruction.called.get("body", ())]
                found += [(inner, times) for inner in instruction.called.get("branch_computations", ())]
                if instruction.opcode == "async-start":
                    found += [(inner, times) for inner in instruction.called.get("calls", ())]
                if instruction.opcode == "call":
                    found += [(inner, times) for inner in instruction.called.get("to_apply", ())]
        return [(name, times) for name, times in found if name in self.computations]

    def _bytes_of(self, instruction: Instruction, siblings: dict[str, Instruction]) -> int:
        if instruction.opcode in _FREE or instruction.opcode in ("while", "conditional", "call"):
            return 0
        # The instructions inside are counted, and the other half of a pair.
        if instruction.opcode == "async-start" or instruction.opcode.endswith("-done"):
            return 0
        if instruction.opcode in _SLICES:
            # The piece is read and written, not the whole operand.
            return 2 * instruction.nbytes
        sizes = [siblings[name].nbytes if name in siblings else 0 for name in instruction.operands]
        result = instruction.nbytes
        if instruction.opcode == "dynamic-update-slice" and len(sizes) > 1:
            # In place: only the new part is read and written.
            return 2 * sizes[1]
        if instruction.opcode == "fusion":
            return self._fusion_bytes(instruction, sizes)
        return result + sum(sizes)

    def _fusion_bytes(self, fusion: Instruction, sizes: list[int]) -> int:
        """Bytes that a fusion moves. Of an operand that it cuts only, it reads the piece."""
        inside = self.computations.get(next(iter(fusion.called.get("calls", ())), ""), {})
        number_of = {}
        for instruction in inside.values():
            if instruction.opcode == "parameter":
                number = re.search(r"parameter\((\d+)\)", instruction.line)
                if number:
                    number_of[instruction.name] = int(number[1])
        read: dict[int, int] = {}
        for instruction in inside.values():
            for place, operand in enumerate(instruction.operands):
                number = number_of.get(operand)
                if number is None or number >= len(sizes):
                    continue
                part = sizes[number]
                if instruction.opcode in _SLICES and place == 0:
                    part = min(part, instruction.nbytes)
                if instruction.opcode == "dynamic-update-slice" and place == 0:
                    # The operand is updated in place; the rest of it is not read.
                    part = 0
                # Several instructions may use an operand; it is read from memory once.
                read[number] = max(read.get(number, 0), part)
        root = next((each for each in inside.values() if each.is_root), None)
        written = fusion.nbytes
        if root is not None and root.opcode == "dynamic-update-slice" and len(root.operands) > 1:
            update = inside.get(root.operands[1])
            written = written if update is None else update.nbytes
        return written + sum(read.values())


def shape_sizes(shape: str) -> list[int]:
    """Bytes of each array of a result, such as "(f32[2,3]{1,0}, s32[])"."""
    return [
        SIZES.get(dtype, 1 if dtype.startswith(("f8", "s4", "u4")) else 4)
        * math.prod(map(int, filter(None, dims.split(","))))
        for dtype, dims in _SHAPE.findall(shape)
    ]


def shape_bytes(shape: str) -> int:
    """Bytes of a result."""
    return sum(shape_sizes(shape))


def top_level(shape: str) -> list[str]:
    """The parts of the text of a tuple, which may be tuples themselves."""
    parts = [""]
    depth = 0
    for character in shape.strip()[1:-1]:
        # Shapes and layouts have commas of their own.
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def parse(text: str) -> Program:
    """The program of a text."""
    computations: dict[str, dict[str, Instruction]] = {}
    entry = ""
    inside: dict[str, Instruction] = {}
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            inside = computations[head[2]] = {}
            if head[1]:
                entry = head[2]
            continue
        instruction = _instruction(line)
        if instruction is not None:
            inside[instruction.name] = instruction
    return Program(computations, entry)


def _instruction(line: str) -> Instruction | None:
    name = _NAME.match(line)
    if name is None:
        return None
    rest = line[name.end() :]
    end = _end_of_shape(rest)
    opcode = _OPCODE.match(rest, end)
    if opcode is None:
        return None
    close = _closing(rest, opcode.end() - 1)
    arguments = rest[opcode.end() : close]
    after = rest[close:]
    called = {
        kind: [n.strip().lstrip("%") for n in names.split(",")] for kind, names in _CALLED.findall(after)
    }
    trips = _TRIPS.search(after)
    op_name = _OP_NAME.search(after)
    return Instruction(
        name[2],
        opcode[1],
        rest[:end],
        re.findall(r"%([\w.\-]+)", arguments),
        called,
        int(trips[1]) if trips else 1,
        op_name[1] if op_name else "",
        bool(name[1]),
        line,
    )


def _end_of_shape(text: str) -> int:
    """Where the shape at the start of a text ends."""
    if text.startswith("("):
        return _closing(text, 0) + 1
    end = text.find(" ")
    return len(text) if end < 0 else end


def _closing(text: str, start: int) -> int:
    """The index of the parenthesis that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] == "(":
            depth += 1
        elif text[place] == ")":
            depth -= 1
            if depth == 0:
                return place
    return len(text)
