"""Weight files from a server on this machine."""

import functools
import hashlib
import http.server
import io
import sys
import tarfile
import threading
import types
import zipfile
from pathlib import Path

import pytest

import paddle_jax
from paddle_jax.framework import progress


class Handler(http.server.SimpleHTTPRequestHandler):
    """A file server that says nothing and cuts `short.bin` off in the middle."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        if not self.path.endswith("short.bin"):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"half")


@pytest.fixture
def fetch(paddle, tmp_path, monkeypatch):
    """get_weights_path_from_url, the address of a server of `tmp_path / "server"`, and the local folder."""
    (tmp_path / "server").mkdir()
    monkeypatch.setattr(paddle.utils.download, "WEIGHTS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(paddle.utils.download.time, "sleep", lambda seconds: None)
    handler = functools.partial(Handler, directory=str(tmp_path / "server"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = False  # so that leaving the block waits for the last answer
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield (
            paddle.utils.download.get_weights_path_from_url,
            f"http://127.0.0.1:{server.server_port}/",
            tmp_path,
        )
        server.shutdown()
        thread.join()


def test_downloads_once(fetch):
    get, address, folder = fetch
    (folder / "server" / "w.bin").write_bytes(b"abc")
    md5 = hashlib.md5(b"abc").hexdigest()
    path = get(address + "w.bin", md5)
    assert path == str(folder / "home" / "w.bin")
    assert (folder / "home" / "w.bin").read_bytes() == b"abc"
    (folder / "server" / "w.bin").unlink()
    assert get(address + "w.bin", md5) == get(address + "w.bin") == path


class Stream(io.StringIO):
    """A standard error that is a terminal or not."""

    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_how_far_it_is(fetch, is_terminal, monkeypatch):
    pytest.importorskip("rich")
    get, address, folder = fetch
    (folder / "server" / "large.bin").write_bytes(bytes(3 << 20))
    stream = Stream(is_terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    get(address + "large.bin")
    text = stream.getvalue()
    if is_terminal:
        assert "large.bin" in text and "3.1/3.1 MB" in text
        assert text.endswith("\x1b[2K")  # the line is gone
    else:
        assert not text


def test_a_notebook_shows_how_far_it_is(fetch, monkeypatch):
    shown = []

    class Bar:
        """In place of tqdm's."""

        def __init__(self, desc, total, unit, unit_scale):
            self.done = 0
            self.what = desc, total, unit, unit_scale

        def update(self, count):
            self.done += count

        def close(self):
            shown.append((self.done, *self.what))

    get, address, folder = fetch
    (folder / "server" / "large.bin").write_bytes(bytes(3 << 20))
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    monkeypatch.setattr(progress, "is_notebook", lambda: True)
    get(address + "large.bin")
    assert shown == [(3 << 20, "large.bin", 3 << 20, "B", True)]


def test_a_wrong_sum_is_replaced_only_by_a_right_one(fetch):
    get, address, folder = fetch
    (folder / "home").mkdir()
    local, remote = folder / "home" / "w.bin", folder / "server" / "w.bin"
    local.write_bytes(b"mine")
    remote.write_bytes(b"worse")
    md5 = hashlib.md5(b"right").hexdigest()
    with pytest.raises(RuntimeError, match=md5):
        get(address + "w.bin", md5)
    assert local.read_bytes() == b"mine"
    remote.write_bytes(b"right")
    get(address + "w.bin", md5)
    assert local.read_bytes() == b"right"


@pytest.mark.parametrize("name", ["missing.bin", "short.bin"])
def test_failures_leave_nothing_behind(fetch, name):
    get, address, folder = fetch
    with pytest.raises(RuntimeError, match="3 attempts"):
        get(address + name)
    assert not any((folder / "home").glob("*")) and not any((folder / "home").glob(".*"))


def test_what_is_no_file_is_refused(fetch):
    get, address, _ = fetch
    with pytest.raises(AssertionError, match="http"):
        get("w.bin")
    for name in ("", "a.tar", "a.tar.gz"):
        with pytest.raises(ValueError, match="archive"):
            get(address + name)


ARCHIVES = {"data": ["data/a.txt", "data/b/c.txt"], "a.txt": ["a.txt"], "set": ["a.txt", "b/c.txt"]}


@pytest.mark.parametrize("kind", ["tar", "zip"])
@pytest.mark.parametrize("expected", ARCHIVES)
def test_archives_are_unpacked(fetch, oracle, kind, expected):
    """The real Paddle takes the first member's last part, which is a file where an archive does not begin
    with its folder; zip archives begin so."""
    _, address, folder = fetch
    with (
        tarfile.open(folder / "server" / "set.tar", "w")
        if kind == "tar"
        else zipfile.ZipFile(folder / "server" / "set.zip", "w") as archive
    ):
        for name in ARCHIVES[expected]:
            file = folder / "content" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
        for top in (
            sorted({name.split("/")[0] for name in ARCHIVES[expected]})
            if kind == "tar"
            else ARCHIVES[expected]
        ):
            (archive.add if kind == "tar" else archive.write)(folder / "content" / top, top)
    paths = {}
    for engine in [paddle_jax] + [oracle] * (kind == "tar"):
        where = folder / engine.__name__
        where.mkdir()
        path = Path(engine.utils.download.get_path_from_url(f"{address}set.{kind}", str(where)))
        found = sorted(str(f.relative_to(where)) for f in where.rglob("*") if f.is_file())
        paths[engine.__name__] = str(path.resolve().relative_to(where.resolve())), found
    assert paths["paddle_jax"][0] == expected and paths["paddle_jax"] == paths.get(
        "paddle", paths["paddle_jax"]
    )


def test_a_hostile_archive_is_refused(fetch, paddle):
    _, address, folder = fetch
    with tarfile.open(folder / "server" / "bad.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("../out.txt"))
    with pytest.raises(ValueError, match="outside"):
        paddle.utils.download.get_path_from_url(address + "bad.tar", str(folder / "home"))
    assert not (folder / "out.txt").exists()


def test_small_helpers(oracle, paddle):
    ends = ["1.0.0.1:80", "1.0.0.1:81", "1.0.0.2:80"]
    theirs, mine = oracle.utils.download, paddle.utils.download
    assert mine._get_unique_endpoints(ends) == theirs._get_unique_endpoints(ends)
    for text in ("https://a", "http://a", "ftp://a", "a"):
        assert mine.is_url(text) == theirs.is_url(text)
