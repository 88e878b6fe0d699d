"""Files of paddle.save: exchanged with the real Paddle both ways, damaged, hostile, half written."""

import argparse
import collections
import io
import os
import pickle
import pickletools
from pathlib import Path

import numpy as np
import pytest

import paddle_jax as ours
from paddle_jax.framework import pickle_writer, state_file
from paddle_jax.framework.io import async_save, clear_async_save_task_queue, load, save
from paddle_jax.framework.pickle_names import CorruptFileError

oracle = pytest.importorskip("paddle")
pytestmark = pytest.mark.own_process
both = pytest.mark.parametrize("module", [ours, oracle], ids=["ours", "theirs"])


DTYPES = ("bool", "uint8", "int8", "int16", "int32", "float16", "float64", "complex64", "complex128")


def named(module, value, name="t_0", dtype=None):
    tensor = module.to_tensor(value, dtype=dtype)
    tensor.name = name
    return tensor


def objects(module):
    """The same objects made by either library."""
    t = named(module, [[1.0, -2.5, 3.25]], "a.w_0", "float32")
    i = named(module, [3, 4], "b.w_0", "int64")
    return {
        "state": {"w": t, "b": i},
        "ordered": collections.OrderedDict(w=t),
        "optimizer": {"a.w_0_moment1_0": t, "LR_Scheduler": {"last_epoch": 3, "last_lr": 0.1}},
        "int_keys": {1: t},
        "lone": t,
        "list": [t, 1, "x", None, i],
        "tuple": (t, (i, 2.5)),
        "nested": {"model": {"w": t}, "extra": [i, {"deep": (t,)}], "n": 3},
        "mixed": {"w": t, "n": 3},
        "array": np.arange(6.0).reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "arrays": {"x": np.ones(2), "y": [np.ones(1, "int32")]},
        "arrays_and_tensors": [np.ones(2), t],
        "scalars": {
            "a": np.float32(2),
            "b": 3,
            "c": 2.5,
            "d": True,
            "e": 1 + 2j,
            "g": {1, 2},
            "h": None,
            "i": np.int64(-1),
        },
        "text": "text",
        "zero_d": module.to_tensor(2.0),
        "empty": module.zeros([0, 2]),
        "dtypes": [named(module, [1, 0, 1], f"d_{d}", d) for d in DTYPES],
        "bfloat16": {"w": named(module, [1.0, 2.5], "h_0", "bfloat16")},
        "bfloat16_list": [named(module, [1.0, 2.5], "h_0", "bfloat16")],
        "shared": [t, t],
        "dtype": {"d": module.float32},
        "strings": {"s": np.array(["a", "bc"]), "w": t},
    }


def describe(item):
    """A form in which results of both libraries can be compared."""
    if isinstance(item, ours.Tensor | oracle.Tensor):
        value = np.asarray(item.numpy())
        value = value.view(np.uint16) if value.dtype.itemsize == 2 and value.dtype.kind == "V" else value
        name = "" if item.name.startswith(("generated_tensor", "eager_tmp")) else item.name
        return (
            "Tensor",
            name,
            str(item.dtype),
            list(item.shape),
            item.stop_gradient,
            item.persistable,
            value.tolist(),
        )
    if isinstance(item, np.ndarray):
        return "array", str(item.dtype), item.shape, item.tolist()
    if isinstance(item, dict):
        return type(item).__name__, [(key, describe(value)) for key, value in item.items()]
    if isinstance(item, list | tuple):
        return type(item).__name__, [describe(value) for value in item]
    return "DType" if str(item).startswith("paddle.") else type(item).__name__, str(item)


