"""Every function and class of Paddle that exists here is the same object under each module path it has there
(facts in tests/data, names only)."""

import collections
import copy
import gzip
import importlib
import importlib.util
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SEVERAL = {  # one object of Paddle that is two here
    "paddle.as_tensor",  # its tests are its own
    "paddle.base.framework.Block",  # looked up on demand, under this path alone, by optimizers of libraries
}


def tool():
    spec = importlib.util.spec_from_file_location("paddle_paths", ROOT / "tools/paddle_paths.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def facts():
    return json.loads(gzip.decompress((ROOT / "tests/data/paddle_paths.json.gz").read_bytes()))


PRINTED = ("Tensor", "dtype", "Size")  # say paddle.Tensor etc. in every mode
MISSING = object()


def found(path, name):
    """What is here under a path of Paddle's; MISSING where the module does not exist."""
    try:
        return getattr(importlib.import_module("paddle_jax" + path.removeprefix("paddle")), name, None)
    except ModuleNotFoundError:
        return MISSING


def test_every_path_leads_to_the_same_object(facts, paddle):
    wrong = []
    for known in tool().objects(facts).values():
        here = {
            f"{path}.{name}": value for path, name in known if (value := found(path, name)) is not MISSING
        }
        objects = {id(value): value for value in here.values() if value is not None}
        if objects and (len(objects) > 1 or None in here.values()) and not SEVERAL & here.keys():
            wrong.append({path: repr(value)[:60] for path, value in here.items()})
    assert not wrong, "run tools/paddle_paths.py, or give the same object both names: " + "\n".join(
        map(str, wrong)
    )


def own(facts):
    """(Paddle's module, name, our object) of what Paddle says is defined there and that exists here."""
    for path, module in facts.items():
        for name, row in module["names"].items():
            if row[0] in ("class", "function") and row[2:] == [path, name]:
                value = found(path, name)
                if value not in (None, MISSING):
                    yield path, name, value


def test_objects_say_where_they_are_defined(facts, paddle):
    places = collections.defaultdict(list)  # of an object: what are several objects in Paddle can be one here
    for path, name, value in own(facts):
        # several modules of Paddle's have those functions
        if value.__name__ not in PRINTED and not path.endswith(".eager.ops"):
            places[value].append(("paddle_jax" + path.removeprefix("paddle"), name))
    for value, known in places.items():
        there = facts["paddle" + value.__module__.removeprefix("paddle_jax")]["names"].get(
            value.__qualname__, ["", 0, "", ""]
        )
        if there[2].startswith("paddle.base.libpaddle"):  # moved into C++, and imported where it was
            known.append((value.__module__, value.__qualname__))
    wrong = {
        str(value): known
        for value, known in places.items()
        if (value.__module__, value.__qualname__) not in known
    }
    assert not wrong, "\n".join(map(str, wrong.items()))


def test_objects_are_pickled_by_their_names(facts, paddle):
    for _, _, value in own(facts):
        if value.__name__ not in PRINTED:
            assert pickle.loads(pickle.dumps(value)) is value


VALUES = [
    "paddle.CPUPlace()",
    "paddle.float32",
    "paddle.Size([2])",
    "paddle.finfo('float32')",
    "paddle.topk(paddle.ones([3]), 2)[0]",
    "paddle.nn.ReLU()",
    "paddle.topk(paddle.ones([3]), 2)",
    "paddle.Generator()",
    "paddle.optimizer.lr.StepDecay(0.1, 2)",
    "paddle.nn.BatchNorm1D(2)",
    "paddle.io.TensorDataset([paddle.ones([2])])",
    "paddle.ParamAttr()",
    "paddle.regularizer.L2Decay(0.1)",
]


@pytest.mark.parametrize("text", VALUES)
def test_values_are_pickled_and_copied(text, paddle):
    value = eval(text)
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert (
            type(again) is type(value)
            and str(again).partition(" at 0x")[0] == str(value).partition(" at 0x")[0]
        )


def test_a_module_has_no_dead_names(facts, paddle):
    """What a module without a file lists is there, and nothing else is said to be there."""
    for path in facts:
        try:
            module = importlib.import_module("paddle_jax" + path.removeprefix("paddle"))
        except ModuleNotFoundError as error:
            assert str(error) and found(path.rpartition(".")[0] or "paddle", path.rpartition(".")[2]) in (
                None,
                MISSING,
            ), path
            continue
        assert not hasattr(module, "no_such_name")
        for name in getattr(module, "__all__", ()):
            assert getattr(module, name, None) is not None, f"{path}.{name}"


ALIASED = """
import pickle, sys
import paddle.optimizer.lr as lr
from paddle.base import unique_name
from paddle.tensor.math import *
from paddle.nn.layer.common import Linear
assert lr.MultiStepDecay.__module__ == lr.__name__ == "paddle.optimizer.lr" and paddle.__name__ == "paddle"
assert str(Linear) == "<class 'paddle.nn.layer.common.Linear'>"
assert paddle.cumsum.__module__ == paddle.tensor.math.__name__
assert str(type(Linear(1, 1).weight)) == "<class 'paddle.base.framework.EagerParamBase'>"
assert str(paddle.Tensor) == "<class 'paddle.Tensor'>"
assert sys.modules["paddle.base.unique_name"] is unique_name is paddle.base.unique_name
assert paddle.tensor.einsum is paddle.einsum and sys.modules["paddle.tensor.einsum"].einsum is paddle.einsum
import paddle.batch
assert callable(paddle.batch)
"""


def test_under_the_alias_they_say_paddle(tmp_path):
    values = (
        f"for value in {', '.join(VALUES)}, Linear, paddle.cumsum, paddle.Tensor, paddle.Size, "
        "paddle.dtype: pickle.loads(pickle.dumps(value))\n"
    )
    (tmp_path / "program.py").write_text("import paddle\n" + ALIASED + values)
    done = subprocess.run(
        [sys.executable, "-m", "paddle_jax", tmp_path / "program.py"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def test_the_package_knows_itself(paddle, oracle):
    """Annotations in programs say paddle.paddle."""
    assert paddle.paddle is paddle and oracle.paddle is oracle
