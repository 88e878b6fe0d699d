"""`paddle.hub` on folders and on repositories that were fetched before; nothing is downloaded."""

import socket
import sys
import zipfile

import numpy as np
import pytest

CONFIG = '''
dependencies = ["numpy"]
import helper_of_hub
def _hidden(): pass
value = 3
class Kind:
    "A class."
def net(a, b=2):
    """Makes a net.
      Second line."""
    return a, b, helper_of_hub.answer
def bare(): return 1
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(CONFIG)
    (tmp_path / "helper_of_hub.py").write_text("answer = 7\n")
    yield str(tmp_path)
    sys.modules.pop("helper_of_hub", None)


CALLS = {
    "list": lambda hub, d: hub.list(d, source="local"),
    "help": lambda hub, d: hub.help(d, "net", source="local"),
    "no help": lambda hub, d: hub.help(d, "bare", source="local"),
    "load": lambda hub, d: hub.load(d, "net", source="local", a=5),
    "reload": lambda hub, d: hub.load(d, "net", source="local", force_reload=True, a=5, b=8),
    "hidden": lambda hub, d: hub.load(d, "_hidden", source="local"),
    "missing": lambda hub, d: hub.load(d, "nope", source="local"),
    "no function": lambda hub, d: hub.load(d, "value", source="local"),
    "help of nothing": lambda hub, d: hub.help(d, "nope", source="local"),
    "source": lambda hub, d: hub.list(d, source="bad"),
    "no folder": lambda hub, d: hub.list(d + "/none", source="local"),
    "name": lambda hub, d: hub.load(d, 3, source="local"),
    "form": lambda hub, d: hub.list("nothing", source="github"),
    "colons": lambda hub, d: hub.list("a/b:c:d", source="github"),
    "arguments": lambda hub, d: hub.load(d, "net", source="local", z=5),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(paddle, oracle, folder, name):
    def outcome(p):
        try:
            return CALLS[name](p.hub, folder)
        except Exception as error:
            return type(error)

    assert outcome(paddle) == outcome(oracle)
    assert folder not in sys.path and "hubconf" not in sys.modules


def test_what_is_missing_is_named(paddle, tmp_path):
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_module_x', 'numpy']\ndef net(): pass\n")
    assert paddle.hub.list(str(tmp_path), source="local") == ["net"]
    with pytest.raises(RuntimeError, match="no_such_module_x"):
        paddle.hub.load(str(tmp_path), "net", source="local")


def repository(archive):
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("repo-main/hubconf.py", "def net(): return 'fetched'\n")
    return archive


def test_a_fetched_repository_is_used_again(paddle, tmp_path, monkeypatch):
    """Downloading is replaced by copying; without a network the copy that is there is used, and another one
    is refused with the reason."""
    monkeypatch.setenv("PADDLE_HOME", str(tmp_path / "home"))
    fetched = []

    def fetch(url, path, md5sum):
        fetched.append(url)
        repository(path)

    monkeypatch.setattr(paddle.utils.download, "_download_to", fetch)
    for branch in ("", ":main"):
        assert paddle.hub.load(f"owner/repo{branch}", "net") == "fetched"
    assert fetched == ["https://github.com/owner/repo/archive/main.zip"]
    assert paddle.hub.load("owner/repo:dev", "net", source="gitee", force_reload=True) == "fetched"
    assert fetched[1:] == ["https://gitee.com/owner/repo/repository/archive/dev.zip"]
    monkeypatch.undo()
    monkeypatch.setenv("PADDLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(
        socket, "create_connection", lambda *_, **__: (_ for _ in ()).throw(OSError("no network"))
    )
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    assert paddle.hub.load("owner/repo", "net") == "fetched"
    with pytest.raises(RuntimeError, match="could not be downloaded"):
        paddle.hub.list("owner/other")
    assert sorted(path.name for path in (tmp_path / "home/hub").iterdir()) == [
        "owner_repo_dev",
        "owner_repo_main",
    ]


def test_weights_from_an_address(paddle, tmp_path, monkeypatch):
    weights = {"w": np.arange(3.0)}

    def fetch(url, path, md5sum):
        paddle.save({"w": paddle.to_tensor(weights["w"])}, str(path))

    monkeypatch.setattr(paddle.utils.download, "_download_to", fetch)
    for settings in ({}, {"map_location": "numpy"}, {"file_name": "kept.pdparams"}):
        found = paddle.hub.load_state_dict_from_url(
            "https://example.org/net.pdparams", str(tmp_path), **settings
        )
        np.testing.assert_array_equal(np.asarray(found["w"]), weights["w"])
    with pytest.raises(RuntimeError, match="MD5"):
        paddle.hub.load_state_dict_from_url(
            "https://example.org/net-0000.pdparams", str(tmp_path), check_hash=True
        )
    assert (tmp_path / "kept.pdparams").is_file()