KINDS = """state ordered optimizer int_keys lone list tuple nested mixed array fortran arrays
arrays_and_tensors scalars text zero_d empty dtypes bfloat16 bfloat16_list shared dtype strings""".split()


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("kind", KINDS)
@both
def test_exchange(tmp_path, kind, protocol, module):
    """What either library writes, both read alike; return_numpy and keep_name_table too."""
    path = str(tmp_path / "x.pd")
    (save if module is ours else oracle.save)(objects(module)[kind], path, protocol=protocol)
    for settings in ({}, {"return_numpy": True}, {"keep_name_table": True}):
        assert describe(load(path, **settings)) == describe(oracle.load(path, **settings))


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "dtype"])
def test_same_pickle(tmp_path, kind):
    """The pickles hold the same, so that tools which read them without any Paddle see no difference."""
    contents = []
    for module, write in ((ours, save), (oracle, oracle.save)):
        path = tmp_path / "x.pd"
        write(objects(module)[kind], str(path))
        contents.append(pickle.loads(path.read_bytes()))
    assert _without_generated(describe(contents[0])) == _without_generated(describe(contents[1]))


def _without_generated(item):
    if isinstance(item, tuple | list):
        return [_without_generated(part) for part in item]
    return "" if isinstance(item, str) and item.startswith(("generated_tensor", "eager_tmp")) else item


def test_module_names_of_any_numpy(tmp_path):
    for protocol in (2, 4):
        save([ours.to_tensor([1.0]), np.float32(2)], str(tmp_path / "x"), protocol=protocol)
        strings = {
            str(arg)
            for _, arg, _ in pickletools.genops((tmp_path / "x").read_bytes())
            if isinstance(arg, str)
        }
        assert any(s.startswith("numpy.core.multiarray") for s in strings)
        assert not any("numpy._core" in s for s in strings)


def test_a_changed_table_of_the_standard_pickler(tmp_path, monkeypatch):
    def refuse(pickler, obj):
        raise AssertionError("dill replaces functions in this table, and its files need dill")

    expected = np.arange(3.0)
    for kind in list(pickle._Pickler.dispatch):
        monkeypatch.setitem(pickle._Pickler.dispatch, kind, refuse)
    monkeypatch.setitem(pickle._Pickler.dispatch, type(len), refuse)
    ours.save({"x": expected, "rule": [1, "a", None, (2.0,)]}, str(tmp_path / "state"))
    monkeypatch.undo()
    found = ours.load(str(tmp_path / "state"), return_numpy=True)
    np.testing.assert_array_equal(found["x"], expected)
    assert found["rule"] == [1, "a", None, (2.0,)]


@both
@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]
)
def test_binary(tmp_path, module, dtype):
    for value in ([[1, 0, 1]], 1, [[]]):
        path = str(tmp_path / "x.pd")
        (save if module is ours else oracle.save)(
            named(module, value, dtype=dtype), path, use_binary_format=True
        )
        assert describe(load(path)) == describe(oracle.load(path))


def test_binary_bytes(tmp_path):
    save(ours.to_tensor([1.0, 2.0]), str(tmp_path / "a"), use_binary_format=True)
    oracle.save(oracle.to_tensor([1.0, 2.0]), str(tmp_path / "b"), use_binary_format=True)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@both
def test_safetensors(tmp_path, module):
    path = str(tmp_path / "x.safetensors")
    state = {
        "w": named(module, [[1.0, 2.0]]),
        "h": named(module, [1.0, 2.5], dtype="bfloat16"),
        "i": named(module, [3]),
    }
    (save if module is ours else oracle.save)(state, path, safetensors=True)
    read, expected = load(path, safetensors=True), oracle.load(path, safetensors=True)
    assert sorted(describe(read)[1]) == sorted(describe(expected)[1])
    as_numpy = load(path, safetensors=True, return_numpy=True)
    assert {k: describe(v) for k, v in as_numpy.items()} == {
        k: describe(v) for k, v in oracle.load(path, safetensors=True, return_numpy=True).items() if k != "h"
    } | {"h": ("array", "uint16", (2,), [16256, 16416])}


