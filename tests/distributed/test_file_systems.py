"""LocalFS does what Paddle's does: the same commands in both, in a folder each."""

import importlib

import pytest

from paddle_jax.distributed.fleet.utils import fs

SCRIPT = """
mkdirs a/b; mkdirs a/b; touch a/f; touch a/f; touch a/f False; ls_dir a; ls_dir nope; is_file a/f; is_dir a/f
is_exist zz; list_dirs a; list_dirs zz; mv a/f a/g; mv zz y; mv a/g a/b; touch a/h; mv a/h a/g
mv a/h a/g True; rename a/g q; delete q; delete q; touch f1; mkdirs f1; ls_dir f1; mv f1 f1; rename zz y
mkdirs c; touch c
mv f1 c True; is_file c; mv q1 c False True; cat c; upload c d; download c d; upload_dir a d
delete a; is_exist a; need_upload_download
"""
COMMANDS = [line.split() for line in SCRIPT.replace("\n", ";").split(";") if line.strip()]


def known_name(error):
    """The name of Python's own class of an error; of one of the module that of its class."""
    names = [one.__name__ for one in error.__mro__ if one.__module__ == "builtins"]
    return error.__name__ if names[0] == "Exception" else names[0]


def outcomes(module, folder, monkeypatch):
    folder.mkdir()
    monkeypatch.chdir(folder)
    client = importlib.import_module(f"{module.__name__}.distributed.fleet.utils.fs").LocalFS()
    found = []
    for name, *words in COMMANDS:
        arguments = [word == "True" if word in ("True", "False") else word for word in words]
        try:
            found.append((name, *words, repr(getattr(client, name)(*arguments))))
        except Exception as error:  # noqa: BLE001
            found.append((name, *words, known_name(type(error))))
    return found


def test_commands(oracle, tmp_path, monkeypatch):
    import paddle_jax

    expected = outcomes(oracle, tmp_path / "paddle", monkeypatch)
    assert len(expected) == len(COMMANDS) > 30
    assert outcomes(paddle_jax, tmp_path / "ours", monkeypatch) == expected


def test_it_is_under_the_name_that_programs_use():
    from paddle_jax.distributed.fleet.utils import LocalFS
    from paddle_jax.distributed.fleet.utils.fs import FS

    assert issubclass(LocalFS, FS)
    with pytest.raises(NotImplementedError):
        FS().ls_dir(".")


# A stand-in for `hadoop fs`: the same commands on a local folder.
HADOOP = """#!/bin/sh
[ "$1" = fs ] && [ "$2" = -Dfs.default.name=hdfs://x ] || exit 9
shift 2; name=$1; shift; cd "$ROOT" || exit 9
case $name in
  -test) test "$@" ;;
  -ls) for path in "$@"; do [ -d "$path" ] && path="$path/*"; for one in $path; do
    [ -d "$one" ] && echo "drwxr-xr-x - me us 0 2026-01-01 10:00 $one"
    [ -f "$one" ] && echo "-rw-r--r-- 1 me us $(wc -c < "$one") 2026-01-01 10:00 $one"
    done; done; true ;;
  -put) cp -r "$1" "$2" ;; -get) cp -r "$1" "$2" ;; -touchz) : > "$1" ;; -cat) cat "$1" ;;
  -mkdir) mkdir "$@" ;; -mv) mv "$1" "$2" ;; -rm) rm "$@" ;; *) exit 9 ;;
esac
"""


@pytest.fixture
def hadoop(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "hadoop"
    program.write_text(HADOOP, encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "far").mkdir()
    monkeypatch.setenv("ROOT", str(tmp_path / "far"))
    configs = {"fs.default.name": "hdfs://x"}
    return fs.HDFSClient(str(tmp_path), configs, time_out=50, sleep_inter=20)


def test_files_of_hadoop(hadoop, tmp_path):
    far, near = tmp_path / "far", tmp_path / "near"
    (near / "sub").mkdir(parents=True)
    (near / "log").write_text("one\ntwo\n", encoding="utf-8")
    hadoop.mkdirs("a/b")
    hadoop.touch("a/empty")
    assert hadoop.ls_dir("a") == (["b"], ["empty"]) and hadoop.list_dirs("nope") == []
    assert hadoop.is_dir("a/b") and not hadoop.is_file("a/b") and hadoop.is_file("a/empty")
    hadoop.upload(str(near), "a/b")
    assert hadoop.cat("a/b/log") == "one\ntwo" and (far / "a/b/sub").is_dir() and hadoop.cat("nope") == ""
    assert hadoop.list_files_info(["a/b/log"]) == [{"path": "a/b/log", "size": 8}]
    hadoop.upload_dir(str(near), "c")
    assert (far / "c/near/log").read_text(encoding="utf-8") == "one\ntwo\n"
    (tmp_path / "back").mkdir()
    hadoop.download("a/b", str(tmp_path / "back"))
    assert sorted(path.name for path in (tmp_path / "back").iterdir()) == ["log", "sub"]
    hadoop.mv("a/b/log", "a/empty", overwrite=True)
    assert (far / "a/empty").read_text(encoding="utf-8") == "one\ntwo\n"
    hadoop.delete("a")
    assert not (far / "a").exists() and hadoop.need_upload_download()


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (fs.FSFileNotExistsError, lambda client: client.mv("nope", "a")),
        (fs.FSFileExistsError, lambda client: client.mv("here", "here")),
        (fs.FSFileExistsError, lambda client: client.touch("here", exist_ok=False)),
        (fs.FSFileNotExistsError, lambda client: client.download("nope", ".")),
        (fs.FSFileNotExistsError, lambda client: client.upload("/nope/at/all", "a")),
        # The command fails until the time is over.
        (fs.FSTimeOut, lambda client: client.mv("nope", "a", test_exists=False)),
    ],
)
def test_refusals_of_hadoop(hadoop, error, call):
    hadoop.touch("here")
    with pytest.raises(error):
        call(hadoop)
