"""LocalFS does what Paddle's does: the same commands in both, in a folder each."""

import importlib

import pytest

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
