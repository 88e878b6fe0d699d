"""Weight files from a server on this machine."""

import functools
import hashlib
import http.server
import threading

import pytest


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
        yield paddle.utils.download.get_weights_path_from_url, f"http://127.0.0.1:{server.server_port}/", tmp_path
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