def test_big_arrays_in_slices(tmp_path, monkeypatch):
    path = str(tmp_path / "x.pdparams")
    value = np.arange(35.0, dtype="float32").reshape(5, 7)
    monkeypatch.setattr(state_file, "SLICE_BYTES", 40)
    save({"w": named(ours, value, "w_0"), "b": named(ours, [1.0], "b_0")}, path, protocol=2)
    raw = pickle.loads((tmp_path / "x.pdparams").read_bytes())
    assert raw["w@@.0"].shape == (10,) and raw["UnpackBigParamInfor@@"] == {
        "w": {"OriginShape": (5, 7), "slices": [f"w@@.{i}" for i in range(4)]}
    }
    for read in (load, oracle.load):
        assert describe(read(path))[1][-1][0] in ("w", "b")
        np.testing.assert_array_equal(read(path)["w"].numpy(), value)
        assert read(path)["w"].name == "w_0"


@both
def test_bytesio(module):
    stream = io.BytesIO()
    for value in ([1.0], [2.0]):
        save(ours.to_tensor(value), stream)
    stream.seek(0)
    reader = load if module is ours else oracle.load
    assert [reader(stream).tolist(), reader(stream).tolist()] == [[1.0], [2.0]]
    with pytest.raises(EOFError):
        reader(stream)


def test_layer_state_dict(tmp_path):
    theirs = oracle.nn.Sequential(oracle.nn.Linear(3, 4), oracle.nn.BatchNorm1D(4))
    path = str(tmp_path / "m.pdparams")
    oracle.save(theirs.state_dict(), path)
    state = load(path)
    assert {k: (v.name, v.tolist()) for k, v in state.items()} == {
        k: (v.name, v.tolist()) for k, v in theirs.state_dict().items()
    }
    save(state, path)
    fresh = oracle.nn.Sequential(oracle.nn.Linear(3, 4), oracle.nn.BatchNorm1D(4))
    fresh.set_state_dict(oracle.load(path))
    x = oracle.ones([2, 3])
    np.testing.assert_array_equal(fresh(x).numpy(), theirs(x).numpy())


CALLS = {
    "protocol_low": lambda m, t, p: m.save(t, p, protocol=1),
    "protocol_high": lambda m, t, p: m.save(t, p, protocol=5),
    "protocol_type": lambda m, t, p: m.save(t, p, protocol="4"),
    "config": lambda m, t, p: m.save(t, p, foo=1),
    "path_type": lambda m, t, p: m.save(t, 3),
    "path_none": lambda m, t, p: m.save(t, None),
    "no_name": lambda m, t, p: m.save(t, str(Path(p).parent) + "/"),
    "directory": lambda m, t, p: m.save(t, str(Path(p).parent)),
    "binary_list": lambda m, t, p: m.save([t], p, use_binary_format=True),
    "binary_array": lambda m, t, p: m.save(np.ones(2), p, use_binary_format=True),
    "binary_flag": lambda m, t, p: m.save(t, p, use_binary_format=3),
    "missing": lambda m, t, p: m.load(p + "nowhere"),
    "prefix": lambda m, t, p: (m.save(t, p + ".pdparams"), m.load(p)),
    "load_config": lambda m, t, p: (m.save(t, p), m.load(p, map_location="cpu")),
    "load_type": lambda m, t, p: m.load(3),
    "load_none": lambda m, t, p: m.load(None),
    "empty_file": lambda m, t, p: (Path(p).touch(), m.load(p)),
    "not_safetensors": lambda m, t, p: (m.save(t, p), m.load(p, safetensors=True)),
    "safetensors_scheduler": lambda m, t, p: m.save({"w": t, "LR_Scheduler": {}}, p, safetensors=True),
}


class Ours:
    """The functions under test under the names of the module."""

    save, load = staticmethod(save), staticmethod(load)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("call", CALLS)
def test_error_class(tmp_path, call):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        CALLS[call](oracle, oracle.to_tensor([1.0]), str(tmp_path / "a"))
    with pytest.raises(theirs.type):
        CALLS[call](Ours, ours.to_tensor([1.0]), str(tmp_path / "b"))


