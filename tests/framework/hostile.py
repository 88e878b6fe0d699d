"""Damaged and hostile files: a generator, and a program that reads them one by one and says what each cost.

    python -m tests.framework.hostile CHANGES [SEED]     # of each kind, to each good file; the worst
    python -m tests.framework.hostile --rows CHANGES SEED     # one line of JSON for each file

A case is (name, reader, {suffix: bytes}); a reader is a function of the prefix of the files.
"""

import io
import json
import pickle
import pickletools
import random
import resource
import struct
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

MARK, END, HEAD = b"(", b".", b"\x80\x04"
FILE, ROOM = "damaged_file", 64 << 20


# pickles, opcode by opcode ----------------------------------------------------------------------------------


def name(module, attribute):
    return b"c" + f"{module}\n{attribute}\n".encode()


def integer(n):
    data = n.to_bytes(n.bit_length() // 8 + 1, "little", signed=True)
    return (
        b"\x8a" + bytes([len(data)]) if len(data) < 256 else b"\x8b" + struct.pack("<i", len(data))
    ) + data


def called(function, *args):
    return function + MARK + b"".join(args) + b"tR"


def put(i):
    return b"r" + struct.pack("<I", i)


def get(i):
    return b"j" + struct.pack("<I", i)


def filled(items):
    """A list of items."""
    return b"](" + b"".join(items) + b"e"


def table(keys):
    """A dict with these keys."""
    return b"}(" + b"".join(key + b"N" for key in keys) + b"u"


def blob(n):
    return b"B" + struct.pack("<I", n) + bytes(n)


def buffer_array(data, shape, dtype="f4"):
    made = (
        called(name("numpy", "dtype"), text(dtype), b"\x89", b"\x88")
        + b"(K\x03"
        + text("<")
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    )
    return called(
        name("numpy.core.numeric", "_frombuffer"),
        data,
        made,
        MARK + b"".join(map(integer, shape)) + b"t",
        text("C"),
    )


def text(string):
    data = string.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def colliding_tuples(count):
    """Tuples (a, b) of one hash: CPython combines parts by xxHash, which can be undone."""
    p1, p2, p5, full = 11400714785074694791, 14029467366897019727, 2870177450012600261, (1 << 64) - 1
    undo, found = pow(p2, -1, 1 << 64), []
    a = 1
    while len(found) < count:
        acc = (p5 + a * p2) & full
        acc = (acc << 31 | acc >> 33) & full
        b = (-(acc * p1)) * undo & full
        b = b - (1 << 64) if b >> 63 else b
        if abs(b) < (1 << 61) - 1 and b != -1:
            found.append((a, b))
        a += 1
    assert len({hash(pair) for pair in found}) == 1
    return found


RANGE = called(name("builtins", "range"), integer(2**31))
MODULUS = 2**61 - 1


def pickles():
    """(name, bytes) of hostile pickles of up to some hundred kilobytes."""
    for kind in ("list", "tuple", "set", "frozenset", "bytes", "bytearray", "dict"):
        yield f"{kind} of a range", called(name("builtins", kind), RANGE)
    for kind in ("deque", "Counter", "OrderedDict"):
        yield f"{kind} of a range", called(name("collections", kind), RANGE)
    yield "range as an array", buffer_array(RANGE, [2**31])
    yield "bytes of a number", called(name("builtins", "bytes"), integer(2**40))
    yield "extended by a range", b"]" + RANGE + b"e"
    yield "long text as a number", called(name("builtins", "int"), text("9" * 300_000))
    yield (
        "text to a base, many times",
        text("f" * 100_000) + put(0) + filled([called(name("builtins", "int"), get(0), b"K\x10")] * 5000),
    )
    many = 20_000
    for kind, start in (
        ("list", filled([b"N"] * 100_000)),
        ("tuple", filled([b"N"] * 100_000)),
        ("set", filled(map(integer, range(20_000)))),
    ):
        yield f"{kind}s of one list", start + put(0) + filled([called(name("builtins", kind), get(0))] * many)
    yield (
        "dicts of one dict",
        (
            table(map(integer, range(20_000)))
            + put(0)
            + filled([called(name("builtins", "dict"), get(0))] * many)
        ),
    )
    yield (
        "counters of one dict",
        (
            table(map(integer, range(20_000)))
            + put(0)
            + filled([called(name("collections", "Counter"), get(0))] * many)
        ),
    )
    yield (
        "copies of bytes",
        blob(100_000) + put(0) + filled([called(name("builtins", "bytearray"), get(0))] * many),
    )
    yield (
        "bytes of one text",
        text("a" * 100_000)
        + put(0)
        + filled([called(name("_codecs", "encode"), get(0), text("latin1"))] * many),
    )
    yield "arrays of one buffer", blob(100_000) + put(0) + filled([buffer_array(get(0), [25_000])] * 5000)
    yield (
        "names for one array",
        buffer_array(blob(100_000), [25_000]) + put(0) + filled([text("a") + get(0) + b"\x86"] * many),
    )
    yield "one array many times", buffer_array(blob(100_000), [25_000]) + put(0) + filled([get(0)] * 100_000)
    yield "array without end", buffer_array(blob(0), [0, 2**62])
    yield "array of many axes", buffer_array(blob(4), [1] * 5000)
    yield (
        "arrays of nothing",
        buffer_array(blob(0), [0]) + put(0) + filled([buffer_array(blob(0), [0])] * 1000),
    )
    yield "strings of gigabytes", buffer_array(blob(0), [0], "U536870911")
    yield "a dtype of many fields", called(name("numpy", "dtype"), text("i4," * 50_000))
    for dtype in ("f16", "c32", "V8", "O8", "S0", "M8", "m8", "U2", "?"):
        yield (
            f"array of {dtype}",
            buffer_array(blob(32), [32 // max(1, np.dtype(dtype).itemsize or 1)], dtype),
        )
    yield "array as a key", b"}" + buffer_array(blob(4), [1]) + b"Ns"
    yield "deques", filled([called(name("collections", "deque"))] * many)
    yield "deques by reference", name("collections", "deque") + put(0) + filled([get(0) + b")R"] * 100_000)
    yield (
        "ordered dicts by reference",
        name("collections", "OrderedDict") + put(0) + filled([get(0) + b")R"] * 100_000),
    )
    # keys
    yield "colliding keys", table(integer(k * MODULUS) for k in range(1, 20_000))
    yield "colliding elements", b"\x8f(" + b"".join(integer(k * MODULUS) for k in range(1, 20_000)) + b"\x90"
    yield (
        "colliding keys, one by one",
        b"}" + b"".join(integer(k * MODULUS) + b"Ns" for k in range(1, 20_000)),
    )
    yield "colliding frozenset", MARK + b"".join(integer(k * MODULUS) for k in range(1, 20_000)) + b"\x91"
    yield (
        "colliding set of a list",
        called(name("builtins", "set"), filled(integer(k * MODULUS) for k in range(1, 20_000))),
    )
    pairs = [integer(a) + integer(b) + b"\x86" for a, b in colliding_tuples(20_000)]
    yield "colliding pairs", table(pairs)
    yield "colliding pairs in a counter", called(name("collections", "Counter"), filled(pairs))
    yield (
        "colliding pairs as items",
        called(name("collections", "OrderedDict"), filled([pair + b"N\x86" for pair in pairs])),
    )
    yield (
        "a key of a million digits",
        integer(1 << 800_000) + put(0) + b"}(" + (get(0) + b"N") * 50_000 + b"u",
    )
    yield "a key of many paths", b"N" + (put(0) + get(0) + b"\x86") * 60 + put(1) + b"}" + get(1) + b"Ns"
    yield (
        "an element of many paths",
        b"N" + (put(0) + get(0) + b"\x86") * 60 + put(1) + b"\x8f(" + get(1) + b"\x90",
    )
    yield "ranges as keys", table(called(name("builtins", "range"), integer(2**64 + i)) for i in range(1000))
    # depth and counts
    deep = 300_000
    yield "deep lists", b"]" * deep + b"a" * (deep - 1)
    yield "deep tuples", b"N" + b"\x85" * deep
    yield "deep dicts", (b"}N" * deep) + b"}" + b"s" * deep
    yield "deep marks", MARK * deep + b"t" * deep
    yield "a list in itself", b"]" + put(0) + get(0) + b"a"
    yield "a tuple in itself", b"](" + b"j\0\0\0\0" + b"t" + put(0)
    yield "a dict in itself", b"}" + put(0) + b"N" + get(0) + b"s"
    for label, one in (
        ("lists", b"]"),
        ("dicts", b"}"),
        ("sets", b"\x8f"),
        ("pairs", b"NN\x86"),
        ("memo entries", b"N\x94"),
    ):
        yield f"many {label}", filled([one] * 300_000)
    yield "gaps in the memo", filled(b"N" + put(10 * i + 9) for i in range(60_000))
    for label, op in (("text", b"\x8d"), ("bytes", b"\x8e"), ("bytearray", b"\x96"), ("frame", b"\x95")):
        for n in (2**31, 2**40, 2**63 - 1, 2**64 - 1):
            yield f"{label} of {n} bytes", op + struct.pack("<Q", n)
    yield "number of 2**31 bytes", b"\x8b" + struct.pack("<i", 2**31 - 1)
    yield "memo index", b"]" + put(2**32 - 1)
    yield "memo index in words", b"]p" + b"9" * 100_000 + b"\n"
    yield "no such memo", get(7)
    yield "no end", filled([b"N"] * 10)[:-1]
    # what state dicts are made of
    names = text("StructuredToParameterName@@")
    yield "a name for nothing", b"}" + names + b"}" + text("w") + text("w_0") + b"ss"
    yield "a list of names", b"}" + names + b"]s"
    yield (
        "a number as a name",
        b"}(" + text("w") + buffer_array(blob(4), [1]) + names + b"}" + text("w") + b"K\x01su",
    )
    slices = text("UnpackBigParamInfor@@")
    yield (
        "slices of nothing",
        b"}" + slices + b"}" + text("w") + b"}(" + text("OriginShape") + b"(t" + text("slices") + b"]uss",
    )
    yield "slices that are no dict", b"}" + slices + b"]s"
    yield "slices without names", b"}" + slices + b"}" + text("w") + b"Nss"
    # names
    known = (
        ("os", "system"),
        ("builtins", "eval"),
        ("builtins", "getattr"),
        ("a" * 100_000, "b"),
        ("numpy", "ndarray"),
        ("builtins", "list"),
    )
    for module, attribute in known:
        yield f"the name {module[:10]}.{attribute}", name(module, attribute)
        yield f"a call of {module[:10]}.{attribute}", called(name(module, attribute), text("1"))
    yield "a name in a list", filled([name("builtins", "list")])
    yield "an array without content", called(name("numpy.core.multiarray", "_reconstruct"), b"N", b"N", b"N")
    yield "a state for a list", b"]" + b"}b"
    for code in (b"\x82\x01", b"\x97", b"\x98", b"Q", b"Pa\n"):
        yield f"opcode {code[0]}", b"N" + code


# changes to good files --------------------------------------------------------------------------------------


def flipped(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(data, rng):
    return data[: rng.randrange(len(data))]


def spliced(data, rng):
    """A piece taken out, doubled, or overwritten by bytes that mean something in lengths."""
    a, b = sorted(rng.randrange(len(data)) for _ in range(2))
    b = min(b, a + rng.choice((1, 4, 8, 64)))
    return rng.choice(
        (
            data[:a] + data[b:],
            data[:b] + data[a:],
            data[:a] + rng.choice((b"\xff", b"\0", b"\x7f")) * (b - a) + data[b:],
        )
    )


def reordered(data, rng):
    """Opcodes of a pickle moved, doubled, dropped."""
    at = [position for _, _, position in pickletools.genops(data)] + [len(data)]
    ops = [data[a:b] for a, b in zip(at, at[1:], strict=False)]
    for _ in range(rng.choice((1, 2, 4))):
        i, j = rng.randrange(len(ops)), rng.randrange(len(ops))
        change = rng.randrange(4)
        if change == 0:
            ops[i], ops[j] = ops[j], ops[i]
        elif change == 1:
            ops.insert(i, ops[j])
        elif change == 2 and len(ops) > 2:
            del ops[i]
        else:
            ops[i:i] = ops[j : j + 8]
    return b"".join(ops)


_VALUES = (None, True, -1, 0, 2**31, 2**70, 1e308, "", "x", [], {}, [[]], {"#": "0.t_f32"}, "9" * 5000)


def restructured(data, rng):
    """A JSON document with values replaced, dropped, doubled or swapped."""
    document = json.loads(data)
    places = []

    def walk(part):
        for key in list(part) if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            if isinstance(part[key], dict | list):
                walk(part[key])

    walk(document)
    for _ in range(rng.choice((1, 1, 3))):
        (holder, key), (other, place) = rng.choice(places), rng.choice(places)
        try:
            change = rng.randrange(4)
            if change == 0:
                holder[key] = rng.choice(_VALUES)
            elif change == 1:
                del holder[key]
            elif change == 2:
                holder[key] = other[place]
            else:
                holder[key], other[place] = other[place], holder[key]
        except (KeyError, IndexError):  # gone already
            pass
    try:
        return json.dumps(document).encode()
    except ValueError:  # it holds itself now
        return b"{}"


def documents(good):
    """(name, bytes) of hostile `.json` files, some of them changes to a good one."""
    yield "deep lists", b"[" * 100_000
    yield "deep dicts", b'{"a":' * 100_000
    yield "digits", b"9" * 100_000
    yield "many lists", b"[" + b"[]," * 200_000 + b"[]]"
    yield "no dict", b"[]"
    yield "no text", b"\xff\xfe\xfd"
    document = json.loads(good)
    block = document["program"]["regions"][0]["blocks"][0]
    ops, inner = block["ops"], {"args": [], "ops": []}
    nest = {"#": "1.if", "A": [], "I": [{"%": 0}], "O": [], "regions": [{"blocks": [inner]}]}
    for _ in range(100):
        nest = {
            "#": "1.if",
            "A": [],
            "I": [{"%": 0}],
            "O": [],
            "regions": [{"blocks": [{"args": [], "ops": [nest]}]}],
        }
    yield "deep blocks", _with(document, block, [*ops, nest])
    made = [
        {
            "#": "1.full",
            "A": [],
            "I": [],
            "O": [{"%": 10_000 + i, "TT": {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, [1], "NCHW", [], 0]}}],
        }
        for i in range(3000)
    ]
    branch = {"#": "1.if", "A": [], "I": [], "O": [], "regions": [{"blocks": [inner]}]}
    yield "many values, many blocks", _with(document, block, [*ops, *made, *[branch] * 3000])
    yield (
        "an operation of millions",
        _with(document, block, [{**op, "A": [_grown(a) for a in op["A"]]} for op in ops]),
    )
    yield "shapes of millions", good.replace(b"[-1,", b"[1073741824,").replace(b"[-1, ", b"[1073741824, ")


def _with(document, block, ops):
    before, block["ops"] = block["ops"], ops
    data = json.dumps(document).encode()
    block["ops"] = before
    return data


def _grown(attribute):
    found = json.loads(json.dumps(attribute))
    value = found.get("AT", {}) if isinstance(found, dict) else {}
    if type(value.get("D")) is int:
        value["D"] = 2**31 - 1
    elif isinstance(value.get("D"), list):
        value["D"] = [
            {**one, "D": 2**31 - 1} if isinstance(one, dict) and type(one.get("D")) is int else one
            for one in value["D"]
        ]
    return found


def records(good):
    """(name, bytes) of hostile tensor records."""
    for n in (2**20, 2**40, 2**63, 2**64 - 1):
        yield f"{n} tables", struct.pack("<IQ", 0, n) + bytes(100)
        yield f"a table of {n} bytes", struct.pack("<IQQ", 0, 1, n) + bytes(100)
    for n in (-1, 2**31 - 1, 2**16):
        yield f"a description of {n} bytes", struct.pack("<IQIi", 0, 0, 0, n) + bytes(100)
    shapes = {
        "elements": [2**40],
        "elements in all": [2**62, 2**62],
        "axes": [1] * 10_000,
        "nothing": [0, 2**62],
        "beyond": [2**69],
    }
    for label, shape in shapes.items():
        described = b"\x08\x05" + b"".join(b"\x10" + varint(n) for n in shape)
        yield f"many {label}", struct.pack("<IQIi", 0, 0, 0, len(described)) + described + bytes(8)
    yield "bytes after it", good + b"\0" * 10


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes([*out, n])


def tensors_files():
    """(name, bytes) of hostile safetensors files."""

    def file(header, data=b""):
        header = header if isinstance(header, bytes) else json.dumps(header).encode()
        return struct.pack("<Q", len(header)) + header + data

    for n in (2**20, 2**31, 2**40, 2**64 - 1):
        yield f"a header of {n} bytes", struct.pack("<Q", n) + b"{}"
    one = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    yield "one place for two", file({"a": one, "b": one}, bytes(8))
    yield (
        "elements that are not there",
        file({"a": {**one, "shape": [2**40], "data_offsets": [0, 2**42]}}, bytes(8)),
    )
    yield "a shape that overflows", file({"a": {**one, "shape": [2**32, 2**32], "data_offsets": [0, 0]}})
    yield "nothing of all sizes", file({"a": {**one, "shape": [0, 2**62], "data_offsets": [0, 0]}})
    yield "an unknown dtype", file({"a": {**one, "dtype": "F99"}}, bytes(8))
    for dtype in ("F8_E8M0", "F4", "F6_E2M3", "C64"):
        yield (
            f"dtype {dtype}",
            file({"a": {**one, "dtype": dtype, "shape": [8 if dtype != "C64" else 1]}}, bytes(8)),
        )
    yield "deep header", file(b"[" * 50_000)
    yield (
        "many tensors of nothing",
        file({f"{i}": {**one, "shape": [0], "data_offsets": [0, 0]} for i in range(2000)}),
    )
    yield "metadata", file({"__metadata__": {"a": 1}})
    yield "nothing", b""


# good files and the readers ---------------------------------------------------------------------------------


def good_files(paddle):
    """{reader: [files by suffix]} to be damaged."""
    paddle.seed(1)
    layer = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.ReLU(), paddle.nn.Linear(4, 2))
    schedule = paddle.optimizer.lr.StepDecay(0.1, 2)
    optimizer = paddle.optimizer.Adam(schedule, parameters=layer.parameters())
    layer(paddle.ones([2, 3])).sum().backward()
    optimizer.step()
    nested = {
        "list": [paddle.ones([2]), "text", 1, 2.5, None, (1, [True])],
        "counts": {1: 2, (3, 4): {5}},
        "w": np.arange(3),
    }
    found = {"load": [], "numpy": []}
    for thing in (layer.state_dict(), optimizer.state_dict(), nested, paddle.to_tensor([1.0, 2.0])):
        for protocol in (2, 4):
            stream = io.BytesIO()
            paddle.save(thing, stream, protocol=protocol)
            found["load"].append({"": stream.getvalue()})
    found["load"].append(
        {"": pickle.dumps({"a": np.ones(3), "b": [np.float32(2), b"raw", bytearray(b"x")]}, 5)}
    )
    found["numpy"] = found["load"][:4]
    record, tensors = io.BytesIO(), io.BytesIO()
    paddle.save(paddle.to_tensor([[1.0, 2.0]]), record, use_binary_format=True)
    paddle.save(layer.state_dict(), tensors, safetensors=True)
    found["record"], found["safetensors"] = [{"": record.getvalue()}], [{"": tensors.getvalue()}]
    return found, layer


def model_files(paddle, layer, folder):
    """The two files of a saved model, and those of a static program's state."""
    prefix = str(Path(folder) / "good")
    spec = [paddle.static.InputSpec([None, 3], "float32", "x")]
    layer.eval()
    paddle.jit.save(layer, prefix, input_spec=spec)
    return {suffix: Path(prefix + suffix).read_bytes() for suffix in (".json", ".pdiparams")}


def stablehlo_files(paddle, layer, folder):
    """The two files of a program as StableHLO."""
    prefix = str(Path(folder) / "exported")
    paddle.interop.save_stablehlo(layer, prefix, [paddle.static.InputSpec([None, 3], "float32")])
    return {suffix: Path(prefix + suffix).read_bytes() for suffix in (".stablehlo", ".safetensors")}


def cases(paddle, folder, changes=40, seed=0):
    """All cases. changes: how many changed files of each good file and kind of change."""
    found, layer = good_files(paddle)
    model = model_files(paddle, layer, folder)
    for label, data in pickles():
        for reader in ("load", "numpy"):
            yield label, reader, {"": HEAD + data + END}
    for label, data in records(found["record"][0][""]):
        yield label, "record", {"": data}
        yield label, "jit", {**model, ".pdiparams": data}
    for label, data in tensors_files():
        yield label, "safetensors", {"": data}
    for label, data in documents(model[".json"]):
        for reader in ("jit", "static", "predictor"):
            yield label, reader, {**model, ".json": data}
    for reader, files in found.items():
        for number, file in enumerate(files):
            for change in (flipped, cut, spliced, *([reordered] if reader in ("load", "numpy") else [])):
                rng = random.Random(f"{seed} {reader} {number} {change.__name__}")
                for i in range(changes):
                    yield f"{change.__name__} {reader} {number} {i}", reader, {"": change(file[""], rng)}
    for suffix, kinds in (
        (".json", (flipped, cut, spliced, restructured)),
        (".pdiparams", (flipped, cut, spliced)),
    ):
        for change in kinds:
            rng = random.Random(f"{seed} {suffix} {change.__name__}")
            for i in range(changes):
                yield (
                    f"{change.__name__} {suffix} {i}",
                    ("jit", "static", "predictor")[i % 3],
                    {**model, suffix: change(model[suffix], rng)},
                )
    exported = stablehlo_files(paddle, layer, folder)
    for suffix, good in exported.items():
        for change in (flipped, cut, spliced):
            rng = random.Random(f"{seed} {suffix} {change.__name__}")
            for i in range(changes):
                yield f"{change.__name__} {suffix} {i}", "stablehlo", {**exported, suffix: change(good, rng)}
    for reader, data in (("optimizer", found["load"][3][""]), ("scope", found["load"][1][""])):
        for change in (flipped, cut, reordered):
            rng = random.Random(f"{seed} {reader} {change.__name__}")
            for i in range(changes):
                yield (
                    f"{change.__name__} {reader} {i}",
                    reader,
                    {".pdparams" if reader == "scope" else "": change(data, rng)},
                )


def readers(paddle):
    """What is done with the files at a prefix."""

    def static(prefix):
        paddle.enable_static()
        try:
            return paddle.static.load_inference_model(prefix, paddle.static.Executor())
        finally:
            paddle.disable_static()

    def predictor(prefix):
        return paddle.inference.create_predictor(
            paddle.inference.Config(prefix + ".json", prefix + ".pdiparams")
        )

    return {
        "load": paddle.load,
        "record": paddle.load,
        "optimizer": paddle.load,
        "numpy": lambda prefix: paddle.load(prefix, return_numpy=True),
        "safetensors": lambda prefix: paddle.load(prefix, safetensors=True),
        "jit": paddle.jit.load,
        "static": static,
        "predictor": predictor,
        "scope": paddle.static.load_program_state,
        "stablehlo": paddle.interop.load_stablehlo,
    }


# reading one by one -----------------------------------------------------------------------------------------


def memory(field):
    """Bytes that the process has (VmRSS), or has had since `forget_peak` (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def attempt(read, prefix):
    """(outcome, text, bytes of memory, seconds of the processor) of reading; a file that asks for gigabytes
    gets a MemoryError."""
    forget_peak()
    before, started = memory("VmRSS"), time.process_time()
    try:
        read(prefix)
        outcome, said = "fine", ""
    except Exception as error:
        outcome = "ValueError" if isinstance(error, ValueError) else type(error).__name__
        said = str(error)[:400]
    return outcome, said, memory("VmHWM") - before, time.process_time() - started


def measure(found, folder):
    """Reads cases; yields (name, reader, size, outcome, text, memory, seconds)."""
    import paddle_jax as paddle

    ways = readers(paddle)
    for label, reader, files in found:
        prefix = str(Path(folder) / FILE)
        for suffix, data in files.items():
            Path(prefix + suffix).write_bytes(data)
        size = sum(map(len, files.values()))
        *found_out, seconds = attempt(ways[reader], prefix)
        # more than half a second per MB: other work on the machine counts less in the shortest of several
        if seconds > size / (1 << 21):
            seconds = min(seconds, *(attempt(ways[reader], prefix)[-1] for _ in range(3)))
        yield label, reader, size, *found_out, seconds
        for suffix in files:
            Path(prefix + suffix).unlink()


def limit(more):
    """Bounds the address space to what the process has now and `more` bytes."""
    now = memory("VmSize") + more
    resource.setrlimit(resource.RLIMIT_AS, (now, resource.RLIM_INFINITY))


def warm_up(paddle, folder):
    """Compiles and loads what reading needs anyway."""
    found, layer = good_files(paddle)
    files = model_files(paddle, layer, folder) | stablehlo_files(paddle, layer, folder)
    files |= {"": found["load"][2][""], ".pdparams": found["load"][1][""]}
    prefix = str(Path(folder) / "warm")
    for suffix, data in files.items():
        Path(prefix + suffix).write_bytes(data)
    for reader, read in readers(paddle).items():
        if reader == "safetensors":
            Path(prefix).write_bytes(found["safetensors"][0][""])
        read(prefix)


def rows(changes, seed):
    """What each case came to; in a process that may take two gigabytes more."""
    import paddle_jax as paddle

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        warm_up(paddle, folder)
        limit(2 << 30)
        yield from measure(cases(paddle, folder, changes, seed), folder)


def summary(found):
    """The worst of all cases, in words."""
    mega, over = 1 << 20, [row for row in found if row[5] > 4 * row[2] + ROOM]
    most, large = max(found, key=lambda row: row[5] - 4 * row[2]), [row for row in found if row[2] > 50_000]
    longest = max(large, key=lambda row: row[6] / row[2])
    yield (
        f"{len(found)} files: {sum(row[3] == 'fine' for row in found)} were read, "
        f"{sum(row[3] == 'ValueError' for row in found)} gave a ValueError"
    )
    yield f"other exceptions: {sorted({row[3] for row in found} - {'fine', 'ValueError'}) or 'none'}"
    yield f"errors without the file's name: {sum(row[3] != 'fine' and FILE not in row[4] for row in found)}"
    yield (
        f"over 4 x the file + 64 MB: {len(over)}; the most beyond 4 x the file: "
        f"{(most[5] - 4 * most[2]) / mega:.0f} MB ({most[0]}, {most[1]})"
    )
    yield (
        f"longest: {longest[6] / longest[2] * mega:.2f} s per MB ({longest[0]}, {longest[1]}, "
        f"{longest[2]} bytes)"
    )
    yield f"longest of the files below 50 KB: {max(row[6] for row in found if row[2] <= 50_000):.2f} s"


if __name__ == "__main__":
    if sys.argv[1] == "--rows":
        for one in rows(int(sys.argv[2]), int(sys.argv[3])):
            print(json.dumps(one), flush=True)
    else:
        print(*summary(list(rows(int(sys.argv[1]), int((sys.argv[2:] or [0])[0])))), sep="\n")
