"""Makes `import paddle` mean paddle_jax, on request only."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import multiprocessing.spawn
import os
import pathlib
import sys
import types
from importlib.machinery import ModuleSpec
from typing import Any

from paddle_jax import _paths

_NAME = "paddle"
_TARGET = "paddle_jax"
_PATH = "PYTHONPATH"
_FOR_CHILDREN = str(pathlib.Path(__file__).resolve().with_name("_for_children"))


class _Loader(importlib.abc.Loader):
    """Loads the module of paddle_jax under its Paddle name.

    Attributes:
        target: str, the name of the module.
        module: the module, once it is loaded.
        spec: its own spec.
    """

    def __init__(self, target: str) -> None:
        self.target = target

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        self.module = importlib.import_module(self.target)
        self.spec = self.module.__spec__
        return self.module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self.spec  # the import system put the alias's spec there

    def get_code(self, fullname: str) -> Any:
        """The code of the module, for `-m paddle.distributed.launch`."""
        return importlib.util.find_spec(self.target).loader.get_code(self.target)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `paddle` and `paddle.x.y` as `paddle_jax` and `paddle_jax.x.y`."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != _NAME and not fullname.startswith(_NAME + "."):
            return None
        target_name = _TARGET + fullname.removeprefix(_NAME)
        try:
            spec = importlib.util.find_spec(target_name)
        except ModuleNotFoundError:
            return None
        if spec is None:
            return None
        return ModuleSpec(
            fullname, _Loader(target_name), is_package=spec.submodule_search_locations is not None
        )


class Main(types.ModuleType):
    """Stands for the program's module under the name that `multiprocessing` gives it.

    Its attributes are those of the present `__main__`.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules["__main__"], name)


class _InChild:
    """Installs the alias in the process that unpickles it.

    That process may not find paddle_jax before it has this program's `sys.path`.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (
            f"import sys; sys.path[:] = {list(map(str, sys.path))}; import paddle_jax; "
            "paddle_jax.install_as_paddle()",
        )


def _prepare_children() -> None:
    """Has `multiprocessing` and commands install the alias in new processes.

    They import the program's module first: by then `paddle` has to mean the same as here.
    """
    get_preparation_data = multiprocessing.spawn.get_preparation_data

    def with_alias(name: str) -> dict[str, Any]:
        data = get_preparation_data(name)
        # the forkserver asks for data for itself: it leaves the program's module to its children
        if name == "ignore":
            return {key: value for key, value in data.items() if not key.startswith("init_main")}
        return {"paddle": _InChild(), **data}

    multiprocessing.spawn.get_preparation_data = with_alias
    if _FOR_CHILDREN not in sys.path:
        sys.path.insert(1, _FOR_CHILDREN)  # joblib's workers take the program's list
    os.environ[_PATH] = os.pathsep.join([_FOR_CHILDREN, *filter(None, [environment_before().get(_PATH)])])


def environment_before() -> dict[str, str]:
    """The environment without the additions of `install_as_paddle`, for processes with the real `paddle`."""
    paths = [path for path in os.environ.get(_PATH, "").split(os.pathsep) if path != _FOR_CHILDREN]
    environment = {key: value for key, value in os.environ.items() if key != _PATH}
    if any(paths):
        environment[_PATH] = os.pathsep.join(paths)
    return environment


def install_as_paddle() -> None:
    """Makes every later `import paddle`, `import paddle.x.y` and `from paddle.x import y` give the
    objects of paddle_jax.

    Call it before anything imports Paddle, e.g. in the first cell of a notebook. Calling it again does
    nothing. From then on modules, classes and functions call themselves `paddle...`, in what is printed and
    in pickles, which are then read by programs that have called it as well. It also holds in processes that
    are started from then on, by `multiprocessing`, joblib or as commands: a folder in PYTHONPATH has a
    `paddle` that is paddle_jax.

    Raises:
        RuntimeError: the real Paddle is already imported in this process.
    Example:
        >>> import paddle_jax
        >>> paddle_jax.install_as_paddle()
        >>> import paddle
        >>> paddle is paddle_jax
        True
    """
    present = sys.modules.get(_NAME)
    if present is not None and present is not sys.modules[_TARGET]:
        raise RuntimeError(
            "install_as_paddle: the real Paddle is already imported (from "
            f"{getattr(present, '__file__', '?')}); call install_as_paddle() before anything imports paddle, "
            "or start the program with `python -m paddle_jax`"
        )
    if not any(isinstance(f, _Finder) for f in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
        _prepare_children()
    sys.modules[_NAME] = sys.modules[_TARGET]
    _paths.rename(_NAME)