def test_layer_is_refused(tmp_path):
    from paddle_jax.nn.layer.layers import Layer

    for obj in (Layer(), {"m": Layer()}, [1, (Layer(),)]):
        with pytest.raises(ValueError, match="state_dict"):
            save(obj, str(tmp_path / "x"))


def good_files():
    for kind in ("state", "nested", "scalars"):
        for protocol in (2, 4):
            stream = io.BytesIO()
            save(objects(ours)[kind], stream, protocol=protocol)
            yield stream.getvalue()
    stream = io.BytesIO()
    save(ours.to_tensor([1.0]), stream, use_binary_format=True)
    yield stream.getvalue()


def test_truncated(tmp_path):
    """Every proper beginning of a file gives the error that stands for both of Paddle's classes, from a file
    and from memory."""
    for data in good_files():
        for length in range(len(data)):
            with pytest.raises(CorruptFileError):
                load(io.BytesIO(data[:length]))
    (tmp_path / "x").write_bytes(data[:-1])
    with pytest.raises(ValueError, match="cut short"):
        load(str(tmp_path / "x"))


def test_flipped_bits():
    """A damaged file loads or gives CorruptFileError, nothing else, and asks for no huge memory."""
    for data in good_files():
        for position in range(len(data)):
            damaged = bytearray(data)
            damaged[position] ^= 1 << (position % 8)
            try:
                load(io.BytesIO(bytes(damaged)))
            except CorruptFileError:
                pass


def evil(function, *args):
    class Evil:
        def __reduce__(self):
            return function, args

    return Evil()


