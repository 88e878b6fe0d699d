"""`paddle.hub`: networks from a folder or repository with a file `hubconf.py`, whose public
functions make them."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import shutil
import sys
import types
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_jax.framework.addresses import is_address, local_copy, paddle_home
from paddle_jax.framework.io import load as load_file
from paddle_jax.utils import download

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = []

_CONFIG = "hubconf"
_DEPENDENCIES = "dependencies"
_ARCHIVES = {
    "github": "https://github.com/{}/{}/archive/{}.zip",
    "gitee": "https://gitee.com/{}/{}/repository/archive/{}.zip",
}
_BRANCHES = {"github": "main", "gitee": "master"}


def list(repo_dir: str, source: str = "github", force_reload: bool = False) -> builtins.list[str]:
    """The names of the networks that a repository offers. Runs its `hubconf.py`.

    Args:
        repo_dir: str, a folder for source "local", else "owner/repository" or "owner/repository:branch".
        source: "github", "gitee" or "local". Default "github".
        force_reload: download again. Default False: a copy in `~/.cache/paddle/hub` is used (`PADDLE_HOME`
            changes the first part).
    Returns:
        List of str.
    Raises:
        ValueError: the source is unknown, or `repo_dir` has another form.
        RuntimeError: there is no `hubconf.py`, or the repository cannot be downloaded.
    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     code = "def tiny(width=2):\\n    'A tiny network.'\\n    return width\\n"
        ...     _ = pathlib.Path(folder, "hubconf.py").write_text(code)
        ...     print(paddle.hub.list(folder, source="local"))
        ...     print(paddle.hub.load(folder, "tiny", source="local", width=3))
        ['tiny']
        3
    """
    module = _opened(repo_dir, source, force_reload)
    return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> str | None:
    """The documentation of a network.

    Args:
        repo_dir: str, a folder for source "local", else "owner/repository" or "owner/repository:branch".
        model: str, name of the function in `hubconf.py`.
        source: "github", "gitee" or "local". Default "github".
        force_reload: download again. Default False.
    Returns:
        str, or None if there is none.
    Example:
        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> lines = ["def scale(factor=2.0):", "    'Multiplies.'", "    return lambda x: x * factor"]
        >>> with open(os.path.join(folder, "hubconf.py"), "w") as file:
        ...     length = file.write("\\n".join(lines))
        >>> paddle.hub.help(folder, "scale", source="local")
        'Multiplies.'
    """
    return _load_entry_from_hubconf(_opened(repo_dir, source, force_reload), model).__doc__


def load(repo_dir: str, model: str, source: str = "github", force_reload: bool = False, **kwargs: Any) -> Any:
    """Makes a network. Runs the repository's code.

    Args:
        repo_dir: str, a folder for source "local", else "owner/repository" or "owner/repository:branch".
        model: str, name of the function in `hubconf.py`.
        source: "github", "gitee" or "local". Default "github".
        force_reload: download again. Default False.
        kwargs: arguments of the function.
    Returns:
        What the function returns.
    Raises:
        ValueError: the source is unknown, `repo_dir` has another form, or `model` is no str.
        RuntimeError: the function, a module that `hubconf.py` depends on, or `hubconf.py` is missing, or the
            repository cannot be downloaded.
    Example:
        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> lines = ["def scale(factor=2.0):", "    'Multiplies.'", "    return lambda x: x * factor"]
        >>> with open(os.path.join(folder, "hubconf.py"), "w") as file:
        ...     length = file.write("\\n".join(lines))
        >>> paddle.hub.load(folder, "scale", source="local", factor=3.0)(2.0)
        6.0
    """
    module = _opened(repo_dir, source, force_reload)
    _check_dependencies(module)
    return _load_entry_from_hubconf(module, model)(**kwargs)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    check_hash: bool = False,
    file_name: str | None = None,
    map_location: str | None = None,
) -> dict[str, Any]:
    """Weights from the network; the file is kept and used again.

    Args:
        url: str, an http or https address, or another one that fsspec reads (`hf://`, `s3://`),
            of a weight file or a zip archive with one.
        model_dir: str, folder to keep it in. Default `~/.cache/paddle/hub/checkpoints`.
        check_hash: the name of the file ends with `-` and the first characters of its MD5; check
            them. Default False.
        file_name: str, name to keep it under. Default: the last part of the address.
        map_location: "numpy" or "np" gives ndarrays; everything else Tensors on the current
            device. Default None.
    Returns:
        What `paddle.load` gives.
    Raises:
        RuntimeError: it cannot be downloaded, or its MD5 is another one.
    Example:
        >>> paddle.save({"w": paddle.ones([2])}, "kept/w.pdparams")  # what is there is not downloaded
        >>> state = paddle.hub.load_state_dict_from_url("https://example.com/w.pdparams", "kept")
        >>> state["w"].tolist()
        [1.0, 1.0]
    """
    if model_dir is not None:
        folder = Path(model_dir)
    else:
        folder = Path(get_dir()) / "checkpoints"
    folder.mkdir(parents=True, exist_ok=True)
    name = file_name or download._map_path(url, "").lstrip("/")
    path = folder / name
    if is_address(url) and not download.is_url(url):
        path = Path(local_copy("load_state_dict_from_url", url))
    elif not path.is_file():
        fetched = Path(download.get_path_from_url(url, str(folder), None, decompress=False))
        # The name is the user's, not the one in the address.
        if fetched != path:
            fetched.replace(path)
    if check_hash:
        # Names end with the first digits of the sum: resnet18-5c106cde.pdparams.
        wanted = path.name.split(".")[0].rsplit("-", 1)[-1]
        if not download._md5(path).startswith(wanted):
            raise RuntimeError(
                f"load_state_dict_from_url: check_hash: the MD5 of {path} does not begin with "
                f"{wanted}; delete the file and try again"
            )
    if zipfile.is_zipfile(path):
        path = _unpacked(path)
    return load_file(str(path), return_numpy=map_location in ("numpy", "np"))


def _unpacked(path: Path) -> Path:
    """The only file in a zip archive."""
    with zipfile.ZipFile(path) as archive:
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
        if len(names) != 1:
            raise RuntimeError(
                f"load_state_dict_from_url: url: {path.name} holds {len(names)} files; "
                "an archive must hold one"
            )
        return Path(archive.extract(names[0], path.parent))


def get_dir() -> str:
    """The folder in which repositories and weights are kept.

    Example:
        >>> from paddle_jax.hapi.hub import get_dir
        >>> get_dir().endswith("hub")
        True
    """
    return str(Path(_get_paddle_home()) / "hub")


def _get_paddle_home() -> str:
    return str(paddle_home())


def _opened(repo: str, source: str, force_reload: bool) -> Any:
    """The module `hubconf` of a repository."""
    if source not in (*_ARCHIVES, "local"):
        raise ValueError(f'hub: source: got "{source}"; allowed are "github", "gitee" and "local"')
    if source == "local":
        folder = local_copy("hub", repo)
    else:
        folder = _get_cache_or_reload(repo, force_reload, source=source)
    return _import_module(_CONFIG, folder)


def _import_module(name: str, repo_dir: str) -> types.ModuleType:
    """Runs `hubconf.py`; modules beside it can be imported meanwhile. It does not stay among the
    imported modules."""
    path = Path(repo_dir) / f"{name}.py"
    if not path.is_file():
        raise RuntimeError(f"hub: repo_dir: there is no file {path}; a repository for paddle.hub has one")
    # Not through `import`: two repositories may each have a hubconf.
    module = types.ModuleType(name)
    module.__file__ = str(path)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, origin=str(path))
    sys.path.insert(0, str(repo_dir))
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    finally:
        sys.path.remove(str(repo_dir))
    return module


def _parse_repo_info(repo: str, source: str) -> tuple[str, str, str]:
    """(owner, repository, branch)"""
    location, _, branch = repo.partition(":")
    parts = location.split("/")
    if len(parts) != 2 or ":" in branch or not all(parts):
        raise ValueError(
            f'hub: repo_dir: got {repo!r}; it must be "owner/repository" or "owner/repository:branch"'
        )
    return parts[0], parts[1], branch or _BRANCHES[source]


def _git_archive_link(repo_owner: str, repo_name: str, branch: str, source: str) -> str:
    return _ARCHIVES[source].format(repo_owner, repo_name, branch)


def _get_cache_or_reload(repo: str, force_reload: bool, verbose: bool = True, source: str = "github") -> str:
    """The folder with a repository; downloads it when it is not there."""
    owner, name, branch = _parse_repo_info(repo, source)
    home = Path(get_dir())
    folder = home / "_".join([owner, name, branch.replace("/", "_")])
    if folder.is_dir() and not force_reload:
        return str(folder)
    home.mkdir(parents=True, exist_ok=True)
    url = _git_archive_link(owner, name, branch, source)
    archive = home / (branch.replace("/", "_") + ".zip")
    try:
        download._download_to(url, archive, None)
        # The old folder stays until the new one is whole.
        fresh = home / f".{folder.name}.new"
        shutil.rmtree(fresh, ignore_errors=True)
        with zipfile.ZipFile(archive) as packed:
            top = {member.split("/")[0] for member in packed.namelist()}
            packed.extractall(fresh)  # it drops what leads outside
        if len(top) != 1:
            raise RuntimeError(
                f"hub: repo_dir: the archive {url} holds {len(top)} top folders; one is expected"
            )
        shutil.rmtree(folder, ignore_errors=True)
        (fresh / top.pop()).replace(folder)
        shutil.rmtree(fresh, ignore_errors=True)
    finally:
        archive.unlink(missing_ok=True)
    return str(folder)


def _check_module_exists(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _check_dependencies(m: types.ModuleType) -> None:
    needed = getattr(m, _DEPENDENCIES, None)
    if isinstance(needed, builtins.list | tuple):
        missing = [name for name in needed or [] if not _check_module_exists(name)]
    else:
        missing = []
    if missing:
        raise RuntimeError(
            f"hub: repo_dir: hubconf.py needs modules that are not installed: {', '.join(missing)}"
        )


def _load_entry_from_hubconf(m: types.ModuleType, name: str) -> Callable[..., Any]:
    if not isinstance(name, str):
        raise ValueError(f"hub: model: got {type(name).__name__}; it must be the name of a function, a str")
    entry = getattr(m, name, None)
    if not callable(entry):
        raise RuntimeError(f"hub: model: hubconf.py has no function {name}")
    return entry