HOSTILE = {
    "system": pickle.dumps({"a": evil(os.system, "false")}),
    "eval": pickle.dumps(evil(eval, "1+1")),
    "eval_data": pickle.dumps(evil(eval, "data", {"data": 1, "x": 2})),
    "getattr": pickle.dumps(evil(getattr, [], "append")),
    "bare_function": pickle.dumps([print]),
    "class": pickle.dumps(argparse.ArgumentParser),
    "protocol_0": b"cos\nsystem\n(S'false'\ntR.",
    "build_on_function": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n}X\x01\x00\x00\x00aK\x01sb.",
    "build_slots_on_class": b"\x80\x02ccollections\nOrderedDict\nN}X\x01\x00\x00\x00aK\x01s\x86b.",
    "object_pointers": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85c_codecs\nencode\nX\x01\x00\x00\x00bX\x06\x00\x00\x00latin1\x86R\x87R(K\x01K\x01\x85cnumpy\ndtype\nX\x02\x00\x00\x00O8K\x00K\x01\x87R(K\x03X\x01\x00\x00\x00|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89X\x08\x00\x00\x00AAAAAAAAtb.",  # noqa: E501
    "huge_memo": b"\x80\x02]r\xff\xff\xff\x7f.junk",
    "huge_array": pickle.dumps(evil(bytearray, 1 << 40)),
    "self_tuple": b"\x80\x02](h\x00tq\x00.",
    "persistent_id": b"\x80\x02X\x01\x00\x00\x00xQ.",
    "huge_bytearray": b"\x80\x05\x96\x00\x00\x00\x00\x10\x00\x00\x00.",
    "huge_bytes": b"\x80\x04\x8e\x00\x00\x00\x00\x10\x00\x00\x00.",
    "extension": b"\x80\x02\x82\x01.",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile(tmp_path, kind, capfd):
    (tmp_path / "x").write_bytes(HOSTILE[kind])
    if kind == "object_pointers":
        # Text for an object array is taken apart into characters; it never becomes pointers.
        with pytest.raises(CorruptFileError):
            load(str(tmp_path / "x"))
    elif kind == "huge_memo":
        assert load(str(tmp_path / "x")) == []
    else:
        with pytest.raises(ValueError, match="load: path"):
            load(str(tmp_path / "x"))
    assert capfd.readouterr().out == ""


def test_allow_pickle(tmp_path):
    path = str(tmp_path / "x")
    save({"w": ours.to_tensor([1.0]), "error": OSError("text")}, path)
    with pytest.raises(ValueError, match=r"builtins.OSError.*allow_pickle"):
        load(path)
    read = load(path, allow_pickle=True)
    assert read["w"].tolist() == [1.0] and str(read["error"]) == "text"


def test_plain_types(tmp_path):
    obj = {
        "raw": [b"", b"ab", bytearray(b"cd")],
        "args": argparse.Namespace(lr=0.1, dims=[1, 2]),
        "rng": collections.deque([np.ones(2)]),
        "count": collections.Counter("aab"),
    }
    save(obj, str(tmp_path / "x"))
    read = load(str(tmp_path / "x"))
    assert read["raw"] == obj["raw"]
    assert (
        read["args"] == obj["args"]
        and read["count"] == obj["count"]
        and read["rng"][0].tolist() == [1.0, 1.0]
    )


def test_deep_nesting_and_sharing():
    stream = io.BytesIO()
    item = []
    for _ in range(60):
        item = [item, item]  # 2**60 paths, 60 objects
    save(item, stream)
    stream.seek(0)
    read = load(stream)
    assert read[0] is read[1]


def test_failed_save_keeps_the_file(tmp_path, monkeypatch):
    path = tmp_path / "x.pdparams"
    save({"w": ours.to_tensor([1.0])}, str(path))
    before = path.read_bytes()
    with pytest.raises((AttributeError, pickle.PicklingError)):
        save({"w": ours.to_tensor([2.0]), "f": lambda: 1}, str(path))
    with pytest.raises(ValueError, match="protocol"):
        save({"w": ours.to_tensor([2.0])}, str(path), protocol=9)

    def disk_full(obj, stream, protocol):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pickle_writer, "write", disk_full)
    with pytest.raises(OSError, match="space"):
        save({"w": ours.to_tensor([2.0])}, str(path))
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.pdparams"]
    stream = io.BytesIO()
    with pytest.raises(OSError, match="space"):
        save({"w": ours.to_tensor([2.0])}, stream)
    assert stream.getvalue() == b""


def test_places(tmp_path):
    target = tmp_path / "made" / "here" / "x.pd"
    save([1], target)
    link = tmp_path / "link"
    link.symlink_to(target)
    target.chmod(0o640)
    save([2], str(link))
    assert link.is_symlink() and load(target) == [2] and target.stat().st_mode & 0o777 == 0o640
    save([3], os.devnull)
    with pytest.raises(RuntimeError):
        load(str(tmp_path))


def test_async_save(tmp_path):
    weight = ours.to_tensor([1.0])
    async_save({"w": weight}, str(tmp_path / "x"))
    weight._rebind(weight._value * 5)
    async_save({"w": weight}, str(tmp_path / "y"), sync_other_task=True)
    clear_async_save_task_queue()
    assert oracle.load(str(tmp_path / "x"))["w"].tolist() == [1.0]
    assert oracle.load(str(tmp_path / "y"))["w"].tolist() == [5.0]
    async_save([1], str(tmp_path / "x" / "no_directory"))
    with pytest.raises(OSError, match="x"):
        clear_async_save_task_queue()


def test_tensors_of_static_programs(oracle, tmp_path):
    """What lives in a scope: alone, in a dict and nested, written by either engine and read by either."""
    for writer in (oracle, ours):
        writer.enable_static()
        held = writer.static.global_scope().var("held").get_tensor()
        held.set(np.arange(3, dtype="float32"), writer.CPUPlace())
        forms = {"alone": held, "dict": {"w": held}, "nested": {"a": [held, 1]}}
        for name, form in forms.items():
            writer.save(form, str(tmp_path / name))
        writer.save(held, str(tmp_path / "binary"), use_binary_format=True)
        writer.disable_static()
        for reader in (oracle, ours):
            read = {name: reader.load(str(tmp_path / name)) for name in [*forms, "binary"]}
            for tensor in (read["alone"], read["dict"]["w"], read["nested"]["a"][0], read["binary"]):
                assert isinstance(tensor, reader.Tensor) and tensor.tolist() == [0.0, 1.0, 2.0]
